"""Whatever call of a save is the last of its process, or fails: the old or the new model is there, complete."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tasks import MODEL, Task, clear

TASKS = [
    *(
        "save",
        "save new",
        "save online",
        "save mix",
        "save tagger",
        "calibrate",
        "train",
        "decide",
        "convert",
    ),
    *("xmlc", "xmlc.gz", "libsvm.xz", "word vectors", "parameters", "predict", "import texts", "import over"),
]
Do = Callable[..., dict[str, Any]]


class Stage:
    """A folder in which a task is done, and what there is to see before and after it."""

    def __init__(self, folder: Path, name: str, task: Task, do: Do) -> None:
        self.folder, self.name, self.task, self._do = folder, name, task, do
        self._start = folder.with_name("start")
        clear(self._start)
        task.prepare(self._start)
        self.reset()
        self.before = task.seen(folder)
        answer = do(name, folder)
        assert answer["error"] is None, answer["error"]
        self.n_calls = answer["calls"]
        self.after = task.seen(folder)
        assert self.after not in (None, self.before)
        self.files = self.listing()

    def reset(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._start, self.folder)

    def listing(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def disturb(self, **fault: Any) -> dict[str, Any]:
        """Do the task with a fault, and check what is there afterwards."""
        self.reset()
        answer = self._do(self.name, self.folder, **fault)
        assert self.task.seen(self.folder) in (self.before, self.after), fault
        return answer

    def check_next(self) -> None:
        """Do the task again: it succeeds, and leaves no litter of the one before."""
        answer = self._do(self.name, self.folder)
        assert answer["error"] is None, answer["error"]
        assert self.task.seen(self.folder) == self.after


@pytest.fixture
def stage(request: pytest.FixtureRequest, folder: Path, tasks: dict[str, Task], do: Do) -> Stage:
    return Stage(folder / "stage", request.param, tasks[request.param], do)


def of(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("stage", names, indirect=True)


@of(*TASKS)
def test_killed_at_every_call(stage: Stage) -> None:
    assert stage.n_calls >= 4
    for at in range(1, stage.n_calls + 1):
        answer = stage.disturb(at=at, action="kill")
        assert answer["signal"] == signal.SIGKILL
        stage.check_next()
        if stage.after != stage.before and (stage.folder / MODEL).exists():
            models = [name for name in stage.listing() if name.startswith(f"{MODEL}/")]
            assert models == [name for name in stage.files if name.startswith(f"{MODEL}/")], at


@of(*TASKS)
def test_failing_at_every_call(stage: Stage) -> None:
    """The error is reported, and nothing half-written is left behind unless its removal failed."""
    for at in range(1, stage.n_calls + 1):
        answer = stage.disturb(at=at, action="fail", errno=("EIO", "ENOSPC")[at % 2])
        assert answer["signal"] == 0
        if answer["error"] is None:
            # Only the removal of a file that is not needed any more may fail without a word.
            assert stage.task.seen(stage.folder) == stage.after, at
        else:
            assert answer["kind"] in ("OSError", "ModelFileError"), answer["error"]
        litter = [name for name in stage.listing() if name.endswith(".tmp")]
        assert not litter, (at, answer["error"])
        stage.check_next()


@pytest.mark.parametrize(
    "fault", [{"action": "short"}, {"action": "fail", "errno": "EINTR"}], ids=["short", "EINTR"]
)
@of("save", "save new", "xmlc.gz", "predict", "import rows")
def test_short_and_interrupted_calls_are_repeated(stage: Stage, fault: dict[str, Any]) -> None:
    for at in range(1, stage.n_calls + 1):
        answer = stage.disturb(at=at, **fault)
        if answer["error"] is not None:  # rename, unlink and mkdir are never interrupted in truth
            assert fault["action"] == "fail"
            assert answer["kind"] in ("InterruptedError", "ModelFileError", "OSError"), answer["error"]
            continue
        assert stage.task.seen(stage.folder) == stage.after
        assert stage.listing() == stage.files


@of("save", "save new", "train", "decide", "xmlc", "libsvm.xz", "predict", "import rows")
def test_files_that_cannot_grow(stage: Stage) -> None:
    """As on a full disk, but for every size at which it may be full."""
    largest = max(path.stat().st_size for path in stage.folder.rglob("*") if path.is_file())
    n_refused = 0
    for size in sorted({1, 2, 63, 64, 100, 1000, *(largest * i // 8 for i in range(1, 8)), largest - 1}):
        answer = stage.disturb(file_bytes=size)
        if answer["error"] is not None:
            n_refused += 1
            assert stage.task.seen(stage.folder) == stage.before
            assert answer["kind"] in ("OSError", "ModelFileError"), answer["error"]
            assert not [name for name in stage.listing() if name.endswith(".tmp")]
    assert n_refused > 0
