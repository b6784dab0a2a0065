"""Damage that can be loaded is found by checksums, and a damaged version leaves service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.command_line import start
from tests.servers import BEARER, TOKEN, ServerProcess, serving, wait_until
from tests.serving.conftest import online_model
from tests.small_models import small_model

from labeltree import ModelFileError
from labeltree.model_file.directory import read_document
from labeltree.model_file.document import verify_files
from labeltree.model_file.tensors import file_sha256
from labeltree.serving import Service, Settings, Tokens, verification
from labeltree.serving.shared_state import SharedState

PREDICT, RELOAD = "/v1/models/small/predict", "/v1/models/small/reload"
BODY = {"rows": [{"indices": [1, 4, 9], "values": [1.0, 0.5, 2.0]}], "k": 3}


def damage(directory: Path) -> None:
    """Change the last weights of the first tree, which no check but a checksum can find."""
    file = next(directory.glob("tree-0-*"))
    content = bytearray(file.read_bytes())
    with file.open("rb") as opened:
        header = json.loads(opened.read(8 + int.from_bytes(content[:8], "little"))[8:])
    begin = 8 + int.from_bytes(content[:8], "little") + header["weight"]["data_offsets"][0]
    content[begin] ^= 1
    file.unlink()  # not in place: a version that has the old file mapped keeps it
    file.write_bytes(content)


def metric(client: httpx.Client, outcome: str) -> int:
    start = f'labeltree_verifications_total{{model="small",outcome="{outcome}"}}'
    (line,) = (line for line in client.get("/metrics").text.splitlines() if line.startswith(start))
    return int(line.rpartition(" ")[2])


def version(client: httpx.Client) -> str:
    return str(client.get("/v1/models/small").json()["version"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    small_model(0).save(tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture
def server(path: Path) -> Iterator[tuple[httpx.Client, Service]]:
    """A server whose first version is verified."""
    with serving(Settings({"small": path}, tokens=Tokens([TOKEN]))) as (client, service):
        wait_until(lambda: metric(client, "intact") == 1)
        yield client, service


def test_every_file_is_compared_with_its_checksum(path: Path) -> None:
    text = read_document(path)
    verify_files(path, text)
    for file in path.glob("*.safetensors"):
        content = file.read_bytes()
        for changed in (content[:-1] + bytes([content[-1] ^ 1]), content[:-1], content + b"\0"):
            file.write_bytes(changed)
            with pytest.raises(
                ModelFileError, match=f"{file.name}: the checksum is not the one in model.json"
            ):
                verify_files(path, text)
        file.unlink()
        with pytest.raises(ModelFileError, match=f"{file.name}: No such file"):
            verify_files(path, text)
        file.write_bytes(content)


def test_a_damaged_reload_goes_back_to_the_version_before(
    path: Path, server: tuple[httpx.Client, Service]
) -> None:
    client, _ = server
    before, answer = version(client), client.post(PREDICT, json=BODY).json()
    small_model(1).save(path)
    damage(path)
    assert client.post(RELOAD, headers=BEARER).json()["version"] != before  # it can be loaded
    wait_until(lambda: metric(client, "damaged") == 1)
    assert version(client) == before
    assert client.post(PREDICT, json=BODY).json() == answer
    assert client.get("/readyz").status_code == 200
    # Asked for again, it is verified first.
    refused = client.post(RELOAD, headers=BEARER)
    assert refused.status_code == 409
    assert "the checksum is not the one in model.json" in refused.json()["error"]["message"]
    assert version(client) == before
    small_model(2).save(path)
    assert client.post(RELOAD, headers=BEARER).status_code == 200
    wait_until(lambda: metric(client, "intact") == 2)
    assert version(client) != before


def test_a_damaged_version_without_one_before_answers_503_until_it_is_repaired(path: Path) -> None:
    whole = shutil.copytree(path, path.with_name("whole"))
    damage(path)
    with serving(Settings({"small": path}, tokens=Tokens([TOKEN]))) as (client, _):
        wait_until(lambda: metric(client, "damaged") == 1)
        for refused in (
            client.post(PREDICT, json=BODY),
            client.get("/v1/models/small/labels"),
            client.get("/readyz"),
        ):
            error = refused.json()["error"]
            assert (refused.status_code, error["code"]) == (503, "damaged_model")
            assert (
                "the files of the model small are damaged: save the model again, or restore"
                in error["message"]
            )
        assert client.get("/healthz").status_code == 200
        for file in whole.glob("tree-*"):
            shutil.copy(file, path / file.name)
        assert client.post(RELOAD, headers=BEARER).status_code == 200
        assert client.post(PREDICT, json=BODY).status_code == 200
        assert client.get("/readyz").json()["status"] == "ready"


def test_a_directory_that_is_watched_does_not_bring_a_damaged_version_back(path: Path) -> None:
    with serving(Settings({"small": path}, watch_seconds=0.02)) as (client, service):
        wait_until(lambda: metric(client, "intact") == 1)
        before = version(client)
        small_model(1).save(path.with_name("new"))
        damage(path.with_name("new"))
        for file in sorted(path.with_name("new").iterdir(), key=lambda file: file.name == "model.json"):
            file.rename(path / file.name)
        wait_until(lambda: metric(client, "damaged") == 1)
        n_reloads = client.get("/metrics").text.count('outcome="loaded"} 1')
        looked = [service.registry.version_on_disk]
        seen: list[str] = []
        service.registry.version_on_disk = lambda name: (seen.append(name), looked[0](name))[1]  # type: ignore[method-assign]
        wait_until(lambda: len(seen) > 3)
        assert version(client) == before
        assert client.get("/metrics").text.count('outcome="loaded"} 1') == n_reloads == 1


def test_a_version_that_was_replaced_before_it_was_verified_is_not_damaged(path: Path) -> None:
    service = Service(Settings({"small": path}))
    served = service.registry["small"]
    small_model(1).save(path)
    assert service.registry.verify(served, file_sha256) is None
    service.registry.reload("small")
    shutil.rmtree(path)
    with pytest.raises(ModelFileError):  # its files are gone
        service.registry.verify(service.registry["small"], file_sha256)
    assert service.registry["small"].is_damaged


def test_all_workers_leave_a_damaged_version(path: Path) -> None:
    shared = SharedState(["small"], 2)
    with ExitStack() as stack:
        settings = Settings({"small": path}, tokens=Tokens([TOKEN]))
        clients = [stack.enter_context(serving(settings, shared, worker))[0] for worker in range(2)]
        wait_until(lambda: metric(clients[0], "intact") == 2)
        before = version(clients[0])
        small_model(1).save(path)
        damage(path)
        clients[0].post(RELOAD, headers=BEARER)
        wait_until(lambda: metric(clients[0], "damaged") == 2)
        assert [version(client) for client in clients] == [before, before]
        assert shared.versions("small") == [before, before]


def test_verification_stops_with_the_server(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the middle of a file."""
    monkeypatch.setattr(verification, "_HASH", "import time; time.sleep(1000)")
    with serving(Settings({"small": path})) as (_, service):
        wait_until(lambda: service._verifier._hashing)
    assert not service._verifier._thread.is_alive()
    assert service._verifier._hashing.poll() is not None
    assert not service.registry["small"].is_intact


def test_a_process_that_cannot_compute_checksums_says_nothing_about_a_model(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "_HASH", "raise SystemExit(3)")
    with serving(Settings({"small": path})) as (client, service):
        wait_until(lambda: service._verifier._hashing and service._verifier._hashing.poll() is not None)
        assert client.post(PREDICT, json=BODY).status_code == 200
    assert not service.registry["small"].is_intact
    assert not service.registry["small"].is_damaged


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_verified_first_a_damaged_model_is_never_served(tmp_path: Path, path: Path, workers: int) -> None:
    with ServerProcess(path, "--verify", "--workers", workers, log=tmp_path / "log") as server:
        before = version(server.client)
        small_model(1).save(path)
        damage(path)
        refused = server.client.post(RELOAD, headers=BEARER)
        assert refused.status_code == 409
        assert "the checksum is not the one in model.json" in refused.json()["error"]["message"]
        assert version(server.client) == before
        assert server.stop() == 0
    if workers == 1:  # several give up after five tries, as for any model that cannot be loaded
        with start("serve", path, "--verify", "--port", 0, stderr=subprocess.PIPE) as process:
            _, said = process.communicate(timeout=60)
        assert process.returncode == 1
        assert b"the checksum is not the one in model.json" in b" ".join(said.split())


def test_a_damaged_model_does_not_begin_to_learn(tmp_path: Path) -> None:
    online_model().save(tmp_path / "online")
    file = next((tmp_path / "online").glob("labels-*"))
    content = file.read_bytes()
    assert b"portrait" in content
    file.write_bytes(content.replace(b"portrait", b"portraid"))
    settings = Settings({"online": tmp_path / "online"}, tokens=Tokens([TOKEN]), learn=True)
    with pytest.raises(ModelFileError, match=r"the checksum is not the one in model\.json"):
        Service(settings)
