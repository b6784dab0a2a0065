"""The sections of the page about labels: ranks, frequency, calibration, thresholds, worst labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labeltree.calibration import CalibrationMeasures
from labeltree.report.charts import Axis, Series, bar_chart, line_chart
from labeltree.report.label_errors import FEWEST_ROWS, f1_of_labels, worst_labels
from labeltree.report.markup import beside, details, figure, name_text, number, percent, section, table, text
from labeltree.report.measures import Report

Names = Callable[[Any], str]

#: So many labels, nodes and queries are listed.
LISTED = 15

#: From the least probability that the curve of small ones shows.
LEAST_POWER = -4


def ranks_section(report: Report) -> str:
    """Precision, recall and nDCG by k."""
    curve = report.ranks
    ks = curve.k.tolist()
    series = [
        Series("precision", ks, curve.precision.tolist()),
        Series("recall", ks, curve.recall.tolist()),
        Series("nDCG", ks, curve.ndcg.tolist()),
    ]
    axis = Axis("k", 0.5, len(ks) + 0.5, [(k, str(k)) for k in ks])
    numbers = table(
        "In per cent",
        ["k", "precision", "recall", "nDCG"],
        [
            [str(k), percent(curve.precision[i]), percent(curve.recall[i]), percent(curve.ndcg[i])]
            for i, k in enumerate(ks)
        ],
    )
    caption = (
        "Of the k most probable labels, the share that is right; of the true labels, the share among them."
    )
    return section(
        "ranks",
        "How good the best labels are",
        beside(figure(line_chart("By k", axis, _shares(), series), caption), numbers),
    )


def frequency_section(report: Report) -> str:
    """Precision and recall of labels from head to tail."""
    bands = report.frequencies
    at = list(range(len(bands)))
    picture = bar_chart(
        f"Among the best {report.k}",
        [band.short_name for band in bands],
        _shares(),
        [
            Series("precision", at, [band.precision for band in bands]),
            Series("recall", at, [band.recall for band in bands]),
        ],
        "training rows of a label, at least",
    )
    numbers = table(
        f"Labels by training rows, among the best {report.k} of each row",
        ["training rows", "labels", "true", "predicted", "right", "precision %", "recall %"],
        [
            [
                text(band.name),
                *(number(n) for n in (band.n_labels, band.n_true, band.n_predicted, band.n_hits)),
                percent(band.precision),
                percent(band.recall),
            ]
            for band in bands
        ],
    )
    caption = (
        "From frequent labels (head) to rare ones (tail). Precision: of the times that such labels are predicted, "
        "the share that is right. Recall: of the times that they are true, the share that is found."
    )
    return section("frequency", "Frequent and rare labels", figure(picture, caption), numbers)


def calibration_section(report: Report) -> str:
    """Reliability curves, and errors by level and by label frequency."""
    calibration = report.calibration
    curve = calibration.labels.curve
    said, true = curve.probability.tolist(), curve.frequency.tolist()
    linear = line_chart(
        "All probabilities",
        _shares("probability"),
        _shares("share that came true"),
        [Series("share that came true", said, true)],
        diagonal=True,
    )
    small = line_chart(
        "The small ones (both axes in powers of ten)",
        Axis.powers("probability", LEAST_POWER),
        Axis.powers("share that came true", LEAST_POWER),
        [Series("share that came true", said, true)],
        diagonal=True,
    )
    numbers = table(
        "Pairs of a row and a label, by probability",
        ["probability", "pairs", "mean probability", "share that came true"],
        [
            [f"{low:g} to {high:g}", number(round(mass)), number(mean), number(share)]
            for low, high, mass, mean, share in zip(
                curve.edges[:-1], curve.edges[1:], curve.mass, curve.probability, curve.frequency, strict=True
            )
        ],
    )
    levels = (
        _calibration_table("Nodes given their parent, by tree level (the root's is 0)", calibration.levels)
        if calibration.levels
        else "<p>By tree level: nothing, as the nodes of this model cannot be asked one by one.</p>\n"
    )
    labels = calibration.labels
    return section(
        "calibration",
        "Are the probabilities right?",
        f"<p>Of things said to be 30&nbsp;% probable, 30&nbsp;% should come true: the curve should follow the "
        f"dashed line. Below it, the model is too sure; "
        "above it, not sure enough. The expected calibration error (ECE) is the mean distance "
        f"from it over all pairs of a row and a label: {number(labels.expected_calibration_error)}, that is "
        f"{number(labels.error_per_row)} labels too many or too few per row. The log loss of a row is "
        f"{number(labels.log_loss_per_row)} nats.</p>\n",
        beside(figure(linear), figure(small)),
        details(numbers),
        levels,
        _calibration_table("Labels, by how many training rows they had", calibration.frequencies),
    )


def thresholds_section(report: Report) -> str:
    """Metrics as the threshold moves."""
    curve = report.thresholds
    at = curve.threshold.tolist()
    f1 = line_chart(
        "F1, all labels together and label by label",
        Axis.upwards("threshold", [1.0]),
        Axis.upwards("F1", [*curve.micro_f1, *curve.macro_f1]),
        [Series("micro-F1", at, curve.micro_f1.tolist()), Series("macro-F1", at, curve.macro_f1.tolist())],
        dots=False,
    )
    wrong = line_chart(
        "Hamming: wrong labels per row",
        Axis.upwards("threshold", [1.0]),
        Axis.upwards("wrong labels per row", curve.wrong_per_row.tolist()),
        [Series("wrong labels per row", at, curve.wrong_per_row.tolist())],
        dots=False,
    )
    best = curve.best()
    numbers = table(
        "By threshold",
        ["threshold", "micro-F1 %", "macro-F1 %", "wrong labels per row", "Hamming loss"],
        [
            [
                f"{at[i]:g}",
                percent(curve.micro_f1[i]),
                percent(curve.macro_f1[i]),
                number(curve.wrong_per_row[i]),
                f"{curve.hamming_loss[i]:.3g}",
            ]
            for i in range(len(at))
        ],
    )
    return section(
        "thresholds",
        "Where to draw the line",
        "<p>If every label is predicted whose probability reaches one threshold: "
        + ", ".join(f"{text(name)} is best at {threshold:g}" for name, threshold in best.items())
        + " on these rows. That is too kind to be a forecast where these rows chose it: "
        "<code>labeltree decide</code> chooses thresholds on rows of their own. "
        "Macro-F1 counts every label of the model, also those that no row has.</p>\n",
        beside(figure(f1), figure(wrong)),
        details(numbers),
    )


def worst_labels_section(report: Report, names: Names) -> str:
    """The labels that are decided worst, with names."""
    outcomes, f1 = report.outcomes, f1_of_labels(report.outcomes)
    worst = worst_labels(outcomes, LISTED)
    rule = f"What <code>predict</code> gives: {text(report.decision.describe())}."
    if len(worst) == 0:
        return section(
            "labels", "Worst labels", f"<p>{rule} No label is true in {FEWEST_ROWS} rows or more.</p>\n"
        )
    rows = [
        [
            name_text(names(report.classes[label])),
            *(
                number(int(count[label]))
                for count in (
                    report.label_counts,
                    outcomes.both + outcomes.only_true,
                    outcomes.both,
                    outcomes.only_true,
                    outcomes.only_pred,
                )
            ),
            percent(float(f1[label])),
        ]
        for label in worst
    ]
    head = ["label", "training rows", "true here", "found", "missed", "invented", "F1 %"]
    return section(
        "labels",
        "Worst labels",
        f"<p>{rule} The smallest F1 of labels that are true in {FEWEST_ROWS} rows or more.</p>\n",
        table("Worst labels", head, rows),
    )


def _calibration_table(caption: str, measured: Sequence[CalibrationMeasures]) -> str:
    return table(
        caption,
        ["", "positives per row", "log loss", "log loss per row", "ECE", "ECE per row"],
        [
            [
                text(measures.name),
                number(measures.n_positives / measures.n_rows),
                number(measures.log_loss),
                number(measures.log_loss_per_row),
                number(measures.expected_calibration_error),
                number(measures.error_per_row),
            ]
            for measures in measured
        ],
    )


def _shares(title: str = "") -> Axis:
    return Axis(title, 0.0, 1.0, [(float(share), f"{100 * share:.0f} %") for share in np.linspace(0, 1, 6)])
