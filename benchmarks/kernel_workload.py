"""Some work for every kernel, small enough to be counted instruction by instruction; prints how much it was.

python benchmarks/kernel_workload.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc, write_xmlc

N_ROWS, N_FEATURES, N_LABELS, N_TOPICS = 1500, 4000, 800, 40
FEATURES_PER_ROW, LABELS_PER_ROW = 60, 3
K = 5


def problem() -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Rows of a topic share words and labels; all have as many features, so that visits can be counted in features."""
    rng = np.random.default_rng(0)
    topic = rng.integers(N_TOPICS, size=N_ROWS)
    words = N_FEATURES // N_TOPICS
    indices = np.empty((N_ROWS, FEATURES_PER_ROW), dtype=np.int32)
    for row, t in enumerate(topic):
        of_topic = t * words + rng.choice(words, FEATURES_PER_ROW // 2, replace=False)
        others = np.setdiff1d(np.arange(N_FEATURES), of_topic)
        indices[row] = np.sort(np.r_[of_topic, rng.choice(others, FEATURES_PER_ROW // 2, replace=False)])
    indptr = np.arange(N_ROWS + 1) * FEATURES_PER_ROW
    values = rng.random(indices.size).astype(np.float32) + 0.1
    X = sp.csr_matrix((values, indices.ravel(), indptr), shape=(N_ROWS, N_FEATURES))
    of_topic = N_LABELS // N_TOPICS
    labels = topic[:, None] * of_topic + rng.integers(of_topic, size=(N_ROWS, LABELS_PER_ROW))
    rows = np.repeat(np.arange(N_ROWS), LABELS_PER_ROW)
    y = sp.coo_matrix((np.ones(labels.size), (rows, labels.ravel())), shape=(N_ROWS, N_LABELS)).tocsr()
    y.data[:] = 1
    return X, y


def main(folder: Path) -> None:
    text = folder / "rows.txt"
    write_xmlc(text, *problem())
    X, y = read_xmlc(text, n_jobs=1)
    model = LabelTreeClassifier(n_jobs=1, random_state=0).fit(X, y)
    _, _, evaluations = model.predict_topk(X, K, return_evaluations=True)
    visits = sum(report["n_row_visits"] for report in model.training_report_)
    work = {
        "byte": text.stat().st_size,
        "feature visited": visits * (FEATURES_PER_ROW + 1),  # and the bias
        "feature": X.nnz,
        "row": N_ROWS,
        "node asked": int(evaluations.sum()),
    }
    print(json.dumps(work))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
