"""Decisions as ``model.json`` and a tensor file hold them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labeltree.decisions.decision import HALF, METHODS, Decision
from labeltree.model_file.document import Fields
from labeltree.model_file.tensors import Tensor
from labeltree.validation import check_count, check_threshold

#: The largest threshold: above all probabilities, so that a label is never predicted.
NEVER = float(np.nextafter(np.float32(1), np.float32(2)))


def encode_decision(decision: Decision) -> tuple[dict[str, Any] | None, dict[str, Tensor]]:
    """The field of ``model.json``, None for what every model does at first, and the tensors, if there are any."""
    is_half = (decision.metric, decision.method) == (HALF.metric, HALF.method) and decision.threshold == 0.5
    if is_half and not decision.is_per_label:
        return None, {}
    threshold = decision.threshold
    tensors = {"threshold": Tensor.of(threshold)} if isinstance(threshold, np.ndarray) else {}
    return decision.summary(), tensors


def decode_decision(
    value: Mapping[str, Any], tensors: Mapping[str, Tensor] | None, n_labels: int
) -> Decision:
    """The decision; raises `ValueError` if it cannot be one for so many labels."""
    fields = Fields(value, "decision")
    metric, method = fields.take("metric", str), fields.choose("method", METHODS[1:])
    threshold: Any = fields.take("threshold", object)
    k: Any = fields.take("k", object)
    reached: Any = fields.take("value", object)
    fields.finish()
    if reached is not None and not isinstance(reached, int | float):
        raise ValueError(f"decision: value must be a number or null, got {str(reached)[:100]}")
    if (threshold == "per_label") != (tensors is not None):
        raise ValueError("decision: there must be a file if and only if thresholds are per label")
    if (threshold is None) == (k is None):
        raise ValueError("decision: there must be either a threshold or k")
    if tensors is not None:
        threshold = _per_label(tensors, n_labels)
    elif k is not None:
        check_count("decision: k", k)
    else:
        check_threshold(threshold)
        threshold = float(threshold)
    return Decision(metric, method, threshold, k, None if reached is None else float(reached))


def _per_label(tensors: Mapping[str, Tensor], n_labels: int) -> Any:
    if tensors.keys() != {"threshold"}:
        raise ValueError(f"expected the tensor 'threshold', got {sorted(tensors)}")
    dtype, values = tensors["threshold"]
    if dtype != "F32" or values.shape != (n_labels,):
        raise ValueError(f"expected {n_labels} thresholds (F32), got {dtype} of shape {values.shape}")
    if not ((values >= 0) & (values <= NEVER)).all():  # also what is no number
        raise ValueError("thresholds must be from 0 to 1, or just above")
    return np.ascontiguousarray(values)
