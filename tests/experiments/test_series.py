import json
import re
import socket
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.runner import command_line, data, run, series, trial
from experiments.runner.estimates import Estimates
from experiments.runner.figures import COSTS, DECISION_QUALITIES, PROCESSOR_COSTS
from experiments.runner.run import Run, runs_of
from experiments.runner.sample_weights import SAMPLE_WEIGHTS
from experiments.runner.series import RunError, Series
from experiments.runner.store import Store
from experiments.runner.table import BASELINE, SOFTMAX, TREES, Row, Table, per_loss

from labeltree.data import write_xmlc

FIGURES = {
    "P@1": 0.5,
    "P@3": 0.4,
    "P@5": 0.3,
    "recall@1": 0.2,
    "recall@5": 0.6,
    "PSP@1": 0.3,
    "PSP@5": 0.2,
    "train_s": 1.0,
    "train_cpu_s": 1.5,
    "batch_ms": 0.1,
    "batch_cpu_ms": 0.2,
    "model_mb": 2.0,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small data set, which is asked for by its path, and nothing remembered."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("train", 60), ("test", 20)):
        X = sp.random(n_rows, 12, 0.4, "csr", random_state=rng, dtype=np.float32)
        y = sp.csr_matrix((rng.random((n_rows, 6)) < 0.3).astype(np.float32))
        write_xmlc(tmp_path / f"{name}.txt", X, y)
    for module in (data, command_line):
        monkeypatch.setattr(module, "FOLDER", tmp_path / "build")
    monkeypatch.setattr(command_line, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(command_line, "RESULTS", tmp_path / "pages")
    run._contents.cache_clear()
    return tmp_path


@pytest.fixture
def figures_of(folder, monkeypatch, capsys):
    """The figures of a run of ours, by the program of its process, which runs in this one."""

    def figures_of(run):
        monkeypatch.setattr("sys.argv", ["trial", json.dumps(run.as_json()), str(folder / "model")])
        trial.main()
        return json.loads(capsys.readouterr().out)

    return figures_of


def a_run(folder, **others):
    facts = {
        "system": TREES, "data": str(folder), "parameters": Row("a").all_parameters(), "seed": 0, "threads": 1,
    }  # fmt: skip
    return Run(**{**facts, **others})


class Counted:
    """Something that stands for a run: it counts, and fails or breaks off where it is told to."""

    def __init__(self, fail=(), break_off=None):
        self.seeds = []
        self.fail, self.break_off = fail, break_off

    def __call__(self, run, limit_s):
        if run.seed == self.break_off:
            raise KeyboardInterrupt
        self.seeds.append(run.seed)
        if run.seed in self.fail:
            raise RunError("no such loss")
        return FIGURES


def test_a_key_tells_everything_apart(folder, monkeypatch):
    one = a_run(folder)
    others = [
        a_run(folder, seed=1),
        a_run(folder, threads=2),
        a_run(folder, n_rows=10),
        a_run(folder, features="mean"),
        a_run(folder, batch_sizes=(1,)),
        a_run(folder, parameters={**one.parameters, "arity": 3}),
        a_run(folder, system="extremetext"),
        a_run(folder, system=SOFTMAX),
        a_run(folder, sample_weight="1/labels, mean 1"),
        a_run(folder, decide={"metric": "micro_f1"}),
        a_run(folder, part="dev"),
    ]
    assert len({r.key() for r in [one, *others]}) == len(others) + 1
    assert a_run(folder, parameters=dict(reversed(one.parameters.items()))).key() == one.key()
    assert Run.from_json(json.loads(json.dumps(others[4].as_json()))) == others[4]


def test_the_code_and_the_data_are_no_part_of_a_key(folder, monkeypatch):
    one = a_run(folder)
    key, code, contents = one.key(), one.code(), one.contents()
    monkeypatch.setattr(run, "code_of", lambda system, grows: "another version")
    with open(folder / "test.txt", "a") as file:
        file.write("1 1:1\n")
    run._contents.cache_clear()
    assert one.key() == key
    assert one.code() != code
    assert one.contents() != contents


def test_finished_runs_are_not_repeated(folder):
    runs = [a_run(folder, seed=seed) for seed in (0, 1, 0)]
    first, second = Counted(), Counted()
    Series(Store(folder / "runs"), 10, first).finish(runs)
    assert first.seeds == [0, 1]  # the third is the first
    again = Series(Store(folder / "runs"), 10, second)
    again.finish([*runs, a_run(folder, seed=2)])
    assert second.seeds == [2]
    assert again.figures(runs) == [FIGURES] * 3


def test_all_first_seeds_come_before_the_second_ones(folder):
    rows = [a_run(folder, seed=seed, parameters={"arity": arity}) for arity in (2, 3) for seed in (0, 1)]
    counted = Counted()
    Series(Store(folder / "runs"), 10, counted).finish(rows)
    assert counted.seeds == [0, 0, 1, 1]


def test_runs_of_older_code_count_unless_only_fresh_ones_do(folder, monkeypatch):
    runs = [a_run(folder, seed=seed) for seed in (0, 1)]
    Series(Store(folder / "runs"), 10, Counted()).finish(runs[:1])
    monkeypatch.setattr(run, "code_of", lambda system, grows: "another version")
    older, fresh = Counted(), Counted()
    Series(Store(folder / "runs"), 10, older).finish(runs)
    assert older.seeds == [1]
    assert Store(folder / "runs", fresh=True).find(runs[0]) is None
    Series(Store(folder / "runs", fresh=True), 10, fresh).finish(runs)
    assert fresh.seeds == [0]
    assert Store(folder / "runs", fresh=True).find(runs[0]) == FIGURES


def test_runs_on_other_data_of_the_same_name_are_repeated(folder):
    counted = Counted()
    Series(Store(folder / "runs"), 10, counted).finish([a_run(folder)])
    with open(folder / "test.txt", "a") as file:
        file.write("1 1:1\n")
    run._contents.cache_clear()
    Series(Store(folder / "runs"), 10, counted).finish([a_run(folder)])
    assert counted.seeds == [0, 0]


def test_a_run_that_was_stopped_is_tried_again_with_a_longer_limit_only(folder):
    def stopped(run, limit_s):
        raise RunError(f"stopped after {limit_s:g} s", limit_s)

    first = Series(Store(folder / "runs"), 10, stopped)
    first.finish([a_run(folder), a_run(folder, seed=1)])
    assert list(first.failures) == [a_run(folder).key()]  # the other seed was not tried
    counted = Counted()
    same = Series(Store(folder / "runs"), 10, counted)
    same.finish([a_run(folder), a_run(folder, seed=1)])
    assert counted.seeds == []
    assert same.failure([a_run(folder)]) == "stopped after 10 s"
    longer = Series(Store(folder / "runs"), 20, counted)
    longer.finish([a_run(folder)])
    assert counted.seeds == [0]
    assert longer.failure([a_run(folder)]) == ""


def test_no_run_begins_that_would_end_too_late(folder):
    kept = Store(folder / "runs")
    kept.keep(a_run(folder), FIGURES, 100.0, 1.0)  # so long it will take with the other seed too
    for minutes, seeds in ((1, []), (2, [1])):
        counted = Counted()
        Series(kept, 10, counted, time.monotonic() + 60 * minutes).finish([a_run(folder, seed=1)])
        assert counted.seeds == seeds


def test_a_series_that_was_broken_off_goes_on(folder):
    runs = [a_run(folder, seed=seed) for seed in range(4)]
    with pytest.raises(KeyboardInterrupt):
        Series(Store(folder / "runs"), 10, Counted(break_off=2)).finish(runs)
    rest = Counted()
    Series(Store(folder / "runs"), 10, rest).finish(runs)
    assert rest.seeds == [2, 3]


def test_failures_do_not_stop_a_series_and_are_tried_again_next_time(folder):
    runs = [a_run(folder, seed=seed) for seed in range(3)]
    tried = Counted(fail=[1])
    failing = Series(Store(folder / "runs"), 10, tried)
    failing.finish(runs)
    failing.finish(runs)  # by another table: not again in the same series
    assert tried.seeds == [0, 1, 2]
    assert failing.failures == {runs[1].key(): "no such loss"}
    assert len(failing.figures(runs)) == 2
    again = Counted()
    Series(Store(folder / "runs"), 10, again).finish(runs)
    assert again.seeds == [1]


def test_files_tell_what_was_run(folder):
    kept = a_run(folder)
    Store(folder / "runs", command="python -m experiments t").keep(
        kept, {**FIGURES, "P@1": 0.123456789}, 2.5, 4
    )
    (path,) = (folder / "runs").iterdir()
    assert path.name == f"{folder.name}.jsonl"
    (line,) = path.read_text().splitlines()
    document = json.loads(line)
    assert document["run"] == {
        "system": TREES, "data": str(folder), "parameters": kept.parameters, "seed": 0, "threads": 1,
    }  # fmt: skip
    assert document["figures"] == {**FIGURES, "P@1": 0.123457}
    assert (document["seconds"], document["cpu_seconds"]) == (2.5, 4)
    assert (document["code"], document["contents"]) == (kept.code(), kept.contents())
    assert document["command"] == "python -m experiments t"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", document["date"])
    assert socket.gethostname() not in document["machine"]
    assert "cores" in document["machine"]


def test_the_last_record_of_a_run_counts_and_a_line_that_was_cut_short_does_not(folder, capsys):
    store_, run_ = Store(folder / "runs"), a_run(folder)
    store_.keep(run_, FIGURES, 1, 1)
    path = folder / "runs" / f"{folder.name}.jsonl"
    path.write_text(path.read_text() + path.read_text()[:50])
    store_.keep(run_, {**FIGURES, "P@1": 0.7}, 1, 1)
    assert [len(line) > 50 for line in path.read_text().splitlines()] == [True, False, True]
    for one in (store_, Store(folder / "runs")):
        assert one.find(run_)["P@1"] == 0.7
        assert [record.figures["P@1"] for record in one.all()] == [0.7]
    assert "line 2 is cut short" in capsys.readouterr().err


def test_runs_that_another_process_finished_are_seen(folder):
    first, second = Store(folder / "runs"), Store(folder / "runs")
    assert first.find(a_run(folder)) is None
    second.keep(a_run(folder), FIGURES, 1, 1)
    assert first.find(a_run(folder)) == FIGURES


def test_a_run_trains_and_measures_in_a_process_of_its_own(folder):
    figures = series.execute(a_run(folder, batch_sizes=(1, 30)), 60)
    assert set(figures) == {*FIGURES, "batch_1_ms", "batch_30_ms"}
    assert 0 < figures["P@1"] <= 1
    assert min(figures["train_s"], figures["batch_ms"], figures["batch_1_ms"], figures["model_mb"]) > 0


@pytest.mark.parametrize("system", [TREES, SOFTMAX])
def test_a_run_may_be_of_another_class_and_with_weights(folder, figures_of, system):
    parameters = Row("a", system=system).all_parameters()
    plain, weighted = (
        figures_of(a_run(folder, system=system, parameters=parameters, sample_weight=weight))
        for weight in (None, "1/labels, mean 1")
    )
    assert set(plain) == set(weighted) == set(FIGURES)
    qualities = [name for name in FIGURES if "@" in name]
    assert [plain[name] for name in qualities] != [weighted[name] for name in qualities]


def test_weights_share_a_row_among_its_labels():
    y = sp.csr_matrix([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    np.testing.assert_allclose(SAMPLE_WEIGHTS["1/labels, mean 1"](y), [3 / 7, 9 / 7, 9 / 7])


@pytest.mark.parametrize("decide", [{"metric": "hamming"}, {"metric": "micro_f1", "method": "ofo"}])
def test_a_run_may_decide_for_a_metric(folder, figures_of, decide):
    figures = figures_of(a_run(folder, decide=decide))
    assert set(figures) == {*DECISION_QUALITIES, *COSTS, *PROCESSOR_COSTS}
    assert 0 < figures["micro-F1"] < 1
    # A label in three is there: more wrong than that in six, and thresholds would not help.
    assert 1 < figures["Hamming loss × labels"] < 4
    assert (figures["threshold"] == 0.5) == (decide["metric"] == "hamming")


def test_a_run_that_fails_says_why(folder):
    with pytest.raises(RunError, match="got 'no such loss'"):
        series.execute(a_run(folder, parameters={**BASELINE, "loss": "no such loss"}), 60)
    with pytest.raises(RunError, match=r"stopped after 0\.01 s"):
        series.execute(a_run(folder), 0.01)


def test_first_rows(folder):
    train, test = data.files_of(str(folder), 7)
    assert train.read_text().splitlines()[0] == "7 12 6"
    assert train.read_text().splitlines()[1:] == (folder / "train.txt").read_text().splitlines()[1:8]
    assert test == folder / "test.txt"


def test_parameters_are_those_of_the_baseline_and_of_the_row():
    assert Row("a").all_parameters() == {**BASELINE, "tol": 0.1, "max_iter": 20, "C": 12.0}
    hinge = Row("a", {"loss": "squared_hinge", "arity": 3, "C": 2.0}).all_parameters()
    assert (hinge["C"], hinge["link"], hinge["arity"]) == (2.0, "exp2", 3)
    incremental = Row("a", {"solver": "adagrad"}).all_parameters()
    assert not {"C", "tol", "max_iter"} & set(incremental)
    assert "C" not in Row("a", {"loss": "exponential"}).all_parameters()
    assert Row("a", system="extremetext").all_parameters() == {}
    assert Row("a", {"n_trees": 3}, baseline=False).all_parameters() == {"n_trees": 3}
    softmax = Row("a", {"arity": 3}, system=SOFTMAX).all_parameters()
    assert {**softmax, "loss": "logistic"} == Row("a", {"arity": 3}).all_parameters()
    assert "loss" not in softmax


def test_rows_have_as_many_runs_as_they_ask_for(folder):
    table = Table("t", "", "", [Row("a", seeds=2), Row("b", data=["other"])], data=[str(folder)])
    assert table.rows_on(str(folder)) == [table.rows[0]]
    found = list(runs_of(table, str(folder), table.rows[0], seeds=3, threads=1, n_rows=None))
    assert [r.seed for r in found] == [0, 1]
    fewer = replace(table, seeds={str(folder): 1})
    assert len(list(runs_of(fewer, str(folder), table.rows[0], seeds=3, threads=1, n_rows=None))) == 1


def test_rows_per_loss():
    rows = per_loss({"x": {"arity": 2}, "y": {}}, seeds={"y": 1})
    assert [row.name for row in rows] == [
        "logistic, x",
        "logistic, y",
        "squared hinge, x",
        "squared hinge, y",
    ]
    assert [row.seeds for row in rows] == [None, 1, None, 1]
    assert rows[2].parameters == {"loss": "squared_hinge", "arity": 2}


@pytest.mark.parametrize("name", command_line.NAMES)
def test_all_tables(name):
    table = command_line.load_table(name)
    assert table.name == name
    assert table.paper.endswith(".")
    names = [row.name for row in table.rows]
    assert len(set(names)) == len(names)
    settings = [
        (
            row.system,
            row.features,
            row.all_parameters(),
            row.c_is_tuned,
            row.tune,
            row.decide,
            row.sample_weight,
        )
        for row in table.rows
    ]
    assert all(set(rows) <= set(names) for rows in table.large.values())
    assert all({claim.first, claim.second} <= set(names) for claim in table.claims)
    assert all(settings.count(setting) == 1 for setting in settings)
    assert len({row.decide is None for row in table.rows}) == 1


@pytest.fixture
def command(folder, monkeypatch):
    """The command with one small table; returns the seeds of its runs."""
    table = Table("small", "Small", "nothing.", [Row("a"), Row("b", {"arity": 3})], data=[str(folder)])
    monkeypatch.setattr(command_line, "NAMES", ("small",))
    monkeypatch.setattr(command_line, "load_table", lambda name: table)

    def command(*options, **others):
        counted = Counted(**others)
        monkeypatch.setattr(command_line, "execute", counted)
        command.status = command_line.main(["small", *options])
        return counted.seeds

    return command


def test_the_command_runs_what_is_missing_and_writes_the_page(folder, command, capsys):
    page = folder / "pages" / "small.md"
    assert command("--seeds", "2", "--dry-run") == []
    assert "9 of 9 runs to do, about " in capsys.readouterr().out  # five to choose C
    assert command("--pages") == []
    assert "no run is finished" in capsys.readouterr().out
    assert not page.exists()
    assert command("--seeds", "1", "--rows", "b") == [0] * 5 + [0]
    assert "| a | not run | – |" in page.read_text()
    assert "| b | **50.00** |" in page.read_text()
    assert f"Not run yet: {folder}: `a`." in page.read_text()
    assert f"With fewer seeds than wanted as yet: {folder}: `b`." in page.read_text()
    assert command("--seeds", "2") == [0, 1, 1]
    assert page.with_suffix(".png").exists()
    assert command("--seeds", "1") == []
    assert "| a | **50.00 ± 0.00** |" in page.read_text()  # of all seeds that there are
    page.unlink()
    assert command("--pages") == []
    assert "| b | **50.00 ± 0.00** |" in page.read_text()
    records = (folder / "runs" / f"{folder.name}.jsonl").read_text()
    assert '"command":"python -m experiments small --rows b --seeds 1"' in records


def test_rows_whose_parameters_are_not_chosen_yet_are_not_run(folder, command, monkeypatch):
    monkeypatch.setattr(Estimates, "seconds", lambda self, run: 30.0 if run.part == "dev" else 1.0)
    assert (
        command("--minutes", "0.25") == []
    )  # C takes longer; with any C the rows would not be those of the table
    assert command("--minutes", "1", "--seeds", "1") == [0] * 7


def test_a_page_says_which_rows_are_of_older_code(folder, command, monkeypatch):
    command("--seeds", "1", "--rows", "a")
    monkeypatch.setattr(run, "code_of", lambda system, grows: "another version")
    assert command("--seeds", "1") == [0]
    page = folder / "pages" / "small.md"
    assert f"Of older code than that of this page: {folder}: `a`." in page.read_text()
    assert command("--seeds", "1", "--fresh") == [0] * 6
    command("--pages")
    assert "Of older code" not in page.read_text()


def test_tries_do_not_go_into_the_repository(folder, command):
    assert command("--seeds", "1", "--train-rows", "40") == [0] * 7
    assert not (folder / "pages").exists()
    assert not (folder / "runs").exists()
    assert (folder / "build" / "results" / "small.md").exists()
    assert (folder / "build" / "runs" / f"{folder.name}.jsonl").exists()


def test_tables_can_be_made_of_sets_of_the_repository():
    table = Table("t", "", "", [Row("a")], data=["tate", "bibtex"])
    assert command_line.sets_of(table, None) == ["tate", "bibtex"]
    assert command_line.sets_of(table, ["bibtex", "nothing"]) == ["bibtex"]
    assert command_line.sets_of(table, ["wiki10-31k", "bibtex", "eurlex-4k"]) == [
        "wiki10-31k",
        "bibtex",
        "eurlex-4k",
    ]


def test_only_sets_of_the_table_go_into_its_page():
    table = Table("t", "", "", [Row("a")], data=["tate", "bibtex"])
    for words, expected in (
        ([], False),
        (["--data", "tate"], False),
        (["--data", "wiki10-31k", "tate"], True),
    ):
        assert command_line.is_a_try(table, command_line.parse(["pruning", *words])) == expected
    assert command_line.parse(["--all"]).names == [*command_line.NAMES, *command_line.PAGES]


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["pruning", "--seeds", "0"]])
def test_bad_arguments(arguments, capsys):
    with pytest.raises(SystemExit):
        command_line.parse(arguments)
    assert "error:" in capsys.readouterr().err
