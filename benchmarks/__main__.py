"""Runs every system on the same files, each in processes and an environment of its own, and prints one table for each
data set, and one with the ratios of all data sets."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from rich.console import Console

from benchmarks.data import CACHE, prepare
from benchmarks.inputs import Inputs
from benchmarks.peers import PEERS
from benchmarks.picture import check_matplotlib, draw
from benchmarks.ratios import Comparison, compare, markdown_of, show_comparisons
from benchmarks.runner import Run, judge, measure
from benchmarks.summary import QUALITIES, Row, summarise
from benchmarks.table import markdown, show
from labeltree import _native
from labeltree.metrics import inverse_propensity

TABLE_WIDTH = 220

#: These are no label trees, or too slow to be waited for unasked.
UNUSUAL = ("napkinxc-hsm", "napkinxc-br", "fasttext-ova", "extremetext")
USUAL = [name for name in PEERS if name not in UNUSUAL]


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    check_matplotlib()  # now rather than after hours
    comparisons: list[Comparison] = []
    results = options.output or CACHE / "results"
    for name in options.data:
        comparisons += compare_on(name, options)
        if len(options.data) > 1:
            # After every set: a table of some hours must not be lost with its last line.
            (results / "ratios.md").write_text(markdown_of(comparisons))
            (results / "ratios.json").write_text(json.dumps([asdict(one) for one in comparisons], indent=1))
    if len(options.data) > 1:
        show_comparisons(comparisons, Console(width=max(Console().width, TABLE_WIDTH)))
        print(f"{results}: ratios.json, ratios.md")
    return 0


def compare_on(name: str, options: argparse.Namespace) -> list[Comparison]:
    """Measure all systems on one data set, show and keep its table, and compare ours with the best of the others."""
    inputs = Inputs(*prepare(name))
    data = inputs.train.parent.name
    title = f"{data}, {options.threads} threads"
    if options.output and len(options.data) == 1:
        output = options.output
    else:
        output = (options.output or CACHE / "results") / f"{data}-{options.threads}-threads"
    output.mkdir(parents=True, exist_ok=True)
    _, y_test = inputs.read_test()
    propensity = inverse_propensity(sp.load_npz(inputs.path("labels")))

    runs: list[Run] = []
    rows: list[Row] = []
    given_up: set[tuple[str, int]] = set()
    for repetition, system, n_trees in schedule(options.systems, options.n_trees, options.repeat):
        if (system, n_trees) in given_up:
            continue
        print(f"{data}, run {repetition + 1}: {system}, {n_trees} tree(s)", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            run, predictions = measure(
                system,
                inputs,
                Path(folder),
                n_trees=n_trees,
                threads=options.threads,
                seed=repetition,
                limit_s=options.limit,
            )
            judge(run, predictions, y_test, QUALITIES, propensity)
            if not run.complete:
                given_up.add((system, n_trees))
        runs.append(run)
        rows = summarise(runs)
        document = {**surroundings(title, options), "data": name, "rows": [row.as_json() for row in rows]}
        document["runs"] = [asdict(one) for one in runs]
        (output / "results.json").write_text(json.dumps(document, indent=1))
        (output / "table.md").write_text(markdown(rows, title))

    show(rows, title, Console(width=max(Console().width, TABLE_WIDTH)))
    draw(rows, title, output / "results.png")
    print(f"{output}: results.json, table.md, results.png")
    return compare(data, inputs.n_rows, inputs.n_labels, rows)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--data",
        nargs="+",
        default=["eurlex57k"],
        metavar="SET",
        help="sets in LABELTREE_DATA or of the XMLC repository, or folders with train.txt and test.txt; with several "
        "sets, a table of ratios too",
    )
    parser.add_argument("--systems", nargs="+", default=USUAL, choices=list(PEERS), metavar="SYSTEM",
                        help=f"some of {', '.join(PEERS)}; by default all but {', '.join(UNUSUAL)}")  # fmt: skip
    parser.add_argument("--n-trees", nargs="+", type=int, default=[1, 3], help="numbers of trees to measure")
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
        "--output",
        type=Path,
        help="the folder of results.json, table.md and results.png, or of a folder for each of several sets",
    )
    options = parser.parse_args(arguments)
    for name in ("threads", "repeat", "limit"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be above 0, got {getattr(options, name)}")
    return options


def schedule(systems: Sequence[str], n_trees: Sequence[int], repeat: int) -> Iterator[tuple[int, str, int]]:
    """All runs, interleaved: what slows the machine down for a while is not on one system's account alone.

    Systems that know no ensembles are run with the first number of trees only.
    """
    for repetition in range(repeat):
        for number in n_trees:
            for system in rotated(systems, repetition):
                if number == n_trees[0] or PEERS[system].ensembles:
                    yield repetition, system, number


def rotated(systems: Sequence[str], repetition: int) -> list[str]:
    """The systems, every repetition beginning with another one."""
    first = repetition % len(systems)
    return [*systems[first:], *systems[:first]]


def surroundings(title: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the figures depend on beside the systems."""
    return {
        "title": title,
        "data": options.data,
        "threads": options.threads,
        "limit_s": options.limit,
        "processor": processor(),
        "vector_code": _native.vector_code(),
        "python": platform.python_version(),
    }


def processor() -> str:
    """The name of the processor, as well as the system knows it."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
