"""Power fails after any call of a save: what was synced is enough for the old or the new model, complete."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.disk import Call, Disk, read_trace, restore
from tests.faults.tasks import Task, clear

TASKS = ["save", "save new", "save online", "decide", "train", "xmlc", "xmlc.gz", "parameters", "predict"]


@pytest.mark.parametrize("name", TASKS)
def test_power_loss_after_every_call(
    name: str, folder: Path, tasks: dict[str, Task], do: Callable[..., dict[str, Any]]
) -> None:
    task, stage, lost = tasks[name], folder / "stage", folder / "lost"
    clear(stage)
    task.prepare(stage)
    before, disk = task.seen(stage), Disk.of(stage)
    answer = do(name, stage, trace=str(folder / "trace"))
    assert answer["error"] is None, answer["error"]
    after, calls = task.seen(stage), read_trace(folder / "trace")
    rng = random.Random(0)
    known: dict[Any, Any] = {}

    def seen_after_power_loss() -> list[Any]:
        found = []
        for state in disk.after_power_loss(rng):
            key = frozenset(state.items())
            if key not in known:
                shutil.rmtree(lost, ignore_errors=True)
                lost.mkdir()
                restore(state, stage, lost)
                known[key] = task.seen(lost)
            found.append(known[key])
        return found

    for number, call in enumerate(calls):
        disk.apply(call)
        for seen in seen_after_power_loss():
            assert seen in (before, after), (number, call.name, call.path)
    # The task has said that it succeeded: now nothing but the new content may be seen.
    assert set(seen_after_power_loss()) == {after}
    assert {name: bytes(node.content) for name, node in disk.names.items() if node.content is not None} == {
        str(path): path.read_bytes() for path in stage.rglob("*") if path.is_file()
    }, "the trace is not complete"


def test_a_rename_before_the_sync_would_be_noticed(folder: Path) -> None:
    """The disk of this test loses what a careless program does not sync."""
    (folder / "file").write_bytes(b"old")
    file, temporary = str(folder / "file"), str(folder / "new")
    careless = [Call("create", temporary, "", 0, b""), Call("write", temporary, "", 0, b"new")]
    careless.append(Call("rename", temporary, file, 0, b""))
    disk = Disk.of(folder)
    for call in careless:
        disk.apply(call)
    states = list(disk.after_power_loss(random.Random(0)))
    assert {state.get(file) for state in states} == {b"old", b"new", b""}
    disk.apply(Call("sync", file, "", 0, b""))
    assert {state.get(file) for state in disk.after_power_loss(random.Random(0))} == {b"old", b"new"}
    disk.apply(Call("sync", str(folder), "", 0, b""))
    assert {state.get(file) for state in disk.after_power_loss(random.Random(0))} == {b"new"}
