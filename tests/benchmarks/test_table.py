import io

import pytest
from benchmarks.summary import Spread
from benchmarks.table import cells, headings, markdown, notes, number, ratio, show
from rich.console import Console
from tests.benchmarks.results import sample_rows


def table():
    """The lines of every cell, by system, number of trees and heading."""
    rows = sample_rows()
    return {
        (row.system, row.n_trees): dict(zip(headings(), lines, strict=True))
        for row, lines in zip(rows, cells(rows), strict=True)
    }


@pytest.mark.parametrize(
    ("value", "text"), [(0.01234, "0.012"), (1.239, "1.24"), (12.39, "12.4"), (1239.4, "1,239")]
)
def test_numbers_have_about_three_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("spread", "text"),
    [(Spread(0.456, 0, 1), "0.46×"), (Spread(4.56, 4, 5), "4.6×"), (Spread(45.6, 45.6, 45.6, True), "> 46×")],
)
def test_ratios_have_two_digits(spread, text):
    assert ratio(spread) == text


def test_cells_have_median_range_and_ratio():
    cell = table()["omikuji", 1]
    assert cell["load s"] == ["4.00", "3.00–6.00", "4.0×"]
    assert cell["memory MB"] == ["24.0", "4.0×"]
    assert cell["P@1"] == ["86.00", "-3.00"]
    assert table()["omikuji", 3]["load s"][-1] == "2.0×"
    assert table()["labeltree", 1]["load s"] == ["1.00"]


def test_systems_without_ensembles_have_no_number_of_trees():
    assert table()["omikuji", 1]["trees"] == ["1"]
    assert table()["sklearn", 1]["trees"] == ["–"]


def test_what_was_stopped_or_failed_is_told_where_its_time_would_be():
    stopped, failed, half = (table()[system, 1] for system in ("sklearn", "pecos", "vowpalwabbit"))
    assert stopped["train s"] == ["> 600", "> 200×"]
    assert stopped["memory MB"] == stopped["batch ms/row"] == ["–"]
    assert failed["train s"] == failed["total s"] == ["failed"]
    assert failed["batch ms/row"] == failed["P@1"] == ["–"]
    assert half["train s"] == ["9.00", "3.0×"]
    assert half["batch ms/row"] == ["> 600 s in all"]


def test_reasons_of_failures_are_below_the_table():
    told = "\n".join(notes(sample_rows()))
    assert "pecos 1.2, 1 tree(s), failed. train: exit code -11\nSegmentation fault" in told
    assert "sklearn 1.9, 1 tree(s): stopped in train after 600 s." in told
    assert "Medians of 3 runs" in told


def test_the_table_is_printed_whole():
    out = io.StringIO()
    show(sample_rows(), "a title", Console(file=out, width=220))
    assert "a title" in out.getvalue()
    assert "Segmentation fault" in out.getvalue()
    assert "…" not in out.getvalue()  # nothing was cut off


def test_markdown_has_as_many_columns_in_every_line():
    lines = [line for line in markdown(sample_rows(), "a title").splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(sample_rows())
    assert {line.count("|") for line in lines} == {len(headings()) + 1}
