"""Integers as labels: all that a model can have, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.servers import serving
from tests.serving.lessons import send, settings

from labeltree import OnlineLabelTreeClassifier

ROW = {"indices": [0], "values": [1.0]}
SMALLEST, LARGEST = -(2**63), 2**63 - 1


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """A model whose labels are numbers."""
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit([[1.0], [0.0]], [[10], [20]])
    model.save(tmp_path / "online")
    return tmp_path / "online"


def test_the_smallest_and_the_largest_are_learned_as_they_are(numbers: Path) -> None:
    for n_known in (2, 4):  # a restarted server has them too
        with serving(settings(numbers)) as (client, _):
            assert client.get("/v1/models/online/labels").json()["total"] == n_known
            assert send(client, {"row": ROW, "labels": [SMALLEST, LARGEST]}).status_code == 200
            found = client.get("/v1/models/online/labels").json()["labels"]
            assert {SMALLEST, LARGEST} < {one["label"] for one in found}


@pytest.mark.parametrize("label", [SMALLEST - 1, LARGEST + 1, 10**400], ids=["below", "above", "far above"])
def test_those_beyond_are_refused(numbers: Path, label: int) -> None:
    """Also as a question: the nearest number that there is would be another label."""
    bodies: dict[str, Any] = {
        "explain": {"row": ROW, "label": label},
        "predict": {"rows": [ROW], "deny": [label]},
    }
    with serving(settings(numbers)) as (client, service):
        send(client, {"row": ROW, "labels": [SMALLEST, LARGEST]})
        answers = [send(client, {"row": ROW, "labels": [10]}, {"row": ROW, "labels": [20, label]})]
        answers += [client.post(f"/v1/models/online/{what}", json=body) for what, body in bodies.items()]
        for place, answer in zip(("examples[1].labels[1]: ", "label: ", "deny[0]: "), answers, strict=True):
            assert answer.status_code == 422, answer.text
            message = answer.json()["error"]["message"]
            assert message.startswith(place)
            assert "an integer must be from -9223372036854775808 to 9223372036854775807" in message
            assert "constrained" not in message  # a word of the schema's
        assert service.registry["online"].model.n_examples_ == 3
