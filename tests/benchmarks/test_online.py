import json

import pytest
from benchmarks import inputs
from benchmarks.online import learn, main, parse
from benchmarks.online_peers import STREAM_PEERS
from benchmarks.online_table import HEADINGS, advantage, cells, notes, rates
from benchmarks.peers import OURS, script_of
from benchmarks.runner import Run
from benchmarks.summary import Spread, combined

from labeltree.data import read_xmlc

LABELS = ("0", "1", "2,3", "4")
TRAIN = "\n".join(["40 4 5", *(f"{LABELS[i % 4]} {i % 4}:1" for i in range(40))]) + "\n"
TEST = "4 4 5\n0 0:1\n1 1:1\n2,3 2:1\n4 3:1\n"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CACHE", tmp_path / "cache")
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "train.txt").write_text(TRAIN)
    (folder / "test.txt").write_text(TEST)
    return folder


def run(system, examples_s, failure="", **figures):
    figures |= {"examples_s": examples_s, "examples_cpu_s": 2 * examples_s} if not failure else {}
    return Run(system, 1, 600.0, "1.0", figures, failure=failure)


def sample_rows():
    """Ours and a peer after one and three passes, and one that failed."""
    return {
        (OURS, 1): combined([run(OURS, 8000.0, memory_mb=200.0, **{"P@1": 0.8})]),
        ("vowpalwabbit", 1): combined(
            [run("vowpalwabbit", rate, memory_mb=300.0, **{"P@1": 0.75}) for rate in (1000.0, 2000.0, 2500.0)]
        ),
        (OURS, 3): combined([run(OURS, 9000.0)]),
        ("napkinxc", 3): combined([run("napkinxc", 0.0, failure="train: exit code -11")]),
    }


def test_rates_are_of_learning_alone():
    assert rates({"train_s": 4.0, "train_cpu_s": 2.0}, 100) == {"examples_s": 25.0, "examples_cpu_s": 50.0}
    assert rates({"train_s": 4.0, "train_cpu_s": 2.0, "learn_s": 1.0}, 100) == {
        "examples_s": 100.0,
        "examples_cpu_s": 200.0,
    }


def test_cells_have_median_range_and_how_many_times_as_fast_ours_is():
    rows = sample_rows()
    ours, peer, _, failed = (dict(zip(HEADINGS, lines, strict=True)) for lines in cells(rows))
    assert ours["examples/s"] == ["8,000"]
    assert peer["passes"] == ["1"]
    assert peer["examples/s"] == ["2,000", "1,000–2,500", "4.0×"]
    assert peer["of CPU time"][0] == "4,000"
    assert peer["memory MB"] == ["300"]
    assert peer["P@1"] == ["75.00", "-5.00"]
    assert failed["examples/s"] == ["failed"]
    assert failed["memory MB"] == ["–"]


def test_the_range_of_an_advantage_is_the_widest():
    rows = sample_rows()
    faster = advantage(rows["vowpalwabbit", 1], "examples_s", rows[OURS, 1])
    assert faster == Spread(4.0, 3.2, 8.0)
    assert advantage(rows[OURS, 1], "examples_s", rows[OURS, 1]) is None
    assert advantage(rows["napkinxc", 3], "examples_s", rows[OURS, 3]) is None


def test_settings_and_failures_are_below_the_table():
    told = "\n".join(notes(sample_rows()))
    assert "--learning_rate" in told
    assert "napkinxc 1.0, 3 pass(es), failed. train: exit code -11" in told


@pytest.mark.parametrize("system", STREAM_PEERS)
def test_every_system_has_its_script(system):
    assert script_of(STREAM_PEERS[system]).exists()


@pytest.mark.parametrize("option", ["--passes", "--repeat", "--limit"])
def test_nothing_is_refused_as_a_number(option, capsys):
    with pytest.raises(SystemExit):
        parse([option, "0"])
    assert f"{option} must be above 0" in capsys.readouterr().err


def test_a_stream_has_the_same_rows_in_another_order(data):
    stream = inputs.Inputs(data / "train.txt", data / "test.txt").path("stream").read_text()
    assert stream != TRAIN
    assert stream.splitlines()[0] == TRAIN.splitlines()[0]
    assert sorted(stream.splitlines()) == sorted(TRAIN.splitlines())


def test_a_last_row_without_an_end_of_line_is_a_row_of_its_own(data):
    (data / "train.txt").write_text(TRAIN.rstrip("\n"))
    stream = inputs.Inputs(data / "train.txt", data / "test.txt").path("stream")
    assert read_xmlc(stream)[0].shape == (40, 4)


def test_ours_learns_a_stream_and_leaves_its_figures(data, tmp_path, capsys):
    output = tmp_path / "results"
    main(["--data", str(data), "--systems", OURS, "--passes", "3", "--repeat", "1", "--output", str(output)])
    (one,) = json.loads((output / "results.json").read_text())["runs"]
    assert (one["system"], one["passes"], one["failure"]) == (OURS, 3, "")
    assert one["figures"]["P@1"] == 1.0
    assert one["figures"]["examples_s"] == pytest.approx(3 * 40 / one["figures"]["train_s"])
    assert (output / "table.md").read_text().count("\n| labeltree") == 1
    assert "examples" in capsys.readouterr().out


def test_a_run_that_is_not_complete_has_no_rates(data):
    files = inputs.Inputs(data / "train.txt", data / "test.txt")
    stopped = learn(OURS, files, passes=1, limit_s=0.05)
    assert stopped.stopped == "train"
    assert "examples_s" not in stopped.figures
