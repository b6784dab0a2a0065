"""Line charts and bar charts as SVG, in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from labeltree.report.markup import number, text

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 50, 46

Values = Sequence[float] | NDArray[Any]
#: The y values of each line, or of the bars of each colour, by name. NaN values are not drawn.
Series = Mapping[str, Values]


@dataclass(frozen=True)
class Axis:
    """The range of an axis, and its ticks with their names. Only the title of an x axis is drawn."""

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 to 1; values out of range are moved to the ends.

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
    def upwards(cls, title: str, values: Iterable[float]) -> Axis:
        """Return an axis from 0 to a round number that is not below any value.

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
    def powers_of_ten(cls, title: str) -> Axis:
        """Return a logarithmic axis from 0.0001 to 1."""
        ticks = [(10.0**i, f"{10.0**i:g}") for i in range(-4, 1)]
        return cls(title, ticks[0][0], 1.0, ticks, log=True)


def line_chart(
    title: str,
    x: Axis,
    y: Axis,
    x_values: Values,
    series: Series,
    *,
    diagonal: bool = False,
    dots: bool = True,
) -> str:
    """Draw a line for each series, each with another colour and dash pattern.

    Examples
    --------
    >>> axis = Axis.upwards("k", [1, 2])
    >>> line_chart("Precision", axis, axis, [1, 2], {"P": [2, 1]}).count("<path")
    1
    """
    drawn = [_frame(x, y)]
    if diagonal:
        start, end = max(x.low, y.low), min(x.high, y.high)
        drawn.append(_line("guide", [(_x(x, start), _y(y, start)), (_x(x, end), _y(y, end))]))
    for colour, values in enumerate(series.values()):
        points = [(_x(x, at), _y(y, value)) for at, value in _known(x_values, values)]
        drawn.append(_line(f"line s{colour}", points))
        if dots:
            for left, top in points:
                drawn.append(f'<circle class="dot f{colour}" cx="{left:.1f}" cy="{top:.1f}" r="3"/>')
    return _picture(title, series, "s", drawn)


def bar_chart(title: str, groups: Sequence[str], y: Axis, series: Series, x_title: str = "") -> str:
    """Draw a bar for each group and series; the bars of a group are side by side."""
    x = Axis(x_title, 0, len(groups), [(i + 0.5, name) for i, name in enumerate(groups)])
    drawn = [_frame(x, y)]
    width = min(0.8 / len(series), 0.4)
    for colour, values in enumerate(series.values()):
        for group, value in _known(range(len(groups)), values):
            begin = group + 0.5 + width * (colour - len(series) / 2)
            left, top = _x(x, begin), _y(y, value)
            drawn.append(
                f'<rect class="f{colour}" x="{left:.1f}" y="{top:.1f}" '
                f'width="{_x(x, begin + width) - left - 1:.1f}" height="{_y(y, y.low) - top:.1f}"/>'
            )
    return _picture(title, series, "b", drawn)


def _known(x_values: Values, y_values: Values) -> Iterator[tuple[float, float]]:
    """Yield the points without NaN."""
    return ((x, y) for x, y in zip(x_values, y_values, strict=True) if not math.isnan(x + y))


def _picture(title: str, series: Series, css: str, drawn: Sequence[str]) -> str:
    """Return the SVG element: a title, a legend if there are several series, and a description for screen readers."""
    parts, described, left = [f'<text class="title" x="{LEFT}" y="16">{text(title)}</text>'], [], float(LEFT)
    for colour, (name, values) in enumerate(series.items()):
        if known := [value for value in values if not math.isnan(value)]:
            described.append(f"{name}: from {number(min(known))} to {number(max(known))}")
        if len(series) > 1:
            parts.append(_line(f"line {css}{colour}", [(left, 34), (left + 22, 34)]))
            parts.append(f'<text x="{left + 28:.1f}" y="38">{text(name)}</text>')
            left += 44 + 6.6 * len(name)
    content = "\n".join([*parts, *drawn])
    label = text(f"{title}. {'; '.join(described)}")
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{content}\n</svg>\n'


def _frame(x: Axis, y: Axis) -> str:
    """Return the grid lines, the names of the ticks, and the title of the x axis."""
    bottom = HEIGHT - BOTTOM
    parts = []
    for value, name in y.ticks:
        top = _y(y, value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{top:.1f}" y2="{top:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{top + 4:.1f}" text-anchor="end">{text(name)}</text>')
    # Leave out names of ticks where there is no room for all of them.
    room = (WIDTH - LEFT - RIGHT) / max(len(x.ticks), 1)
    every = max(1, math.ceil((6.8 * max((len(name) for _, name in x.ticks), default=0) + 4) / room))
    below = [(_x(x, value), bottom + 17, name) for value, name in x.ticks[::every]]
    for left, top, name in [*below, ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x.title)]:
        parts.append(f'<text x="{left:.1f}" y="{top}" text-anchor="middle">{text(name)}</text>')
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
