"""How good answers for the test rows are."""

from __future__ import annotations

from typing import Any

from experiments.runner.figures import DECISION_QUALITIES, QUALITIES
from labeltree.metrics import evaluate, f_beta, hamming_loss, inverse_propensity


def judge_ranking(y_train: Any, y_test: Any, labels: Any) -> dict[str, float]:
    """The `QUALITIES` of ranked labels; propensities are those of the training rows."""
    quality = evaluate(y_test, labels, inverse_propensity=inverse_propensity(y_train))
    return {name: quality[name] for name in QUALITIES}


def judge_decision(y_test: Any, predicted: Any, threshold: float) -> dict[str, float]:
    """The `DECISION_QUALITIES` of label sets that were decided by a threshold."""
    wrong, f1 = hamming_loss(y_test, predicted) * y_test.shape[1], f_beta(y_test, predicted, average="micro")
    return dict(zip(DECISION_QUALITIES, (f1, wrong, threshold), strict=True))
