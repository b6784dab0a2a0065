"""Pictures as SVG that take their colours from the page: lines and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from labeltree.report.markup import number, text

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 50, 46


@dataclass(frozen=True)
class Axis:
    """What is along one side: from where to where, and the ticks with their names."""

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """How far along a value is, from 0 to 1; values beyond the ends are at the ends.

        Examples
        --------
        >>> Axis("x", 0, 10, []).share(2.5), Axis("x", 0.01, 1, [], log=True).share(0.1)
        (0.25, 0.5)
        """
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        return (at - low) / (high - low)

    @classmethod
    def upwards(cls, title: str, values: Sequence[float]) -> Axis:
        """From 0 to a round number above all values.

        Examples
        --------
        >>> Axis.upwards("labels", [3.2, 7.1]).ticks
        [(0.0, '0'), (2.0, '2'), (4.0, '4'), (6.0, '6'), (8.0, '8')]
        """
        highest = max([1e-12, *(value for value in values if not math.isnan(value))])
        size = 10.0 ** math.floor(math.log10(highest / 4))
        step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor * 5 >= highest)
        n_steps = max(1, math.ceil(highest / step - 1e-9))
        return cls(title, 0.0, n_steps * step, [(i * step, f"{i * step:g}") for i in range(n_steps + 1)])

    @classmethod
    def powers(cls, title: str, lowest: int) -> Axis:
        """From a power of ten to 1, each ten times the one before."""
        ticks = [(10.0**i, f"{10.0**i:g}") for i in range(lowest, 1)]
        return cls(title, 10.0**lowest, 1.0, ticks, log=True)


@dataclass(frozen=True)
class Series:
    """A line through points, or the bars of one colour; what is NaN is left out."""

    name: str
    x: Sequence[float]
    y: Sequence[float]

    def points(self) -> list[tuple[float, float]]:
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if not math.isnan(x + y)]


def line_chart(
    title: str, x: Axis, y: Axis, series: Sequence[Series], *, diagonal: bool = False, dots: bool = True
) -> str:
    """Draw lines, told apart by colour and by dashes.

    Examples
    --------
    >>> axis = Axis.upwards("k", [1, 2])
    >>> line_chart("Precision", axis, axis, [Series("P", [1, 2], [2, 1])]).count("<path")
    1
    """
    drawn = [_frame(x, y)]
    if diagonal:
        start, end = max(x.low, y.low), min(x.high, y.high)
        drawn.append(_line("guide", [(_x(x, start), _y(y, start)), (_x(x, end), _y(y, end))]))
    for colour, one in enumerate(series):
        points = [(_x(x, at), _y(y, value)) for at, value in one.points()]
        drawn.append(_line(f"line s{colour}", points))
        if dots:
            drawn += [
                f'<circle class="dot f{colour}" cx="{left:.1f}" cy="{top:.1f}" r="3"/>'
                for left, top in points
            ]
    legend = [(one.name, f"line s{colour}") for colour, one in enumerate(series)]
    return _picture(title, legend, _described(series), drawn)


def bar_chart(title: str, groups: Sequence[str], y: Axis, series: Sequence[Series], x_title: str = "") -> str:
    """Draw bars, one for each series side by side in each group; `x` of the series are numbers of groups."""
    x = Axis(x_title, 0, len(groups), [(i + 0.5, name) for i, name in enumerate(groups)])
    drawn = [_frame(x, y)]
    width = min(0.8 / len(series), 0.4)
    for colour, one in enumerate(series):
        for group, value in one.points():
            begin = group + 0.5 + width * (colour - len(series) / 2)
            left, top = _x(x, begin), _y(y, value)
            drawn.append(
                f'<rect class="f{colour}" x="{left:.1f}" y="{top:.1f}" '
                f'width="{_x(x, begin + width) - left - 1:.1f}" height="{_y(y, y.low) - top:.1f}"/>'
            )
    legend = [(one.name, f"line b{colour}") for colour, one in enumerate(series)]
    return _picture(title, legend, _described(series), drawn)


def _picture(title: str, legend: Sequence[tuple[str, str]], description: str, drawn: Sequence[str]) -> str:
    """The frame of a picture; of several series, also what they are, beside a piece of each."""
    named, left = [], float(LEFT)
    for name, css in legend if len(legend) > 1 else ():
        named.append(_line(css, [(left, 34), (left + 22, 34)]))
        named.append(f'<text x="{left + 28:.1f}" y="38">{text(name)}</text>')
        left += 44 + 6.6 * len(name)
    parts = "\n".join([f'<text class="title" x="{LEFT}" y="16">{text(title)}</text>', *named, *drawn])
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(f"{title}. {description}")}">\n'
        f"{parts}\n</svg>\n"
    )


def _described(series: Sequence[Series]) -> str:
    """What there is to see, for those who do not."""
    return "; ".join(
        f"{one.name}: from {number(min(values))} to {number(max(values))}"
        for one in series
        if (values := [value for _, value in one.points()])
    )


def _frame(x: Axis, y: Axis) -> str:
    bottom = HEIGHT - BOTTOM
    parts = []
    for value, name in y.ticks:
        top = _y(y, value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{top:.1f}" y2="{top:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{top + 4:.1f}" text-anchor="end">{text(name)}</text>')
    # Every name where there is room, else every second or third.
    room = (WIDTH - LEFT - RIGHT) / max(len(x.ticks), 1)
    every = max(1, math.ceil((6.8 * max((len(name) for _, name in x.ticks), default=0) + 4) / room))
    for value, name in x.ticks[::every]:
        parts.append(
            f'<text x="{_x(x, value):.1f}" y="{bottom + 17}" text-anchor="middle">{text(name)}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{text(x.title)}</text>')
    return "\n".join(parts)


def _line(css: str, points: Sequence[tuple[float, float]]) -> str:
    if not points:
        return ""
    path = "L".join(f"{left:.1f} {top:.1f}" for left, top in points)
    return f'<path class="{css}" d="M{path}"/>'


def _x(axis: Axis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - BOTTOM - TOP)
