"""The page: all measurements in one HTML file, with its style and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import labeltree
from labeltree.report import error_sections as errors
from labeltree.report import quality_sections as quality
from labeltree.report import tree_sections as tree
from labeltree.report.markup import cards, number, percent, section, text
from labeltree.report.measures import Report

#: The identifier of each section, its name in the contents, and the function that writes it.
SECTIONS = (
    ("cures", "What to do", errors.cures_section),
    ("ranks", "Best labels", quality.ranks_section),
    ("misses", "Worst misses", errors.misses_section),
    ("alarms", "False alarms", errors.false_alarms_section),
    ("frequency", "Frequent and rare", quality.frequency_section),
    ("calibration", "Calibration", quality.calibration_section),
    ("thresholds", "Thresholds", quality.thresholds_section),
    ("levels", "Lost labels", tree.lost_labels_section),
    ("nodes", "Where the loss is", tree.node_costs_section),
    ("labels", "Worst labels", quality.worst_labels_section),
    ("queries", "Slowest queries", tree.queries_section),
    ("model", "The model", errors.model_section),
)


def report_page(
    report: Report,
    title: str,
    *,
    headline: Sequence[tuple[str, str, str]] = (),
    facts: Mapping[str, str] | None = None,
    names: Callable[[Any], str] | None = None,
) -> str:
    """Write a report as an HTML page that includes its style and pictures.

    Parameters
    ----------
    report : Report
    title : str
        The title of the page, such as the names of the model and of the data.
    headline : sequence of (value, name, remark), optional
        More figures for the top of the page, after those of the report.
    facts : mapping, optional
        More lines for the section about the model, such as its path and the date.
    names : callable, optional
        Returns the text to show for a label; by default the label, with the name that the model has for it.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.report import measure_report, report_page
    >>> X, y = np.eye(2), [["cat"], ["dog"]]
    >>> page = report_page(measure_report(LabelTreeClassifier().fit(X, y), X, y), "Pets")
    >>> page[:15], page.count("<h2")
    ('<!DOCTYPE html>', 12)
    """
    known = report.model._replace(facts={**report.model.facts, **(facts or {})})
    report = replace(report, model=known, name_of=names or report.name_of)
    style = files("labeltree.report").joinpath("style.css").read_text(encoding="utf-8")
    contents = "".join(f'<li><a href="#{link}">{text(name)}</a></li>' for link, name, _ in SECTIONS)
    sections = "".join(section(link, *write(report)) for link, _, write in SECTIONS)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header>\n<h1>{text(title)}</h1>\n<p class="lead">{_lead(report)}</p>\n</header>\n'
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>\n<main>\n'
        f"{cards([*_headline(report), *headline])}{sections}</main>\n"
        f"<footer>Written by labeltree {text(labeltree.__version__)}.</footer>\n</body>\n</html>\n"
    )


def _headline(report: Report) -> list[tuple[str, str, str]]:
    curve, k = report.ranks, min(report.k, len(report.ranks.k))
    return [
        (percent(curve.precision[0]), "Precision@1", "per cent"),
        (percent(curve.precision[k - 1]), f"Precision@{k}", "per cent"),
        (percent(curve.ndcg[k - 1]), f"nDCG@{k}", "per cent"),
        (percent(curve.recall[k - 1]), f"Recall@{k}", "per cent"),
    ]


def _lead(report: Report) -> str:
    """Return the sentence below the title: the numbers of rows, labels and trees."""
    n_true = int((report.outcomes.both + report.outcomes.only_true).sum()) + report.n_unknown
    trees = "1 tree" if report.n_trees == 1 else f"{report.n_trees} trees"
    lead = (
        f"{number(report.n_rows)} rows with {number(n_true)} labels, {number(n_true / report.n_rows)} per row; "
        f"{number(len(report.classes))} labels to choose from, {trees}."
    )
    if report.n_unknown:
        unknown = number(report.n_unknown)
        lead += f" {unknown} of them are labels that the model does not know, and count as missed."
    return lead
