"""A disk that is full stops learning, not answers; with room again learning resumes, and nothing is lost or doubled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.servers import BEARER, TOKEN, ServerProcess, serving, wait_until
from tests.serving.conftest import online_model
from tests.serving.lessons import example, learned, send, settings, state

from labeltree import OnlineLabelTreeClassifier
from labeltree.model_file.journal import Journal, journal_of
from labeltree.model_file.lock import ModelLock
from labeltree.online.journaled_model import JournaledModel
from labeltree.serving import Settings, Tokens

if sys.platform != "win32":
    import resource


def full(*arguments: Any) -> None:
    raise OSError(28, "No space left on device")


def readiness(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/readyz").json()["models"]["online"]
    return found


def check_resumes(server: ServerProcess, path: Path, fill: Any, make_room: Any) -> None:
    """Fill the disk until examples are refused, make room, and look what was learned."""
    acknowledged, n_refused = 0, 0

    def teach() -> bool:
        nonlocal acknowledged, n_refused
        answer = send(server.client, example(acknowledged))
        if answer.status_code == 200:
            acknowledged += 1
            assert answer.json()["n_examples"] == 4 + acknowledged
            assert readiness(server.client) == {"learns": True, "reason": None}
            return True
        n_refused += 1
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (507, "disk_full")
        assert "the journal cannot be written: " in error["message"]
        assert "nothing was learned: retry later" in error["message"]
        told = readiness(server.client)
        assert told["learns"] is False
        assert told["reason"].startswith("the journal cannot be written: ")
        assert server.client.post("/v1/models/online/predict", json={"text": "a"}).status_code == 200
        return False

    for _ in range(3):
        for _ in range(5):
            assert teach()
        fill()
        wait_until(lambda: not teach(), seconds=60)
        assert not teach()
        make_room()
        assert teach()
    server.stop(9)
    assert n_refused >= 6
    with serving(settings(path)) as (_, service):
        expected = learned(online_model(), [example(i) for i in range(acknowledged)])
        assert state(service.registry["online"].model) == state(expected)


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="only Linux changes limits of other processes"
)
def test_learning_resumes_when_files_may_grow_again(path: Path, tmp_path: Path) -> None:
    """With a limit on the size of files, which the system enforces as it does that of a disk."""
    with ServerProcess(path, "--learn", "--quiet", log=tmp_path / "log") as server:
        unlimited = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)

        def fill() -> None:
            size = max(part.stat().st_size for part in journal_of(path).glob("*.jsonl"))
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 250, unlimited[1]))

        check_resumes(
            server,
            path,
            fill,
            lambda: resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited) and None,
        )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("may not mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_learning_resumes_when_a_disk_has_room_again(small_disk: Path, tmp_path: Path) -> None:
    path = small_disk / "online"
    online_model().save(path)
    filler = small_disk / "filler"

    def fill() -> None:
        with filler.open("wb", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass

    with ServerProcess(path, "--learn", "--quiet", log=tmp_path / "log") as server:
        check_resumes(server, path, fill, filler.unlink)


def test_a_disk_that_is_full_stops_learning_until_there_is_room(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(settings(path)) as (client, service):
        assert send(client, example(0)).status_code == 200
        monkeypatch.setattr(Journal, "_write", full)
        for _ in range(2):
            refused = send(client, example(1))
            assert (refused.status_code, refused.json()["error"]["code"]) == (507, "disk_full")
            assert refused.headers["retry-after"] == "10"
        assert readiness(client)["reason"] == "the journal cannot be written: No space left on device"
        assert client.post("/v1/models/online/predict", json={"text": "a"}).status_code == 200
        monkeypatch.undo()
        assert send(client, example(2)).json()["n_examples"] == 6
        assert readiness(client) == {"learns": True, "reason": None}
        expected = learned(online_model(), [example(0), example(2)])
        assert state(service.registry["online"].model) == state(expected)


def test_another_fault_of_the_disk_is_no_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> None:
        raise OSError(5, "Input/output error")

    with serving(settings(path)) as (client, _):
        monkeypatch.setattr(Journal, "_write", broken)
        refused = send(client, example(1))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "cannot_write")
        monkeypatch.undo()
        assert send(client, example(2)).json()["n_examples"] == 5


def test_what_waits_while_the_disk_fails_is_refused_or_learned(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, failing, write = threading.Event(), threading.Event(), Journal._write

    def fail_once(journal: Journal, lines: bytes) -> None:
        if begun.is_set():
            write(journal, lines)
            return
        begun.set()
        assert failing.wait(60)
        full()

    with serving(settings(path)) as (client, service), ThreadPoolExecutor(3) as threads:
        monkeypatch.setattr(Journal, "_write", fail_once)
        sent = [threads.submit(send, client, example(0))]
        assert begun.wait(60)
        sent += [threads.submit(send, client, example(i)) for i in (1, 2)]
        wait_until(lambda: service.learners["online"]._lessons.qsize() == 2)
        failing.set()
        assert [answer.result().status_code for answer in sent] == [507, 200, 200]
        labels = set(service.registry["online"].model.classes_)
        assert {label for label in labels if label.startswith("only")} == {"only 1", "only 2"}


def test_a_snapshot_that_fails_is_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_tried, save = 0, JournaledModel.save

    def fail_twice(journaled: JournaledModel) -> int:
        nonlocal n_tried
        n_tried += 1
        if n_tried <= 2:
            full()
        return save(journaled)

    monkeypatch.setattr("labeltree.serving.learner.RETRY_SECONDS", 0.0)
    monkeypatch.setattr(JournaledModel, "save", fail_twice)
    with serving(settings(path, snapshot_every=5)) as (client, _):
        number = 0

        def taught() -> bool:
            nonlocal number
            assert send(client, example(number)).status_code == 200
            number += 1
            return OnlineLabelTreeClassifier.load(path).n_examples_ > 4

        wait_until(taught)
        assert n_tried >= 3


def test_a_save_that_fails_after_it_has_replaced_the_model_is_no_other_model(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JournaledModel(OnlineLabelTreeClassifier.load(path), path, ModelLock(path, "learns")) as journaled:
        n_syncs = 0

        def sync(folder: Path) -> None:
            nonlocal n_syncs
            n_syncs += 1
            if n_syncs == 2:  # after model.json is renamed
                full()

        for number in range(2):
            learned(journaled.model, [example(number)])
            n_syncs = 0
            monkeypatch.setattr("labeltree.model_file.directory.sync_folder", sync)
            with pytest.raises(OSError, match="No space left"):
                journaled.save()
            assert not journaled.is_saved
            monkeypatch.undo()
        assert journaled.save() == 6
        learned(journaled.model, [example(2)])
        assert journaled.save() == 7
    ModelLock(path, "saves", wait_seconds=0.0).release()  # it is free again
    assert OnlineLabelTreeClassifier.load(path).n_examples_ == 7


def test_a_server_starts_on_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers, and learns when there is room."""
    monkeypatch.setattr(Journal, "_write", full)
    with serving(settings(path)) as (client, _):
        assert send(client, example(0)).status_code == 507
        monkeypatch.undo()
        assert send(client, example(0)).json()["n_examples"] == 5


def test_readiness_tells_which_models_learn(path: Path, models: dict[str, Path]) -> None:
    with serving(Settings({"online": path, "small": models["small"]})) as (client, _):
        assert client.get("/readyz").json() == {
            "status": "ready",
            "models": {
                "online": {"learns": False, "reason": "the server runs without --learn"},
                "small": {"learns": False, "reason": "it is not an online model"},
            },
        }


def test_readiness_names_no_models_to_strangers_if_all_need_a_token(models: dict[str, Path]) -> None:
    secret = Settings({"small": models["small"]}, tokens=Tokens([TOKEN], for_all=True))
    with serving(secret) as (client, _):
        assert client.get("/readyz").json() == {"status": "ready", "models": {}}
        assert client.get("/readyz", headers=BEARER).json()["models"].keys() == {"small"}
