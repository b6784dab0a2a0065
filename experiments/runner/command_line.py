"""The command: runs what is missing of some tables and writes their pages and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.picture import check_matplotlib

from experiments.runner.batch_picture import draw_batches
from experiments.runner.check import PAGES, SUMMARY, check, make_page, stamp_of_table, write_texts
from experiments.runner.data import FOLDER
from experiments.runner.document import page
from experiments.runner.estimates import Estimates
from experiments.runner.figures import Line, summarise
from experiments.runner.picture import draw
from experiments.runner.run import Run, runs_of
from experiments.runner.series import Series, describe, execute
from experiments.runner.stamp import duration
from experiments.runner.store import Store
from experiments.runner.stream_picture import draw_streams
from experiments.runner.table import Table
from experiments.runner.tables import NAMES, RESULTS, load_table
from experiments.runner.tuning import Tuner
from labeltree.datasets import names

DEFAULT_SEEDS, DEFAULT_THREADS = 5, 2

DRAWINGS = {"rows": draw, "stream": draw_streams, "batches": draw_batches}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.list:
        for name in NAMES:
            print(f"{name:16} {load_table(name).title}")
        for name, page_ in PAGES.items():
            print(f"{name:16} {page_.about}")
        return 0
    if options.check:
        return check(options.names)
    tables = [load_table(name) for name in options.names if name in NAMES]
    if options.texts:
        for table in tables:
            write_texts(table, options.results)
        return 0
    check_matplotlib()  # now rather than after all runs
    series = Series(Store(), options.limit, execute)
    tuner = Tuner(series, options.threads, options.train_rows, only_plan=options.dry_run)
    if options.dry_run:
        return dry_run(tables, tuner, options)
    for table in tables:
        rows = plan(table, options, tuner)
        series.finish(run for runs in rows.values() for run in runs)
        write(table, collect(series, rows), options, tuner)
    failed = [name for name in options.names if name in PAGES and not make_page(PAGES[name])]
    if not (options.data or options.rows or options.train_rows) and options.all:
        make_page(SUMMARY)
    return 1 if series.failures or failed else 0


def dry_run(tables: Sequence[Table], tuner: Tuner, options: argparse.Namespace) -> int:
    """Say what is finished, what is to do and how long that will take."""
    store = tuner.series.store
    estimates = Estimates(store)
    wanted: dict[str, Run] = {}
    for table in tables:
        for runs in plan(table, options, tuner).values():
            wanted |= {run.key(): run for run in runs}
    wanted = {**{run.key(): run for run in tuner.waiting}, **wanted}
    for run in wanted.values():
        state = "finished " if store.find(run) else f"{estimates.seconds(run):7,.0f} s"
        print(f"{state}  {describe(run)}")
    missing = [run for run in wanted.values() if store.find(run) is None]
    seconds = estimates.total(missing)
    print(f"{len(missing)} of {len(wanted)} runs to do, about {duration(seconds)}")
    pages = [name for name in options.names if name in PAGES]
    if pages:
        seconds = sum(PAGES[name].seconds for name in pages)
        print(f"and the pages {', '.join(pages)}, about {duration(seconds)}")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    there = (*NAMES, *PAGES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables and pages: {', '.join(there)}")
    parser.add_argument("--all", action="store_true", help="all tables and pages, then the summary")
    parser.add_argument("--list", action="store_true", help="say what tables and pages there are")
    parser.add_argument(
        "--check",
        action="store_true",
        help="say which pages are not of the current scripts and code; status 1 if there are such",
    )
    parser.add_argument(
        "--texts", action="store_true", help="write the texts of tables into their pages anew"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be run, what is finished and how long it takes"
    )
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="seeds at most; 5 by default")
    parser.add_argument("--threads", type=int, default=DEFAULT_THREADS, help="2 by default")
    parser.add_argument(
        "--data", nargs="+", help="only these data sets, or others, of the Extreme Classification Repository"
    )
    parser.add_argument("--rows", nargs="+", help="only the rows that have one of these in their names")
    parser.add_argument(
        "--train-rows", type=int, metavar="N", help="train on the first N rows, to try things"
    )
    parser.add_argument(
        "--limit", type=float, metavar="SECONDS", help="per run; 1,800 by default, 6 hours of large sets"
    )
    parser.add_argument(
        "--results", type=Path, help="where to write; experiments/results, or build/ if not all is run"
    )
    options = parser.parse_args(arguments)
    if options.all or (options.check and not options.names):
        options.names = list(there)
    if options.texts and not options.names:
        options.names = list(NAMES)
    unknown = [name for name in options.names if name not in there]
    if unknown:
        parser.error(f"no table {unknown[0]!r}; there are {', '.join(there)}")
    if not options.names and not options.list:
        parser.error("name a table, or say --all or --list")
    if options.seeds < 1 or options.threads < 1:
        parser.error("--seeds and --threads must be at least 1")
    if options.results is None:
        # Only whole tables are worth keeping in the repository.
        partial = options.data or options.rows or options.train_rows
        options.results = FOLDER / "results" if partial else RESULTS
    return options


def plan(table: Table, options: argparse.Namespace, tuner: Tuner) -> dict[tuple[str, str], list[Run]]:
    """The runs of every row, by data set and name; parameters that are tuned are chosen first."""
    return {
        (data, row.name): list(
            runs_of(
                table,
                data,
                row,
                seeds=options.seeds,
                threads=options.threads,
                n_rows=options.train_rows,
                chosen=tuner.chosen(row, data),
            )
        )
        for data in sets_of(table, options.data)
        for row in table.rows_on(data)
        if not options.rows or any(part in row.name for part in options.rows)
    }


def sets_of(table: Table, wanted: Sequence[str] | None) -> list[str]:
    """The data sets of a table, or those of them that are wanted, and those of the repository that are."""
    if not wanted:
        return table.sets
    others = (name for name in names() if name in wanted and name not in table.sets)
    return [*(name for name in table.sets if name in wanted), *others]


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


def write(
    table: Table, parts: Mapping[str, Sequence[Line]], options: argparse.Namespace, tuner: Tuner
) -> None:
    """Write the page and the picture of a table."""
    options.results.mkdir(parents=True, exist_ok=True)
    path: Path = options.results / f"{table.name}.md"
    choices = [text for data in parts for text in tuner.sentences(table.rows_on(data), data)]
    path.write_text(page(table, parts, circumstances(table, parts, options), choices))
    DRAWINGS[table.picture](table, parts, path.with_suffix(".png"))
    print(path)


def circumstances(table: Table, parts: Mapping[str, Sequence[Line]], options: argparse.Namespace) -> str:
    """The last note of a page."""
    lines = [line for rows in parts.values() for line in rows if "run_s" in line.means]
    seconds = sum(line.n_runs * line.means["run_s"].value for line in lines)
    told = [f"--{name} {value}" for name, value in _told(options).items()]
    command = f'make experiments ARGS="{" ".join([table.name, *told])}"'
    most = max((line.n_runs for line in lines), default=0)
    seeds = "seed 0" if most <= 1 else f"seeds 0 to {most - 1}"
    return stamp_of_table(table).line(command, seeds, options.threads, seconds)


def _told(options: argparse.Namespace) -> dict[str, Any]:
    """Options that are not the usual ones."""
    told: dict[str, Any] = {}
    if options.seeds != DEFAULT_SEEDS:
        told["seeds"] = options.seeds
    if options.threads != DEFAULT_THREADS:
        told["threads"] = options.threads
    for name in ("data", "rows"):
        if getattr(options, name):
            told[name] = " ".join(getattr(options, name))
    if options.train_rows:
        told["train-rows"] = options.train_rows
    return told
