import json
import re
import sys

import pytest
from benchmarks import kills, memory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills processes")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command with a pool on little data, and return its exit status, its table and what it writes."""
    monkeypatch.setattr(memory, "CACHE", tmp_path)
    monkeypatch.setattr(kills, "CACHE", tmp_path)

    def run_command(*options):
        data = ["--labels", "400", "--rows", "400", "--engines", "pool", "--finer", "1000"]
        status = kills.main([*data, "--json", str(tmp_path / "kills.json"), *options])
        [header, _, line] = capsys.readouterr().out.splitlines()
        row = dict(
            zip(*([cell.strip() for cell in text.split("|")[1:-1]] for text in (header, line)), strict=True)
        )
        return status, row, json.loads((tmp_path / "kills.json").read_text())

    return run_command


def test_a_training_that_is_killed_again_and_again_ends_with_the_same_bytes(run, monkeypatch):
    monkeypatch.setattr(kills, "PROGRAM_EVERY", 2)
    status, row, (here, found) = run("--kills", "4", "--seconds-between", "0.3")
    assert (status, row["same bytes"]) == (0, "yes")
    assert found["model"] == here["model"]
    assert int(row["killed workers"]) > 0
    assert int(row["killed programs"]) > 0
    starts = [int(number) for number in row["finished parts at each start"].split(", ")]
    assert starts == sorted(starts)
    assert starts[0] == 0
    assert 0 < starts[-1] <= int(row["parts"])
    assert len(starts) == int(row["killed programs"]) + 1


def test_another_model_is_told(run, monkeypatch):
    monkeypatch.setattr(kills, "measured", lambda job: {"seconds": 2.0, "model": "another"})
    status, row, _ = run("--kills", "1", "--seconds-between", "600")
    assert (status, row["same bytes"], row["killed workers"]) == (1, "NO", "0")
    assert re.fullmatch(r"[\d.]+", row["seconds"])
