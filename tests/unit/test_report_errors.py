"""Rows with wrong labels in reports, the words that are marked, and the cures that are proposed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.labelled_texts import labelled_texts
from tests.small_models import small_data, small_model
from tests.unit.test_report_page import check_whole

from labeltree import FastXMLClassifier, LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.calibration.measures import ReliabilityCurve
from labeltree.calibration.report import CalibrationMeasures
from labeltree.report import Report, measure_report, report_page
from labeltree.report.cures import find_cures, miscalibrated
from labeltree.report.evidence import Piece, marked
from labeltree.report.row_errors import LISTED_ROWS, SAME_LABEL
from labeltree.text import Tagger, TextVectorizer
from labeltree.text.text_explanation import Highlight

K = 2


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(LabelTreeClassifier(random_state=0)).fit(*labelled_texts(100))


@pytest.fixture(scope="module")
def texts() -> tuple[list[str], list[list[str]]]:
    """Texts of which some have a label that their words do not show."""
    texts, labels = labelled_texts(40, seed=1)
    return texts, [sorted({*row, "music"}) if i % 8 == 0 else row for i, row in enumerate(labels)]


@pytest.fixture(scope="module")
def report(tagger: Tagger, texts: Any) -> Report:
    words, labels = texts
    ids = [f"id {i}" for i in range(len(words))]
    X = tagger.vectorizer_.transform(words)
    return measure_report(tagger.classifier_, X, labels, k=K, texts=words, ids=ids)


def test_errors_are_those_of_brute_force() -> None:
    X, y = small_data(seed=1)
    model = small_model()
    report = measure_report(model, X, y, k=K)
    probability = model.predict_proba(X, top_k=None).toarray()
    order = np.argsort(-probability, axis=1, kind="stable")
    classes = model.classes_.tolist()
    missed, wrong = [], []
    for row, true in enumerate(y):
        best = order[row, :K].tolist()
        missed += [(row, at) for at in map(classes.index, true) if at not in best]
        wrong += [(row, at) for at in best if classes[at] not in true]
    surprising = [pair for pair in missed if model.label_counts_[pair[1]] >= 10] or missed
    for found, pairs, sign in ((report.misses, surprising, 1), (report.false_alarms, wrong, -1)):
        pairs = sorted(pairs, key=lambda pair: sign * probability[pair])
        assert (found[0].row, found[0].label) == pairs[0]
        shown = [sign * error.probability for error in found]
        assert shown == sorted(shown)
        assert all((error.row, error.label) in pairs for error in found)
        assert len({error.row for error in found}) == len(found) <= LISTED_ROWS
        labels = [error.label for error in found]
        assert max(map(labels.count, labels)) <= SAME_LABEL
        for error in found:
            assert error.probability == pytest.approx(probability[error.row, error.label], rel=1e-5)
            assert error.rank == 1 + order[error.row].tolist().index(error.label)
            assert [classes[at] for at in error.true] == sorted(y[error.row], key=classes.index)
            assert [at for at, _ in error.best] == order[error.row, :K].tolist()
            assert not error.evidence.pieces
            assert not error.evidence.features


def test_texts_are_shown_with_their_words_marked(report: Report, texts: Any, tagger: Tagger) -> None:
    assert report.misses[0].row % 8 == 0
    assert report.classes[report.misses[0].label] == "music"
    alarm = report.false_alarms[0]
    assert "".join(piece.text for piece in alarm.evidence.pieces) == texts[0][alarm.row]
    label = report.classes[alarm.label]
    best = max(tagger.explain(texts[0][alarm.row], label).highlights, key=lambda found: abs(found.amount))
    strength = 2 if best.amount > 0 else -2
    assert (texts[0][alarm.row][best.begin : best.end], strength) in alarm.evidence.pieces
    page = report_page(report, "Texts")
    check_whole(page)
    assert "Words that speak" in page
    assert f"row {alarm.row:,} · id {alarm.row}</span>" in page
    assert page.count('<article class="case">') == len(report.misses) + len(report.false_alarms)


def test_texts_mean_nothing_to_a_browser(tagger: Tagger) -> None:
    texts = ["<script>alert(1)</script> boat & sea", "a cat <b>"] * 3
    report = measure_report(
        tagger.classifier_,
        tagger.vectorizer_.transform(texts),
        [["city"], ["music"]] * 3,
        texts=texts,
        ids=["<i>"] * 6,
    )
    page = report_page(report, "Texts", facts={"path": "<u>"})
    check_whole(page)
    assert "&lt;script&gt;alert" in page
    assert "&lt;i&gt;" in page
    assert "<u>" not in page


def test_fields_of_texts_are_joined() -> None:
    words, labels = labelled_texts(60)
    rows = [{"title": text[:20], "body": text[20:], "other": "?"} for text in words]
    tagger = Tagger(LabelTreeClassifier(random_state=0), TextVectorizer(fields={"title": 2.0, "body": 1.0}))
    tagger.fit(rows, labels)
    X = tagger.vectorizer_.transform(rows)
    report = measure_report(tagger.classifier_, X, labels[::-1], k=K, texts=rows)
    pieces = report.false_alarms[0].evidence.pieces
    row = rows[report.false_alarms[0].row]
    assert "".join(piece.text for piece in pieces) == f"{row['title']} · {row['body']} · ?"
    assert any(piece.strength for piece in pieces)


def test_features_with_names_are_listed() -> None:
    X, y = small_data()
    frame = pd.DataFrame(X.toarray(), columns=[f"column {i}" for i in range(X.shape[1])])
    model = LabelTreeClassifier(random_state=0).fit(frame, y)
    report = measure_report(model, frame, y, k=1)
    error = report.misses[0]
    explanation = model.explain(frame[error.row : error.row + 1], report.classes[error.label], n_features=100)
    amounts: dict[str, float] = {}
    for step in explanation.paths[0]:
        for contribution in step.contributions:
            amounts[contribution.feature] = amounts.get(contribution.feature, 0.0) + contribution.amount
    listed = dict(error.evidence.features)
    assert listed == pytest.approx({name: amounts[name] for name in listed})
    assert max(map(abs, listed.values())) == pytest.approx(max(map(abs, amounts.values())))
    assert "column" in report_page(report, "Frame")
    named = measure_report(small_model(), X, y, k=1, feature_names=[f"word {i}" for i in range(X.shape[1])])
    assert named.misses[0].evidence.features[0][0].startswith("word ")


@pytest.mark.parametrize("kind", [OnlineLabelTreeClassifier, FastXMLClassifier])
def test_other_kinds_of_models(kind: Any) -> None:
    X, y = small_data()
    model = kind(random_state=0).fit(X, y)
    page = report_page(measure_report(model, X, [["?"], *y[1:]], k=1), "Other")
    check_whole(page)
    assert kind.__name__ in page


def test_texts_and_ids_are_one_for_each_row(tagger: Tagger) -> None:
    X = tagger.vectorizer_.transform(["a boat", "a cat"])
    for name in ("texts", "ids"):
        with pytest.raises(ValueError, match=f"{name} must have one entry for each of 2 rows, got 1"):
            measure_report(tagger.classifier_, X, [["sea"], ["animal"]], **{name: ["a"]})


class TestMarks:
    def test_strengths(self) -> None:
        found = marked("abcdef", [Highlight(0, 2, 1.0), Highlight(2, 3, 0.1), Highlight(3, 4, -0.3)])
        assert found == [Piece("ab", 2), Piece("c", 0), Piece("d", -1), Piece("ef", 0)]

    def test_long_texts_are_cut_around_the_evidence(self) -> None:
        text = "word " * 500 + "treasure " + "word " * 500
        at = text.index("treasure")
        found = marked(text, [Highlight(at, at + 8, 2.0)], longest=100)
        assert Piece("treasure", 2) in found
        assert (found[0].text, found[-1].text) == ("… ", " …")
        assert sum(len(piece.text) for piece in found) <= 104
        assert {word for piece in found for word in piece.text.split()} == {"…", "word", "treasure"}

    def test_long_texts_keep_their_beginning_if_it_has_nearly_all_evidence(self) -> None:
        text = "A title, and " + "word " * 100
        found = marked(text, [Highlight(2, 7, 2.0), Highlight(200, 204, 0.1)], longest=100)
        assert found[0].text == "A "
        assert found[-1].text == " …"

    def test_texts_without_evidence(self) -> None:
        assert marked("", ()) == []
        assert marked("a b", ()) == [Piece("a b", 0)]
        assert marked("x" * 50, (), longest=10) == [Piece("x" * 10, 0), Piece(" …", 0)]


class TestCures:
    def test_none_where_all_is_well(self) -> None:
        X, y = np.repeat(np.eye(3), 40, axis=0), [[name] for name in "abc" for _ in range(40)]
        model = LabelTreeClassifier(random_state=0).fit(X, y)
        report = measure_report(model, X, y)
        assert find_cures(report) == []
        assert "Nothing in these measurements" in report_page(report, "Good")

    def test_decide_where_another_threshold_is_much_better(self) -> None:
        X, y = small_data()
        model = small_model()
        report = measure_report(model, X, y)
        shy = replace(report, outcomes=replace(report.outcomes, both=0 * report.outcomes.both), n_empty=30)
        (cure,) = [cure for cure in find_cures(shy) if "decide" in cure.command]
        assert "Micro-F1 is 0.0%" in cure.finding
        assert "No label is predicted for 50% of the rows" in cure.finding
        page = report_page(shy, "Shy", facts={"directory": "my model"})
        assert "labeltree decide &#x27;my model&#x27; VALID --metric micro_f1" in page
        decided = measure_report(model.decide_for("micro_f1", X, y), X, y)
        assert not [cure for cure in find_cures(decided) if "decide" in cure.command]

    def test_unknown_labels(self) -> None:
        X, y = small_data()
        report = measure_report(small_model(), X, [[*row, "never seen"] for row in y])
        assert report.n_unknown == len(y)
        assert any("unknown to the model" in cure.finding for cure in find_cures(report))

    @pytest.mark.parametrize(
        ("frequency", "mass", "is_found"), [(0.3, 1000.0, True), (0.3, 10.0, False), (0.54, 1000.0, False)]
    )
    def test_calibrate_where_probabilities_are_off_by_more_than_chance(
        self, frequency: float, mass: float, is_found: bool
    ) -> None:
        curve = ReliabilityCurve(
            np.array([0.0, 0.5, 1.0]),
            np.array([0.0, mass]),
            np.array([np.nan, 0.55]),
            np.array([np.nan, frequency]),
        )
        found = miscalibrated(CalibrationMeasures("labels", mass, mass * frequency, 100, 0.5, curve))
        assert (found is not None) == is_found
        if found is not None:
            assert found == (0.5, 1.0, 0.55, 0.3)

    def test_calibrate_is_for_models_that_can_be(self) -> None:
        X, y = small_data()
        assert measure_report(small_model(), X, y).can_be_calibrated
        assert not measure_report(FastXMLClassifier(random_state=0).fit(X, y), X, y).can_be_calibrated


def test_parameters_that_were_set_are_shown(report: Report) -> None:
    assert report.model.set_parameters["random_state"] == "0"
    assert "TextVectorizer" in report.model.facts["texts"]
    page = report_page(report, "Texts", facts={"measured": "on Monday"})
    assert '<th scope="row">measured</th><td>on Monday</td>' in page
    assert '<th scope="row">random_state</th><td>0</td>' in page
