"""HTTP requests: those that the description allows, those that it forbids, and bytes that are hardly HTTP."""

from __future__ import annotations

import http.client
import io
import json
import logging
import random
import socket
import time
from contextlib import ExitStack, suppress
from itertools import pairwise
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from requests import Request
from tests.fuzz.mutation import NUMBERS, mutate_bytes, replace_somewhere
from tests.fuzz.target import Case, Target
from tests.servers import BEARER, TOKEN, serving

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.serving import Limits, Settings, Tokens
from labeltree.text import Tagger

REQUEST, PLAN = "request.http", "plan.json"
TEXTS = ["A boat, the sea and the sea", "A woman, seated", "The sea in a storm", "A cat, seated"]
LABELS = [["sea", "boat"], ["portrait"], ["sea"], ["cat", "portrait"]]
MODELS = ["numbers", "online", "tags"]
BODIES: dict[str, list[Any]] = {
    "predict": [
        {"text": "a boat"},
        {
            "texts": ["a boat", "sea"],
            "k": 2,
            "threshold": 0.1,
            "allow": ["sea"],
            "label_weight": "propensity",
        },
        {"rows": [{"indices": [0, 2], "values": [0.5, 1.0]}], "k": 3, "deny": [10]},
        {"features": [{"boat": 1.0, "kind": "x"}], "label_weight": {"sea": 2.0}},
    ],
    "explain": [
        {"text": "a boat", "label": "sea", "n_features": 3},
        {"row": {"indices": [0], "values": [1.0]}, "label": 10},
        {"features": {"boat": 1}, "label": "sea"},
    ],
    "learn": [
        {"examples": [{"text": "a boat", "labels": ["sea"]}]},
        {"examples": [{"features": {"boat": 1.5}, "labels": []}, {"text": "cat", "labels": ["new label"]}]},
    ],
}
PATHS = [
    *("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/models", "/", "/docs", "/v1/models/online"),
    *("/v1/models/tags/labels?query=se&limit=2", "/v1/models/tags/tree?node=0&tree=0", "/v1/models/none"),
    "/v1/models/tags/tree/path?label=sea",
]
#: Parts of heads that servers have got wrong.
LINES = [
    *(
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: gzip, chunked",
        "Expect: 100-continue",
    ),
    *(
        "Content-Length: 0",
        "Content-Length: 5",
        "Content-Length: -1",
        "Content-Length: +5",
        "Content-Length: 5, 5",
    ),
    *(
        "Content-Length: " + "9" * 30,
        "Content-Length: 0x10",
        "Content-Length: " + "1" * 5000,
        "Upgrade: websocket",
    ),
    *(
        "Connection: close",
        "Connection: upgrade",
        "Connection: keep-alive",
        "Content-Encoding: gzip",
        "Upgrade: h2c",
    ),
    *(
        "Content-Type: application/json",
        "Content-Type: text/plain",
        "Content-Type: application/json; charset=utf-16",
    ),
    *(
        "Origin: http://evil",
        "Host: evil",
        "X: " + "y" * 70_000,
        " folded",
        "NoColon",
        ": empty",
        "X\0: y",
        "X: \xff",
    ),
    *(
        "Authorization: Bearer",
        "Authorization: Basic eDp5",
        "Authorization: Bearer \xe9",
        "Accept: text/html",
        "Range: bytes=0-",
    ),
]


class HttpRequests(Target):
    """Sends requests to a server that runs in this process, so that its faults are seen."""

    def __init__(self, folder: Any) -> None:
        super().__init__(folder)
        self._stack = ExitStack()
        self._log = _Faults()
        for name in ("", "uvicorn.error", "labeltree", "asyncio"):
            logging.getLogger(name).addHandler(self._log)
        numbers = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] * 2
        LabelTreeClassifier(random_state=0).fit(numbers, [[10], [20], [30]] * 2).save(folder / "numbers")
        words = [dict.fromkeys(text.lower().split(), 1.0) for text in TEXTS]
        OnlineLabelTreeClassifier(random_state=0).partial_fit(words, LABELS).save(folder / "online")
        Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS).save(folder / "tags")
        limits = Limits(body_bytes=100_000, rows=50, k=100, text_chars=2000, seconds=20.0)
        served = Settings(
            {name: folder / name for name in MODELS},
            limits=limits,
            tokens=Tokens([TOKEN]),
            learn=True,
            snapshot_every=500,
            log_requests=False,
        )
        self._client, self._service = self._stack.enter_context(serving(served))
        self._address = (self._client.base_url.host, self._client.base_url.port)
        self._description: Any = None
        self._described: list[Case] = []

    def close(self) -> None:
        self._stack.close()
        for name in ("", "uvicorn.error", "labeltree", "asyncio"):
            logging.getLogger(name).removeHandler(self._log)

    def seeds(self) -> list[Case]:
        posts = [
            _case(post(f"/v1/models/{model}/{word}", json.dumps(body).encode()))
            for word, bodies in BODIES.items()
            for body in bodies
            for model in MODELS
        ]
        return [*posts, *(_case(head("GET", path)) for path in PATHS)]

    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        match rng.randrange(8):
            case 0 | 1:
                return self._described_case(rng)
            case 2 | 3:
                word = rng.choice(list(BODIES))
                body = json.loads(json.dumps(rng.choice(BODIES[word])))
                for _ in range(rng.choice([1, 1, 2, 4])):
                    replace_somewhere(rng, body)
                content = json.dumps(body, ensure_ascii=rng.random() < 0.8).encode(errors="surrogatepass")
                return _case(post(f"/v1/models/{rng.choice(MODELS)}/{word}", content))
            case 4:
                return _case(_odd_head(rng), _cuts(rng))
            case 5:
                requests = [rng.choice(corpus)[REQUEST] for _ in range(rng.choice([2, 3, 8]))]
                return _case(b"".join(requests), _cuts(rng))
            case 6:
                sent = rng.choice(corpus)[REQUEST]
                return _case(_chunked(rng, sent), _cuts(rng))
            case _:
                sent = rng.choice(corpus)[REQUEST]
                return _case(mutate_bytes(rng, sent, [rng.choice(corpus)[REQUEST]]), _cuts(rng))

    def _described_case(self, rng: random.Random) -> Case:
        """Return a request that Schemathesis makes from the description; it makes several at a time."""
        if self._description is None:
            self._description = schemathesis.openapi.from_url(f"{self._client.base_url}/openapi.json")
            self._operations = [operation.ok() for operation in self._description.get_all_operations()]
        if not self._described:
            operation = rng.choice(self._operations)
            mode = rng.choice(list(schemathesis.GenerationMode))
            model = rng.choice(MODELS)
            made: list[Case] = []

            @seed(rng.randrange(2**32))
            @settings(
                max_examples=12,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def collect(case: Any) -> None:
                if "name" in case.path_parameters:
                    case.path_parameters["name"] = model
                made.append(self._from_schemathesis(case, operation))

            with suppress(Exception):  # some operations have nothing that is forbidden
                collect()
            self._described = made or [_case(head("GET", "/healthz"))]
        return self._described.pop()

    def _from_schemathesis(self, case: Any, operation: Any) -> Case:
        arguments = case.as_transport_kwargs(base_url=str(self._client.base_url), headers=BEARER)
        known = ("method", "url", "params", "headers", "json", "data", "cookies")
        prepared = Request(**{key: arguments[key] for key in known if key in arguments}).prepare()
        body = prepared.body or b""
        content = body.encode() if isinstance(body, str) else bytes(body)
        lines = [
            f"{name}: {_text(value)}" for name, value in prepared.headers.items() if name != "Content-Length"
        ]
        sent = head(
            str(prepared.method), prepared.path_url, *lines, f"Content-Length: {len(content)}", token=False
        )
        statuses = sorted(operation.definition.raw["responses"])
        return _case(sent + content, statuses=[*statuses, "400", "414", "431"])

    def run(self, case: Case) -> str:
        plan = json.loads(case[PLAN])
        received = self._exchange(case[REQUEST], plan["cuts"])
        statuses = answers_in(received)
        assert not any(status >= 500 for status in statuses), received[:2000]
        if plan["statuses"] and statuses:
            assert str(statuses[0]) in plan["statuses"], (statuses[0], plan["statuses"], received[:500])
        if self._log.faults:
            faults = "\n".join(self._log.faults)
            self._log.faults.clear()
            raise AssertionError(f"the server logged a fault: {faults}")
        self._check_health()
        first = case[REQUEST].split(b" ")[0][:10]
        return f"answered: {statuses[:5]} {first!r} {len(statuses)}"

    def _exchange(self, sent: bytes, cuts: list[int]) -> bytes:
        """Send bytes in pieces. Return all that comes back until the server closes, or stays silent."""
        parts: list[bytes] = []
        connection = socket.create_connection(self._address, timeout=10)
        with connection, suppress(ConnectionError, TimeoutError):
            for begin, end in pairwise([0, *cuts, len(sent)]):
                connection.sendall(sent[begin:end])
                time.sleep(0.002 if cuts else 0)
            connection.settimeout(0.5)
            while part := connection.recv(1 << 16):
                parts.append(part)
                connection.settimeout(0.05)
        return b"".join(parts)

    def _check_health(self) -> None:
        assert self._client.get("/healthz").status_code == 200
        until = time.monotonic() + 30
        while self._service.metrics.in_flight:
            assert time.monotonic() < until, "a request is still at work"
            time.sleep(0.002)


class _Faults(logging.Handler):
    """Collects errors that the server logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.faults.append(self.format(record))


def answers_in(received: bytes) -> list[int]:
    """Return the statuses of well-formed answers; raise `AssertionError` for anything else. The last may be cut off."""
    statuses = []
    stream = io.BytesIO(received)
    while stream.tell() < len(received):
        line = stream.readline()
        assert line.startswith(b"HTTP/1.1 "), f"this is no answer: {line[:200]!r}"
        status = int(line[9:12])
        headers = http.client.parse_headers(stream)
        statuses.append(status)
        if status in (101, 204, 304) or status < 200:
            continue
        if headers.get("transfer-encoding") == "chunked":
            while size := int(stream.readline() or b"0", 16):
                stream.read(size + 2)
            stream.readline()
        elif headers.get("content-length") is None or _answers_head(received, stream.tell()):
            break
        else:
            stream.read(int(headers["content-length"]))
    return statuses


def _answers_head(received: bytes, at: int) -> bool:
    """Whether the next answer begins where a body should be, because the request was HEAD."""
    return received[at : at + 9] == b"HTTP/1.1 " or at == len(received)


def head(method: str, path: str, *lines: str, token: bool = True) -> bytes:
    """Return the head of a request."""
    authorization = [f"Authorization: {BEARER['Authorization']}"] if token else []
    wanted = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *authorization, *lines, "", ""]
    return "\r\n".join(wanted).encode("latin-1", "replace")


def post(path: str, body: bytes) -> bytes:
    return head("POST", path, "Content-Type: application/json", f"Content-Length: {len(body)}") + body


def _case(request: bytes, cuts: list[int] | None = None, statuses: list[str] | None = None) -> Case:
    plan = {"cuts": sorted(cut for cut in cuts or [] if cut < len(request)), "statuses": statuses or []}
    return {REQUEST: request, PLAN: json.dumps(plan).encode()}


def _cuts(rng: random.Random) -> list[int]:
    return [rng.randrange(400) for _ in range(rng.choice([0, 0, 0, 1, 3]))]


def _odd_head(rng: random.Random) -> bytes:
    method = rng.choice(["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "BREW", "", "G\0T", "get", "PRI"])
    path = rng.choice(
        [*PATHS, "/v1/models/online/predict", "*", "http://x/", "", "/%ff%00", "//", "/" + "x" * 70_000]
    )
    if rng.random() < 0.3:
        path += "?" + rng.choice(["k", "limit", "query", "label"]) + "=" + str(rng.choice(NUMBERS))
    version = rng.choice(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "http/1.1", ""])
    lines = [f"{method} {path} {version}", *rng.sample(LINES, rng.choice([0, 1, 2, 5]))]
    if rng.random() < 0.5:
        lines.append(f"Authorization: {BEARER['Authorization']}")
    end = rng.choice(["\r\n", "\r\n", "\r\n", "\n", "\r"])
    sent = (end.join(lines) + end * 2).encode("latin-1", "replace")
    return sent + rng.choice([b"", b"{}", b'{"text": "a"}', b"5\r\n{}   \r\n0\r\n\r\n", rng.randbytes(20)])


def _chunked(rng: random.Random, sent: bytes) -> bytes:
    """Return a request with its body in chunks, some of them wrong."""
    start, _, body = sent.partition(b"\r\n\r\n")
    lines = [line for line in start.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    chunks = b""
    while body:
        n = rng.choice([1, 5, 50, 1000])
        size = rng.choice(
            [b"%x" % len(body[:n])] * 9
            + [b"0", b"-1", b"ffffffffffffffff", b"fffffffff", b"zz", b"", b"1;x=y"]
        )
        chunks += size + b"\r\n" + body[:n] + b"\r\n"
        body = body[n:]
    trailer = rng.choice([b"", b"", b"X: y\r\n", b"Content-Length: 3\r\n", b"x" * 100])
    return (
        b"\r\n".join([*lines, b"Transfer-Encoding: chunked"])
        + b"\r\n\r\n"
        + chunks
        + b"0\r\n"
        + trailer
        + b"\r\n"
    )


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
