import numpy as np
from experiments.data_sets import main, sizes
from experiments.runner.features import Problem
from tests.documents import documents

from labeltree.data import write_xmlc


def test_sizes_are_those_of_the_matrices():
    X, y = documents(100, 60, 20)
    found = sizes(Problem(X[:80], y[:80], X[80:], y[80:]))
    assert found == [
        "60", "20", "80", "20", f"{np.diff(y[:80].indptr).mean():.2f}", f"{y[:80].nnz / 20:.2f}"
    ]  # fmt: skip


def test_a_line_for_each_set(tmp_path, capsys):
    X, y = documents(100, 60, 20)
    for name in ("train", "test"):
        write_xmlc(tmp_path / f"{name}.txt", X, y)
    main(["--data", str(tmp_path), "--output", str(tmp_path / "page.md")])
    (line,) = [
        line for line in (tmp_path / "page.md").read_text().splitlines() if line.startswith(f"| `{tmp_path}`")
    ]
    assert line.split(" | ")[1:5] == ["60", "20", "100", "100"]
    assert line in capsys.readouterr().out
