"""Workers that cannot live are not started for ever."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from tests.command_line import run
from tests.small_models import small_model

from labeltree.serving import supervisor


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_workers_that_die_at_every_start_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """However long it takes them: a large model may be read for minutes before it is found to be damaged."""
    small_model().save(tmp_path / "small")
    for file in (tmp_path / "small").glob(
        "tree-*"
    ):  # behind its head, which is read before any worker is started
        content = file.read_bytes()
        n_head = 8 + int.from_bytes(content[:8], "little")
        file.write_bytes(content[:n_head] + b"\xff" * (len(content) - n_head))
    pauses: list[float] = []
    sleep = time.sleep
    monkeypatch.setattr(supervisor, "EARLY_SECONDS", 0.0)
    monkeypatch.setattr(supervisor, "MAX_EARLY_CRASHES", 2)
    monkeypatch.setattr(supervisor.time, "sleep", lambda seconds: (pauses.append(seconds), sleep(seconds)))
    refused = run("serve", tmp_path / "small", "--workers", 2, "--port", 0, exit_code=1)
    *log, message = refused.stderr.splitlines()
    assert message == "labeltree: workers crash as soon as they are started; the log has the reason"
    assert [json.loads(line)["event"] for line in log] == ["worker died", "worker died"]
    assert pauses == [0.5]  # before the first of them was started again
    assert "child_begin must start with 1" in capfd.readouterr().err  # as the workers say
