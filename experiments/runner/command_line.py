"""The command: runs what is missing of some tables and writes their pages and pictures."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.picture import check_matplotlib

from experiments.runner.batch_picture import draw_batches
from experiments.runner.check import PAGES, SUMMARY, check, circumstances, make_page, write_texts
from experiments.runner.data import FOLDER
from experiments.runner.document import page
from experiments.runner.estimates import Estimates
from experiments.runner.figures import NOT_RUN
from experiments.runner.picture import draw
from experiments.runner.run import Run
from experiments.runner.series import Series, describe, execute
from experiments.runner.stamp import duration
from experiments.runner.standing import planned, standing_of
from experiments.runner.store import RUNS, Store
from experiments.runner.stored import older_figures
from experiments.runner.stream_picture import draw_streams
from experiments.runner.table import SEEDS_OF_PAPER, Row, Table
from experiments.runner.tables import NAMES, RESULTS, load_table
from experiments.runner.tuning import Tuner
from labeltree.datasets import names

DEFAULT_THREADS = 2

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
            write_texts(table, options.results or RESULTS)
        return 0
    check_matplotlib()  # now rather than after all runs
    deadline = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    store = Store(folder_of_runs(options), fresh=options.fresh, command=told(options))
    series = Series(store, options.limit, execute, deadline)
    only_plan = options.dry_run or options.pages
    tuner = Tuner(series, options.threads, options.train_rows, only_plan=only_plan)
    if options.dry_run:
        return dry_run(tables, tuner, options)
    for table in tables:
        if not options.pages:
            series.finish(runs_wanted(table, options, tuner))
        write(table, options, tuner)
    if options.pages or options.minutes is not None:
        return 1 if series.failures else 0
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
        for data, row in rows_wanted(table, options):
            runs = planned(table, data, row, tuner, options.seeds)
            wanted |= {run.key(): run for run in (*tuner.waiting(row, data), *runs)}
    for run in wanted.values():
        state = "finished " if store.record(run) else f"{estimates.seconds(run):7,.0f} s"
        print(f"{state}  {describe(run)}")
    missing = [run for run in wanted.values() if store.record(run) is None]
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
    parser.add_argument(
        "--pages", action="store_true", help="write the pages of the runs that are finished, and run nothing"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="leave out runs of older code, and run them again"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="N",
        help="start no run that will probably end later than in N minutes; pages of tables are written then",
    )
    parser.add_argument(
        "--seeds", type=int, default=SEEDS_OF_PAPER, help="seeds to run at most; 5 by default"
    )
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
        "--results",
        type=Path,
        help="where to write; experiments/results, or build/ with --train-rows or sets that a table has not",
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
    return options


def rows_wanted(table: Table, options: argparse.Namespace) -> Iterator[tuple[str, Row]]:
    """The rows that are to be run, each with its data set."""
    for data in sets_of(table, options.data):
        for row in table.rows_on(data):
            if not options.rows or any(part in row.name for part in options.rows):
                yield data, row


def runs_wanted(table: Table, options: argparse.Namespace, tuner: Tuner) -> Iterator[Run]:
    """The runs of these rows. What parameters are chosen by is run first; rows whose choice is open are left out."""
    for data, row in rows_wanted(table, options):
        if not tuner.waiting(row, data):
            yield from planned(table, data, row, tuner, options.seeds)


def sets_of(table: Table, wanted: Sequence[str] | None) -> list[str]:
    """The data sets of a table, or those that are wanted of them and of the repository, in the order of the wish."""
    if not wanted:
        return table.sets
    return [name for name in wanted if name in table.sets or name in names()]


def is_a_try(table: Table, options: argparse.Namespace) -> bool:
    """Whether the runs are not of the page in the repository: of fewer rows, or of sets that the table has not."""
    return bool(options.train_rows) or any(name not in table.sets for name in sets_of(table, options.data))


def folder_of_runs(options: argparse.Namespace) -> Path:
    """Runs of fewer rows are not worth keeping in the repository."""
    return FOLDER / "runs" if options.train_rows else RUNS


def write(table: Table, options: argparse.Namespace, tuner: Tuner) -> None:
    """Write the page and the picture of a table, of all runs that are kept, whoever made them."""
    is_try = is_a_try(table, options)
    sets = sets_of(table, options.data) if is_try else table.sets
    kept = Tuner(tuner.series, tuner.threads, tuner.n_rows, only_plan=True)
    seeds = options.seeds if is_try else max(options.seeds, SEEDS_OF_PAPER)
    found = standing_of(table, sets, kept, seeds)
    if not found.has_figures:
        print(f"{table.name}: no run is finished, so its page stays as it is")
        return
    folder: Path = options.results or (FOLDER / "results" if is_try else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{table.name}.md"
    incomplete = [data for data, rows in found.parts.items() if any(row.failure == NOT_RUN for row in rows)]
    older = older_figures(path, incomplete)
    text = page(table, found.parts, circumstances(table, found, tuner.threads), found.choices)
    path.write_text("\n".join([text, *older]))
    DRAWINGS[table.picture](table, found.parts, path.with_suffix(".png"))
    print(path)


def told(options: argparse.Namespace) -> str:
    """The command, without where it writes."""
    words = ["python -m experiments", *(["--all"] if options.all else options.names)]
    for name in ("data", "rows"):
        if getattr(options, name):
            words += [f"--{name}", *getattr(options, name)]
    for name, usual in (("seeds", SEEDS_OF_PAPER), ("threads", DEFAULT_THREADS), ("train_rows", None)):
        if getattr(options, name) != usual:
            words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    return " ".join([*words, *(["--fresh"] if options.fresh else [])])
