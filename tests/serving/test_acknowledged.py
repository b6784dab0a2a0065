"""Examples that were acknowledged do not vanish, whoever opens or replaces the model, with real processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import httpx
import pytest
from tests.command_line import run, run_json, start
from tests.servers import BEARER, ServerProcess, serving, wait_until
from tests.serving.conftest import online_model
from tests.serving.lessons import LEARN, example, learned, send, settings, state

from labeltree import ModelFileError, OnlineLabelTreeClassifier
from labeltree.model_file.journal import journal_of
from labeltree.model_file.lock import LOCK_NAME, ModelLock
from labeltree.serving import Service

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

N_ACKNOWLEDGED = 7
EXAMPLES = [example(i) for i in range(N_ACKNOWLEDGED)]


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a server leaves that has acknowledged examples and was killed."""
    folder = tmp_path_factory.mktemp("killed")
    path = folder / "online"
    online_model().save(path)
    with ServerProcess(path, "--learn", "--quiet", log=folder / "log") as server:
        for number in range(0, N_ACKNOWLEDGED - 1, 2):
            assert send(server.client, *EXAMPLES[number : number + 2]).status_code == 200
        assert send(server.client, EXAMPLES[-1]).json()["n_examples"] == 4 + N_ACKNOWLEDGED
        server.stop(signal.SIGKILL)
    assert OnlineLabelTreeClassifier.load(path).n_examples_ == 4  # only the journal has them
    return path


@pytest.fixture
def killed(left_behind: Path, tmp_path: Path) -> Path:
    """A model whose journal has examples that the model lacks."""
    shutil.copytree(left_behind, tmp_path / "online")
    shutil.copytree(journal_of(left_behind), journal_of(tmp_path / "online"))
    return tmp_path / "online"


def files(path: Path) -> dict[str, bytes]:
    """All files of a model and of its journal."""
    folders = (path, journal_of(path))
    return {
        str(one): one.read_bytes() for folder in folders for one in folder.glob("*") if one.name != LOCK_NAME
    }


def refusal(*arguments: object) -> str:
    """Run a command that fails; return what it says of errors."""
    return " ".join(run(*arguments, exit_code=1).stderr.split())


# -- (a) a killed server, then `labeltree learn` ----------------------------------------------------------------------


def test_learn_after_a_killed_server_learns_the_journal_first(killed: Path, tmp_path: Path) -> None:
    stream = tmp_path / "stream.txt"
    stream.write_text("__label__sea a boat\n__label__cat a cat\n")
    run("learn", stream, "--model", killed, "--new-stream")
    expected = learned(online_model(), EXAMPLES)
    expected.partial_fit([{"a": 1.0, "boat": 1.0}, {"a": 1.0, "cat": 1.0}], [["sea"], ["cat"]])
    with serving(settings(killed)) as (client, service):
        assert state(service.registry["online"].model) == state(expected)
        assert send(client, example(99)).json()["n_examples"] == 4 + N_ACKNOWLEDGED + 3


def test_learn_without_a_stream_learns_the_journal(killed: Path) -> None:
    printed = run_json("learn", "--model", killed)
    assert (printed["event"], printed["learned"], printed["examples"]) == ("replayed", 7, 11)
    assert state(OnlineLabelTreeClassifier.load(killed)) == state(learned(online_model(), EXAMPLES))
    assert sorted(one.name for one in killed.parent.iterdir()) == ["online"]
    assert "no examples wait in its journal" in run("learn", "--model", killed).stdout


def test_a_stream_is_resumed_where_it_was_whatever_a_server_learned_in_between(tmp_path: Path) -> None:
    stream, path = tmp_path / "stream.txt", tmp_path / "online"
    lines = [f"__label__a{i} word{i}\n" for i in range(12)]
    stream.write_text("".join(lines[:5]))
    run("learn", stream, "--model", path)
    with serving(settings(path)) as (client, _):  # this one saves what it learned
        assert send(client, example(0)).json()["n_examples"] == 6
    killed_by = ServerProcess(path, "--learn", "--quiet", log=tmp_path / "log")
    with killed_by as server:  # and this one does not
        assert send(server.client, example(1)).json()["n_examples"] == 7
        server.stop(signal.SIGKILL)
    stream.write_text("".join(lines))
    run("learn", stream, "--model", path)
    model = OnlineLabelTreeClassifier.load(path)
    assert model.n_examples_ == 14
    assert {f"a{i}" for i in range(12)} <= set(model.classes_)


def test_learn_that_is_killed_after_it_has_learned_the_journal_learns_nothing_twice(
    killed: Path, tmp_path: Path
) -> None:
    with start("learn", "-", "--model", killed, "--new-stream", "--json", stdin=-1) as learning:
        assert learning.stdout is not None
        assert b"replayed" in learning.stdout.readline()
        learning.kill()
        learning.wait()
    with serving(settings(killed)) as (_, service):
        assert state(service.registry["online"].model) == state(learned(online_model(), EXAMPLES))


@pytest.mark.parametrize("kind", ["save", "train", "decide", "learn --fresh"])
def test_nobody_else_may_save_over_examples_that_wait(killed: Path, tmp_path: Path, kind: str) -> None:
    before = files(killed)
    rows = tmp_path / "rows.txt"
    rows.write_text("1 2 2\n0 0:1\n")
    stream = tmp_path / "stream.txt"
    stream.write_text("__label__sea a boat\n")
    refused = "7 examples wait in this journal"
    if kind == "save":
        with pytest.raises(ModelFileError, match=refused) as raised:
            OnlineLabelTreeClassifier.load(killed).save(killed)
        assert f"labeltree learn --model {killed}" in str(raised.value)
    else:
        arguments = {
            "train": ["train", rows, "--model", killed],
            "decide": ["decide", killed, "--metric", "precision@3"],
            "learn --fresh": ["learn", stream, "--model", killed, "--fresh"],
        }[kind]
        assert refused in refusal(*arguments)
    assert files(killed) == before
    shutil.move(journal_of(killed), tmp_path / "away")  # as the message says
    OnlineLabelTreeClassifier.load(killed).save(killed)


# -- (b) beside a running server --------------------------------------------------------------------------------------


def test_nobody_changes_a_model_that_a_server_learns_into(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = tmp_path / "stream.txt"
    stream.write_text("__label__sea a boat\n")
    monkeypatch.setattr(ModelLock.__init__, "__defaults__", (0.3,))
    with ServerProcess(path, "--learn", "--quiet", log=tmp_path / "log") as server:
        assert send(server.client, *EXAMPLES).status_code == 200
        before = files(path)
        held = rf"process {server.process.pid} on .* learns into this model \(labeltree serve --learn\)"
        message = refusal("learn", stream, "--model", path, "--new-stream")
        assert f"process {server.process.pid} on" in message
        with pytest.raises(ModelFileError, match=held):
            OnlineLabelTreeClassifier.load(path).save(path)
        with pytest.raises(ModelFileError, match=held):
            OnlineLabelTreeClassifier.load(path).learn(stream, checkpoint=path, new_stream=True)
        # (c) nor through a link, and the journal is that of the directory.
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "link").symlink_to(path)
        with pytest.raises(ModelFileError, match=held):
            Service(settings(tmp_path / "elsewhere" / "link"))
        assert files(path) == before
        assert server.stop() == 0
    assert state(OnlineLabelTreeClassifier.load(path)) == state(learned(online_model(), EXAMPLES))


def test_two_commands_that_learn_exclude_each_other(tmp_path: Path) -> None:
    arguments = ["learn", "-", "--model", tmp_path / "model", "--new-stream"]
    with start(*arguments, stdin=-1) as first:
        assert first.stdin is not None
        first.stdin.write(b"__label__sea a boat\n")
        first.stdin.flush()
        wait_until((tmp_path / "model" / LOCK_NAME).exists, seconds=60)
        message = refusal("learn", __file__, "--model", tmp_path / "model")
        assert f"process {first.pid} on" in message
        assert "learns into this model (labeltree learn)" in message
        first.stdin.close()
        assert first.wait(60) == 0
    assert OnlineLabelTreeClassifier.load(tmp_path / "model").n_examples_ == 1


# -- (c) through a symbolic link --------------------------------------------------------------------------------------


def test_a_server_through_a_link_finds_the_journal_of_the_directory(killed: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "online"
    link.symlink_to(killed)
    with serving(settings(link)) as (client, service):
        assert state(service.registry["online"].model) == state(learned(online_model(), EXAMPLES))
        assert send(client, example(N_ACKNOWLEDGED)).status_code == 200
    assert [one.name for one in (tmp_path / "elsewhere").iterdir()] == ["online"]


def test_a_journal_beside_a_link_is_named_and_not_forgotten(killed: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(killed)
    shutil.move(journal_of(killed), tmp_path / "elsewhere" / "link.journal")  # where it used to be
    old = str(tmp_path / "elsewhere" / "link.journal")
    with pytest.raises(ModelFileError, match=f"{old}: an earlier version of labeltree wrote this journal"):
        Service(settings(tmp_path / "elsewhere" / "link"))
    assert Path(old).exists()


# -- (d) another model in the same place ------------------------------------------------------------------------------


def test_a_journal_stays_when_another_model_is_put_in_the_place_of_its_own(
    killed: Path, tmp_path: Path
) -> None:
    shutil.move(killed, tmp_path / "right")
    other = OnlineLabelTreeClassifier(random_state=1)
    for number in range(100):  # more than the journal has: the numbers alone would not tell
        other.partial_fit([{"other": 1.0, f"word {number}": 1.0}], [[f"other {number}"]])
    other.save(tmp_path / "other")
    shutil.move(tmp_path / "other", killed)
    before = files(killed)
    with pytest.raises(ModelFileError, match="has 7 examples for another version of the model"):
        serving(settings(killed)).__enter__()
    assert "put the right version back, or move the journal away" in refusal("learn", "--model", killed)
    with pytest.raises(ModelFileError, match="7 examples for another version"):
        other.save(killed)
    assert files(killed) == before
    shutil.rmtree(killed)
    with pytest.raises(ModelFileError, match="7 examples for another version"):
        other.save(killed)
    assert not killed.exists()
    shutil.move(tmp_path / "right", killed)
    with serving(settings(killed)) as (_, service):
        assert state(service.registry["online"].model) == state(learned(online_model(), EXAMPLES))


def test_a_server_does_not_save_over_a_model_that_was_put_in_the_place_of_its_own(
    path: Path, tmp_path: Path
) -> None:
    other = OnlineLabelTreeClassifier(random_state=1).partial_fit([{"a": 1.0}], [["b"]])
    other.save(tmp_path / "other")
    with serving(settings(path)) as (client, _):
        assert send(client, *EXAMPLES).status_code == 200
        shutil.copytree(tmp_path / "other", tmp_path / "copy")
        for file in path.glob("*"):
            if file.name != LOCK_NAME:
                file.unlink()
        shutil.copytree(tmp_path / "other", path, dirs_exist_ok=True)
    assert state(OnlineLabelTreeClassifier.load(path)) == state(other)
    assert run_json("info", path)["journal"]["examples"] == N_ACKNOWLEDGED


def test_info_names_the_journal(killed: Path, tmp_path: Path) -> None:
    found = run_json("info", killed)["journal"]
    assert found == {"path": str(journal_of(killed)), "examples": 7, "belongs": True}
    assert "7 examples wait to be learned" in " ".join(run("info", killed).stdout.split())
    OnlineLabelTreeClassifier().partial_fit([{"a": 1.0}], [["b"]]).save(tmp_path / "other")
    shutil.rmtree(killed)
    shutil.move(tmp_path / "other", killed)
    assert run_json("info", killed)["journal"]["belongs"] is False
    assert "7 examples for another version of this model" in " ".join(run("info", killed).stdout.split())
    shutil.rmtree(journal_of(killed))
    assert run_json("info", killed)["journal"] is None


def test_a_journal_of_an_earlier_version_is_replayed(killed: Path) -> None:
    """It has no marks, and so does one that this version goes on to write."""
    (part,) = journal_of(killed).glob("*.jsonl")
    part.write_bytes(b"".join(line for line in part.read_bytes().splitlines(True) if b'"model"' not in line))
    with ServerProcess(killed, "--learn", "--quiet", log=killed.parent / "log") as server:
        assert send(server.client, example(N_ACKNOWLEDGED)).json()["n_examples"] == 4 + N_ACKNOWLEDGED + 1
        server.stop(signal.SIGKILL)
    with serving(settings(killed)) as (_, service):
        expected = learned(online_model(), [*EXAMPLES, example(N_ACKNOWLEDGED)])
        assert state(service.registry["online"].model) == state(expected)


def test_examples_are_synced_before_they_are_acknowledged(path: Path, tmp_path: Path) -> None:
    """As the system sees it: the journal is synced after it was written and before the answer is sent."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    trace = tmp_path / "trace"
    with ServerProcess(path, "--learn", "--quiet", log=tmp_path / "log") as server:
        command = ["strace", "-f", "-y", "-s", "200", "-e", "trace=write,fsync,fdatasync,sendto,sendmsg"]
        tracer = subprocess.Popen(
            [*command, "-o", str(trace), "-p", str(server.process.pid)], stderr=subprocess.PIPE, text=True
        )
        assert tracer.stderr is not None
        if "attached" not in tracer.stderr.readline():
            pytest.skip("strace may not attach")
        assert send(server.client, example(0)).status_code == 200
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=60)
    lines = trace.read_text().splitlines()
    written = next(
        i for i, line in enumerate(lines) if "write(" in line and ".jsonl" in line and "word0" in line
    )
    synced = next(i for i, line in enumerate(lines) if "fsync(" in line and ".jsonl" in line and i > written)
    answered = next(i for i, line in enumerate(lines) if "HTTP/1.1 200" in line)
    assert written < synced < answered


def test_a_client_that_repeats_its_requests_over_kills_teaches_every_example_once(
    path: Path, tmp_path: Path
) -> None:
    """Nobody can tell whether a request that got no answer was learned; its key makes that no matter."""
    number = 0
    for n_more in (4, 23, 40):
        with ServerProcess(
            path, "--learn", "--snapshot-every", 10, "--quiet", log=tmp_path / "log"
        ) as server:
            killer = threading.Timer(60, server.process.kill)
            killer.start()
            kill_at = number + n_more
            try:
                while True:
                    if number == kill_at:
                        killer.cancel()
                        killer = threading.Timer(0.02, server.process.kill)
                        killer.start()
                    headers = {**BEARER, "Idempotency-Key": f"example-{number}"}
                    body = {"examples": [example(number)]}
                    answer = server.client.post(LEARN, json=body, headers=headers)
                    assert answer.json()["n_examples"] == 5 + number
                    number += 1
            except httpx.TransportError:
                pass
            finally:
                killer.cancel()
            server.process.wait()
    assert number >= 67
    with serving(settings(path)) as (client, service):
        headers = {**BEARER, "Idempotency-Key": f"example-{number}"}
        assert client.post(LEARN, json={"examples": [example(number)]}, headers=headers).status_code == 200
        expected = learned(online_model(), [example(i) for i in range(number + 1)])
        assert state(service.registry["online"].model) == state(expected)
