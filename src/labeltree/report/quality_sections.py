"""The sections of the page about labels: ranks, frequency, calibration, thresholds, worst labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import numpy as np

from labeltree.calibration import CalibrationMeasures
from labeltree.report.charts import Axis, Series, bar_chart, line_chart
from labeltree.report.label_errors import FEWEST_ROWS, f1_of_labels, worst_labels
from labeltree.report.markup import beside, details, figure, name_text, number, percent, table, text
from labeltree.report.measures import Report

#: The title of a section, and its parts as HTML.
Section = tuple[str, ...]

#: Maximum number of labels, nodes and queries in a list.
LISTED = 15


def ranks_section(report: Report) -> Section:
    """Return the section about precision, recall and nDCG by k."""
    curve = report.ranks
    curves = {"precision": curve.precision, "recall": curve.recall, "nDCG": curve.ndcg}
    ks = curve.k.tolist()
    axis = Axis("k", 0.5, len(ks) + 0.5, [(k, str(k)) for k in ks])
    percents = {name: map(percent, values) for name, values in curves.items()}
    caption = (
        "Of the k most probable labels, the share that is right; of the true labels, the share among them."
    )
    return (
        "How good the best labels are",
        beside(
            figure(line_chart("By k", axis, _shares(), ks, curves), caption),
            table("In per cent", {"k": map(str, ks), **percents}),
        ),
    )


def frequency_section(report: Report) -> Section:
    """Return the section about precision and recall of frequent and rare labels."""
    bands = report.frequencies
    precision, recall = [band.precision for band in bands], [band.recall for band in bands]
    picture = bar_chart(
        f"Among the best {report.k}",
        [band.short_name for band in bands],
        _shares(),
        {"precision": precision, "recall": recall},
        "training rows of a label, at least",
    )
    numbers = table(
        f"Labels by training rows, among the best {report.k} of each row",
        {
            "training rows": [text(band.name) for band in bands],
            "labels": [number(band.n_labels) for band in bands],
            "true": [number(band.n_true) for band in bands],
            "predicted": [number(band.n_predicted) for band in bands],
            "right": [number(band.n_hits) for band in bands],
            "precision %": map(percent, precision),
            "recall %": map(percent, recall),
        },
    )
    caption = (
        "From frequent labels (head) to rare ones (tail). Precision: of the times that such labels are predicted, "
        "the share that is right. Recall: of the times that they are true, the share that is found."
    )
    return "Frequent and rare labels", figure(picture, caption), numbers


def calibration_section(report: Report) -> Section:
    """Return the section about reliability curves, and calibration errors by level and by label frequency."""
    calibration, labels = report.calibration, report.calibration.labels
    curve, edges = labels.curve, labels.curve.edges

    def chart(title: str, axis: Callable[[str], Axis]) -> str:
        x, y, series = axis("probability"), axis(""), {"share that came true": curve.frequency}
        return figure(line_chart(title, x, y, curve.probability, series, diagonal=True))

    numbers = table(
        "Pairs of a row and a label, by probability",
        {
            "probability": [f"{low:g} to {high:g}" for low, high in pairwise(edges)],
            "pairs": [number(round(mass)) for mass in curve.mass],
            "mean probability": map(number, curve.probability),
            "share that came true": map(number, curve.frequency),
        },
    )
    levels = (
        _calibration_table("Nodes given their parent, by tree level (the root's is 0)", calibration.levels)
        if calibration.levels
        else "<p>By tree level: nothing, as the nodes of this model cannot be asked one by one.</p>\n"
    )
    return (
        "Are the probabilities right?",
        f"<p>Of things said to be 30&nbsp;% probable, 30&nbsp;% should come true: the curve should follow the "
        f"dashed line. Below it, the model is too sure; "
        "above it, not sure enough. The expected calibration error (ECE) is the mean distance "
        f"from it over all pairs of a row and a label: {number(labels.expected_calibration_error)}, that is "
        f"{number(labels.error_per_row)} labels too many or too few per row. The log loss of a row is "
        f"{number(labels.log_loss_per_row)} nats.</p>\n",
        beside(
            chart("All probabilities", _shares),
            chart("The small ones (both axes in powers of ten)", Axis.powers_of_ten),
        ),
        details(numbers),
        levels,
        _calibration_table("Labels, by how many training rows they had", calibration.frequencies),
    )


def thresholds_section(report: Report) -> Section:
    """Return the section about metrics by threshold."""
    curve = report.thresholds

    def chart(title: str, series: Series) -> str:
        x, y = Axis.upwards("threshold", [1.0]), Axis.upwards("", chain.from_iterable(series.values()))
        return figure(line_chart(title, x, y, curve.threshold, series, dots=False))

    f1 = {"micro-F1": curve.micro_f1, "macro-F1": curve.macro_f1}
    wrong = {"wrong labels per row": curve.wrong_per_row}
    numbers = table(
        "By threshold",
        {
            "threshold": [f"{threshold:g}" for threshold in curve.threshold],
            "micro-F1 %": map(percent, curve.micro_f1),
            "macro-F1 %": map(percent, curve.macro_f1),
            "wrong labels per row": map(number, curve.wrong_per_row),
            "Hamming loss": [f"{loss:.3g}" for loss in curve.hamming_loss],
        },
    )
    return (
        "Where to draw the line",
        "<p>If every label is predicted whose probability reaches one threshold: "
        + ", ".join(f"{text(name)} is best at {threshold:g}" for name, threshold in curve.best().items())
        + " on these rows. That is too kind to be a forecast where these rows chose it: "
        "<code>labeltree decide</code> chooses thresholds on rows of their own. "
        "Macro-F1 counts every label of the model, also those that no row has.</p>\n",
        beside(
            chart("F1, all labels together and label by label", f1),
            chart("Hamming: wrong labels per row", wrong),
        ),
        details(numbers),
    )


def worst_labels_section(report: Report) -> Section:
    """Return the section about the labels with the smallest F1."""
    outcomes = report.outcomes
    worst = worst_labels(outcomes, LISTED)
    rule = f"What <code>predict</code> gives: {text(report.decision.describe())}."
    if len(worst) == 0:
        nothing = f"<p>{rule} No label is true in {FEWEST_ROWS} rows or more.</p>\n"
        return "Worst labels", nothing
    columns = {
        "label": [name_text(report.name_of(label)) for label in report.classes[worst]],
        "training rows": map(number, report.label_counts[worst]),
        "true here": map(number, (outcomes.both + outcomes.only_true)[worst]),
        "found": map(number, outcomes.both[worst]),
        "missed": map(number, outcomes.only_true[worst]),
        "invented": map(number, outcomes.only_pred[worst]),
        "F1 %": map(percent, f1_of_labels(outcomes)[worst]),
    }
    return (
        "Worst labels",
        f"<p>{rule} The smallest F1 of labels that are true in {FEWEST_ROWS} rows or more.</p>\n",
        table("Worst labels", columns),
    )


def _calibration_table(caption: str, measured: Sequence[CalibrationMeasures]) -> str:
    columns = {
        "": [text(measures.name) for measures in measured],
        "positives per row": [number(measures.n_positives / measures.n_rows) for measures in measured],
        "log loss": [number(measures.log_loss) for measures in measured],
        "log loss per row": [number(measures.log_loss_per_row) for measures in measured],
        "ECE": [number(measures.expected_calibration_error) for measures in measured],
        "ECE per row": [number(measures.error_per_row) for measures in measured],
    }
    return table(caption, columns)


def _shares(title: str = "") -> Axis:
    """Return an axis from 0 % to 100 %."""
    return Axis(title, 0.0, 1.0, [(float(share), f"{100 * share:.0f} %") for share in np.linspace(0, 1, 6)])
