import pytest
from benchmarks.__main__ import UNUSUAL, parse, schedule
from benchmarks.peers import PEERS


def test_every_system_runs_as_often_and_in_another_order():
    runs = list(schedule(["labeltree", "omikuji", "sklearn"], [1, 3], 2))
    assert len(set(runs)) == len(runs)
    assert runs == [
        (0, "labeltree", 1), (0, "omikuji", 1), (0, "sklearn", 1), (0, "labeltree", 3), (0, "omikuji", 3),
        (1, "omikuji", 1), (1, "sklearn", 1), (1, "labeltree", 1), (1, "omikuji", 3), (1, "labeltree", 3),
    ]  # fmt: skip


def test_all_systems_but_the_slowest_run_unasked():
    assert set(parse([]).systems) == set(PEERS) - set(UNUSUAL)


def test_a_limit_of_nothing_is_refused(capsys):
    with pytest.raises(SystemExit):
        parse(["--limit", "0"])
    assert "--limit must be above 0" in capsys.readouterr().err
