"""Parameters are chosen on development rows only, once, and pages say what they were made of."""

from dataclasses import replace

import pytest
from experiments import summary
from experiments.runner import check, run, sources
from experiments.runner.claims import Claim, Finding, claims_table, verdict
from experiments.runner.document import page
from experiments.runner.estimates import Estimates
from experiments.runner.figures import Mean, summarise
from experiments.runner.run import Run, runs_of
from experiments.runner.series import Series
from experiments.runner.stamp import Stamp, duration
from experiments.runner.standing import standing_of
from experiments.runner.store import Store
from experiments.runner.stored import OLDER, older_figures, read_page, read_paper
from experiments.runner.table import C_GRID, SOFTMAX, TREES, Row, Table
from experiments.runner.tuning import Choice, Tuner

FIGURES = {"P@1": 0.5, "train_s": 1.0, "batch_ms": 0.1, "model_mb": 2.0}


class Landscape:
    """Stands for runs: P@1 is best at C = 8 and a rate of 0.5, whatever the rest."""

    def __init__(self):
        self.runs = []

    def __call__(self, run, limit_s):
        self.runs.append(run)
        p = run.parameters
        worse = abs(p.get("C", 8.0) - 8.0) + abs(p.get("learning_rate", 0.5) - 0.5)
        return {**FIGURES, "P@1": 1 / (1 + worse)}


@pytest.fixture
def tuner(tmp_path):
    return Tuner(Series(Store(tmp_path), 10, Landscape()), 1, None)


def test_c_is_chosen_once_for_a_loss_on_development_rows(tuner):
    rows = [Row("a"), Row("b", {"arity": 16}), Row("c", {"loss": "squared_hinge"}), Row("d", system=SOFTMAX)]
    assert [tuner.chosen(row, "extreme-1k") for row in rows] == [{"C": 8.0}] * 4
    runs = tuner.series.execute.runs
    assert len(runs) == 3 * len(C_GRID)  # rows a and b share theirs
    assert {run.part for run in runs} == {"dev"}
    assert tuner.chosen(Row("e", {"C": 3.0}), "extreme-1k") == {}
    assert tuner.sentences(rows[:2], "extreme-1k") == [
        "extreme-1k, logistic loss: `C=8` (P@1 by value: 1: 12.50, 8: 100.00, 12: 20.00, 16: 11.11, 32: 4.00)"
    ]


def test_parameters_are_chosen_one_after_the_other_and_kept(tuner, tmp_path):
    grid = {"learning_rate": (0.02, 0.5, 1.0), "initial_accumulator": (0.01, 0.001)}
    row = Row("a", {"solver": "adagrad"}, tune=grid)
    expected = {"learning_rate": 0.5, "initial_accumulator": 0.01}
    assert tuner.chosen(row, "extreme-1k") == expected
    assert len(tuner.series.execute.runs) == 3 + 1  # one of the second two is one of the first three
    again = Tuner(Series(Store(tmp_path), 10, Landscape()), 1, None)
    assert again.chosen(row, "extreme-1k") == expected
    assert again.series.execute.runs == []


def test_a_value_at_the_edge_of_the_grid_is_said_to_be_so():
    def said(value, figures):
        return Choice("a", "tate", "tate", "P@1", "C", value, figures).sentence()

    three = {1.0: 0.5, 8.0: 0.5, 32.0: 0.5}
    assert "`C=1`, at the edge of what was tried (" in said(1.0, three)
    assert "`C=32`, at the edge" in said(32.0, three)
    assert "edge" not in said(8.0, three)
    assert "edge" not in said(1.0, {1.0: 0.5, 8.0: 0.5})


def test_large_sets_have_the_choice_of_a_smaller_one(tuner):
    tuner.chosen(Row("a"), "extreme-670k")
    assert {run.data for run in tuner.series.execute.runs} == {"extreme-131k"}
    planned = Tuner(
        Series(Store(tuner.series.store.folder / "none"), 10, Landscape()), 1, None, only_plan=True
    )
    assert len(planned.waiting(Row("a"), "extreme-1k")) == len(C_GRID)
    assert tuner.waiting(Row("a"), "extreme-670k") == []
    assert planned.series.execute.runs == []
    assert planned.sentences([Row("a")], "extreme-1k") == []


def test_estimates_are_of_the_same_runs_with_another_seed(tmp_path):
    store = Store(tmp_path)
    runs = [Run(TREES, "extreme-1k", {"C": c}, seed, 1) for c in (1, 2) for seed in (0, 1)]
    store.keep(runs[0], {}, 10.0, 1.0)
    store.keep(runs[2], {}, 30.0, 1.0)
    estimates = Estimates(store)
    assert [estimates.seconds(run) for run in runs] == [10, 10, 30, 30]
    other = Run(TREES, "extreme-1k", {"C": 3}, 0, 1)
    assert estimates.total([other, other]) == 40


@pytest.mark.parametrize(
    ("points", "error", "sign", "outcome"),
    [
        (1.0, 0.4, 1, "yes"), (1.0, 0.6, 1, "no difference"), (-1.0, 0.4, 1, "no"), (-1.0, 0.4, -1, "yes"),
        (0.49, None, 1, "no difference"), (0.51, None, 1, "yes"), (-0.51, None, 1, "no"),
        (0.19, 0.01, 0, "yes"), (0.21, 0.01, 0, "no"), (0.5, 0.3, 0, "yes"), (-0.3, None, 0, "yes"),
        (-0.6, None, 0, "no"),
    ],
)  # fmt: skip
def test_figures_decide_claims(points, error, sign, outcome):
    assert Finding("tate", Mean(points, error), sign).outcome == outcome


def test_claims_are_of_sets_that_have_both_rows():
    runs = [{"P@1": value} for value in (0.80, 0.82)]
    parts = {
        "tate": summarise([("a", runs, ""), ("b", [{"P@1": 0.7}], "")]),
        "bibtex": summarise([("a", runs, "")]),
    }
    claim = Claim("a is better", "a", "b")
    assert claims_table([claim], parts)[2:] == ["| a is better | P@1 | tate | +11.00 | yes |"]
    assert claims_table([Claim("x", "a", "c")], parts) == []
    assert verdict(list(claim.findings(parts))) == "yes (+11.0 points)"
    worse = replace(claim, first="b", second="a")
    assert verdict(list(worse.findings(parts))) == "no, the opposite on 1 (-11.0 points)"
    two = {"tate": summarise([("a", runs, ""), ("b", runs, "")])}
    assert next(claim.findings(two)).points.error is None  # of two runs it says little
    three = {"tate": summarise([("a", [*runs, runs[0]], ""), ("b", [*runs, runs[0]], "")])}
    assert next(claim.findings(three)).points.error is not None
    assert verdict([]) == "not run with these settings"


def test_pages_are_read_as_they_were_written(tmp_path):
    """With errors of means, without those of single runs, and without rows and sets that were not run."""
    table = Table("cuts", "Cuts", "lower is better.", [Row("half", decide={"metric": "hamming"})])
    shown = {"micro-F1": 0.6543, "Hamming loss × labels": 17.5, "threshold": 0.35}
    costs = {"train_cpu_s": 1234.0, "batch_cpu_ms": 0.2, "model_mb": 3.0}
    runs = [{**shown, **costs, "micro-F1": value} for value in (0.6543, 0.6743)]
    parts = {
        "tate": summarise([("half", runs, ""), ("tuned", runs[:1], ""), ("other", [], "")]),
        "bibtex": summarise([("half", [], "")]),
    }
    (tmp_path / "cuts.md").write_text(page(table, parts, []))
    found = read_page(tmp_path / "cuts.md")
    assert {data: [line.name for line in lines] for data, lines in found.items()} == {
        "tate": ["half", "tuned"]
    }
    half, tuned = found["tate"]
    assert (half.n_runs, tuned.n_runs) == (2, 1)
    assert half.means["micro-F1"].value == pytest.approx(0.6643)
    assert half.means["micro-F1"].error == pytest.approx(0.01)
    assert tuned.means["micro-F1"] == Mean(pytest.approx(0.6543), None)
    assert half.means["Hamming loss × labels"].value == 17.5
    assert half.means["training CPU s"].value == 1234
    # The error of a figure that is the same in all runs is what rounding may hide.
    assert half.means["Hamming loss × labels"].error == pytest.approx(0.005)


def test_older_figures_are_kept_until_their_set_is_run_again(tmp_path):
    """Below the others, said to be older, and read by nothing that judges."""
    table = Table("t", "T", "a.", [Row("a")], data=["tate", "bibtex"])
    path = tmp_path / "t.md"
    assert older_figures(path, ["tate"]) == []
    runs = [{"P@1": 0.8, "P@3": 0.7, "P@5": 0.6, "train_cpu_s": 1.0, "batch_cpu_ms": 0.1, "model_mb": 2.0}]
    before = {"tate": summarise([("a", runs, "")]), "bibtex": summarise([("a", runs, "")])}
    now = {"tate": summarise([("a", [], "")]), "bibtex": summarise([("a", runs, "")])}
    path.write_text(page(table, before, []))  # without a stamp
    stamp = Stamp("a", "b").line("make", "seed 0", 2, 1.0)
    for _ in range(2):  # they outlast being written again
        path.write_text("\n".join([page(table, now, [stamp]), *older_figures(path, ["tate"])]))
        end = path.read_text().partition("## Notes")[2].partition(OLDER)[2]
        assert "earlier version" in end
        assert "### tate\n\n|  | P@1 |" in end
        assert "bibtex" not in end
        assert list(read_page(path)) == ["bibtex"]
    path.write_text(page(table, before, [stamp]))  # of the present script
    assert older_figures(path, ["tate"]) == []
    assert older_figures(path, []) == []


def test_the_paper_says():
    paper = read_paper()
    assert paper["tree_structures"]["random"]["P@1"]["WikiLSHTC-320K"] == 44.04
    assert paper["rivals"]["napkinXC"]["P@1"]["Amazon-3M"] == 47.83
    tables = {table for section in summary.SECTIONS for table in section.tables}
    assert set(paper) == tables


def test_a_stamp_is_read_from_its_page(tmp_path):
    stamp = Stamp("abc123", "def456")
    (tmp_path / "page.md").write_text(f"# Page\n\n- {stamp.line('make it', 'seed 0', 1, 200)}\n")
    assert Stamp.read(tmp_path / "page.md") == stamp
    assert [duration(seconds) for seconds in (5, 150, 6000, 90_000)] == [
        "5 seconds", "2.5 minutes", "1.7 hours", "25 hours",
    ]  # fmt: skip


def test_texts_and_comments_are_not_part_of_what_is_run(tmp_path):
    path = tmp_path / "script.py"
    hashes = []
    for text in ('"""A."""\nX = 1\n', '"""B."""\n# why\n_HERE = "c"\nX = 1\n', "X = 2\n"):
        path.write_text(text)
        hashes.append(sources.script_hash([path]))
    assert hashes[0] == hashes[1] != hashes[2]
    table = Table("t", "", "a.", [Row("a")])
    same = Table("t", "T", "b.", [Row("a")], here="c.")
    other = Table("t", "", "a.", [Row("a", {"arity": 3})])
    stamps = [check.stamp_of_table(one) for one in (table, same, other)]
    assert stamps[0] == stamps[1] != stamps[2]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small table that was never run, with its page in a folder of its own."""
    table = Table(
        "small", "Small", "nothing.", [Row("a", {"C": 1.0})], data=["extreme-1k"], here="as well.", costs={}
    )
    for name, value in (
        ("RESULTS", tmp_path),
        ("RUNS", tmp_path / "runs"),
        ("NAMES", ("small",)),
        ("load_table", lambda name: table),
        ("_summary", lambda: ""),
    ):
        monkeypatch.setattr(check, name, value)
    (tmp_path / "summary.md").write_text("")
    return table


def write_page_of_runs(table, store):
    tuner = Tuner(Series(store, None, None), 2, None, only_plan=True)
    found = standing_of(table, table.sets, tuner)
    path = check.RESULTS / "small.md"
    path.write_text(page(table, found.parts, check.circumstances(table, found, 2), found.choices))
    return path


def test_check_says_what_is_old(small, capsys, monkeypatch):
    def says():
        check.check(["small"])
        return capsys.readouterr().out

    assert "small: there is no page" in says()
    store = Store(check.RUNS)
    runs = list(runs_of(small, "extreme-1k", small.rows[0], seeds=5, threads=2, n_rows=None))
    for one in runs[:4]:
        store.keep(one, {**FIGURES, "P@3": 0.4, "P@5": 0.3}, 1, 1)
    path = write_page_of_runs(small, store)
    assert "old  small: with fewer seeds than wanted: extreme-1k: all rows\n" in says()
    store.keep(runs[4], {**FIGURES, "P@3": 0.4, "P@5": 0.3}, 1, 1)
    assert "old  small: there are other runs than on the page (--pages writes it)\n" in says()
    path = write_page_of_runs(small, store)
    assert check.check(["small"]) == 0
    path.write_text(path.read_text().replace("as well", "other"))
    assert "its text is not that of the script" in says()
    check.write_texts(small, check.RESULTS)
    assert check.check(["small"]) == 0
    path.write_text(path.read_text().replace("definition `", "definition `0"))
    assert "small: its script runs something else now" in says()
    write_page_of_runs(small, store)
    monkeypatch.setattr(run, "code_of", lambda system, grows: "another version")
    assert "small: of older code: extreme-1k: all rows" in says()
    (check.RESULTS / "summary.md").write_text("x")
    assert "summary: it is not made of the pages" in says()
