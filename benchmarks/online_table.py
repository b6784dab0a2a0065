"""The figures of learning from a stream as one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchmarks.online_peers import STREAM_PEERS
from benchmarks.peers import OURS
from benchmarks.summary import Row, Spread
from benchmarks.table import number, quality_lines, ratio

QUALITIES = ("P@1", "P@3", "P@5")

HEADINGS = ["system", "passes", "examples/s", "of CPU time", "memory MB", *QUALITIES]

LEGEND = (
    "Examples are learned one by one in the same order by all, in one thread, in every pass. Rates are of learning "
    "alone: neither reading, parsing nor saving; the second is per second of CPU time, which other work on the machine "
    "changes less. Below a peer's rate: how many times as fast ours is. Memory is the peak of the process that learns, "
    "with the rows where the system holds them."
)

#: Rows by system and number of passes.
Rows = Mapping[tuple[str, int], Row]


def rates(figures: Mapping[str, float], n_examples: int) -> dict[str, float]:
    """Return examples per second, and per second of CPU time, of a run that learned `n_examples` examples."""
    train_s = figures["train_s"]
    learn_s = figures.get("learn_s", train_s)
    # What of training is not learning takes as much CPU time as any second of it.
    cpu_s = figures["train_cpu_s"] * learn_s / train_s
    return {"examples_s": n_examples / learn_s, "examples_cpu_s": n_examples / cpu_s}


def cells(rows: Rows) -> Iterator[list[list[str]]]:
    """Per row, the lines of every cell."""
    for (_, passes), row in rows.items():
        ours = rows.get((OURS, passes))
        yield [
            [row.name],
            [str(passes)],
            *(rate_lines(row, name, ours) for name in ("examples_s", "examples_cpu_s")),
            [number(row.figures["memory_mb"].median) if "memory_mb" in row.figures else "–"],
            *(quality_lines(row, name, ours) for name in QUALITIES),
        ]


def rate_lines(row: Row, name: str, ours: Row | None) -> list[str]:
    """What a cell says of a rate: the median, the range, and how many times as fast ours is."""
    rate = row.figures.get(name)
    if rate is None:
        return ["failed" if row.failure else f"> {number(row.limit_s)} s in all"]
    lines = [number(rate.median)]
    if row.n_runs > 1:
        lines.append(f"{number(rate.low)}–{number(rate.high)}")
    faster = advantage(row, name, ours)
    if faster is not None:
        lines.append(ratio(faster))
    return lines


def advantage(row: Row, name: str, ours: Row | None) -> Spread | None:
    """How many times as fast ours is; None where there is nothing to compare."""
    if ours is None or row.ours or name not in ours.figures or name not in row.figures:
        return None
    return ours.figures[name].ratio_to(row.figures[name])


def notes(rows: Rows) -> Iterable[str]:
    """What must be known to read the table, then why systems failed."""
    yield LEGEND
    for system in dict.fromkeys(system for system, _ in rows):
        peer = STREAM_PEERS[system]
        settings = ", ".join(f"{name} {value}" for name, value in peer.settings.items())
        yield f"{system}: {'; '.join(filter(None, [settings or 'as it comes', peer.note]))}."
    for (_, passes), row in rows.items():
        if row.failure:
            yield f"{row.name}, {passes} pass(es), failed. {row.failure}"
        elif row.stopped:
            yield f"{row.name}, {passes} pass(es): stopped in {row.stopped} after {number(row.limit_s)} s."
