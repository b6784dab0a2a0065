"""Requests that nobody waits for any more take no place for ever, and nothing is concluded from them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import serving, wait_until

from labeltree.serving import Limits, Service, Settings

PREDICT = "/v1/models/small/predict"
BODY: dict[str, Any] = {"rows": [{"indices": [1], "values": [1.0]}] * 2}
IN_FLIGHT = 3


@contextmanager
def slow(service: Service) -> Iterator[None]:
    """Answers do not come until this ends."""
    model: Any = service.registry["small"].model
    predict_topk, may_end = model.predict_topk, threading.Event()
    model.predict_topk = lambda *a, **o: (may_end.wait(60), predict_topk(*a, **o))[1]
    try:
        yield
    finally:
        may_end.set()
        del model.predict_topk


def ask(client: httpx.Client, n_missing: int) -> socket.socket:
    """Send a question, or all but its last bytes."""
    body = json.dumps(BODY).encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    connection = socket.create_connection((client.base_url.host, client.base_url.port or 0))
    connection.sendall(head + body[: len(body) - n_missing])
    return connection


def test_clients_that_go_away_leave_their_places(models: dict[str, Path]) -> None:
    settings = Settings({"small": models["small"]}, limits=Limits(in_flight=IN_FLIGHT, client_share=1.0))
    with serving(settings) as (client, service):
        for _ in range(3):
            with slow(service):
                connections = [ask(client, n_missing=0) for _ in range(IN_FLIGHT)]
                wait_until(lambda: service.metrics.in_flight == IN_FLIGHT)
                assert client.post(PREDICT, json=BODY).status_code == 503
                for connection in connections:
                    connection.close()
            wait_until(lambda: service.metrics.in_flight == 0)
        assert client.post(PREDICT, json=BODY).status_code == 200


def test_clients_that_have_not_sent_their_bodies_take_no_places(models: dict[str, Path]) -> None:
    settings = Settings({"small": models["small"]}, limits=Limits(in_flight=IN_FLIGHT, client_share=1.0))
    with serving(settings) as (client, service):
        for _ in range(3):
            connections = [ask(client, n_missing=5) for _ in range(3 * IN_FLIGHT)]
            assert client.post(PREDICT, json=BODY).status_code == 200
            assert service.metrics.in_flight == 0
            for connection in connections:
                connection.close()
        assert client.post(PREDICT, json=BODY).status_code == 200


def test_answers_that_come_too_late_keep_their_places_until_they_are_made(models: dict[str, Path]) -> None:
    limits = Limits(in_flight=2, client_share=1.0, seconds=0.2)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, service):
        for _ in range(3):
            with slow(service):
                statuses = [client.post(PREDICT, json=BODY).status_code for _ in range(4)]
            assert statuses == [504, 504, 503, 503]  # a thread cannot be stopped
            wait_until(lambda: client.post(PREDICT, json=BODY).status_code == 200)


def test_those_that_were_never_begun_leave_their_places_at_once(models: dict[str, Path]) -> None:
    n_clients = 12  # more than there are threads
    limits = Limits(in_flight=n_clients, client_share=1.0, seconds=0.3)
    with (
        serving(Settings({"small": models["small"]}, limits=limits)) as (client, service),
        slow(service),
        ThreadPoolExecutor(n_clients) as pool,
    ):
        for _ in range(2):
            answers = pool.map(lambda _: client.post(PREDICT, json=BODY), range(n_clients))
            assert {answer.status_code for answer in answers} <= {504, 503}
            assert client.post(PREDICT, json=BODY).status_code == 504


@pytest.mark.parametrize("is_refused_first", [False, True], ids=["too late", "refused"])
def test_what_was_not_answered_does_not_pass_for_quick(
    models: dict[str, Path], is_refused_first: bool
) -> None:
    """Small questions to a quick model are answered where requests are read: a slow one there would stop all."""
    small = {"rows": BODY["rows"][:1]}
    limits = Limits(seconds=0.2)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, service), slow(service):
        if is_refused_first:
            assert client.post(PREDICT, json={**small, "deny": ["fish"]}).status_code == 422
        for _ in range(2):
            assert client.post(PREDICT, json=small).status_code == 504
