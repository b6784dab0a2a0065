"""One process at a time changes a model: others wait briefly, and are then refused by name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.small_models import small_data, small_model

from labeltree import ModelFileError
from labeltree.model_file import load, save
from labeltree.model_file.lock import LOCK_NAME, ModelLock, _try_lock

REPOSITORY = str(Path(__file__).parents[2])
PURPOSE = "saves this model"

#: Saves a model to each directory that it is told.
SAVER = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.small_models import small_model

model = small_model(seed=int(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin:
    model.save(line.strip())
    print("saved", flush=True)
"""

#: Holds the lock of a directory until its input ends.
HOLDER = """
import sys
from pathlib import Path
from labeltree.model_file.lock import ModelLock

with ModelLock(Path(sys.argv[1]), "learns into this model (labeltree learn)"):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def process(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process that has said that it is ready."""
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as started:
        assert started.stdout is not None
        assert started.stdin is not None
        try:
            assert started.stdout.readline()
            yield started
            started.stdin.close()
            started.wait(60)
        finally:
            started.kill()


def answer_of(saver: subprocess.Popen[str]) -> str:
    assert saver.stdout is not None
    return saver.stdout.readline().strip()


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse soon, where a test expects it. `WAIT_SECONDS` is a default argument."""
    monkeypatch.setattr(ModelLock.__init__, "__defaults__", (0.3,))


def test_two_processes_that_save_at_once_leave_one_of_their_models(tmp_path: Path) -> None:
    X, _ = small_data()
    expected = [small_model(seed=seed).predict_topk(X).probabilities for seed in (0, 1)]
    path = tmp_path / "model"
    with process(SAVER, 0, REPOSITORY) as first, process(SAVER, 1, REPOSITORY) as second:
        for _ in range(25):
            for saver in (first, second):
                assert saver.stdin is not None
                print(path, file=saver.stdin, flush=True)
            assert [answer_of(first), answer_of(second)] == ["saved", "saved"]
            found = load(path, verify=True).predict_topk(X).probabilities
            assert any(np.array_equal(found, one) for one in expected)
    assert [one.name for one in tmp_path.iterdir()] == ["model"]
    assert len(list(path.iterdir())) == 4


def test_a_save_that_waits_in_vain_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model"
    small_model(seed=0).save(path)
    before = {one.name: one.read_bytes() for one in path.iterdir()}
    with process(HOLDER, path) as holder:
        refused = (
            rf"process {holder.pid} on .* learns into this model \(labeltree learn\); wait until it is done"
        )
        with pytest.raises(ModelFileError, match=refused):
            small_model(seed=1).save(path)
        (tmp_path / "link").symlink_to(path)
        with pytest.raises(ModelFileError, match=refused):
            small_model(seed=1).save(tmp_path / "link")
        assert load(path).predict_topk(small_data()[0]).labels.size  # readers need no lock
    assert {one.name: one.read_bytes() for one in path.iterdir()} == before
    small_model(seed=1).save(path)


def test_a_save_waits_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelLock.__init__, "__defaults__", (60.0,))
    path = tmp_path / "model"
    lock = ModelLock(path, PURPOSE)
    waiting = threading.Thread(target=small_model(seed=0).save, args=[path])
    waiting.start()
    time.sleep(0.1)
    assert not (path / "model.json").exists()
    lock.release()
    waiting.join(60)
    assert load(path, verify=True) is not None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_the_lock_of_a_killed_process_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with process(HOLDER, path) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait(60)
        assert (path / LOCK_NAME).exists()
        small_model(seed=0).save(path)
        assert not (path / LOCK_NAME).exists()


def test_threads_exclude_each_other_and_nobody_is_let_in_twice(tmp_path: Path) -> None:
    inside, seen = [0], []

    def work() -> None:
        for _ in range(50):
            with ModelLock(tmp_path / "model", PURPOSE, 60.0):
                inside[0] += 1
                seen.append(inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 200
    assert list(tmp_path.glob("model/*")) == []


def test_a_lock_leaves_nothing_behind(tmp_path: Path) -> None:
    ModelLock(tmp_path / "model", PURPOSE).release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_neither_has_nor_releases_the_lock_of_its_parent(tmp_path: Path) -> None:
    lock = ModelLock(tmp_path, PURPOSE)
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(ModelFileError, match="does not have the lock"):
                lock.check(tmp_path)
            lock.release()
            with pytest.raises(ModelFileError, match=f"process {os.getppid()} "):
                ModelLock(tmp_path, PURPOSE)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    lock.check(tmp_path)
    lock.release()
    ModelLock(tmp_path, PURPOSE).release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_that_lives_on_does_not_keep_the_lock_of_a_killed_parent(tmp_path: Path) -> None:
    forking = HOLDER.replace("sys.stdin.read()", "import os; os.fork() or sys.stdin.read(); sys.stdin.read()")
    with process(forking, tmp_path) as parent:
        parent.kill()
        parent.wait(60)
        ModelLock(tmp_path, PURPOSE).release()


def test_a_directory_that_is_replaced_is_not_written_to_with_the_lock_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "model"
    small_model(seed=0).save(path)
    with ModelLock(path, PURPOSE) as lock:
        path.rename(tmp_path / "moved")
        small_model(seed=0).save(path)
        with pytest.raises(ModelFileError, match="another directory was put in its place"):
            save(small_model(seed=1), path, lock=lock)
    assert load(path, verify=True) is not None


def test_nothing_is_put_into_a_directory_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ModelFileError, match="is not a model of labeltree"):
        small_model(seed=0).save(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["link", "link that leads nowhere", "pipe", "directory"])
def test_a_lock_that_is_no_file_is_refused_and_nothing_is_written_through_it(
    tmp_path: Path, kind: str
) -> None:
    model, other = tmp_path / "model", tmp_path / "other"
    model.mkdir()
    other.write_text("precious")
    lock = model / LOCK_NAME
    if kind == "pipe":
        os.mkfifo(lock)
    elif kind == "directory":
        lock.mkdir()
    else:
        lock.symlink_to(other if kind == "link" else tmp_path / "no" / "where")
    with pytest.raises(ModelFileError, match="expected a regular file, got something else; remove it"):
        ModelLock(model, PURPOSE, wait_seconds=0.1)
    assert other.read_text() == "precious"
    assert lock.is_symlink() or lock.exists()


def test_a_lock_that_is_another_name_of_a_file_is_replaced(tmp_path: Path) -> None:
    model, other = tmp_path / "model", tmp_path / "other"
    model.mkdir()
    other.write_text("precious")
    os.link(other, model / LOCK_NAME)
    with ModelLock(model, PURPOSE), pytest.raises(ModelFileError, match="saves this model"):
        ModelLock(model, PURPOSE, wait_seconds=0)
    assert other.read_text() == "precious"
    assert not list(model.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_to_a_directory_that_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    small_model(seed=0).save(link)
    assert link.is_symlink()
    assert load(target).predict(small_data()[0])
    other = tmp_path / "other"
    other.symlink_to(tmp_path / "elsewhere")
    ModelLock(other, PURPOSE).release()
    assert not (tmp_path / "elsewhere").exists()


def test_windows_locks_a_byte_behind_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others could not read the text otherwise; it is then written from the begin."""
    locked: list[int] = []

    def locking(number: int, mode: str, n_bytes: int) -> None:
        assert (mode, n_bytes) == ("at once", 1)
        locked.append(os.lseek(number, 0, os.SEEK_CUR))

    with (tmp_path / LOCK_NAME).open("w+b", buffering=0) as file, monkeypatch.context() as patched:
        patched.setattr("labeltree.model_file.lock.sys", SimpleNamespace(platform="win32"))
        windows = SimpleNamespace(locking=locking, LK_NBLCK="at once")
        patched.setattr("labeltree.model_file.lock.msvcrt", windows, raising=False)
        assert _try_lock(file)
        assert locked == [1 << 20]
        assert file.tell() == 0
