"""What is counted and logged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.servers import BEARER, serving

from labeltree.serving import Settings
from labeltree.serving.metrics import BUCKETS, Metrics, n_counters

ROW = {"indices": [1], "values": [1.0]}


def numbers(client: httpx.Client) -> dict[str, float]:
    """The counters by name and labels, if all lines are as Prometheus wants them."""
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    described = set()
    for line in response.text.splitlines():
        if line.startswith("#"):
            _, _, name, *_ = line.split(" ", 3)
            described.add(name)
            continue
        matched = re.fullmatch(r'([a-z_]+)(\{(?:[a-z]+="[^"]*",?)+\})? ([0-9.e+-]+)', line)
        assert matched, line
        assert re.sub("_(bucket|sum|count)$", "", matched[1]) in described or matched[1] in described
        assert (matched[1] + (matched[2] or "")) not in found
        found[matched[1] + (matched[2] or "")] = float(matched[3])
    return found


def test_requests_are_counted(models: dict[str, Path]) -> None:
    with serving(Settings(models)) as (client, _):
        for _ in range(3):
            client.post("/v1/models/small/predict", json={"rows": [ROW] * 4})
        client.post("/v1/models/small/predict", content=b"{")
        client.get("/fish")
        client.get("/fish.php")
        client.post("/v1/models/small/reload", headers=BEARER)
        found = numbers(client)
    requests = "labeltree_requests_total"
    predict = 'route="/v1/models/{name}/predict"'
    assert found[f'{requests}{{{predict},status="200"}}'] == 3
    assert found[f'{requests}{{{predict},status="400"}}'] == 1
    assert found[f'{requests}{{route="other",status="404"}}'] == 2
    assert found[f'{requests}{{route="other",status="403"}}'] == 1  # refused before anybody knew the route
    assert found[f"labeltree_request_seconds_count{{{predict}}}"] == 4
    assert 0 < found[f"labeltree_request_seconds_sum{{{predict}}}"] < 10
    buckets = [found[f'labeltree_request_seconds_bucket{{{predict},le="{b}"}}'] for b in (*BUCKETS, "+Inf")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 4
    assert found['labeltree_rows_total{model="small"}'] == 12
    assert found['labeltree_model_seconds_total{model="small"}'] > 0
    assert found["labeltree_requests_in_flight"] == 1  # the one that asks


def test_workers_count_together_and_outlive_each_other() -> None:
    table = np.zeros((3, n_counters(1)))
    first, second = Metrics(["pets"], table, 0), Metrics(["pets"], table, 1)
    first.began()
    first.answered("/healthz", 200, 0.0001)
    second.answered("/healthz", 200, 100.0)
    second.worked("pets", 5, 0.25)
    again = Metrics(["pets"], table, 0)  # the first was killed at work, and is replaced
    text = again.text()
    assert 'labeltree_requests_total{route="/healthz",status="200"} 2' in text
    assert 'labeltree_request_seconds_bucket{route="/healthz",le="0.0005"} 1' in text
    assert 'labeltree_request_seconds_count{route="/healthz"} 2' in text
    second.answered("/docs", 200, 3.0)
    assert 'labeltree_request_seconds_bucket{route="/docs",le="0.0005"} 0' in again.text()
    assert "/openapi.json" not in text
    assert 'labeltree_request_seconds_bucket{route="/healthz",le="10.0"} 1' in text
    assert 'labeltree_request_seconds_bucket{route="/healthz",le="+Inf"} 2' in text
    assert 'labeltree_rows_total{model="pets"} 5' in text
    assert "labeltree_requests_in_flight 0" in text
    assert "labeltree_worker_starts_total 3" in text


def test_requests_are_logged_without_what_they_asked(
    models: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Settings(models)) as (client, _):
        asked = client.post(
            "/v1/models/online/predict", json={"texts": ["my secret"] * 2}, headers={"X-Request-Id": "mine-1"}
        )
        client.get("/v1/models/fish/labels?query=my+secret")
        client.post("/v1/models/online/predict", json={"text": "my secret", "allow": ["my secret"]})
        client.get("/healthz", headers={"X-Request-Id": 'no"good'})
    assert asked.headers["x-request-id"] == "mine-1"
    written = capsys.readouterr().err
    assert "secret" not in written
    lines = [json.loads(line) for line in written.splitlines()]
    first = lines[0]
    assert first.keys() == {
        "time", "level", "request", "method", "route", "model", "rows", "status", "ms", "model_ms",
    }  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])
    assert (first["request"], first["route"], first["model"], first["rows"], first["status"]) == (
        "mine-1",
        "/v1/models/{name}/predict",
        "online",
        2,
        200,
    )
    assert 0 < first["model_ms"] <= first["ms"]
    assert [line["status"] for line in lines] == [200, 404, 422, 200]
    assert re.fullmatch("[0-9a-f]{16}", lines[3]["request"])


def test_requests_need_not_be_logged(models: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Settings(models, log_requests=False)) as (client, _):
        client.get("/v1/models")
    assert capsys.readouterr().err == ""
