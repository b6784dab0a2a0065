"""What the figures say to a claim of the paper: a difference of two rows, and whether it is as claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from experiments.runner.figures import Line, Mean

#: The least difference in points that matters.
LEAST = 0.2
#: The least that counts between one or two runs, whose error is not known: runs that differ in their seed alone have a
#: deviation of 0.1 to 0.2 points of P@1 on `eurlex57k` and `tate`, and of 0.3 to 0.4 on `bibtex` and `delicious`.
LEAST_OF_FEW_RUNS = 0.5

#: The fewest runs whose standard error is trusted: that of two runs may be ten times too small.
FEWEST_RUNS = 3

Outcome = Literal["yes", "no", "no difference"]


@dataclass(frozen=True)
class Claim:
    """The paper's claim that a row has more of a figure than another.

    Attributes
    ----------
    text : str
        What is claimed, of the first row against the second.
    first, second : str
        Names of rows.
    figure : str
        The figure, a share of 1.
    sign : {1, 0, -1}
        The sign of the difference that is claimed; 0 claims that there is none.
    """

    text: str
    first: str
    second: str
    figure: str = "P@1"
    sign: Literal[1, 0, -1] = 1

    def findings(self, parts: Mapping[str, Sequence[Line]]) -> Iterator[Finding]:
        """One for each set that has both rows."""
        for data, lines in parts.items():
            means = {line.name: _trusted(line, self.figure) for line in lines if self.figure in line.means}
            if self.first in means and self.second in means:
                yield Finding(data, difference(means[self.first], means[self.second]), self.sign)


@dataclass(frozen=True)
class Finding:
    """A difference in points on a set."""

    data: str
    points: Mean
    sign: int

    @property
    def is_clear(self) -> bool:
        """Whether the difference is twice its standard error, or `LEAST_OF_FEW_RUNS` if that is not known."""
        error = self.points.error
        return abs(self.points.value) > (LEAST_OF_FEW_RUNS if error is None else 2 * error)

    @property
    def outcome(self) -> Outcome:
        """Whether the claim holds on this set."""
        if self.sign == 0:
            return "no" if self.is_clear and abs(self.points.value) >= LEAST else "yes"
        if not self.is_clear:
            return "no difference"
        return "yes" if self.points.value * self.sign > 0 else "no"


def _trusted(line: Line, figure: str) -> Mean:
    """The figure of a line, without its error if that is of too few runs."""
    mean = line.means[figure]
    return mean if line.n_runs >= FEWEST_RUNS else Mean(mean.value, None)


def difference(first: Mean, second: Mean) -> Mean:
    """In points; an error that is not known makes that of the difference unknown."""
    known = first.error is not None and second.error is not None
    error = 100 * math.hypot(first.error or 0.0, second.error or 0.0) if known else None
    return Mean(100 * (first.value - second.value), error)


def claims_table(claims: Sequence[Claim], parts: Mapping[str, Sequence[Line]]) -> list[str]:
    """A table of Markdown: a line per claim and set."""
    lines = ["| claim of the paper | figure | set | points here | holds |", "| --- | --- | --- | --- | --- |"]
    for claim in claims:
        for found in claim.findings(parts):
            lines.append(
                f"| {claim.text} | {claim.figure} | {found.data} | {signed(found.points)} | {found.outcome} |"
            )
    return lines if len(lines) > 2 else []


def signed(points: Mean) -> str:
    """Points with their sign."""
    return f"{points.value:+.2f}" + ("" if points.error is None else f" ± {points.error:.2f}")


def verdict(findings: Sequence[Finding]) -> str:
    """One phrase for all sets."""
    if not findings:
        return "not run with these settings"
    outcomes = [found.outcome for found in findings]
    holds = outcomes.count("yes")
    opposite = sum(found.sign != 0 and found.outcome == "no" for found in findings)
    span = sorted(found.points.value for found in findings)
    points = f"{span[0]:+.1f}" if len(span) == 1 else f"{span[0]:+.1f} to {span[-1]:+.1f}"
    where = "yes" if holds == len(findings) else "no" if holds == 0 else f"on {holds} of {len(findings)} sets"
    against = "" if not opposite else f", the opposite on {opposite}"
    return f"{where}{against} ({points} points)"
