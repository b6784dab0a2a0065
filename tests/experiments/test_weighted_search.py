import numpy as np
import pytest
import scipy.sparse as sp
from experiments.runner.features import Problem
from experiments.weighted_search import WEIGHTINGS, label_metrics, measure, share_of_row, table
from sklearn.metrics import f1_score, recall_score
from tests.documents import documents


def test_macro_metrics_are_those_of_scikit_learn_over_labels_that_occur():
    rng = np.random.default_rng(0)
    y = (rng.random((30, 12)) < 0.2).astype(int)
    y[:, [3, 7]] = 0
    labels = np.array([rng.choice(12, 5, replace=False) for _ in range(30)])
    predicted = np.zeros_like(y)
    np.put_along_axis(predicted, labels, 1, axis=1)
    there = y.any(axis=0)
    options = {"average": "macro", "zero_division": 0}
    assert label_metrics(sp.csr_matrix(y), labels) == {
        "macro-recall@5": pytest.approx(recall_score(y[:, there], predicted[:, there], **options)),
        "macro-F1@5": pytest.approx(f1_score(y[:, there], predicted[:, there], **options)),
    }


def test_share_of_row():
    y = sp.csr_matrix([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0]])
    assert share_of_row(y).tolist() == pytest.approx([0.75, 0.5, 0.5, 0.6])


def test_a_line_for_each_weighting():
    X, y = documents(120, 60, 20)
    figures = measure(Problem(X[:80], y[:80], X[80:], y[80:]), {}, seed=0)
    lines = list(table([figures]))
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {name}" for name in WEIGHTINGS]
    assert len({row["PSP@1"] for row in figures.values()}) > 1
