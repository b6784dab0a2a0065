"""An hour of modest load on a server that predicts, learns, saves and reloads: does its memory grow, is anything lost?

python -m benchmarks.soak --minutes 60 --rate 20

The server has a tagger and an online model. Of 20 requests 15 ask for the tags of a text, one is something else that
the server offers, one is refused, and three teach the online model a text that it has seen before, so that its tree
stays the same size. The tagger is reloaded every minute. In the end the server is killed, and the online model must
have every example that was acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.__main__ import surroundings
from benchmarks.data import CACHE
from benchmarks.serving import PREDICT, tagger
from benchmarks.serving_processes import LABELTREE, TOKEN, Server
from labeltree.datasets import load_tate

TITLE = "Soak: a server that predicts, learns, saves and reloads"
LEARN = "/v1/models/live/learn"
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}
N_LESSONS = 500
SAMPLE_SECONDS = 10.0
RELOAD_SECONDS = 60.0

#: Memory is compared from then on: before it, pages of the models are touched for the first time.
SETTLE_SHARE = 0.2

#: Statuses of the requests that are meant to be refused.
REFUSED = {400, 404}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    output: Path = options.output or CACHE / "results" / "soak"
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        served, live = folder / "tate.labeltree", folder / "live.labeltree"
        shutil.copytree(tagger(0), served)
        lessons = learned_before(live, folder / "lessons.jsonl")
        models = {"tate": served, "live": live}
        server = Server.of_labeltree(models, 1, folder / "serve.log", "--learn", "--snapshot-every", "2000")
        try:
            result = asyncio.run(soak(server, requests(lessons), options))
        finally:
            server.close()
        result["examples_kept"] = examples_kept(live, lessons[0], folder / "serve.log")
    told = {**surroundings(TITLE, options), "minutes": options.minutes, "rate": options.rate, **result}
    (output / "results.json").write_text(json.dumps(told, indent=1))
    print(summary(told))
    print(f"{output}: results.json")
    return int(told["failed"] > 0 or told["examples_kept"] != told["examples_acknowledged"])


def learned_before(model: Path, stream: Path) -> list[dict[str, Any]]:
    """Save an online model that has learned the lessons of the soak once, and return them."""
    catalogue = load_tate()
    lessons = [
        {"text": text, "labels": [str(label) for label in labels]}
        for text, labels in zip(catalogue.texts_train[:N_LESSONS], catalogue.labels_train, strict=False)
    ]
    stream.write_text("".join(json.dumps(lesson) + "\n" for lesson in lessons))
    subprocess.run([*LABELTREE, "learn", stream, "--model", model], check=True, stdout=subprocess.DEVNULL)
    return lessons


def requests(lessons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the requests in their order, as arguments of `httpx.AsyncClient.request`."""
    texts = load_tate().texts_test
    ask: list[dict[str, Any]] = [{"method": "POST", "url": PREDICT, "json": {"text": text}} for text in texts]
    learn: list[dict[str, Any]] = [
        {"method": "POST", "url": LEARN, "json": {"examples": [lesson]}, "headers": AUTHORISED}
        for lesson in lessons
    ]
    other: list[dict[str, Any]] = [
        {"method": "POST", "url": PREDICT, "json": {"texts": texts[:20], "k": 10}},
        {"method": "POST", "url": PREDICT, "json": {"text": texts[0], "label_weight": "propensity"}},
        {"method": "POST", "url": "/v1/models/tate/explain", "json": {"text": texts[0], "label": 91}},
        {"method": "GET", "url": "/v1/models/tate/labels?query=1"},
        {"method": "GET", "url": "/v1/models/tate/tree?node=0"},
        {"method": "POST", "url": "/v1/models/live/predict", "json": {"text": texts[1]}},
        {"method": "GET", "url": "/metrics"},
        {"method": "GET", "url": "/"},
    ]
    bad: list[dict[str, Any]] = [
        {"method": "POST", "url": PREDICT, "content": b"{"},
        {"method": "POST", "url": "/v1/models/none/predict", "json": {"text": texts[0]}},
    ]
    asked, learned, others, refused = (itertools.cycle(kind) for kind in (ask, learn, other, bad))
    kinds = [asked, asked, asked, asked, asked, learned] * 3 + [others, refused]
    return [next(kind) for _ in range(len(lessons)) for kind in kinds]


async def soak(server: Server, planned: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    """Send requests at a steady rate, whether or not those before are answered, and watch the server's memory."""
    statuses: Counter[str] = Counter()
    seconds: list[float] = []
    samples: list[tuple[float, float]] = []
    acknowledged = 0
    began = time.monotonic()
    until = began + 60 * options.minutes
    limits = httpx.Limits(max_connections=64)
    async with httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits) as client:

        async def send(request: dict[str, Any]) -> None:
            nonlocal acknowledged
            asked = time.monotonic()
            try:
                answer = await client.request(**request)
            except httpx.TransportError as error:
                statuses[type(error).__name__] += 1
                return
            seconds.append(time.monotonic() - asked)
            statuses[str(answer.status_code)] += 1
            acknowledged += request["url"] == LEARN and answer.status_code == 200

        async def reload() -> None:
            while time.monotonic() + RELOAD_SECONDS < until:
                await asyncio.sleep(RELOAD_SECONDS)
                await send({"method": "POST", "url": "/v1/models/tate/reload", "headers": AUTHORISED})

        async def sample() -> None:
            while time.monotonic() < until:
                samples.append((time.monotonic() - began, server.anonymous_mb()))
                await asyncio.sleep(SAMPLE_SECONDS)

        async def send_all() -> None:
            pending: set[asyncio.Task[None]] = set()
            for number, request in enumerate(itertools.cycle(planned)):
                due = began + number / options.rate
                if due > until:
                    break
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                task = asyncio.create_task(send(request))
                pending.add(task)
                task.add_done_callback(pending.discard)
            await asyncio.gather(*pending)

        await asyncio.gather(send_all(), reload(), sample())
    expected = {"200", *map(str, REFUSED)}
    return {
        "requests": sum(statuses.values()),
        "failed": sum(n for status, n in statuses.items() if status not in expected),
        "statuses": dict(statuses),
        "p50_ms": float(np.quantile(seconds, 0.5) * 1000),
        "p99_ms": float(np.quantile(seconds, 0.99) * 1000),
        "examples_acknowledged": acknowledged,
        **growth(samples),
        "samples": samples,
    }


def growth(samples: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the memory once it has settled, the memory in the end, and the slope between."""
    seconds, memory = np.array(samples)[int(SETTLE_SHARE * len(samples)) :].T
    part = max(1, len(memory) // 10)
    slope = np.polyfit(seconds, memory, 1)[0] if len(memory) > 1 else 0.0
    return {
        "first_mb": float(np.median(memory[:part])),
        "last_mb": float(np.median(memory[-part:])),
        "mb_per_hour": float(slope * 3600),
    }


def examples_kept(live: Path, lesson: dict[str, Any], log: Path) -> int:
    """Return how many examples of the soak a model has after its server was killed: another server tells."""
    server = Server.of_labeltree({"live": live}, 1, log, "--learn")
    try:
        answer = httpx.post(server.url + LEARN, json={"examples": [lesson]}, headers=AUTHORISED, timeout=60)
        answer.raise_for_status()
        return int(answer.json()["n_examples"]) - 1 - N_LESSONS
    finally:
        server.close()


def summary(told: dict[str, Any]) -> str:
    """Return the result in sentences."""
    return (
        f"{told['requests']:,} requests in {told['minutes']:g} minutes, {told['failed']} failed; p50 "
        f"{told['p50_ms']:.1f} ms, p99 {told['p99_ms']:.1f} ms. Anonymous memory {told['first_mb']:.1f} MB after a "
        f"fifth of the time, {told['last_mb']:.1f} MB in the end ({told['mb_per_hour']:+.1f} MB an hour). "
        f"{told['examples_acknowledged']:,} examples acknowledged, {told['examples_kept']:,} kept after kill -9."
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="of load; 60 by default")
    parser.add_argument("--rate", type=float, default=20.0, help="requests per second; 20 by default")
    parser.add_argument("--output", type=Path, help="the folder of results.json")
    parser.set_defaults(data="tate", threads=1, limit=None)
    options = parser.parse_args(arguments)
    for name in ("minutes", "rate"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be above 0, got {getattr(options, name)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
