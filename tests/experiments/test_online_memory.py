import numpy as np
import pytest
import scipy.sparse as sp
from experiments import online_memory
from experiments.online_memory import BUDGETS_GB, GB, PAPER, dense_bytes, hashed_features, measured_table

from labeltree.data import write_xmlc


@pytest.mark.parametrize("row", [row for row in PAPER if row.hashed], ids=lambda row: row.name)
def test_as_many_features_fit_as_the_paper_says(row):
    first = hashed_features(row, BUDGETS_GB[0])
    assert [first // 1000 * 1000 * factor for factor in (1, 2, 4)] == list(row.hashed)


@pytest.mark.parametrize("row", PAPER, ids=lambda row: row.name)
def test_dense_vectors_take_what_the_paper_says(row):
    ours = dense_bytes(row.n_features, 3 * row.n_labels) / GB
    assert (int(ours) == row.dense_gb) == (row.name != "EurLex-4K")  # a slip of the paper


def test_where_there_is_nothing_to_hash():
    needless = {row.name for row in PAPER if hashed_features(row, 64) is None}
    assert needless == {"EurLex-4K", "AmazonCat-13K"}  # and Wiki10-30K in the paper


def test_measured_memory(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random(50, 12, 0.4, "csr", random_state=rng, dtype=np.float32)
    y = sp.csr_matrix(np.eye(7, dtype=np.float32)[rng.permutation(np.arange(50) % 7)])
    write_xmlc(tmp_path / "train.txt", X, y)
    monkeypatch.setattr(online_memory, "ARITIES", (2,))
    *_, line = measured_table((str(tmp_path),))
    cells = line.strip("| ").split(" | ")
    # 7 leaves, the 6 nodes above them, and the auxiliary classifiers of the 7 leaves, which alone are open.
    assert cells[1:3] == ["2", "20"]


def test_the_page_has_both_tables(monkeypatch, tmp_path):
    monkeypatch.setattr(online_memory, "measured_table", lambda: iter(["| measured |"]))
    online_memory.main(["--output", str(tmp_path / "page.md")])
    text = (tmp_path / "page.md").read_text()
    assert "| DeliciousLarge-200K | 205,443 | 782,585 | 13,935 / 13,000 | 27,872 / 26,000 " in text
    figures, _, last = text.rpartition("| measured |\n\n")
    assert figures
    assert last.startswith('Made by `make experiments ARGS="online_memory"`, seed 0, 1 thread, on ')
