"""Classifiers that learn word vectors: ours beside extremeText and fastText, at the same dimension and epochs.

python -m benchmarks.word_vectors --data eurlex57k tate --dimensions 100 --limit 600 --skip fasttext-ova:tate
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from benchmarks.__main__ import rotated, surroundings
from benchmarks.data import CACHE, prepare
from benchmarks.inputs import Inputs
from benchmarks.peers import Peer
from benchmarks.runner import Run, judge, run_stages
from benchmarks.summary import combined
from benchmarks.table import markdown_cells, show_cells
from benchmarks.word_vectors_peers import OUR_SYSTEMS, SYSTEMS, peers
from benchmarks.word_vectors_table import (
    COMPARED_HEADINGS,
    COMPARED_LEGEND,
    HEADINGS,
    QUALITIES,
    Rows,
    cells,
    compared_cells,
    comparisons,
    notes,
)

TABLE_WIDTH = 200

#: The sets that are measured by default, each with its dimensions; 500 takes long, so only one set has it.
USUAL_DIMENSIONS = {"eurlex57k": (100, 500), "tate": (100,), "extreme-100k": (100,)}

#: Runs by data set, dimension and system.
Runs = Mapping[tuple[str, int, str], Sequence[Run]]


class Table(NamedTuple):
    """What `show_cells` and `markdown_cells` take."""

    title: str
    headings: Sequence[str]
    cells: Sequence[Sequence[Sequence[str]]]
    notes: Sequence[str]


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    title = f"Word vectors, {options.epochs} epochs, {options.threads} threads"
    names = "-".join(Path(data).name for data in options.data)
    output = options.output or CACHE / "results" / f"{names}-word-vectors"
    output.mkdir(parents=True, exist_ok=True)
    inputs = {data: Inputs(*prepare(data)) for data in options.data}
    y_test = {data: files.read_test()[1] for data, files in inputs.items()}

    runs: dict[tuple[str, int, str], list[Run]] = {}
    tables: list[Table] = []
    for repetition, data, dimension, system in schedule(options):
        name = Path(data).name
        earlier = runs.setdefault((name, dimension, system), [])
        if earlier and not earlier[-1].complete:
            continue
        print(f"run {repetition + 1}: {system}, {name}, dimension {dimension}", file=sys.stderr, flush=True)
        run = Run(system, 1, options.limit)
        told = {"threads": options.threads, "seed": repetition}
        learn(run, systems(options, dimension)[system], inputs[data], y_test[data], told)
        earlier.append(run)
        # After every run: a table of some hours must not be lost with its last line.
        rows = {key: combined(group) for key, group in runs.items()}
        tables = tables_of(title, options, rows)
        (output / "results.json").write_text(json.dumps(document(title, options, rows, runs), indent=1))
        (output / "table.md").write_text("\n".join(markdown_cells(*table) for table in tables))

    console = Console(width=max(Console().width, TABLE_WIDTH))
    for table in tables:
        show_cells(*table, console)
    print(f"{output}: results.json, table.md")
    return 0


def schedule(options: argparse.Namespace) -> Iterator[tuple[int, str, int, str]]:
    """All runs, interleaved: repetition, data set, dimension and system."""
    for repetition in range(options.repeat):
        for data in options.data:
            for dimension in options.dimensions or USUAL_DIMENSIONS.get(Path(data).name, (100,)):
                for system in rotated(options.systems, repetition):
                    if (system, data) not in options.skip:
                        yield repetition, data, dimension, system


def systems(options: argparse.Namespace, dimension: int) -> dict[str, Peer]:
    return peers(dimension, options.epochs, options.extremetext_lr, options.fasttext_lr)


def learn(run: Run, peer: Peer, inputs: Inputs, y_test: Any, told: dict[str, Any]) -> None:
    """Let a system train and predict the test rows, and fill in what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        predictions = run_stages(run, peer, inputs, Path(folder), told)
        judge(run, predictions, y_test, QUALITIES)
    if run.system in OUR_SYSTEMS and "train_s" in run.figures:
        run.figures["learn_s"] = run.figures["train_s"]  # ours reads the file before


def tables_of(title: str, options: argparse.Namespace, rows: Rows) -> list[Table]:
    """All figures, then ours beside their rivals."""
    # The notes do not tell the dimension, so any will do.
    skipped = [(system, Path(data).name) for system, data in options.skip]
    told = list(notes(rows, systems(options, 100), skipped))
    compared = list(compared_cells(comparisons(rows)))
    return [
        Table(title, HEADINGS, list(cells(rows)), told),
        Table(f"{title}: ours beside their rivals", COMPARED_HEADINGS, compared, [COMPARED_LEGEND]),
    ]


def document(title: str, options: argparse.Namespace, rows: Rows, runs: Runs) -> dict[str, Any]:
    """What `results.json` has."""

    def named(key: tuple[str, int, str], values: dict[str, Any]) -> dict[str, Any]:
        return {"data": key[0], "dimension": key[1], **values}

    return {
        **surroundings(title, options),
        "epochs": options.epochs,
        "extremetext_lr": options.extremetext_lr,
        "fasttext_lr": options.fasttext_lr,
        "skipped": [":".join(combination) for combination in options.skip],
        "rows": [named(key, row.as_json()) for key, row in rows.items()],
        "comparisons": [compared.as_json() for compared in comparisons(rows)],
        "runs": [named(key, asdict(run)) for key, group in runs.items() for run in group],
    }


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.word_vectors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    usual = list(USUAL_DIMENSIONS)
    parser.add_argument(
        "--data",
        nargs="+",
        default=usual,
        metavar="SET",
        help=f"names of sets, or folders with train.txt and test.txt; {', '.join(usual)} by default",
    )
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, choices=SYSTEMS, metavar="SYSTEM",
                        help=f"some of {', '.join(SYSTEMS)}; by default all")  # fmt: skip
    parser.add_argument(
        "--skip",
        nargs="+",
        default=[],
        type=_combination,
        metavar="SYSTEM:SET",
        help="leave out a system on a set, such as fasttext-ova:extreme-100k",
    )
    parser.add_argument(
        "--dimensions",
        nargs="+",
        type=int,
        metavar="N",
        help="numbers of elements of a vector; 100 by default, on eurlex57k also 500",
    )
    parser.add_argument("--epochs", type=int, default=10, help="passes over the rows; 10 by default")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, interleaved; 3 by default")
    parser.add_argument(
        "--limit",
        type=float,
        default=1800,
        metavar="SECONDS",
        help="the longest that training, or prediction, of one system may take; 1800 by default",
    )
    parser.add_argument(
        "--extremetext-lr", type=float, default=0.2, help="learning rate of extremetext; 0.2 by default"
    )
    parser.add_argument(
        "--fasttext-lr", type=float, default=0.5, help="learning rate of fasttext; 0.5 by default"
    )
    parser.add_argument("--output", type=Path, help="the folder of results.json and table.md")
    options = parser.parse_args(arguments)
    for name in ("dimensions", "epochs", "threads", "repeat", "limit", "extremetext_lr", "fasttext_lr"):
        value = getattr(options, name)
        lowest = min(value) if isinstance(value, list) else value
        if lowest is not None and lowest <= 0:
            parser.error(f"--{name.replace('_', '-')} must be above 0, got {lowest}")
    for _, data in options.skip:
        if data not in options.data:
            parser.error(f"--skip must name a set of --data ({', '.join(options.data)}), got {data}")
    return options


def _combination(text: str) -> tuple[str, str]:
    system, _, data = text.partition(":")
    if system not in SYSTEMS or not data:
        raise argparse.ArgumentTypeError(
            f"expected SYSTEM:SET with a system of {', '.join(SYSTEMS)}, got {text!r}"
        )
    return system, data


if __name__ == "__main__":
    sys.exit(main())
