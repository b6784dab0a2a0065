import json
from dataclasses import replace

import pytest
from benchmarks import inputs, word_vectors
from benchmarks.peers import PEERS, script_of
from benchmarks.runner import Run
from benchmarks.summary import Spread, combined
from benchmarks.word_vectors import main, parse, schedule
from benchmarks.word_vectors_peers import OUR_SYSTEMS, PAIRS, SYSTEMS, peers
from benchmarks.word_vectors_table import (
    COMPARED_HEADINGS,
    HEADINGS,
    cells,
    compared_cells,
    comparisons,
    notes,
)

LABELS = ("0", "1", "2,3", "4")
TRAIN = "\n".join(["40 4 5", *(f"{LABELS[i % 4]} {i % 4}:1" for i in range(40))]) + "\n"
TEST = "4 4 5\n0 0:1\n1 1:1\n2,3 2:1\n4 3:1\n"
OURS, RIVAL = "labeltree-extremetext", "extremetext"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CACHE", tmp_path / "cache")
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "train.txt").write_text(TRAIN)
    (folder / "test.txt").write_text(TEST)
    return folder


@pytest.fixture
def stand_in(monkeypatch):
    """Lets another class of ours stand in for all systems, also for those that would have to be installed."""

    def stood_in(*options):
        ours = peers(*options)[OURS]
        settings = {"estimator": "LabelTreeClassifier", "parameters": {"arity": 2}}
        return dict.fromkeys(SYSTEMS, replace(ours, settings=settings))

    monkeypatch.setattr(word_vectors, "peers", stood_in)


def run(system, total_s, precision, **figures):
    figures |= {"total_s": total_s, "model_mb": 10 * total_s, "P@1": precision, "P@5": precision / 2}
    return Run(system, 1, 600.0, "1.0", figures)


def sample_rows():
    """A pair with all figures, one whose rival was stopped, and one whose rival failed."""
    groups = {
        ("tate", 100, OURS): [run(OURS, seconds, 0.8, learn_s=seconds / 2) for seconds in (2.0, 4.0, 5.0)],
        ("tate", 100, RIVAL): [run(RIVAL, seconds, 0.75) for seconds in (10.0, 20.0, 40.0)],
        ("tate", 100, "labeltree-fasttext-ova"): [run("labeltree-fasttext-ova", 6.0, 0.7)],
        ("tate", 100, "fasttext-ova"): [Run("fasttext-ova", 1, 600.0, "0.10", {}, stopped="train")],
        ("tate", 100, "labeltree-fasttext-hs"): [run("labeltree-fasttext-hs", 6.0, 0.6)],
        ("tate", 100, "fasttext-hs"): [
            Run(
                "fasttext-hs", 1, 600.0, "0.10", {}, failure="train: exit code 1\nTraceback\nEncountered NaN."
            )
        ],
    }
    return {key: combined(group) for key, group in groups.items()}


def test_all_systems_have_the_same_dimension_and_epochs():
    made = peers(50, 7, extremetext_lr=0.3, fasttext_lr=0.4)
    assert set(made) == set(SYSTEMS)
    for name in OUR_SYSTEMS:
        parameters = made[name].settings["parameters"]
        assert (parameters["dimension"], parameters["epochs"]) == (50, 7)
    for name, rate in {"extremetext": 0.3, "fasttext-hs": 0.4, "fasttext-ova": 0.4}.items():
        settings = made[name].settings
        assert (settings["dim"], settings["epoch"], settings["lr"]) == (50, 7, rate)
        assert made[name].packages == PEERS[name].packages
        assert settings.keys() == PEERS[name].settings.keys()
    assert made["fasttext-hs"].settings["loss"] == "hs"
    assert made["labeltree-fasttext-ova"].settings["parameters"]["loss"] == "ova"


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_its_script(system):
    assert script_of(peers(10, 1, 0.1, 0.1)[system]).exists()


def test_runs_are_interleaved_and_the_large_dimension_is_for_one_set():
    plan = list(schedule(parse(["--repeat", "2", "--systems", OURS, RIVAL])))
    assert plan[:4] == [
        (0, "eurlex57k", 100, OURS),
        (0, "eurlex57k", 100, RIVAL),
        (0, "eurlex57k", 500, OURS),
        (0, "eurlex57k", 500, RIVAL),
    ]
    assert {(data, dimension) for _, data, dimension, _ in plan[4:8]} == {
        ("tate", 100),
        ("extreme-100k", 100),
    }
    assert plan[8] == (1, "eurlex57k", 100, RIVAL)
    assert len(plan) == 16


def test_dimensions_that_are_given_are_for_all_sets():
    plan = schedule(parse(["--data", "tate", "--dimensions", "20", "500", "--repeat", "1"]))
    assert [dimension for _, _, dimension, _ in plan] == [20] * 6 + [500] * 6


def test_combinations_are_left_out():
    options = parse(["--skip", "fasttext-ova:tate", "fasttext-ova:extreme-100k"])
    assert {data for _, data, _, system in schedule(options) if system == "fasttext-ova"} == {"eurlex57k"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dimensions", "100", "0"], "--dimensions must be above 0"),
        (["--epochs", "0"], "--epochs must be above 0"),
        (["--fasttext-lr", "-1"], "--fasttext-lr must be above 0"),
        (["--skip", "oracle:tate"], "expected SYSTEM:SET"),
        (["--skip", "fasttext-ova"], "expected SYSTEM:SET"),
        (["--skip", "fasttext-ova:bibtex"], "--skip must name a set of --data"),
    ],
)
def test_wrong_options_are_told(options, message, capsys):
    with pytest.raises(SystemExit):
        parse(options)
    assert message in capsys.readouterr().err


def test_cells_have_medians_and_ranges_and_tell_what_came_to_no_end():
    table = {
        row.system: dict(zip(HEADINGS, lines, strict=True))
        for row, lines in zip(sample_rows().values(), cells(sample_rows()), strict=True)
    }
    assert table[OURS]["total s"] == ["4.00", "2.00–5.00"]
    assert table[OURS]["training s"] == ["2.00", "1.00–2.50"]
    assert table[OURS]["P@1"] == ["80.00"]
    assert table[RIVAL]["training s"] == ["–"]
    assert table["fasttext-ova"]["total s"] == ["> 600"]
    assert table["fasttext-hs"]["total s"] == ["failed"]


def test_ours_are_compared_with_their_rivals():
    first, second, third = comparisons(sample_rows())
    assert (first.system, first.rival) == (OURS, RIVAL)
    assert first.ratios["total_s"] == Spread(5.0, 2.0, 20.0)
    assert "learn_s" not in first.ratios
    assert first.differences == {"P@1": pytest.approx(5.0), "P@5": pytest.approx(2.5)}
    assert second.ratios["total_s"] == Spread(100, 100, 100, at_least=True)
    assert third.ratios == third.differences == {}
    table = [
        dict(zip(COMPARED_HEADINGS, lines, strict=True)) for lines in compared_cells([first, second, third])
    ]
    assert table[0]["total"] == ["5.0×", "2.00–20.0"]
    assert table[0]["training"] == ["–"]
    assert (table[0]["P@1"], table[0]["P@5"]) == (["+5.00"], ["+2.50"])
    assert table[1]["total"] == ["> 100×"]
    assert table[1]["P@1"] == table[2]["total"] == ["–"]


def test_settings_gaps_and_failures_are_below_the_table():
    told = "\n".join(notes(sample_rows(), peers(100, 10, 0.25, 0.5), [("fasttext-hs", "tate")]))
    assert "Medians of 3 runs" in told
    assert "extremetext: arity 2, maxLeaves 100, lr 0.25, l2 0.001; has no seed" in told
    assert "fasttext-hs on tate: left out." in told
    assert "fasttext-ova 0.10 on tate, dimension 100: stopped in train after 600 s." in told
    assert (
        "fasttext-hs 0.10 on tate, dimension 100, failed. train: exit code 1: Encountered NaN.\n"
        in told + "\n"
    )
    assert "Traceback" not in told


def test_systems_are_measured_and_leave_their_figures(data, stand_in, tmp_path, capsys):
    output = tmp_path / "results"
    options = ["--data", str(data), "--systems", OURS, RIVAL, "--repeat", "1", "--threads", "1"]
    main([*options, "--output", str(output)])
    results = json.loads((output / "results.json").read_text())
    ours, rival = results["runs"]
    assert (ours["system"], ours["data"], ours["dimension"], ours["failure"]) == (OURS, "toy", 100, "")
    assert ours["figures"]["P@1"] == 1.0
    assert ours["figures"]["learn_s"] == ours["figures"]["train_s"] < ours["figures"]["total_s"]
    assert "learn_s" not in rival["figures"]  # only what a rival writes as it trains tells
    (compared,) = results["comparisons"]
    assert compared["rival"] == PAIRS[OURS]
    assert compared["differences"] == {"P@1": 0.0, "P@5": 0.0}
    text = (output / "table.md").read_text()
    assert text.count("\n| labeltree-extremetext") == 2
    assert "ours beside their rivals" in text
    assert "Word vectors, 10 epochs, 1 threads" in capsys.readouterr().out


def test_what_was_stopped_is_not_run_again(data, stand_in, tmp_path, capsys):
    output = tmp_path / "results"
    options = ["--data", str(data), "--systems", OURS, "--repeat", "3", "--limit", "0.05"]
    main([*options, "--output", str(output)])
    (stopped,) = json.loads((output / "results.json").read_text())["runs"]
    assert stopped["stopped"] == "train"
    assert "P@1" not in stopped["figures"]
    assert "stopped in train" in capsys.readouterr().out
