"""What several runs of a system come to: medians, spreads, and how they compare with ours."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.peers import OURS, PEERS
from benchmarks.runner import Run

#: Figures where less is better, with their headings; they are compared as ratios.
COSTS = {
    "load_s": "load s",
    "tree_s": "tree s",
    "train_s": "train s",
    "total_s": "total s",
    "cpu_s": "cpu s",
    "memory_mb": "memory MB",
    "model_mb": "model MB",
    "open_ms": "open ms",
    "batch_ms": "batch ms/row",
    "later_batch_ms": "second batch ms/row",
    "single_p50_ms": "one row p50 ms",
    "single_p99_ms": "one row p99 ms",
}

#: Figures where more is better; they are compared as differences in points.
QUALITIES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5")

#: The figures that tell how long a stage took.
STAGE_TIMES = {"train": ("train_s", "total_s"), "predict": ("batch_ms",)}


def is_time(name: str) -> bool:
    """Whether a table shows the spread of a figure; those that are no times hardly have one."""
    return name.endswith(("_s", "_ms"))


@dataclass(frozen=True)
class Spread:
    """The median, the smallest and the largest of a figure; with `at_least`, what it surely is not below."""

    median: float
    low: float
    high: float
    at_least: bool = False

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def ratio_to(self, other: Spread) -> Spread | None:
        """How many times `other` this is; the spread is the widest that the two allow. None if other is nothing."""
        if other.at_least or other.low <= 0:
            return None
        return Spread(self.median / other.median, self.low / other.high, self.high / other.low, self.at_least)


@dataclass
class Row:
    """One line of the table: a system with a number of trees.

    `n_runs` is the number of runs that the figures are of; they are `complete` or, where no run was, those of the last.
    `stopped` and `failure` tell of the last run, as in `Run`.
    """

    system: str
    version: str
    n_trees: int
    n_runs: int
    limit_s: float
    figures: dict[str, Spread]
    complete: bool
    ratios: dict[str, Spread] = field(default_factory=dict)
    stopped: str = ""
    failure: str = ""

    @property
    def ours(self) -> bool:
        return self.system == OURS

    @property
    def name(self) -> str:
        return f"{self.system} {self.version}".strip()

    @property
    def incomplete(self) -> str:
        """The stage whose figures are missing, "train" or "predict", if there is one."""
        if self.complete:
            return ""
        if self.failure:
            return "predict" if "total_s" in self.figures else "train"
        return self.stopped

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Row:
        spreads = {
            part: {name: Spread(**values) for name, values in document[part].items()}
            for part in ("figures", "ratios")
        }
        return cls(**{**document, **spreads})


def summarise(runs: Iterable[Run]) -> list[Row]:
    """A row per system and number of trees, in the order of their first runs, with ratios to ours."""
    grouped: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        grouped.setdefault((run.system, run.n_trees), []).append(run)
    rows = [combined(group) for group in grouped.values()]
    ours = {row.n_trees: row for row in rows if row.ours}
    for row in rows:
        base = ours.get(row.n_trees)
        if base is not None and not row.ours:
            row.ratios = _ratios(row, base)
    return rows


def combined(runs: Sequence[Run]) -> Row:
    """What several runs of the same come to."""
    last = runs[-1]
    # Runs that came to no end tell something only where none did.
    told = [run for run in runs if run.complete] or [last]
    names = dict.fromkeys(name for run in told for name in run.figures)
    figures = {name: Spread.of([run.figures[name] for run in told if name in run.figures]) for name in names}
    if told[-1].stopped == "train":
        for name in STAGE_TIMES["train"]:
            figures[name] = Spread(last.limit_s, last.limit_s, last.limit_s, at_least=True)
    return Row(
        last.system,
        told[-1].version,
        last.n_trees,
        len(told),
        last.limit_s,
        figures,
        complete=told[-1].complete,
        stopped=last.stopped,
        failure=last.failure,
    )


def _ratios(row: Row, base: Row) -> dict[str, Spread]:
    compared = {}
    for name in COSTS:
        if name == "load_s" and not PEERS[row.system].reads_text:
            continue  # it has read something else
        if name in row.figures and name in base.figures:
            ratio = row.figures[name].ratio_to(base.figures[name])
            if ratio is not None:
                compared[name] = ratio
    return compared
