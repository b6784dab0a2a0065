"""Small pieces of HTML: escaped text, numbers, tables, figures and sections."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from html import escape

from labeltree.wording import shortened

#: Longer names of labels are cut.
LONGEST_NAME = 60


def text(value: object) -> str:
    """Return any value as escaped text.

    Examples
    --------
    >>> text("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    return escape(str(value))


def name_text(name: str) -> str:
    """Return the name of a label as escaped text, cut if it is very long."""
    return text(shortened(name, LONGEST_NAME))


def number(value: float) -> str:
    """Return a number with three significant digits, or all digits of an integer; a dash for NaN.

    Examples
    --------
    >>> number(12345), number(0.00123456), number(float("nan")), number(2)
    ('12,345', '0.00123', '–', '2')
    """
    if math.isnan(value):
        return "–"
    if value == int(value) or abs(value) >= 1000:
        return f"{round(value):,}"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}" if places <= 6 else f"{value:.2e}"


def percent(share: float) -> str:
    """Return a share in per cent, with two decimal places; a dash for NaN.

    Examples
    --------
    >>> percent(0.98765), percent(float("nan"))
    ('98.77', '–')
    """
    return "–" if math.isnan(share) else f"{100 * share:.2f}"


def table(caption: str, columns: Mapping[str, Iterable[str]], *, text_column: int | None = 0) -> str:
    """Return a table from columns of cells that are HTML; all columns but `text_column` are aligned as numbers."""
    classes = ["" if column == text_column else ' class="n"' for column in range(len(columns))]
    heads = "".join(f'<th scope="col"{css}>{name}</th>' for css, name in zip(classes, columns, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{css}>{cell}</td>" for css, cell in zip(classes, row, strict=True)) + "</tr>\n"
        for row in zip(*columns.values(), strict=True)
    )
    return (
        f'<div class="wide"><table><caption>{text(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def figure(picture: str, caption: str = "") -> str:
    """Return a picture with an optional caption."""
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>{picture}{below}</figure>\n"


def facts(caption: str, values: Mapping[str, str]) -> str:
    """Return a table of names and values, both plain texts."""
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>\n'
        for name, value in values.items()
    )
    return (
        f'<div class="wide"><table class="facts"><caption>{text(caption)}</caption>\n'
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def details(numbers: str, summary: str = "The numbers") -> str:
    """Return the numbers of a picture, or other details, hidden until the reader opens them."""
    return f"<details><summary>{text(summary)}</summary>{numbers}</details>\n"


def beside(*parts: str) -> str:
    """Return parts side by side, or one below the other in a narrow window."""
    return f'<div class="pair">{"".join(f"<div>{part}</div>" for part in parts)}</div>\n'


def section(identifier: str, title: str, *parts: str) -> str:
    """Return a section with a heading to link to."""
    return (
        f'<section id="{identifier}" aria-labelledby="{identifier}-title">\n'
        f'<h2 id="{identifier}-title">{text(title)}</h2>\n{"".join(parts)}</section>\n'
    )


def cards(figures: Iterable[tuple[str, str, str]]) -> str:
    """Return the large figures at the top of the page, given as (value, name, remark)."""
    items = "".join(
        f'<div><dt>{text(name)}</dt><dd>{text(value)}</dd><dd class="more">{text(remark)}</dd></div>\n'
        for value, name, remark in figures
    )
    return f'<dl class="cards">{items}</dl>\n'
