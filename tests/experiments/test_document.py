from dataclasses import replace

import pytest
from experiments.runner.batch_picture import draw_batches
from experiments.runner.document import headings, page, per_cent, plus_minus, times
from experiments.runner.figures import DECISION_QUALITIES, Mean, summarise
from experiments.runner.picture import draw
from experiments.runner.table import ONLINE, Row, Table

TABLE = Table("depth", "Depth", "deeper is worse.", [Row("flat"), Row("deep")], batch_sizes=(1, 2000))


def lines():
    runs = [
        {
            "P@1": precision, "P@3": 0.5, "P@5": 0.25, "train_cpu_s": 10.0, "batch_cpu_ms": 0.2, "model_mb": 3.0,
            "batch_1_ms": 2.0, "batch_2000_ms": 0.2,
        }
        for precision in (0.8, 0.9)
    ]  # fmt: skip
    slower = {**runs[0], "train_cpu_s": 25.0, "model_mb": 1.5}
    return {"tate": summarise([("flat", runs, ""), ("deep", [slower], ""), ("wide", [], "out of memory")])}


def test_every_row_has_all_columns():
    text = page(TABLE, lines(), ["Two threads."]).splitlines()
    end = text.index("Prediction in milliseconds per row, by rows in a batch:")
    rows = [line for line in text[:end] if line.startswith("|")]
    assert {line.count(" | ") for line in rows[1:]} == {len(headings(TABLE.qualities)) - 1}
    flat, deep, wide = rows[2:]
    assert flat == (
        "| flat | **85.00 ± 5.00** | **50.00 ± 0.00** | **25.00 ± 0.00** | 10.0 ± 0.0 | 1.0 | 0.200 ± 0.000 | 1.0 "
        "| 3.00 ± 0.00 | 1.0 | 2 |"
    )
    assert deep == ("| deep | 80.00 | **50.00** | **25.00** | 25.0 | 2.5 | 0.200 | 1.0 | 1.50 | 0.50 | 1 |")
    assert set(wide.split(" | ")[1:]) == {"–", "– |"}


def test_decisions_have_columns_of_their_own(tmp_path):
    table = Table("cuts", "Cuts", "lower is better.", [Row("half", decide={"metric": "hamming"})])
    costs = {"train_cpu_s": 10.0, "batch_cpu_ms": 0.2, "model_mb": 3.0}
    runs = [
        {**dict(zip(DECISION_QUALITIES, qualities, strict=True)), **costs}
        for qualities in ((0.5, 4.0, 0.5), (0.6, 5.0, 0.3))
    ]
    rows = {"tate": summarise([("half", runs[:1], ""), ("tuned", runs[1:], ""), ("other", [], "")])}
    text = page(table, rows, []).splitlines()
    heading, _, half, tuned, other = (line for line in text if line.startswith("|"))
    assert heading.startswith("|  | micro-F1 | Hamming loss × labels | threshold | training CPU s |")
    assert half.startswith("| half | 50.00 | **4.00** | 0.50 | 10.0 |")
    assert tuned.startswith("| tuned | **60.00** | 5.00 | 0.30 | 10.0 |")
    assert other.startswith("| other | not run | – |")
    draw(table, rows, tmp_path / "cuts.png")
    assert (tmp_path / "cuts.png").exists()


def test_a_table_may_ask_for_other_columns(tmp_path):
    table = Table("r", "R", "more.", [Row("a", system=ONLINE)], ranking=("P@1", "recall@5"))
    figures = {"P@1": 0.8, "recall@5": 0.25, "train_cpu_s": 1.0, "batch_cpu_ms": 0.2, "model_mb": 3.0}
    rows = {"tate": summarise([("a", [figures], "")])}
    text = page(table, rows, [])
    assert "|  | P@1 | recall@5 | training CPU s |" in text
    assert "| a | **80.00** | **25.00** | 1.00 |" in text
    assert "max_leaves" not in text  # no row has the baseline
    draw(table, rows, tmp_path / "r.png")
    assert (tmp_path / "r.png").exists()


def test_the_page_says_what_must_be_known():
    text = page(TABLE, lines(), ["Two threads."])
    assert text.startswith("# Depth\n\n**In the paper:** deeper is worse.\n\n![Depth](depth.png)\n")
    found = page(replace(TABLE, here="not on these sets."), lines(), [])
    assert "deeper is worse.\n\n**Here:** not on these sets.\n\n![Depth]" in found
    assert "- wide: not here, because: out of memory" in text
    assert "| flat | 2.00 ± 0.00 | 0.200 ± 0.000 |" in text  # by rows in a batch
    assert "`max_leaves=100`" in text
    assert "`C=12.0` (logistic)" in text
    assert "Two threads." in text


@pytest.mark.parametrize(("ratio", "text"), [(None, "–"), (0.456, "0.46"), (4.56, "4.6"), (45.6, "46")])
def test_ratios(ratio, text):
    assert times(ratio) == text


def test_numbers():
    assert per_cent(Mean(0.91234, 0.00123)) == "91.23 ± 0.12"
    assert plus_minus(Mean(1234.5, 6.7)) == "1,234 ± 7"
    assert plus_minus(Mean(0.01234, None)) == "0.012"


@pytest.mark.parametrize("drawing", [draw, draw_batches])
def test_a_picture_is_drawn_of_rows_that_ran(tmp_path, drawing):
    drawing(TABLE, lines(), tmp_path / "depth.png")
    assert (tmp_path / "depth.png").read_bytes().startswith(b"\x89PNG")
    drawing(TABLE, {"tate": summarise([("flat", [], "")])}, tmp_path / "nothing.png")
    assert not (tmp_path / "nothing.png").exists()


def test_a_table_with_large_sets_says_how_times_grow():
    table = Table(
        "g", "G", "slower.", [Row("a"), Row("b"), Row("c")], data=["tate"], large={"extreme-131k": ("a", "b")}
    )

    def runs(seconds):
        precision = {"P@1": 0.8, "P@3": 0.5, "P@5": 0.25}
        return [{**precision, "train_cpu_s": seconds, "batch_cpu_ms": 0.2, "model_mb": 3.0}]

    small = summarise([("a", runs(10.0), ""), ("b", [], ""), ("c", runs(3.0), "")])
    large = summarise([("a", runs(123.4), ""), ("b", runs(5.0), "")])
    lines = page(table, {"extreme-131k": large, "tate": small}, []).splitlines()
    start = lines.index("## How times grow")
    assert lines[start + 2].startswith("Training CPU s / prediction CPU ms/row, by set")
    assert lines[start + 4 : start + 8] == [
        "| row | tate, 15,803 | extreme-131k, 131,000 |",
        "| --- | --- | --- |",
        "| a | 10.0 / 0.200 | 123 / 0.200 |",
        "",
    ]
    assert "How times grow" not in page(table, {"tate": small}, [])
