"""How long `/healthz` takes while a server is attacked, and whether others are still answered.

python -m benchmarks.attacks --seconds 8
python -m benchmarks.attacks --sources ../other/src --only "a huge head"

Each attack is a process with an address of its own (127.0.0.2); the probe asks from 127.0.0.1, each time over a new
connection. None of the attackers has a token. The first line is a server that nobody attacks.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.attackers import ATTACKS, PREDICT
from benchmarks.process import stop
from benchmarks.serving_processes import Server
from benchmarks.table import show_cells

HEADINGS = ["attack", "p50 ms", "p99 ms", "worst ms", "failed", "predicted %", "memory MB", "noted"]
TITLE = "/healthz under attack"
TIMEOUT_SECONDS = 60.0
PAUSE_SECONDS = 0.02
#: Number of probes between two predictions of the probe.
PREDICT_EVERY = 5
N_LABELS = 2000


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(options.sources.resolve()), os.getcwd()])
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(folder / "words")
        for attack in ["none", *(options.only or ATTACKS)]:
            print(attack, file=sys.stderr, flush=True)
            rows.append(measure(attack, folder, options.seconds))
    show_cells(TITLE, HEADINGS, [[[cell] for cell in row] for row in rows], [], Console(width=150))
    return 0


def train(path: Path) -> None:
    """A model of words: small, but with enough labels for large answers."""
    from labeltree import LabelTreeClassifier
    from labeltree.text import Tagger

    texts = [f"word{i} word{i // 10} word{i // 100}" for i in range(N_LABELS)]
    labels = [[f"label {i}", f"tens {i // 10}"] for i in range(N_LABELS)]
    Tagger(LabelTreeClassifier(random_state=0)).fit(texts, labels).save(path)


def measure(attack: str, folder: Path, seconds: float) -> list[str]:
    """Attack a new server, and return a row of the table."""
    server = Server.of_labeltree({"words": folder / "words"}, 1, folder / "serve.log")
    attacker: subprocess.Popen[bytes] | None = None
    try:
        probe(server.port, 1.0)  # warm
        if attack != "none":
            command = [sys.executable, "-m", "benchmarks.attackers", attack, str(server.port), str(seconds)]
            attacker = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
            assert attacker.stdout is not None
            attacker.stdout.readline()  # it has begun
        found = probe(server.port, seconds, server)
        noted = ""
        if attacker is not None:
            output, _ = attacker.communicate(timeout=10 * TIMEOUT_SECONDS)
            noted = json.loads(output.splitlines()[-1])
    finally:
        if attacker is not None:
            stop(attacker)
        server.close()
    milliseconds = 1000 * np.array(found["seconds"])
    figures = [np.quantile(milliseconds, 0.5), np.quantile(milliseconds, 0.99), milliseconds.max()]
    return [
        attack,
        *(f"{figure:,.1f}" for figure in figures),
        str(found["failed"]),
        f"{100 * np.mean(found['predicted']):.0f}",
        f"{found['memory']:,.0f}",
        noted,
    ]


def probe(port: int, seconds: float, server: Server | None = None) -> dict[str, Any]:
    """Ask for some seconds, one request after the other."""
    found: dict[str, Any] = {"seconds": [], "failed": 0, "predicted": [], "memory": 0.0}
    until, n = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        started = time.perf_counter()
        status = ask(port, "GET", "/healthz")
        found["seconds"].append(time.perf_counter() - started)
        found["failed"] += status != 200
        n += 1
        if n % PREDICT_EVERY == 0:
            found["predicted"].append(ask(port, "POST", PREDICT, b'{"text": "word1"}') == 200)
            if server is not None:
                found["memory"] = max(found["memory"], server.anonymous_mb())
        time.sleep(PAUSE_SECONDS)
    return found


def ask(port: int, method: str, path: str, body: bytes | None = None) -> int:
    """Return the status, or 0 if there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", "Connection": "close"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attacks",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="of each attack; 8 by default")
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), metavar="ATTACK", help=", ".join(ATTACKS))
    parser.add_argument("--sources", type=Path, default=Path("src"), help="the server's; src by default")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
