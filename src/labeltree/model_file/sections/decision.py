"""The section of the decision: which labels `predict` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree.decisions.decision import HALF, METHODS, Decision
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import Fields, StoredFile
from labeltree.model_file.tensors import Tensor
from labeltree.validation import check_count, check_threshold

#: Decisions came with this version of the format.
VERSION = 4

#: The largest threshold: above all probabilities, so that a label is never predicted.
NEVER = float(np.nextafter(np.float32(1), np.float32(2)))


def write(draft: Draft, decision: Decision) -> None:
    """Add a decision, unless it is the one that every model begins with."""
    is_half = (decision.metric, decision.method) == (HALF.metric, HALF.method) and decision.threshold == 0.5
    if is_half and not decision.is_per_label:
        return
    draft.add(VERSION, decision=decision.summary())
    if isinstance(decision.threshold, np.ndarray):
        draft.files["decision"] = TensorPart("decision", {"threshold": Tensor.of(decision.threshold)})


@dataclass(frozen=True)
class StoredDecision:
    """A decision as ``model.json`` has it, if it has one."""

    stored: Stored
    value: Mapping[str, Any] | None
    file: StoredFile | None

    @property
    def is_there(self) -> bool:
        return self.value is not None

    def read(self, n_labels: int) -> Decision:
        """Return the decision; raises `ValueError` if it cannot be one for this number of labels."""
        if self.value is None:
            return HALF
        if self.file is None:
            return decode(self.value, None, n_labels)
        tensors = self.stored.tensors(self.file)
        with blaming(self.file.name):
            return decode(self.value, tensors, n_labels)


def take(stored: Stored) -> StoredDecision:
    """Take the fields of a decision."""
    if "decision" not in stored.fields:
        return StoredDecision(stored, None, None)
    stored.needs(VERSION)
    file = stored.files.file("decision", "decision") if "decision" in stored.files else None
    return StoredDecision(stored, stored.fields.take("decision", dict), file)


def decode(value: Mapping[str, Any], tensors: Mapping[str, Tensor] | None, n_labels: int) -> Decision:
    """Return the decision of JSON fields and, for thresholds per label, of tensors."""
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
