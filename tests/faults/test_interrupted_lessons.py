"""A process that learns is killed, or its disk fails or loses power: what it told of is learned, and nothing twice."""

from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.disk import Disk, read_trace, restore
from tests.faults.tasks import TOLD, Task, clear

Do = Callable[..., dict[str, Any]]


@pytest.fixture
def stage(folder: Path, tasks: dict[str, Task]) -> Path:
    """A folder with a model, to be copied."""
    clear(folder / "start")
    tasks["learn"].prepare(folder / "start")
    shutil.copytree(folder / "start", folder / "stage")
    return folder / "stage"


def reset(stage: Path) -> None:
    shutil.rmtree(stage)
    shutil.copytree(stage.with_name("start"), stage)


def check(labels: list[str], n_told: int) -> None:
    """Check that what was told is learned: one more may be, which was written but not told."""
    learned = [f"label {number}" for number in range(6)]
    assert labels in ([*learned[:n_told], "sea"], [*learned[: n_told + 1], "sea"])


def n_told(stage: Path) -> int:
    return (stage / TOLD).stat().st_size if (stage / TOLD).exists() else 0


@pytest.mark.parametrize("fault", ["kill", "ENOSPC", "EIO"])
def test_at_every_call(stage: Path, tasks: dict[str, Task], do: Do, fault: str) -> None:
    answer = do("learn", stage)
    assert answer["error"] is None, answer["error"]
    assert n_told(stage) == 6
    check(tasks["learn"].seen(stage), 6)
    for at in range(1, answer["calls"] + 1):
        reset(stage)
        if fault == "kill":
            assert do("learn", stage, at=at, action="kill")["signal"] == signal.SIGKILL
        else:
            failed = do("learn", stage, at=at, action="fail", errno=fault)
            assert failed["kind"] in (None, "OSError", "ModelFileError"), failed["error"]
        check(tasks["learn"].seen(stage), n_told(stage))


def test_power_loss_after_every_call(stage: Path, tasks: dict[str, Task], do: Do) -> None:
    disk, lost, trace = Disk.of(stage), stage.with_name("lost"), stage.with_name("trace")
    assert do("learn", stage, trace=str(trace))["error"] is None
    rng = random.Random(0)
    n_told, known = 0, set()
    for call in read_trace(trace):
        disk.apply(call)
        n_told += call.name == "write" and call.path.endswith(f"/{TOLD}")
        for state in disk.after_power_loss(rng):
            files = frozenset((name, content) for name, content in state.items() if not name.endswith(TOLD))
            if (n_told, files) not in known:
                known.add((n_told, files))
                clear(lost)
                restore(state, stage, lost)
                check(tasks["learn"].seen(lost), n_told)
    assert n_told == 6
