"""What was acknowledged is learned, once, whatever happens to the server."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, TOKEN, ServerProcess, serving, wait_until
from tests.serving.conftest import online_model
from tests.serving.lessons import LEARN, example, learned, send, settings, state

from labeltree import LabelTree, ModelFileError, OnlineLabelTreeClassifier
from labeltree.data import word_counts
from labeltree.model_file.journal import journal_of
from labeltree.model_file.journal_lines import Contents
from labeltree.model_file.waiting import stored_mark


def test_examples_are_learned_as_by_the_model(path: Path) -> None:
    expected = learned(online_model(), [example(i) for i in range(6)])
    with serving(settings(path)) as (client, service):
        assert send(client, example(0)).json()["n_examples"] == 5
        answer = send(client, *map(example, range(1, 6))).json()
        assert (answer["learned"], answer["n_examples"], answer["version"]) == (5, 10, "examples-10")
        assert answer["n_labels"] == expected.n_labels_
        described = client.get("/v1/models/online").json()
        assert (described["learns"], described["version"]) == (True, "examples-10")
        found = client.post("/v1/models/online/predict", json={"text": "word3", "k": 3}).json()
        assert [tag["label"] for tag in found["predictions"][0]] == (
            expected.predict_topk([word_counts("word3")], 3).labels.tolist()[0]
        )
        assert client.get("/v1/models/online/labels?query=only").json()["total"] == 6
        assert client.get("/v1/models/online/tree").json()["n_labels"] == expected.n_labels_
        assert state(service.registry["online"].model) == state(expected)
    # A server that stops saves the model; nothing is left to learn again.
    assert state(OnlineLabelTreeClassifier.load(path)) == state(expected)
    assert sorted(one.name for one in path.parent.iterdir()) == ["online"]


def test_examples_are_refused_whole(path: Path) -> None:
    with serving(settings(path)) as (client, service):
        before = state(service.registry["online"].model)
        for examples, message in [
            ([], "examples: "),
            ([example(0), {"labels": ["a"]}], "examples[1]: expected exactly one of text, row, features"),
            ([{"text": "a"}], "examples[0].labels: "),
            (
                [example(0), {"text": "a", "labels": [3]}],
                "examples[1].labels: expected type str, got int",
            ),
            ([{"row": {"indices": [1], "values": [1]}, "labels": ["a"]}], "has features with names"),
            (
                [example(0), {"row": {"indices": [1], "values": [1]}, "labels": []}],
                "expected all of one kind",
            ),
        ]:
            response = send(client, *examples)
            assert response.status_code == 422, response.text
            assert message in response.json()["error"]["message"]
        halves = '{"examples": [{"text": "\\ud800", "labels": ["a"]}]}'
        assert client.post(LEARN, content=halves, headers=BEARER).status_code == 400
        assert client.post("/v1/models/online/reload", headers=BEARER).status_code == 409
        assert state(service.registry["online"].model) == before


@pytest.mark.parametrize("weights", ["map", "dense"])
def test_rows_of_numbers_are_learned(tmp_path: Path, weights: str) -> None:
    path = tmp_path / "online"
    model = OnlineLabelTreeClassifier(weights=weights, random_state=0)
    model.partial_fit([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[10], [20]]).save(path)
    last = {"row": {"indices": [2, 2**31 - 3], "values": [1.0, 1.0]}, "labels": [30]}
    with serving(settings(path)) as (client, _):
        assert send(client, {"row": {"indices": [2], "values": [1.0]}, "labels": [30]}).status_code == 200
        answer = send(client, last)
        if weights == "dense":  # else it would take a place for each of two milliards
            assert answer.status_code == 422
            assert "expected indices from 0 to 2, got 2147483645" in answer.json()["error"]["message"]
        else:
            assert answer.json()["n_examples"] == 4
        body = {"rows": [{"indices": [2, 2**31 - 3], "values": [1.0, 1.0]}], "k": 1}
        found = client.post("/v1/models/online/predict", json=body).json()
        assert found["predictions"][0][0]["label"] == 30


@pytest.mark.parametrize(
    "parameters",
    [
        {"weights": "hashed", "memory_mb": 0.1, "expected_labels": 3},
        {"tree": LabelTree.from_nested([0, [1, 2]]), "policy": "fixed"},
    ],
    ids=["no-memory-for-more-labels", "fixed-tree"],
)
def test_what_the_model_refuses_is_taken_back(parameters: dict[str, Any], tmp_path: Path) -> None:
    path, classes = tmp_path / "online", ["one", "label 0", "label 1"]
    model = OnlineLabelTreeClassifier(**parameters, random_state=0)
    model.partial_fit([{"a": 1.0}], [["one"]], classes=classes).save(path)
    with serving(settings(path)) as (client, service):
        examples = [{"text": f"word{i}", "labels": [f"label {i}"]} for i in range(4)]
        refused = send(client, *examples)
        assert refused.status_code == 409
        assert "examples[2] cannot be learned" in refused.json()["error"]["message"]
        assert "the 2 before it are learned" in refused.json()["error"]["message"]
        assert refused.json()["error"]["learned"] == 2
        assert send(client, {"text": "word9", "labels": ["one"]}).json()["n_examples"] == 4
        after = state(service.registry["online"].model)
        shutil.copytree(journal_of(path), tmp_path / "copy.journal")
        shutil.copytree(path, tmp_path / "copy")
    # What the journal says is what was learned.
    with serving(settings(tmp_path / "copy")) as (client, service):
        again = state(service.registry["online"].model)
    assert {k: v for k, v in again.items() if k != "names"} == {
        k: v for k, v in after.items() if k != "names"
    }


def test_many_who_teach_at_once_are_all_heard(path: Path) -> None:
    with serving(settings(path, snapshot_every=7)) as (client, service):
        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(lambda i: send(client, example(2 * i), example(2 * i + 1)).json(), range(40))
            )
        assert sorted(answer["n_examples"] for answer in answers) == [6 + 2 * i for i in range(40)]
        taught = state(service.registry["online"].model)
    assert state(OnlineLabelTreeClassifier.load(path)) == taught
    names = {label for label in taught["labels"] if label.startswith("only")}
    assert names == {f"only {i}" for i in range(80)}


def test_snapshots_keep_the_journal_short(path: Path) -> None:
    with serving(settings(path, snapshot_every=5)) as (client, service):
        numbers = itertools.count()

        def taught() -> (
            bool
        ):  # whether one of the snapshots on the way is there, and what it has is not kept twice
            assert send(client, example(next(numbers))).status_code == 200
            first = min(int(part.stem) for part in journal_of(path).glob("*.jsonl"))
            return OnlineLabelTreeClassifier.load(path).n_examples_ >= 30 and first >= 25

        wait_until(taught)
        service.learners["online"]._saving.join()
        assert stored_mark(path) in Contents.read(journal_of(path)).marks  # the version that it goes on from


def test_a_journal_of_another_model_is_not_learned(path: Path) -> None:
    with serving(settings(path)) as (client, _):
        send(client, *map(example, range(5)))
        shutil.copytree(journal_of(path), path.parent / "kept")
    OnlineLabelTreeClassifier().partial_fit([{"a": 1.0}], [["b"]]).save(path)
    shutil.move(path.parent / "kept", journal_of(path))
    refused = r"has 5 examples for another version of the model .* \(4 examples\), but it is version .* \(1 example\)"
    with pytest.raises(ModelFileError, match=refused), serving(settings(path)):
        pass
    assert Contents.read(journal_of(path)).n_records == 1  # nothing is deleted
    shutil.move(journal_of(path), path.parent / "kept")
    with serving(settings(path)) as (client, _):
        assert client.get("/v1/models/online").json()["version"] == "examples-1"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_kill_loses_nothing_that_was_acknowledged(path: Path, tmp_path: Path) -> None:
    """Killed at any moment, also while it saves: what was acknowledged is there, in its order, once."""
    acknowledged = 0  # of examples that one client sends, each when the one before it is acknowledged
    token_file = tmp_path / "tokens"
    token_file.write_text(TOKEN)
    arguments = (path, "--learn", "--snapshot-every", 10, "--quiet")
    for n_to_learn in (3, 16, 33):
        with ServerProcess(*arguments, log=tmp_path / "log") as server:
            found = server.client.get("/v1/models/online").json()["version"]
            n_there = int(found.removeprefix("examples-")) - 4
            # What was sent last may have been learned, though nobody was told.
            assert acknowledged <= n_there <= acknowledged + 1
            acknowledged = n_there
            killer = threading.Timer(30, server.process.kill)
            killer.start()
            try:
                for number in range(acknowledged, acknowledged + 1000):
                    if number == acknowledged + n_to_learn and killer.is_alive():
                        killer.cancel()
                        killer = threading.Timer(0.02, server.process.send_signal, [signal.SIGKILL])
                        killer.start()
                    assert send(server.client, example(number)).json()["n_examples"] == number + 5
                    n_there = number + 1
            except httpx.TransportError:
                acknowledged = n_there
            finally:
                killer.cancel()
            server.process.wait()
    with serving(settings(path)) as (_, service):
        n_examples = service.registry["online"].model.n_examples_ - 4
        assert acknowledged <= n_examples <= acknowledged + 1
        found_state = state(service.registry["online"].model)
    assert acknowledged > 50
    assert found_state == state(learned(online_model(), [example(i) for i in range(n_examples)]))
    assert all(json.loads(line)["level"] != "error" for line in (tmp_path / "log").read_text().splitlines())
