"""The table of `benchmarks.defaults`: a part for each set, and what they say together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import geometric_mean, mean
from typing import Any

import numpy as np

from benchmarks.development import Parts
from benchmarks.paired import MEAN_PRECISION, METRICS, Interval, Scores
from benchmarks.trials import Outcome, read_rows
from labeltree.metrics import inverse_propensity

#: The names of the two settings that others are compared with: in precision, and in training time.
DEFAULT, FIXED = "default", "C=1"

#: Figures of a model that are means of the seeds.
PROBABILITIES = {"log_loss": "log loss", "error": "error", "error_of_best": "error of five best"}
LEGEND = (
    "One thread, and one tree where a model may have several. P, PSP and nDCG in per cent, as means of the seeds; "
    "differences in points, with 95 % intervals over rows, paired. Mean P is the mean of P@1, P@3 and P@5. Log loss "
    "and error (of calibration, in labels) are sums over the labels of a row; the last error is a mean over the five "
    "best labels of each row. Time: processor time of training, as a multiple of C=1, or of the default where C=1 is "
    "not compared, and in seconds. C: the values of the trained models."
)
COLUMNS = (
    "setting",
    *(name for name in METRICS if name != MEAN_PRECISION),
    f"{MEAN_PRECISION} – default's",
    *PROBABILITIES.values(),
    "time",
    "time in s",
    "C",
)


class SetTable:
    """The settings on one set: means over the seeds, the first setting being the default.

    Attributes
    ----------
    scores : dict
        The scores of each setting, without those that failed.
    figures : dict of dicts
        What the table says of each setting, and the time of training in seconds.
    failures : dict
        Why a setting has no scores.
    """

    def __init__(self, parts: Parts, part: str, outcomes: Mapping[str, Sequence[Outcome]]) -> None:
        self.parts, self.part = parts, part
        self.X, self.y = read_rows(parts.train)
        _, self.y_held_out = read_rows(getattr(parts, part), self.X.shape[1], self.y.shape[1])
        self.scores: dict[str, Scores] = {}
        self.figures: dict[str, dict[str, Any]] = {}
        self.failures: dict[str, str] = {}
        propensity = inverse_propensity(self.y)
        for name, seeds in outcomes.items():
            failures = [outcome.failure for outcome in seeds if outcome.failure]
            if failures:
                self.failures[name] = failures[0].splitlines()[-1].replace("|", "/")
                continue
            scores = Scores.of(self.y_held_out, [outcome.labels for outcome in seeds], propensity)
            self.scores[name] = scores
            self.figures[name] = {metric: scores.value(metric) for metric in METRICS} | _means(seeds)

        for name in (DEFAULT, FIXED):
            if name in self.failures:
                raise SystemExit(
                    f"{parts.name}: {name} failed, so nothing can be compared: {self.failures[name]}"
                )

    def minus_default(self, name: str, metric: str = MEAN_PRECISION) -> Interval:
        return self.scores[name].minus(self.scores[DEFAULT], metric)

    def time(self, name: str) -> float:
        """Training time as a multiple of that with C=1 or, where it is not compared, of the default's."""
        unit = self.figures.get(FIXED, self.figures[DEFAULT])
        return float(self.figures[name]["train_cpu_s"] / unit["train_cpu_s"])

    def best(self, names: Iterable[str]) -> str | None:
        """The setting with the highest mean precision."""
        known = [name for name in names if name in self.scores]
        return max(known, key=lambda name: self.scores[name].value(MEAN_PRECISION), default=None)

    def facts(self) -> str:
        n_rows, n_labels = self.y.shape
        per_label = np.bincount(self.y.indices, minlength=n_labels)
        return (
            f"{n_rows:,} training rows, {self.y_held_out.shape[0]:,} {self.part} rows, {n_labels:,} labels; "
            f"{self.y.nnz / n_rows:.1f} labels per row, {per_label.mean():.1f} rows per label (median "
            f"{np.median(per_label):.0f}), {self.X.nnz / n_rows:.0f} of {self.X.shape[1]:,} features per row."
        )

    def markdown(self) -> str:
        lines = [f"### {self.parts.name}", "", self.facts(), "", *head(COLUMNS)]
        for name, figures in self.figures.items():
            cells = [name, *(f"{figures[metric]:.2f}" for metric in METRICS if metric != MEAN_PRECISION)]
            cells.append("" if name == DEFAULT else str(self.minus_default(name)))
            cells += [f"{figures[key]:.3f}" if key in figures else "–" for key in PROBABILITIES]
            cells += [f"{self.time(name):.2f}", f"{figures['train_cpu_s']:.1f}", figures["C"]]
            lines.append(line(cells))
        lines += [line([name, f"failed: {reason}"]) for name, reason in self.failures.items()]
        return "\n".join([*lines, ""])


def summary(tables: Sequence[SetTable], grid: Sequence[str], peers: Sequence[str]) -> str:
    """The default beside the best C and the best peer of each set, and all settings on average over sets."""
    return "\n".join([*_rivals(tables, grid, peers), "", *_averages(tables)])


def _rivals(tables: Sequence[SetTable], grid: Sequence[str], peers: Sequence[str]) -> Iterator[str]:
    yield from ["### The best rivals", ""]
    yield from head(
        ["set", "default", "best C", "default – best C", "best peer", "default – best peer", "time"]
    )
    for table in tables:
        cells = [table.parts.name, f"{table.figures[DEFAULT][MEAN_PRECISION]:.2f}"]
        for rivals in (grid, peers):
            best = table.best(rivals)
            cells += [best, str(table.minus_default(best).reversed())] if best else ["–", "–"]
        yield line([*cells, f"{table.time(DEFAULT):.2f}"])


def _averages(tables: Sequence[SetTable]) -> Iterator[str]:
    """Settings that failed on a set have no average."""
    yield from ["### Differences to the default, on average over sets", ""]
    yield from head(["setting", *METRICS, "time (geometric mean)"])
    for name in tables[0].scores:
        if all(name in table.scores for table in tables):
            points = (
                mean(table.minus_default(name, metric).difference for table in tables) for metric in METRICS
            )
            time = geometric_mean(table.time(name) for table in tables)
            yield line([name, *(f"{value:+.2f}" for value in points), f"{time:.2f}"])


def _means(seeds: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of a setting: means over the seeds, and the values of C that its models have."""
    names = [name for name in (*PROBABILITIES, "train_cpu_s") if name in seeds[0].figures]
    values = sorted({c for outcome in seeds for c in outcome.figures.get("C", [])})
    chosen = (
        f"{values[0]:.3g}" if len(values) == 1 else f"{values[0]:.3g} to {values[-1]:.3g}" if values else "–"
    )
    return {name: mean(outcome.figures[name] for outcome in seeds) for name in names} | {"C": chosen}


def head(columns: Sequence[str]) -> list[str]:
    return [line(columns), line(["---"] * len(columns))]


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
