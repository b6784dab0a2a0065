"""Parts of the server and its client that need no server: limits, refusals, waiting times."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.servers import serving

import labeltree.serving
from labeltree.serving import Limits, Settings, schemas
from labeltree.serving.client_calls import seconds_to_wait
from labeltree.serving.connections import Connections
from labeltree.serving.errors import STATUSES, Refusal, invalid_request
from labeltree.serving.logs import log_event, start_logs


def test_default_limits() -> None:
    assert vars(Limits()) == {
        "body_bytes": 8 * 2**20,
        "rows": 1000,
        "k": 1000,
        "answer_labels": 100_000,
        "row_values": 50_000,
        "text_chars": 1_000_000,
        "seconds": 30,
        "in_flight": 64,
        "head_bytes": 65_536,
        "head_lines": 100,
        "head_seconds": 10,
        "idle_seconds": 30,
        "stall_seconds": 10,
        "bytes_per_second": 10_000,
        "connections": 512,
        "client_share": 0.5,
    }


def test_limits_at_their_edges() -> None:
    assert Limits(client_share=1, head_bytes=1024).share_of(7) == 7
    assert Limits(client_share=0.1).share_of(7) == 1
    for wrong in ({"client_share": 1.01}, {"head_bytes": 1023}, {"rows": 0}, {"seconds": float("inf")}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}"):
            Limits(**wrong)
    Limits(rows=3).check_rows("texts", 3)
    with pytest.raises(Refusal, match="texts: at most 3 in one request, got 4"):
        Limits(rows=3).check_rows("texts", 4)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"), (401, "unauthorized"), (403, "forbidden"), (404, "not_found"),
        (405, "method_not_allowed"), (408, "request_timeout"), (409, "conflict"), (413, "body_too_large"),
        (414, "address_too_long"), (415, "not_json"), (421, "wrong_host"), (422, "invalid_request"),
        (431, "head_too_large"), (500, "internal_error"), (503, "overloaded"), (504, "took_too_long"),
        (507, "disk_full"), (418, "error"),
    ],
)  # fmt: skip
def test_codes_of_statuses(status: int, code: str) -> None:
    assert Refusal(status, "a message").code == code
    assert Refusal(status, "a message", "own").code == "own"
    assert (status in STATUSES) == (status != 418)


@pytest.mark.parametrize("n_mistakes", [1, 3, 4, 7])
def test_a_message_names_three_mistakes(n_mistakes: int) -> None:
    mistakes = [{"type": "missing", "loc": ("body", f"f{i}"), "msg": f"wrong {i}"} for i in range(n_mistakes)]
    refusal = invalid_request(mistakes)
    assert refusal.status == 422
    message = str(refusal)
    assert [f"wrong {i}" in message for i in range(n_mistakes)] == [i < 3 for i in range(n_mistakes)]
    assert message.endswith(f"; and {n_mistakes - 3} more") == (n_mistakes > 3)
    assert ("more" in message) == (n_mistakes > 3)


@pytest.mark.parametrize(
    ("retry_after", "attempt", "seconds"),
    [
        ("7", 0, 7),
        ("30", 3, 30),
        ("31", 0, 30),
        (None, 0, 0.1),
        (None, 3, 0.8),
        (None, 6, 5),
        ("soon", 20, 5),
    ],
)
def test_seconds_to_wait(retry_after: str | None, attempt: int, seconds: float) -> None:
    assert seconds_to_wait(retry_after, attempt) == pytest.approx(seconds)


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match=r"module 'labeltree\.serving' has no attribute 'Server'"):
        labeltree.serving.Server  # noqa: B018
    assert not hasattr(labeltree.serving, "anything")


def test_the_time_of_small_questions_is_remembered(path: Path) -> None:
    """A model that has answered quickly is asked on the event loop, which saves the way to a thread."""
    with serving(Settings({"m": path})) as (client, service):
        (served,) = service.registry
        before = served.small_seconds
        for _ in range(3):
            assert client.post("/v1/models/m/predict", json={"features": [{"sea": 1.0}]}).status_code == 200
        after = served.small_seconds
    assert after is not None
    assert after > 0
    assert after != before


def test_the_largest_index_of_a_feature() -> None:
    index = TypeAdapter(schemas.Index)
    assert index.validate_python(2**31 - 3) == 2**31 - 3
    for wrong in (2**31 - 2, -1):
        with pytest.raises(ValidationError):
            index.validate_python(wrong)


def test_labels_of_every_type() -> None:
    label = TypeAdapter(schemas.Label)
    for right in ("a", -(2**63), 2**63 - 1, 0.5, True, 1e300):
        found = label.validate_python(right)
        assert (found, type(found)) == (right, type(right))
    for wrong in (2**63, -(2**63) - 1, None, ["a"]):
        with pytest.raises(ValidationError):
            label.validate_python(wrong)


@pytest.mark.parametrize(
    ("head_seconds", "stall_seconds", "expected"), [(0.5, 2, 0.125), (2, 0.5, 0.125), (2, 2, 0.5), (9, 9, 1)]
)
def test_connections_are_looked_at_four_times_within_the_shortest_limit(
    head_seconds: float, stall_seconds: float, expected: float
) -> None:
    limits = Limits(head_seconds=head_seconds, stall_seconds=stall_seconds)
    assert Connections(limits)._look_seconds == expected


@pytest.mark.parametrize("quiet", [False, True])
def test_logs_are_lines_of_json(capsys: pytest.CaptureFixture[str], quiet: bool) -> None:
    start_logs(quiet)
    log_event("started", worker=3)
    log_event("broken", level=logging.ERROR, error=ValueError("no such thing"))
    logging.getLogger("uvicorn.error").warning("%d is odd", 7)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    if not quiet:
        first = lines.pop(0)
        assert (first["level"], first["event"], first["worker"]) == ("info", "started", 3)
    assert [line["level"] for line in lines] == ["error", "warning"]
    assert "ValueError: no such thing" in lines[0]["exception"]
    assert lines[1]["message"] == "7 is odd"
    assert all(line["time"].endswith("Z") for line in lines)
