import re

import pytest
from benchmarks import exactness
from tests.command_line import make_rows, write_rows


def test_both_tables_have_a_line_for_each_k(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = (
        write_rows(tmp_path / "train.txt", make_rows(150, seed=1)),
        write_rows(tmp_path / "test.txt", make_rows(60, seed=2)),
    )
    monkeypatch.setattr(exactness, "prepare", lambda name: files)
    monkeypatch.setattr(exactness, "KS", (1, 3))
    assert exactness.main(["--data", "small", "--repeat", "1"]) == 0
    of_trees, of_mixes = capsys.readouterr().out.strip().split("\n\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in of_trees.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["small", "1"], ["small", "3"]]
    assert all(float(row[3]) > 0 for row in rows)
    assert all(min(map(float, re.findall(r"[\d.]+", row[6]))) > 30 for row in rows)
    assert len(of_mixes.splitlines()) == 4


def test_the_ratio_is_that_of_processor_time() -> None:
    assert exactness.ratio(lambda: sum(range(3_000_000)), lambda: sum(range(1_000_000)), 5) == pytest.approx(
        3, rel=0.3
    )
