"""Which pages are of the current scripts, runs and code, and the pages that scripts of their own make."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.runner.document import head, page
from experiments.runner.run import code_of
from experiments.runner.series import Series, execute
from experiments.runner.sources import ROOT, code_hash, definition_hash, script_hash
from experiments.runner.stamp import Stamp, duration
from experiments.runner.standing import Standing, standing_of
from experiments.runner.store import RUNS, Store
from experiments.runner.table import Table
from experiments.runner.tables import NAMES, RESULTS, load_table
from experiments.runner.tuning import Tuner


@dataclass(frozen=True)
class Page:
    """A page that a script makes by itself.

    Attributes
    ----------
    name : str
        The module in `experiments`.
    about : str
        What the list of all says.
    seconds : float
        About how long it takes on two cores.
    parts : sequence of str
        Folders of `experiments` whose scripts it is made of beside its own.
    """

    name: str
    about: str
    seconds: float
    parts: Sequence[str] = ()

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.name}.md"

    def stamp(self) -> Stamp:
        """What it would be made of now."""
        folder = ROOT / "experiments"
        others = sorted(path for part in self.parts for path in (folder / part).glob("*.py"))
        return Stamp(script_hash([folder / f"{self.name}.py", *others]), code_hash())


PAGES = {
    page.name: page
    for page in (
        Page("data_sets", "Sizes of the data sets", 600),
        Page("synthetic", "Label trees and softmax on synthetic data", 3_600, ["runner/synthetic"]),
        Page("online_memory", "Memory of online trees", 120),
        Page("weighted_search", "Labels ranked by weight", 600),
        Page("negative_sampler", "The tree as negative sampler", 4_000),
        Page("twins", "Rivals beside literal twins", 600),
    )
}
#: Made of the other pages.
SUMMARY = Page("summary", "The study in two minutes", 10)


def make_page(page: Page) -> bool:
    """Run the script of a page; whether that went well."""
    print(f"making {page.name}", file=sys.stderr, flush=True)
    return subprocess.run([sys.executable, "-m", f"experiments.{page.name}"]).returncode == 0


def write_page(
    name: str, path: Path, lines: Iterable[str], *, seeds: str, seconds: float, threads: int = 2
) -> None:
    """Write a page that a script makes by itself, with how it came about as its last line."""
    command = f'make experiments ARGS="{name}"'
    last = PAGES[name].stamp().line(command, seeds, threads, seconds)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "", last, ""]))


def stamp_of_table(table: Table) -> Stamp:
    """What the page of a table would be made of now; texts play no part in it."""
    facts = {
        "rows": [asdict(row) for row in table.rows],
        "data": table.sets,
        "large": {data: list(rows) for data, rows in table.large.items()},
        "seeds": dict(table.seeds),
        "batches": list(table.batch_sizes),
        "parameters": [row.all_parameters() for row in table.rows],
    }
    systems = sorted({row.system for row in table.rows})
    grows = any(row.parameters.get("tree") == "stream" for row in table.rows)
    return Stamp(definition_hash(facts), script_code(systems, grows))


def script_code(systems: Sequence[str], grows_a_tree: bool) -> str:
    """One hash of the code of several systems."""
    return definition_hash([code_of(system, grows_a_tree) for system in systems])


def write_texts(table: Table, folder: Path) -> None:
    """Write what a page says before its figures anew; the figures stay."""
    path = folder / f"{table.name}.md"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*head(table), *lines[_end_of_head(lines) :], ""]))
    print(path)


def _end_of_head(lines: Sequence[str]) -> int:
    """After the picture and the empty line below it."""
    return next(number for number, line in enumerate(lines) if line.startswith("![")) + 2


def check(names: Sequence[str]) -> int:
    """Say which pages are not of the current scripts and code; 1 if there are such."""
    found = {name: list(complaints(name)) for name in [*names, SUMMARY.name]}
    for name, reasons in found.items():
        print(f"{'ok ' if not reasons else 'old'}  {name}{': ' if reasons else ''}{'; '.join(reasons)}")
    return 1 if any(found.values()) else 0


def _summary() -> str:
    from experiments import summary  # it knows the tables, which know this module

    return "\n".join(summary.page(summary.read_all(RESULTS), summary.old_pages(RESULTS)))


def circumstances(table: Table, found: Standing, threads: int) -> list[str]:
    """The last notes of a page: which runs it is made of, and how."""
    dates = sorted({record.date[:10] for record in found.records})
    seconds = sum(record.seconds for record in found.records)
    cpu_seconds = sum(record.cpu_seconds for record in found.records)
    most = max((line.n_runs for lines in found.parts.values() for line in lines), default=0)
    seeds = "seed 0" if most <= 1 else f"seeds 0 to {most - 1}"
    told = "" if threads == 2 else f" --threads {threads}"
    machines = list(dict.fromkeys(record.machine for record in found.records))
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    notes = [f"Runs are of {when}; they took {duration(cpu_seconds)} of processor time together."]
    if missing := found.missing_rows():
        notes.append(f"Not run yet: {missing}.")
    if partial := found.partial_rows():
        notes.append(f"With fewer seeds than wanted as yet: {partial}.")
    if older := found.older_rows():
        notes.append(f"Of older code than that of this page: {older}.")
    command = f'make experiments ARGS="{table.name}{told}"'
    return [*notes, stamp_of_table(table).line(command, seeds, threads, seconds, machines)]


def table_complaints(table: Table, text: str) -> Iterator[str]:
    """What is not current about the page of a table, by the runs that are kept."""
    lines = text.splitlines()
    if lines[: _end_of_head(lines)] != head(table):
        yield "its text is not that of the script (--texts writes it)"
    tuner = Tuner(Series(Store(RUNS), None, execute), 2, None, only_plan=True)
    found = standing_of(table, table.sets, tuner)
    if found.has_figures and _figures(page(table, found.parts, [], found.choices)) != _figures(text):
        yield "there are other runs than on the page (--pages writes it)"
    if missing := found.missing_rows():
        yield f"not run yet: {missing}"
    if partial := found.partial_rows():
        yield f"with fewer seeds than wanted: {partial}"
    if older := found.older_rows():
        yield f"of older code: {older}"


def _figures(text: str) -> str:
    """What a page says after its text and before its notes."""
    lines = text.splitlines()
    return "\n".join(lines[_end_of_head(lines) : lines.index("## Notes")])


def complaints(name: str) -> Iterator[str]:
    """What is not current about a page."""
    path = RESULTS / f"{name}.md"
    if not path.exists():
        yield "there is no page"
        return
    if name == SUMMARY.name:
        if path.read_text() != _summary():
            yield "it is not made of the pages as they are (python -m experiments.summary)"
        return
    table = load_table(name) if name in NAMES else None
    now = stamp_of_table(table) if table is not None else PAGES[name].stamp()
    was = Stamp.read(path)
    if was is None:
        yield "the page does not say what it was made of"
    else:
        if was.definition != now.definition:
            yield "its script runs something else now"
        if table is None and was.code != now.code:
            yield "the code has changed since"
    if table is not None:
        yield from table_complaints(table, path.read_text())
