"""A disk that is full: nothing is lost, nothing is left behind, and the next save succeeds when there is room."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tasks import Task

PAGE = 4096


def mount(folder: Path, *options: str) -> bool:
    """Mount a disk in memory, or change its size; return whether that is possible here."""
    if shutil.which("mount") is None:
        return False
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk, with room for a model."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount(disk, "size=16m"):
        pytest.skip("only root may mount a small disk; test_files_that_cannot_grow needs no rights")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.parametrize("name", ["save", "save new", "save online", "decide", "xmlc.gz", "predict"])
def test_full_after_every_page(
    name: str, disk: Path, tasks: dict[str, Task], do: Callable[..., dict[str, Any]]
) -> None:
    task, stage = tasks[name], disk / "stage"
    start = disk.with_name("start")
    start.mkdir()
    task.prepare(start)
    n_refused = 0
    for n_pages in range(40):
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(start, stage)
        before, files = task.seen(stage), sorted(stage.rglob("*"))
        used = shutil.disk_usage(disk).used
        assert mount(disk, "remount", f"size={max(used + n_pages * PAGE, PAGE)}")  # 0 would be no limit
        answer = do(name, stage)
        if answer["error"] is not None:
            n_refused += 1
            assert answer["kind"] in ("OSError", "ModelFileError"), answer["error"]
            assert task.seen(stage) == before
            assert sorted(stage.rglob("*")) == files
        assert mount(disk, "remount", "size=16m")
        if answer["error"] is None:
            break
        again = do(name, stage)
        assert again["error"] is None, again["error"]
        assert task.seen(stage) not in (None, before)
    assert answer["error"] is None
    assert n_refused > 0
