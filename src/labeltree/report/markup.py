"""Small pieces of HTML: text made harmless, tables, figures with the numbers behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

#: Longer names of labels are cut.
LONGEST_NAME = 60


def text(value: object) -> str:
    """Any value as text that means nothing to a browser but itself.

    Examples
    --------
    >>> text("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    return escape(str(value))


def name_text(name: str) -> str:
    """The name of a label, cut if it is very long."""
    return text(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, in thousands; a dash for none.

    Examples
    --------
    >>> number(12345), number(0.00123456), number(float("nan")), number(2)
    ('12,345', '0.00123', '–', '2')
    """
    if math.isnan(value):
        return "–"
    if value == int(value) or abs(value) >= 10**digits:
        return f"{round(value):,}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}" if places <= 6 else f"{value:.{digits - 1}e}"


def percent(share: float) -> str:
    """A share in per cent, with two places; a dash for none.

    Examples
    --------
    >>> percent(0.98765), percent(float("nan"))
    ('98.77', '–')
    """
    return "–" if math.isnan(share) else f"{100 * share:.2f}"


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, words: Sequence[int] = (0,)
) -> str:
    """A table of cells that are HTML already; columns are numbers but those in `words`."""
    classes = ["" if column in words else ' class="n"' for column in range(len(head))]
    heads = "".join(f'<th scope="col"{css}>{cell}</th>' for cell, css in zip(head, classes, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{css}>{cell}</td>" for cell, css in zip(row, classes, strict=True)) + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="wide"><table><caption>{text(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def figure(picture: str, caption: str = "") -> str:
    """A picture, and what there is to say about it."""
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>{picture}{below}</figure>\n"


def details(numbers: str) -> str:
    """The numbers behind a picture, to be opened."""
    return f"<details><summary>The numbers</summary>{numbers}</details>\n"


def beside(*parts: str) -> str:
    """Things side by side where the window is wide enough."""
    return f'<div class="pair">{"".join(f"<div>{part}</div>" for part in parts)}</div>\n'


def section(identifier: str, title: str, *parts: str) -> str:
    """A section with a heading that can be linked to."""
    return (
        f'<section id="{identifier}" aria-labelledby="{identifier}-title">\n'
        f'<h2 id="{identifier}-title">{text(title)}</h2>\n{"".join(parts)}</section>\n'
    )


def cards(figures: Iterable[tuple[str, str, str]]) -> str:
    """The large figures at the top: value, what it is, and a word more."""
    return (
        '<dl class="cards">'
        + "".join(
            f'<div><dt>{text(name)}</dt><dd>{text(value)}</dd><dd class="more">{text(more)}</dd></div>\n'
            for value, name, more in figures
        )
        + "</dl>\n"
    )
