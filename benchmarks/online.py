"""Learning from a stream, one example after the other: speed and precision beside other packages, in one run.

python -m benchmarks.online --data eurlex57k --passes 1 3 --repeat 3
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks.__main__ import rotated, surroundings
from benchmarks.data import CACHE, prepare
from benchmarks.inputs import Inputs
from benchmarks.online_peers import STREAM_PEERS
from benchmarks.online_table import HEADINGS, QUALITIES, cells, notes, rates
from benchmarks.runner import Run, judge, run_stages
from benchmarks.summary import combined
from benchmarks.table import markdown_cells, show_cells

TABLE_WIDTH = 120


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    files = Inputs(*prepare(options.data))
    data = files.train.parent.name
    title = f"{data}, one by one"
    output = options.output or CACHE / "results" / f"{data}-online"
    output.mkdir(parents=True, exist_ok=True)
    stream = Inputs(files.path("stream"), files.test)

    runs: dict[tuple[str, int], list[Run]] = {}
    for repetition in range(options.repeat):
        for passes in options.passes:
            for system in rotated(options.systems, repetition):
                earlier = runs.setdefault((system, passes), [])
                if earlier and not earlier[-1].complete:
                    continue
                print(f"run {repetition + 1}: {system}, {passes} pass(es)", file=sys.stderr, flush=True)
                earlier.append(learn(system, stream, passes, options.limit))
                # After every run: a table of some hours must not be lost with its last line.
                rows = {key: combined(group) for key, group in runs.items()}
                document = {
                    **surroundings(title, options),
                    "runs": [
                        {"passes": key[1], **asdict(run)} for key, group in runs.items() for run in group
                    ],
                }
                (output / "results.json").write_text(json.dumps(document, indent=1))
                (output / "table.md").write_text(markdown_cells(title, HEADINGS, cells(rows), notes(rows)))

    show_cells(title, HEADINGS, cells(rows), notes(rows), Console(width=max(Console().width, TABLE_WIDTH)))
    print(f"{output}: results.json, table.md")
    return 0


def learn(system: str, stream: Inputs, passes: int, limit_s: float) -> Run:
    """Train a system on the stream for `passes` passes, and predict the test rows."""
    run = Run(system, 1, limit_s)
    told = {"passes": passes, "n_trees": 1, "threads": 1, "seed": 0}
    with tempfile.TemporaryDirectory() as folder:
        predictions = run_stages(run, STREAM_PEERS[system], stream, Path(folder), told)
        judge(run, predictions, stream.read_test()[1], QUALITIES)
        if run.complete:
            run.figures |= rates(run.figures, passes * stream.n_rows)
    return run


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.online", description=__doc__)
    parser.add_argument(
        "--data", default="eurlex57k", help="a set in LABELTREE_DATA, or a folder with train.txt and test.txt"
    )
    parser.add_argument("--systems", nargs="+", default=list(STREAM_PEERS), choices=list(STREAM_PEERS),
                        metavar="SYSTEM", help=f"some of {', '.join(STREAM_PEERS)}; by default all")  # fmt: skip
    parser.add_argument(
        "--passes", nargs="+", type=int, default=[1, 3], help="passes over the stream; 1 and 3"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, interleaved; 3 by default")
    parser.add_argument(
        "--limit",
        type=float,
        default=1800,
        metavar="SECONDS",
        help="the longest that learning, or prediction, of one system may take; 1800 by default",
    )
    parser.add_argument("--output", type=Path, help="the folder of results.json and table.md")
    parser.set_defaults(threads=1)
    options = parser.parse_args(arguments)
    for name, values in {
        "passes": options.passes,
        "repeat": [options.repeat],
        "limit": [options.limit],
    }.items():
        if min(values) <= 0:
            parser.error(f"--{name} must be above 0, got {min(values)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
