"""How many requests a server answers, beside one that does nothing, and what happens when things change.

python -m benchmarks.serving --workers 1 2 --seconds 5 --repeat 3

The requests are captions of the Tate's catalogue that were not trained on, one in each. All is on loopback, client and
servers share the processors, and the server that does nothing is asked the same by the same client in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.__main__ import surroundings
from benchmarks.data import CACHE
from benchmarks.serving_processes import Client, Server
from benchmarks.table import markdown_cells, show_cells
from labeltree import LabelTreeClassifier
from labeltree.datasets import load_tate
from labeltree.text import Tagger

TITLE = "One text per request, tags of the Tate's catalogue"
HEADINGS = ["system", "workers", "requests/s", "of nothing %", "p50 ms", "p99 ms", "CPU µs", "in the model %"]
TABLE_WIDTH = 120
PREDICT = "/v1/models/tate/predict"
N_TEXTS = 2000


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    output: Path = options.output or CACHE / "results" / "serving"
    output.mkdir(parents=True, exist_ok=True)
    models = [tagger(seed) for seed in (0, 1)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_requests(folder)
        rates = measure_rates(models[0], folder, options)
        events = {
            "reload": reload_under_load(models, folder, options),
            "kill": kill_under_load(models[0], folder, options),
        }
    told = {**surroundings(TITLE, options), "processors": os.cpu_count(), "rates": rates, **events}
    (output / "results.json").write_text(json.dumps(told, indent=1))
    (output / "table.md").write_text(markdown_cells(TITLE, HEADINGS, cells(rates), notes(events)))
    show_cells(TITLE, HEADINGS, cells(rates), notes(events), Console(width=max(Console().width, TABLE_WIDTH)))
    print(f"{output}: results.json, table.md")
    return 0


def tagger(seed: int) -> Path:
    """The directory of a tagger, trained on first use."""
    path = CACHE / "serving" / f"tate-{seed}.labeltree"
    if not path.exists():
        print(f"training {path.name}", file=sys.stderr, flush=True)
        catalogue = load_tate()
        classifier = LabelTreeClassifier(n_jobs=-1, random_state=seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        Tagger(classifier).fit(catalogue.texts_train, catalogue.labels_train).save(path)
    return path


def write_requests(folder: Path) -> None:
    """What is asked: one text each, and the same of the server that does nothing."""
    texts = load_tate().texts_test[:N_TEXTS]
    bodies = [json.dumps({"text": text}) for text in texts]
    write_lines(folder / "labeltree.jsonl", [{"path": PREDICT, "body": body} for body in bodies])
    write_lines(folder / "nothing.jsonl", [{"path": "/nothing", "body": body} for body in bodies])


def write_lines(path: Path, lines: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def measure_rates(model: Path, folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Both servers in turn, so that a busy machine is busy for both."""
    rates = []
    for workers in options.workers:
        servers = {
            "nothing": Server.of_nothing(workers, folder / "nothing.log"),
            "labeltree": Server.of_labeltree({"tate": model}, workers, folder / "serve.log"),
        }
        try:
            for repetition in range(options.repeat):
                print(f"{workers} worker(s), run {repetition + 1}", file=sys.stderr, flush=True)
                for system, server in servers.items():
                    rates.append(
                        {"system": system, "workers": workers, **rate(system, server, folder, options)}
                    )
        finally:
            for server in servers.values():
                server.close()
    return rates


def rate(system: str, server: Server, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """How one server fares for some seconds."""
    counted = system == "labeltree"
    client = Client(server, folder / f"{system}.jsonl", options.seconds, options.connections)
    before = server.counters() if counted else {}
    used = server.processor_seconds()
    told = client.result()
    told["cpu_us"] = (server.processor_seconds() - used) / told["requests"] * 1e6
    return {**told, **(spent(before, server.counters()) if counted else {})}


def spent(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What requests took, by the server's own account."""
    model, whole, rows = (
        after[name] - before.get(name, 0.0)
        for name in (
            "labeltree_model_seconds_total",
            "labeltree_request_seconds_sum",
            "labeltree_rows_total",
        )
    )
    return {"model_share": model / whole, "model_us": model / rows * 1e6}


def reload_under_load(models: Sequence[Path], folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Another model is saved over the one that is served, and loaded, again and again."""
    served = folder / "served"
    shutil.copytree(models[0], served)
    server = Server.of_labeltree({"tate": served}, max(options.workers), folder / "serve.log")
    try:
        client = Client(server, folder / "labeltree.jsonl", 2 * options.seconds, options.connections)
        versions: list[str] = []
        while client.is_at_work and len(versions) < 6:
            Tagger.load(models[(len(versions) + 1) % 2]).save(served)
            versions.append(server.reload("tate")["version"])
            time.sleep(0.2)
        return {**client.result(), "reloads": len(versions), "versions": len(set(versions))}
    finally:
        server.close()


def kill_under_load(model: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """A worker is killed in the midst of its requests."""
    workers = max(2, *options.workers)
    server = Server.of_labeltree({"tate": model}, workers, folder / "serve.log")
    try:
        client = Client(server, folder / "labeltree.jsonl", 2 * options.seconds, options.connections)
        time.sleep(options.seconds / 2)
        server.kill_a_worker()
        told = client.result()
        until = time.monotonic() + 60
        while (started := server.counters()["labeltree_worker_starts_total"]) <= workers:
            if time.monotonic() > until:
                break
            time.sleep(0.1)
        return {**told, "workers": workers, "was_replaced": started > workers}
    finally:
        server.close()


def cells(rates: Sequence[dict[str, Any]]) -> list[list[list[str]]]:
    """Medians over the runs."""
    rows = []
    for workers in dict.fromkeys(rate["workers"] for rate in rates):
        runs = {
            system: [rate for rate in rates if (rate["system"], rate["workers"]) == (system, workers)]
            for system in ("nothing", "labeltree")
        }
        ratios = [
            ours["per_second"] / theirs["per_second"]
            for ours, theirs in zip(runs["labeltree"], runs["nothing"], strict=True)
        ]
        for system, name, of_nothing, in_model in (
            ("nothing", "FastAPI, does nothing", 1.0, "–"),
            ("labeltree", "labeltree serve", statistics.median(ratios), "{model_share:.0%}"),
        ):
            middle = {
                figure: statistics.median(run[figure] for run in runs[system])
                for figure, value in runs[system][0].items()
                if isinstance(value, float)
            }
            columns = f"{{per_second:,.0f}}|{of_nothing:.0%}|{{p50_ms:.1f}}|{{p99_ms:.1f}}|{{cpu_us:.0f}}|{in_model}"
            numbers = columns.format_map(middle).replace("%", "").split("|")
            rows.append([[column] for column in (name, str(workers), *numbers)])
    return rows


def notes(events: dict[str, dict[str, Any]]) -> list[str]:
    """The rest, in sentences."""
    reload, kill = events["reload"], events["kill"]
    return [
        f"Reload under load: the model was replaced {reload['reloads']} times, {reload['requests']:,} requests "
        f"answered, {n_failed(reload)} failed.",
        f"A worker of {kill['workers']} killed under load: {kill['requests']:,} requests answered, {n_failed(kill)} "
        f"failed with a lost connection or a 5xx, never more than {kill['longest_gap_ms']:.0f} ms without an answer; "
        f"it was {'' if kill['was_replaced'] else 'not '}replaced.",
    ]


def n_failed(told: dict[str, Any]) -> int:
    """Requests without an answer, or with one that says the server could not."""
    refused = sum(n for status, n in told["statuses"].items() if int(status) >= 500)
    return int(sum(told["failures"].values()) + refused)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.serving",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--workers", nargs="+", type=int, default=[1, 2], help="numbers of processes; 1 and 2"
    )
    parser.add_argument("--connections", type=int, default=16, help="that the client has; 16 by default")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each run; 5 by default")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, interleaved; 3 by default")
    parser.add_argument("--output", type=Path, help="the folder of results.json and table.md")
    parser.set_defaults(data="tate", threads=1, limit=None)
    options = parser.parse_args(arguments)
    for name in ("connections", "seconds", "repeat"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be above 0, got {getattr(options, name)}")
    if min(options.workers) <= 0:
        parser.error(f"--workers must be above 0, got {min(options.workers)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
