import json
import sys

import pytest
from benchmarks import memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and kills a process")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The file that runs on little data are kept in."""
    monkeypatch.setattr(memory, "CACHE", tmp_path)
    return tmp_path / "memory.json"


def run(results, *options):
    assert memory.main(["--labels", "300", "--rows", "300", "--json", str(results), *options]) == 0
    return json.loads(results.read_text())


def test_runs_are_kept_and_drawn(results, tmp_path, capsys):
    free, limited = run(results, "--memory-gb", "none", "1", "--picture", str(tmp_path / "memory.png"))
    assert (free["limit"], limited["limit"]) == (None, 1.0)
    assert free["model"] == limited["model"]
    assert free["n_labels"] == limited["n_labels"] <= 300
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count(free["model"][:12]) == 2
    assert len(run(results, "--memory-gb", "none")) == 2  # in place of the older one


def test_a_training_that_is_killed_counts_with_what_it_had(results, monkeypatch):
    killed = "import os, time; time.sleep(1); os.kill(os.getpid(), 9)"
    started = memory.subprocess.Popen

    def start(command, **how):
        return started([sys.executable, "-c", killed], **how)

    store = memory.synthetic_store(300, 300)
    monkeypatch.setattr(memory.subprocess, "Popen", start)
    found = memory.measured(store, None, 1)
    assert found["stopped"]
    assert found["own_mb"] > 1
    assert found["seconds"] >= 1
    assert "no memory left" in memory.table_row({"limit": None, **found}, {})
