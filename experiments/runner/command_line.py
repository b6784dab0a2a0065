"""The command: runs what is missing of some tables and writes their pages and pictures."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.picture import check_matplotlib

from experiments.runner.batch_picture import draw_batches
from experiments.runner.data import FOLDER
from experiments.runner.document import page
from experiments.runner.figures import Line, summarise
from experiments.runner.picture import draw
from experiments.runner.run import Run, runs_of
from experiments.runner.series import Series, describe, execute
from experiments.runner.store import Store
from experiments.runner.stream_picture import draw_streams
from experiments.runner.table import Table
from labeltree.datasets import names

RESULTS = Path(__file__).parent.parent / "results"

DRAWINGS = {"rows": draw, "stream": draw_streams, "batches": draw_batches}

#: All tables, in the order of the paper.
NAMES = (
    "optimisers",
    "node_learners",
    "search_methods",
    "batch_size",
    "representations",
    "tree_structures",
    "label_vectors",
    "tree_arity",
    "max_leaves",
    "ensembles",
    "pruning",
    "thresholds",
    "softmax",
    "recall_weights",
    "online",
    "rivals",
)


def load_table(name: str) -> Table:
    """The table of the script of that name."""
    table: Table = import_module(f"experiments.{name}").TABLE
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    tables = [load_table(name) for name in options.names]
    if options.list:
        for name in NAMES:
            print(f"{name:16} {load_table(name).title}")
        return 0
    check_matplotlib()  # now rather than after all runs
    series = Series(Store(), options.limit, execute)
    plans = [plan(table, options) for table in tables]
    if options.dry_run:
        runs = {run.key(): run for rows in plans for runs in rows.values() for run in runs}
        for run in runs.values():
            print(f"{'finished' if series.store.find(run) else 'to do   '}  {describe(run)}")
        return 0
    for table, rows in zip(tables, plans, strict=True):
        series.finish(run for runs in rows.values() for run in runs)
        write(table, collect(series, rows), options)
    return 1 if series.failures else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables: {', '.join(NAMES)}")
    parser.add_argument("--all", action="store_true", help="all tables")
    parser.add_argument("--list", action="store_true", help="say what tables there are")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run and what is finished")
    parser.add_argument("--seeds", type=int, default=3, help="seeds at most; 3 by default")
    parser.add_argument("--threads", type=int, default=2, help="2 by default")
    parser.add_argument(
        "--data", nargs="+", help="only these data sets, or others, of the Extreme Classification Repository"
    )
    parser.add_argument("--rows", nargs="+", help="only the rows that have one of these in their names")
    parser.add_argument(
        "--train-rows", type=int, metavar="N", help="train on the first N rows, to try things"
    )
    parser.add_argument("--limit", type=float, default=900, metavar="SECONDS", help="per run; 900 by default")
    parser.add_argument(
        "--results", type=Path, help="where to write; experiments/results, or build/ if not all is run"
    )
    options = parser.parse_args(arguments)
    if options.all:
        options.names = list(NAMES)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"no table {unknown[0]!r}; there are {', '.join(NAMES)}")
    if not options.names and not options.list:
        parser.error("name a table, or say --all or --list")
    if options.seeds < 1 or options.threads < 1:
        parser.error("--seeds and --threads must be at least 1")
    if options.results is None:
        # Only whole tables are worth keeping in the repository.
        partial = options.data or options.rows or options.train_rows
        options.results = FOLDER / "results" if partial else RESULTS
    return options


def plan(table: Table, options: argparse.Namespace) -> dict[tuple[str, str], list[Run]]:
    """The runs of every row, by data set and name."""
    return {
        (data, row.name): list(
            runs_of(table, data, row, seeds=options.seeds, threads=options.threads, n_rows=options.train_rows)
        )
        for data in sets_of(table, options.data)
        for row in table.rows_on(data)
        if not options.rows or any(part in row.name for part in options.rows)
    }


def sets_of(table: Table, wanted: Sequence[str] | None) -> list[str]:
    """The data sets of a table, or those of them that are wanted, and those of the repository that are."""
    if not wanted:
        return list(table.data)
    others = (name for name in names() if name in wanted and name not in table.data)
    return [*(name for name in table.data if name in wanted), *others]


def collect(series: Series, rows: Mapping[tuple[str, str], Sequence[Run]]) -> dict[str, list[Line]]:
    """The lines of a table by data set."""
    return {
        data: summarise(
            [
                (
                    name,
                    series.figures(runs),
                    next((series.failures[run.key()] for run in runs if run.key() in series.failures), ""),
                )
                for (other, name), runs in rows.items()
                if other == data
            ]
        )
        for data in dict.fromkeys(data for data, _ in rows)
    }


def write(table: Table, parts: Mapping[str, Sequence[Line]], options: argparse.Namespace) -> None:
    """Write the page and the picture of a table."""
    options.results.mkdir(parents=True, exist_ok=True)
    trained = f" Trained on the first {options.train_rows:,} rows only." if options.train_rows else ""
    circumstances = (
        f"Times are of a shared {platform.machine()} machine with {options.threads} threads.{trained}"
    )
    path: Path = options.results / f"{table.name}.md"
    path.write_text(page(table, parts, circumstances))
    DRAWINGS[table.picture](table, parts, path.with_suffix(".png"))
    print(path)
