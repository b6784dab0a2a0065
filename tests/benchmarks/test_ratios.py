import io

import pytest
from benchmarks.ratios import compare, markdown_of, show_comparisons
from benchmarks.summary import COSTS, QUALITIES, summarise
from rich.console import Console
from tests.benchmarks.results import complete, sample_rows


def test_each_figure_is_compared_with_the_system_that_is_best_in_it():
    ours, fast, precise = (
        complete("labeltree", 1, 1.0),
        complete("omikuji", 1, 4.0),
        complete("pecos", 1, 8.0),
    )
    fast.figures |= dict.fromkeys(QUALITIES, 0.8)
    precise.figures |= dict.fromkeys(QUALITIES, 0.9)
    precise.figures["model_mb"] = ours.figures["model_mb"] / 2
    (found,) = compare("a set", 10, 20, summarise([ours, fast, precise]))
    assert (found.n_rows, found.n_labels, found.n_trees) == (10, 20, 1)
    assert found.costs["total_s"] == (4.0, "omikuji")
    assert found.costs["model_mb"] == (0.5, "pecos")
    assert found.qualities["P@1"] == (pytest.approx(89), pytest.approx(-1), "pecos")
    assert found.p99 == (list(COSTS).index("single_p99_ms") + 1) / (list(COSTS).index("single_p50_ms") + 1)


def test_ensembles_are_compared_with_ensembles_and_what_failed_with_nothing():
    one, three = compare("a set", 10, 20, sample_rows())
    assert (one.n_trees, three.n_trees) == (1, 3)
    assert {name for _, name in one.costs.values()} == {"omikuji"}
    assert three.costs["total_s"][0] == 2.0  # 4 of omikuji's three trees by 2 of ours
    alone = compare("a set", 10, 20, summarise([complete("labeltree", 1, 1.0)]))
    assert alone[0].costs == alone[0].qualities == {}


def test_the_table_has_a_line_for_each_set():
    comparisons = [one for name in ("first", "second") for one in compare(name, 1000, 20, sample_rows())]
    out = io.StringIO()
    show_comparisons(comparisons, Console(file=out, width=220))
    lines = [line for line in markdown_of(comparisons).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 4
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| first | 1,000 | 20 | 1 | 4.00× / omikuji |")
    assert "second" in out.getvalue()
