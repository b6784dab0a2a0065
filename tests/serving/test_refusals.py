"""What is not as it must be is refused, with a message that says where and why."""

from __future__ import annotations

import json
import logging
import socket
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, TOKEN, serving, wait_until
from tests.serving.conftest import LIMITS

from labeltree import LabelTreeClassifier, ModelFileError, OnlineLabelTreeClassifier
from labeltree.online.feature_space import N_HASHED_NAMES
from labeltree.serving import Limits, Settings, Tokens

PREDICT = "/v1/models/small/predict"
ONLINE = "/v1/models/online/predict"
EXPLAIN = "/v1/models/small/explain"
ROW: dict[str, Any] = {"indices": [1], "values": [1.0]}

MALFORMED = [
    ("", 400, "not JSON"),
    ("{", 400, "not JSON"),
    ('{"text": "\\ud800"}', 400, "not JSON"),
    ("\xff", 400, "not JSON"),
    ("[" * 10_000, 400, "not JSON"),
    ("null", 422, "should be an object"),
    ("[]", 422, "should be an object"),
    ("{}", 422, "exactly one of text, texts, rows, features, got none"),
    ('{"text": "a", "texts": ["b"]}', 422, "got text, texts"),
    ('{"texts": []}', 422, "texts: "),
    ('{"texts": ["a", 3]}', 422, "texts[1]: "),
    ('{"text": "a", "file": "/etc/passwd"}', 422, "file: there is no such field"),
    ('{"text": "a", "k": 0}', 422, "k: "),
    ('{"text": "a", "k": 2.5}', 422, "k: "),
    ('{"text": "a", "k": 101}', 422, "k: at most 100, got 101"),
    ('{"text": "a", "k": 1e400}', 422, "k: "),
    ('{"text": "a", "threshold": NaN}', 422, "threshold: "),
    ('{"text": "a", "threshold": 1.5}', 422, "threshold: "),
    ('{"text": "a", "allow": [{}]}', 422, "allow[0]: "),
    ('{"text": "a", "allow": ["sea", "fish"]}', 422, "allow[1]: 'fish' is not a label of the model online"),
    ('{"text": "a", "deny": [7]}', 422, "deny[0]: 7 is not a label"),
    ('{"text": "a", "label_weight": {"fish": 1}}', 422, "label_weight: 'fish' is not a label"),
    ('{"text": "a", "label_weight": {"sea": -1}}', 422, "label_weight.sea: "),
    ('{"text": "a", "label_weight": {"sea": Infinity}}', 422, "label_weight.sea: "),
    ('{"text": "a", "label_weight": "rarity"}', 422, "label_weight: "),
    ('{"features": [{"a": []}]}', 422, "features[0].a: "),
    ('{"features": [{"a": 1e39}]}', 422, "features[0].a: "),
    ('{"features": [{}, {"a": 3.4028234663852886e38}]}', 422, "features[1].a: "),
    ('{"text": "a", "k": 3, "text": "b"}', 422, "the key 'text' is there twice in one object"),
    ('{"text": "a", "t\\u0065xt": "b"}', 422, "the key 'text' is there twice in one object"),
    ('{"features": [{"a": 1, "b:": 2, "a": 1}]}', 422, "the key 'a' is there twice in one object"),
    ('{"text": "a", "label_weight": {"sea": 1, "sea": 2}}', 422, "the key 'sea' is there twice"),
    ('{"rows": [{"indices": [1], "values": [1]}]}', 422, "has features with names: send 'features' or texts"),
    (json.dumps({"texts": ["a"] * 51}), 422, "texts: at most 50 in one request, got 51"),
    (json.dumps({"texts": ["a", "b" * 2001]}), 422, "texts[1]: at most 2000 characters, got 2001"),
]


@pytest.mark.parametrize(("body", "status", "message"), MALFORMED, ids=lambda value: str(value)[:40])
def test_what_is_malformed_is_refused(client: httpx.Client, body: str, status: int, message: str) -> None:
    headers = {"content-type": "application/json"}
    response = client.post(ONLINE, content=body.encode("latin-1"), headers=headers)
    check_refusal(response, status, message)


ROWS = [
    ([{"indices": [-1], "values": [1]}], "rows[0].indices[0]: "),
    (
        [ROW, {"indices": [3, 3], "values": [1, 1]}],
        "rows[1]: indices must be in ascending order, but 3 is there twice",
    ),
    (
        [ROW, ROW, {"indices": [3, 2], "values": [1, 1]}],
        "rows[2]: indices must be in ascending order, but 2 comes",
    ),
    ([{"indices": [1.5], "values": [1]}], "rows[0].indices[0]: "),
    ([{"indices": [True], "values": [1]}], "rows[0].indices[0]: "),
    ([{"indices": ["1"], "values": [1]}], "rows[0].indices[0]: "),
    ([{"indices": [1], "values": ["1"]}], "rows[0].values[0]: "),
    ([{"indices": [1], "values": [None]}], "rows[0].values[0]: "),
    ([{"indices": [1], "values": []}], "rows[0]: expected as many values as indices, got 0 and 1"),
    ([{"indices": [1]}], "rows[0].values: "),
    (
        [ROW, {"indices": [5, 20], "values": [1, 1]}],
        "rows[1]: indices must be from 0 to 19, got 20",
    ),
    ([{"indices": [2**62], "values": [1]}], "rows[0].indices[0]: "),
    ([{"indices": [10**30], "values": [1]}], "rows[0].indices[0]: "),
    ([{"indices": [1], "values": [1e39]}], "rows[0].values[0]: "),
    ([ROW, {"indices": [1], "values": [3.4028234663852886e38]}], "rows[1].values[0]: "),
    ([ROW, {"indices": [1], "values": [-3.4028234663852886e38]}], "rows[1].values[0]: "),
]


@pytest.mark.parametrize(("rows", "message"), ROWS, ids=str)
def test_rows_that_are_none_are_refused(client: httpx.Client, rows: Any, message: str) -> None:
    check_refusal(client.post(PREDICT, json={"rows": rows}), 422, message)


def test_numbers_that_are_not_finite_are_refused(client: httpx.Client) -> None:
    for value in ("NaN", "Infinity", "-Infinity", "1e999"):
        body = f'{{"rows": [{{"indices": [1], "values": [{value}]}}]}}'
        check_refusal(client.post(PREDICT, content=body), 422, "rows[0].values[0]: ")


def test_models_are_not_asked_what_they_cannot_know(client: httpx.Client) -> None:
    check_refusal(client.post(PREDICT, json={"text": "a"}), 422, "takes no texts: send 'rows'")
    check_refusal(client.post(PREDICT, json={"features": [{"a": 1}]}), 422, "have no names: send 'rows'")
    check_refusal(
        client.post(EXPLAIN, json={"row": ROW, "label": "fish"}),
        422,
        "label: 'fish' is not a label of the model",
    )
    check_refusal(client.post(EXPLAIN, json={"row": ROW}), 422, "label: Field required")
    check_refusal(
        client.post(EXPLAIN, json={"row": ROW, "label": "läbel 1", "n_features": 0}), 422, "n_features: "
    )
    check_refusal(
        client.post(EXPLAIN, json={"row": ROW, "label": "läbel 1", "n_features": 101}), 422, "at most 100"
    )
    too_wide = {"indices": [20], "values": [1]}
    check_refusal(
        client.post(EXPLAIN, json={"row": too_wide, "label": "läbel 1"}), 422, "row: indices must be from 0"
    )


def test_what_is_not_there_is_not_found(client: httpx.Client) -> None:
    check_refusal(
        client.get("/v1/models/fish"),
        404,
        "there are: fastxml, fields, numbers, one-vs-rest, online, ",
    )
    check_refusal(client.post("/v1/models/fish/predict", json={"text": "a"}), 404, "no model of this name")
    check_refusal(client.get("/v1/models/small/labels/1"), 404, "nothing at this path")
    check_refusal(client.get("/v1/models/..%2F..%2Fetc/labels"), 404)
    check_refusal(client.get("/v1/models/small/tree", params={"node": 10_000}), 404, "numbered from 0 to ")
    check_refusal(client.get("/v1/models/small/tree", params={"tree": 2}), 404, "has trees 0 to 1")
    check_refusal(client.get("/v1/models/small/tree/path", params={"label": "fish"}), 404, "no such label")
    for query in (
        {"node": -1},
        {"node": "root"},
        {"limit": 0},
        {"limit": 101},
        {"offset": -1},
        {"tree": 2**70},
    ):
        check_refusal(client.get("/v1/models/small/tree", params=query), 422, next(iter(query)) + ": ")


def test_methods_and_types_that_are_not_taken_are_refused(client: httpx.Client) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        check_refusal(client.request(method, PREDICT), 405, f"does not accept {method}")
    check_refusal(client.post("/v1/models", headers=BEARER), 405, "does not accept POST")
    for kind in ("text/plain", "application/xml", "multipart/form-data; boundary=x"):
        check_refusal(
            client.post(PREDICT, content=b"{}", headers={"content-type": kind}), 415, "application/json"
        )
    body = json.dumps({"rows": [ROW]})
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        assert client.post(PREDICT, content=body, headers={"content-type": kind}).status_code == 200


def test_messages_do_not_have_the_text_in_them(client: httpx.Client) -> None:
    secret = "this is nobody's business"
    for body in (
        {"texts": [secret, 3]},
        {"text": secret, "k": 0},
        {"texts": secret},
        {"text": secret * 1000},
    ):
        response = client.post(ONLINE, json=body)
        assert response.status_code == 422
        assert secret not in response.text


def test_bodies_that_are_too_large_are_refused_before_they_are_read(client: httpx.Client) -> None:
    check_refusal(client.post(PREDICT, content=b" " * 100_001), 413, "at most 100000 bytes")

    def chunks() -> Iterator[bytes]:
        yield from [b" " * 1000] * 1000

    # The server may close the connection before all is sent.
    with suppress(httpx.WriteError, httpx.RemoteProtocolError):
        check_refusal(client.post(PREDICT, content=chunks()), 413, "at most 100000 bytes")
    assert client.get("/healthz").status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(models: dict[str, Path]) -> None:
    with serving(Settings(models, limits=Limits(seconds=0.3))) as (client, service):
        with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as connection:
            head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{"
            connection.sendall(head.encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"did not arrive within 0.3 seconds" in answer
        assert client.get("/healthz").status_code == 200
        assert service.metrics.in_flight == 0


def test_what_is_no_http_hurts_nobody(client: httpx.Client) -> None:
    negative = b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"
    for nonsense in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", negative):
        with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as connection:
            connection.sendall(nonsense)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    assert client.get("/healthz").status_code == 200


def test_an_answer_that_takes_too_long_is_given_up(models: dict[str, Path]) -> None:
    import time

    with serving(Settings(models, limits=Limits(seconds=0.2))) as (client, service):
        model = service.registry["small"].model
        predict_topk = model.predict_topk
        model.predict_topk = lambda *a, **o: (time.sleep(0.5), predict_topk(*a, **o))[1]
        check_refusal(client.post(PREDICT, json={"rows": [ROW]}), 504, "took longer than 0.2 seconds")
        del model.predict_topk
        wait_until(lambda: client.post(PREDICT, json={"rows": [ROW]}).status_code == 200)


def test_a_block_that_is_found_damaged_by_a_question_is_told(models: dict[str, Path]) -> None:
    def predict_topk(*arguments: Any, **options: Any) -> Any:
        raise ModelFileError("weights-1.safetensors: block 7 is damaged")

    with serving(Settings(models)) as (client, service):
        service.registry["small"].model.predict_topk = predict_topk
        answer = client.post(PREDICT, json={"rows": [ROW]})
        check_refusal(answer, 503, "are damaged: save the model again, or restore its files, and reload it")
        assert answer.json()["error"]["code"] == "damaged_model"


def test_those_who_come_when_there_is_too_much_to_do_are_sent_away(models: dict[str, Path]) -> None:
    import threading
    from concurrent.futures import ThreadPoolExecutor

    limits = Limits(in_flight=2, client_share=1.0)
    with serving(Settings(models, limits=limits)) as (client, service):
        model = service.registry["small"].model
        predict_topk, may_end = model.predict_topk, threading.Event()
        model.predict_topk = lambda *a, **o: (may_end.wait(60), predict_topk(*a, **o))[1]
        with ThreadPoolExecutor(2) as pool:
            at_work = [pool.submit(client.post, PREDICT, json={"rows": [ROW] * 2}) for _ in range(2)]
            wait_until(lambda: service.metrics.in_flight == 2)
            refused = client.post(PREDICT, json={"rows": [ROW]})
            alive = client.get("/healthz")
            may_end.set()
        check_refusal(refused, 503, "the server is busy")
        assert refused.headers["retry-after"] == "1"
        assert alive.status_code == 200
        assert [answer.result().status_code for answer in at_work] == [200, 200]
        assert client.post(PREDICT, json={"rows": [ROW]}).status_code == 200


#: What is asked, and what the model has lost that is needed for an answer.
FAULTY: list[tuple[str, str, Any, str]] = [
    ("GET", "/v1/models", None, "reader"),
    ("GET", "/v1/models/small", None, "reader"),
    ("GET", "/v1/models/small/labels", None, "label_counts"),
    ("GET", "/v1/models/small/tree", None, "label_counts"),
    ("GET", "/v1/models/small/tree/path?label=a", None, "label_counts"),
    ("POST", PREDICT, {"rows": [ROW]}, "reader"),
    ("POST", EXPLAIN, {"row": ROW, "label": "läbel 1"}, "reader"),
]


@pytest.mark.parametrize(("method", "address", "body", "lost"), FAULTY, ids=[one[1] for one in FAULTY])
def test_faults_are_told_without_details(
    models: dict[str, Path], caplog: pytest.LogCaptureFixture, method: str, address: str, body: Any, lost: str
) -> None:
    """Whichever way the request takes: through FastAPI, or past it."""
    log = logging.getLogger("labeltree.serving")
    log.addHandler(caplog.handler)
    try:
        with serving(Settings({"small": models["small"]})) as (client, service):
            object.__delattr__(service.registry["small"].model.model_, lost)
            response = client.request(method, address, json=body)
            assert client.get("/healthz").status_code == 200
    finally:
        log.removeHandler(caplog.handler)
    check_refusal(response, 500, "the server failed; its log has the details")
    assert response.headers["x-request-id"]
    assert lost not in response.text
    assert lost in caplog.text


def test_other_origins_may_ask_only_if_they_were_named(models: dict[str, Path]) -> None:
    ask = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    settings = Settings(models, tokens=Tokens([TOKEN], for_all=True), cors_origins=("https://example.org",))
    with serving(settings) as (client, _):
        allowed = client.options(PREDICT, headers=ask)
        assert allowed.headers["access-control-allow-origin"] == "https://example.org"
        other = client.options(PREDICT, headers={**ask, "Origin": "https://example.com"})
        assert "access-control-allow-origin" not in other.headers
        refused = client.post(PREDICT, json={"rows": [ROW]}, headers={"Origin": "https://example.org"})
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == "https://example.org"


def test_limits_below_anything_are_refused() -> None:
    for wrong, message in (
        ({"client_share": 1.5}, "expected a client_share from above 0 to 1, got 1.5"),
        ({"head_bytes": 100}, "expected a limit of head_bytes of at least 1024, got 100"),
        ({"stall_seconds": float("nan")}, "expected a limit of stall_seconds above 0, got nan"),
        ({"head_seconds": float("inf")}, "expected a limit of head_seconds above 0 and finite, got inf"),
    ):
        with pytest.raises(ValueError, match=message):
            Limits(**wrong)
    with pytest.raises(ValueError, match="expected a limit of rows above 0, got 0"):
        Limits(rows=0)
    assert LIMITS.rows == 50


def test_a_text_may_look_like_keys(client: httpx.Client) -> None:
    for text in ('a": 1, "a": 2', ':::"text": "text":', "{'k': 1, 'k': 2}"):
        assert client.post(ONLINE, json={"text": text, "k": 3}).status_code == 200


def test_labels_of_another_type_are_refused_by_name(client: httpx.Client) -> None:
    """In Python 10, 10.0 and True may be equal, but only one of them is a label of the model."""
    path, row = "/v1/models/numbers/", {"indices": [0], "values": [1.0]}
    for label, shown in ((True, "true"), (10.0, "10.0"), ("10", "'10'"), (False, "false"), (11, "11")):
        expected = f"{shown} is not a label of the model numbers, whose labels are integers"
        check_refusal(
            client.post(path + "explain", json={"row": row, "label": label}), 422, f"label: {expected}"
        )
        for field in ("allow", "deny"):
            answer = client.post(path + "predict", json={"rows": [row], field: [20, label]})
            check_refusal(answer, 422, f"{field}[1]: {expected}")
    assert client.post(path + "explain", json={"row": row, "label": 10}).status_code == 200


@pytest.mark.parametrize(
    "y", [[[True], [False]], [[1.0], [0.5]], [[1], [0]]], ids=["bools", "floats", "integers"]
)
def test_one_is_a_label_only_if_it_is_of_the_right_type(tmp_path: Path, y: list[list[Any]]) -> None:
    LabelTreeClassifier(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], y).save(tmp_path / "m")
    kind = type(y[0][0])
    with serving(Settings({"m": tmp_path / "m"})) as (client, _):
        for label in (True, 1, 1.0):
            # Programs write the number 1.0 as 1.
            expected = 200 if type(label) is kind or (kind is float and type(label) is int) else 422
            body = {"row": {"indices": [0], "values": [1.0]}, "label": label}
            assert client.post("/v1/models/m/explain", json=body).status_code == expected, label


def test_explanations_that_would_not_be_numbers_are_refused(tmp_path: Path) -> None:
    model = LabelTreeClassifier(random_state=0, normalize=False)
    model.fit([[1.0, 0.0], [0.0, 1.0]] * 2, [["a"], ["b"]] * 2).save(tmp_path / "m")
    with serving(Settings({"m": tmp_path / "m"})) as (client, _):
        row = {"indices": [0, 1], "values": [3.4e38, -3.4e38]}
        answer = client.post("/v1/models/m/explain", json={"row": row, "label": "a"})
        check_refusal(answer, 422, "row: the scores of these values are too large for float32")
        assert client.post("/v1/models/m/predict", json={"rows": [row]}).status_code == 200


def test_names_that_are_one_feature_together_are_refused_if_they_overflow(tmp_path: Path) -> None:
    seen: dict[int, str] = {}
    names = (str(number) for number in range(10**6))
    one, other = next(
        (seen[place], name)
        for name in names
        if seen.setdefault(place := zlib.crc32(name.encode()) % N_HASHED_NAMES, name) != name
    )
    model = OnlineLabelTreeClassifier(random_state=0, weights="hashed", memory_mb=1, expected_labels=4)
    model.partial_fit([{"a": 1.0}, {"b": 1.0}], [["a"], ["b"]]).save(tmp_path / "m")
    with serving(Settings({"m": tmp_path / "m"})) as (client, _):
        answer = client.post("/v1/models/m/predict", json={"features": [{}, {one: 3e38, other: 3e38}]})
        check_refusal(answer, 422, "features[1]: ")


def test_answers_are_limited_in_labels(models: dict[str, Path]) -> None:
    with serving(Settings({"small": models["small"]}, limits=Limits(answer_labels=20))) as (client, service):
        n_labels = len(service.registry["small"].model.classes_)
        n_rows = 20 // n_labels + 1
        for k in (n_labels, 1000):  # no answer has more labels than the model
            refused = client.post(PREDICT, json={"rows": [ROW] * n_rows, "k": k})
            check_refusal(refused, 422, "k: at most 20 labels in one answer, but ")
            assert client.post(PREDICT, json={"rows": [ROW] * (n_rows - 1), "k": k}).status_code == 200


def check_refusal(response: httpx.Response, status: int, message: str = "") -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert answer.keys() == {"error"}
    assert answer["error"].keys() == {"code", "message"}
    assert message in answer["error"]["message"]
