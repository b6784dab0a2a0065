"""The sections of the page about single rows with wrong labels, what to do about errors, and the model itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from labeltree.report.cures import find_cures
from labeltree.report.evidence import Evidence
from labeltree.report.markup import details, facts, name_text, number, text
from labeltree.report.measures import Report
from labeltree.report.quality_sections import Names, Section
from labeltree.report.row_errors import FEWEST_TRAINING_ROWS, RowError

#: The classes of marked words, by strength.
MARKS = {-2: "against much", -1: "against", 1: "for", 2: "for much"}


def cures_section(report: Report, names: Names) -> Section:
    """Return the section about what could make the model better."""
    cures = find_cures(report)
    if not cures:
        return "What to do", "<p>Nothing in these measurements asks for a remedy.</p>\n"
    model = shlex.quote(report.model.facts.get("directory", "MODEL"))
    items = "".join(
        f"<li><p>{text(cure.finding)} {text(cure.advice)}</p>"
        f"<pre><code>{text(cure.command.replace('MODEL', model))}</code></pre></li>\n"
        for cure in cures
    )
    advice = (
        "<p>Use rows that the model was not trained on, and other rows than these to measure it again.</p>\n"
    )
    return "What to do", f'<ul class="cures">{items}</ul>\n', advice


def misses_section(report: Report, names: Names) -> Section:
    """Return the section about true labels that the model does not find."""
    title = "Worst misses"
    if not report.misses:
        return title, f"<p>Every true label is among the best {report.k} of its row.</p>\n"
    return (
        title,
        f"<p>True labels that are not among the best {report.k}, the least probable first: labels with at least "
        f"{FEWEST_TRAINING_ROWS} training rows where there are such. Some may be mistakes of the data. "
        f"{_legend(report.misses)}</p>\n",
        _cases(report, report.misses, "missed", names),
    )


def false_alarms_section(report: Report, names: Names) -> Section:
    """Return the section about wrong labels that the model is sure of."""
    title = "False alarms"
    if not report.false_alarms:
        return title, f"<p>No wrong label is among the best {report.k} of any row.</p>\n"
    return (
        title,
        f"<p>Labels among the best {report.k} that are not true, the most probable first. Some may be missing in the "
        f"data. {_legend(report.false_alarms)}</p>\n",
        _cases(report, report.false_alarms, "wrong", names),
    )


def model_section(report: Report, names: Names) -> Section:
    """Return the section about the model, its training and its parameters."""
    found = report.model
    parts = [facts("The model", found.facts)]
    if found.set_parameters:
        parts.append(facts("Parameters that were set", found.set_parameters))
    if found.default_parameters:
        parts.append(
            details(facts("Other parameters", found.default_parameters), "Parameters with default values")
        )
    return "The model", *parts


def _legend(errors: Iterable[RowError]) -> str:
    if any(piece.strength for error in errors for piece in error.evidence.pieces):
        return (
            'Words that speak <mark class="for much">for</mark> or <mark class="against much">against</mark> the label '
            "are marked."
        )
    if any(error.evidence.features for error in errors):
        return "The features that count most for (+) or against (-) the label are listed."
    return ""


def _cases(report: Report, errors: Iterable[RowError], css: str, names: Names) -> str:
    return f'<div class="cases">{"".join(_case(report, error, css, names) for error in errors)}</div>\n'


def _case(report: Report, error: RowError, css: str, names: Names) -> str:
    def name(position: int) -> str:
        return name_text(names(report.classes[[position]].tolist()[0]))

    true, best = set(error.true), {position for position, _ in error.best}
    rank = "beyond rank 1,000" if error.rank is None else f"rank {error.rank:,}"
    identity = "" if report.row_ids is None else f" · {name_text(str(report.row_ids[error.row]))}"
    truth = [_chip(name(position), "right" if position in best else "missed") for position in error.true]
    if error.n_unknown:
        truth.append(_chip(f"{error.n_unknown} unknown to the model", "missed"))
    said = [
        _chip(f"{name(position)} {_percent(probability)}", "right" if position in true else "wrong")
        for position, probability in error.best
    ]
    return (
        f'<article class="case"><header><strong class="{css}">{name(error.label)}</strong> '
        f"{_percent(error.probability)}, {rank}; {number(report.label_counts[error.label])} training rows"
        f'<span class="row">row {error.row:,}{identity}</span></header>\n{_evidence(error.evidence)}'
        f"<dl><dt>true</dt><dd>{''.join(truth) or '–'}</dd><dt>predicted</dt><dd>{''.join(said) or '–'}</dd></dl>"
        "</article>\n"
    )


def _chip(name: str, css: str) -> str:
    sign = {"right": "✓", "missed": "✗", "wrong": "✗"}[css]
    return f'<span class="chip {css}">{sign} {name}</span> '


def _percent(probability: float) -> str:
    return f"{probability:.1%}" if probability >= 0.001 or probability == 0 else "&lt; 0.1%"


def _evidence(evidence: Evidence) -> str:
    if evidence.pieces:
        words = "".join(
            f'<mark class="{MARKS[piece.strength]}">{text(piece.text)}</mark>'
            if piece.strength
            else text(piece.text)
            for piece in evidence.pieces
        )
        return f"<blockquote>{words}</blockquote>\n"
    if evidence.features:
        listed = ", ".join(
            f"{name_text(str(feature))} {amount:+.2f}" for feature, amount in evidence.features
        )
        return f"<blockquote>{listed}</blockquote>\n"
    return ""
