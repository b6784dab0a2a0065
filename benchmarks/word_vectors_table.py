"""The figures of classifiers that learn word vectors, and each of ours beside its rival."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.peers import Peer
from benchmarks.summary import Row, Spread
from benchmarks.table import cost_lines, number, quality_lines, ratio
from benchmarks.word_vectors_peers import PAIRS

COSTS = {
    "total_s": "total s",
    "learn_s": "training s",
    "cpu_s": "cpu s",
    "memory_mb": "memory MB",
    "model_mb": "model MB",
    "batch_ms": "batch ms/row",
    "batch_cpu_ms": "batch cpu ms/row",
    "single_p50_ms": "one row p50 ms",
    "single_p99_ms": "one row p99 ms",
}
QUALITIES = ("P@1", "P@3", "P@5")
HEADINGS = ["system", "data", "dimension", *COSTS.values(), *QUALITIES]

#: What is compared, with headings: costs as ratios, qualities as differences.
COMPARED_COSTS = {
    "total_s": "total",
    "learn_s": "training",
    "cpu_s": "cpu",
    "batch_ms": "batch",
    "batch_cpu_ms": "batch cpu",
    "single_p50_ms": "one row",
    "model_mb": "model size",
}
COMPARED_QUALITIES = ("P@1", "P@5")
COMPARED_HEADINGS = ["system", "rival", "data", "dimension", *COMPARED_COSTS.values(), *COMPARED_QUALITIES]

LEGEND = (
    "All have the same rows, dimension, epochs and threads. Total: read the file, train and save; cpu: the same as the "
    "time of all threads together. Training: without reading and saving, with the tree. Memory is the peak of the "
    "process that trains. A batch is all test rows; its cpu time compares systems that predict in several threads with "
    "those that predict in one. A row is asked through the Python API, in the form that the system takes. Not known: –."
)
COMPARED_LEGEND = (
    "Costs: the rival's as a multiple of ours, above 1 where ours is less, with the widest range that the runs allow. "
    "Precisions: ours minus the rival's, in points. Not known: –."
)

#: Rows by data set, dimension and system.
Rows = Mapping[tuple[str, int, str], Row]


@dataclass(frozen=True)
class Comparison:
    """One of ours beside its rival: how many times our costs the rival's are, and our precisions minus the rival's."""

    data: str
    dimension: int
    system: str
    rival: str
    n_runs: int
    ratios: Mapping[str, Spread]
    differences: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def cells(rows: Rows) -> Iterator[list[list[str]]]:
    """Per row, the lines of every cell."""
    for (data, dimension, _), row in rows.items():
        yield [
            [row.name],
            [data],
            [str(dimension)],
            *(cost_lines(row, name) for name in COSTS),
            *(quality_lines(row, name, None) for name in QUALITIES),
        ]


def comparisons(rows: Rows) -> list[Comparison]:
    """Ours beside their rivals, wherever both were run."""
    found = []
    for (data, dimension, system), ours in rows.items():
        theirs = rows.get((data, dimension, PAIRS.get(system, "")))
        if theirs is not None:
            found.append(_compared(data, dimension, ours, theirs))
    return found


def _compared(data: str, dimension: int, ours: Row, theirs: Row) -> Comparison:
    ratios = {}
    for name in COMPARED_COSTS:
        if name in ours.figures and name in theirs.figures:
            times = theirs.figures[name].ratio_to(ours.figures[name])
            if times is not None:
                ratios[name] = times
    differences = {
        name: 100 * (ours.figures[name].median - theirs.figures[name].median)
        for name in COMPARED_QUALITIES
        if name in ours.figures and name in theirs.figures
    }
    n_runs = min(ours.n_runs, theirs.n_runs)
    return Comparison(data, dimension, ours.system, theirs.system, n_runs, ratios, differences)


def compared_cells(compared: Sequence[Comparison]) -> Iterator[list[list[str]]]:
    """Per pair, the lines of every cell."""
    for pair in compared:
        yield [
            [pair.system],
            [pair.rival],
            [pair.data],
            [str(pair.dimension)],
            *(_ratio_lines(pair.ratios.get(name), pair.n_runs) for name in COMPARED_COSTS),
            *(
                [f"{pair.differences[name]:+.2f}" if name in pair.differences else "–"]
                for name in COMPARED_QUALITIES
            ),
        ]


def _ratio_lines(times: Spread | None, n_runs: int) -> list[str]:
    if times is None:
        return ["–"]
    lines = [ratio(times)]
    if n_runs > 1 and not times.at_least:
        lines.append(f"{number(times.low)}–{number(times.high)}")
    return lines


def notes(rows: Rows, peers: Mapping[str, Peer], skipped: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What must be known to read the table, what was left out, and why systems failed."""
    repeated = max((row.n_runs for row in rows.values()), default=1)
    yield f"{f'Medians of {repeated} runs, of times the range.' if repeated > 1 else 'Figures of one run.'} {LEGEND}"
    for system in dict.fromkeys(system for _, _, system in rows):
        peer = peers[system]
        settings = peer.settings.get("parameters", peer.settings)
        # The table tells the dimension, its title the number of epochs.
        told = [f"{name} {value}" for name, value in settings.items() if name not in _IN_THE_TABLE]
        yield f"{system}: {'; '.join(filter(None, [', '.join(told) or 'as it comes', peer.note]))}."
    for system, data in skipped:
        yield f"{system} on {data}: left out."
    for (data, dimension, _), row in rows.items():
        name = f"{row.name} on {data}, dimension {dimension}"
        if row.failure:
            yield f"{name}, failed. {_shortened(row.failure)}"
        elif row.stopped:
            yield f"{name}: stopped in {row.stopped} after {number(row.limit_s)} s."


_IN_THE_TABLE = ("dim", "dimension", "epoch", "epochs")


def _shortened(failure: str) -> str:
    """The first and the last line of a failure: the stage and the exception."""
    first, *others = failure.strip().splitlines()
    return f"{first}: {others[-1]}" if others else first
