"""What the runs of a row come to: means with standard errors, and costs compared with the first row."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Quality:
    """How a figure is shown: what it is multiplied with, and which is best, if any. By default a share, in per cent."""

    scale: float = 100.0
    best: Callable[[Iterable[float]], float] | None = max


#: Of rankings; those of `PRECISIONS` are shown unless a table asks for others.
QUALITIES: Mapping[str, Quality] = dict.fromkeys(
    ("P@1", "P@3", "P@5", "recall@1", "recall@5", "PSP@1", "PSP@5"), Quality()
)
PRECISIONS = ("P@1", "P@3", "P@5")
#: Of decided label sets; the loss times the number of labels, as in the paper: how many labels of a row are wrong.
DECISION_QUALITIES: Mapping[str, Quality] = {
    "micro-F1": Quality(),
    "Hamming loss × labels": Quality(1.0, min),
    "threshold": Quality(1.0, None),
}
#: Less is better; compared as ratios.
COSTS = {"train_s": "training s", "batch_ms": "prediction ms/row", "model_mb": "model MB"}
#: The same for a machine that does other work too: the processor time of all threads together.
PROCESSOR_COSTS = {
    "train_cpu_s": "training CPU s",
    "batch_cpu_ms": "prediction CPU ms/row",
    "model_mb": "model MB",
}


#: In place of figures.
NOT_RUN = "not run"


@dataclass(frozen=True)
class Mean:
    """The mean of a figure and its standard error; of a single run that is not known."""

    value: float
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """The standard error is that of the mean: the deviation of the sample over the root of its size."""
        n = len(values)
        return cls(statistics.fmean(values), statistics.stdev(values) / math.sqrt(n) if n > 1 else None)


@dataclass
class Line:
    """A row of a table with its figures; `failure` is why there are none."""

    name: str
    n_runs: int
    means: dict[str, Mean] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    failure: str = ""


def summarise(rows: Sequence[tuple[str, Sequence[dict[str, Any]], str]]) -> list[Line]:
    """Lines of rows, each given as its name, the figures of its runs, and why runs failed, if they did."""
    lines = [
        Line(name, len(runs), {figure: Mean.of([run[figure] for run in runs]) for figure in runs[0]})
        if runs
        else Line(name, 0, failure=failure or NOT_RUN)
        for name, runs, failure in rows
    ]
    first = next((line for line in lines if line.n_runs), None)
    for line in lines:
        if first is not None and line.n_runs:
            line.ratios = {
                cost: line.means[cost].value / first.means[cost].value
                for cost in {**COSTS, **PROCESSOR_COSTS}
                if cost in line.means and cost in first.means and first.means[cost].value > 0
            }
    return lines
