"""`Tagger(mix=…)`: two models over the same labels, weighed on held-out texts."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.labelled_texts import labelled_texts

from labeltree import (
    EncoderTreeClassifier,
    ExtremeTextClassifier,
    LabelTreeClassifier,
    MixedModel,
    OneVsRestClassifier,
    PfastreXMLClassifier,
    mix,
)
from labeltree.labels.reading import read_labels
from labeltree.metrics import precision_at_k
from labeltree.text import Tagger, TextVectorizer
from labeltree.training.hold_out import set_aside
from labeltree.tuning import tune

TEXTS, LABELS = labelled_texts(200)
NEW_TEXTS, NEW_LABELS = labelled_texts(50, seed=1)


def mixed_tagger(**parameters: Any) -> Tagger:
    return Tagger(ExtremeTextClassifier(dimension=12, random_state=0), mix="linear", **parameters)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return mixed_tagger().fit(TEXTS, LABELS)


def test_in_one_line() -> None:
    tagger = Tagger(method="extremetext", mix="linear").fit(TEXTS, LABELS)
    assert precision_at_k(NEW_LABELS, tagger.predict_topk(NEW_TEXTS, 1).labels, 1) > 0.95
    assert [tag.label for tag in tagger.tag("A sailor and a boat", k=1)] == ["sea"]


def test_it_is_its_members_trained_by_hand(tagger: Tagger) -> None:
    rest, aside = set_aside(TEXTS, read_labels(LABELS), None, 0.1, 0)
    main = Tagger(ExtremeTextClassifier(dimension=12, random_state=0)).fit(rest.X, rest.y)
    linear = Tagger(LabelTreeClassifier(n_trees=3, random_state=0))
    weighed = mix([linear.fit(rest.X, rest.y), main]).weigh_for("ndcg@5", aside.X, aside.y)
    expected = mix([linear.fit(TEXTS, LABELS), main], weighed.weights_)
    assert isinstance(tagger.classifier_, MixedModel)
    assert tagger.classifier_.weights_ == expected.weights_
    top, found = expected.predict_topk(NEW_TEXTS, 3), tagger.predict_topk(NEW_TEXTS, 3)
    np.testing.assert_array_equal(found.labels, top.labels)
    np.testing.assert_array_equal(found.probabilities, top.probabilities)


def test_members_know_what_they_were_trained_on(tagger: Tagger) -> None:
    linear, main = tagger.classifier_.members_
    assert (type(linear), linear.n_trees) == (LabelTreeClassifier, 3)
    assert (linear.n_samples_fit_, main.n_samples_fit_) == (200, 180)
    assert tagger.n_samples_fit_ == 200
    assert tagger.label_counts_.sum() == sum(map(len, LABELS))
    again = mixed_tagger(refit=True).fit(TEXTS, LABELS)
    assert [member.n_samples_fit_ for member in again.classifier_.members_] == [200, 200]


def test_held_out_texts_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeltree.text.mixture.MOST_HELD_OUT", 7)
    tagger = mixed_tagger(holdout=0.5).fit(TEXTS, LABELS)
    assert tagger.classifier_.members_[1].n_samples_fit_ == 193


def test_the_second_model_may_have_a_checkpoint(tmp_path: Path) -> None:
    second = Tagger(OneVsRestClassifier(random_state=0, checkpoint=tmp_path / "checkpoint"))
    tagger = Tagger(ExtremeTextClassifier(dimension=12, random_state=0), mix=second).fit(TEXTS, LABELS)
    assert tagger.classifier_.members_[0].n_samples_fit_ == 200
    assert (tmp_path / "checkpoint" / "all-texts").is_dir()
    again = clone(tagger).fit_for("micro_f1", TEXTS, LABELS)  # resumes both trainings
    assert again.decision_.metric == "micro_f1"
    assert again.tag("A boat") == tagger.tag("A boat")


def test_rare_labels_stay() -> None:
    labels = [["once", *row] if number == 5 else row for number, row in enumerate(LABELS)]
    for seed in range(3):
        main = ExtremeTextClassifier(dimension=4, epochs=1, random_state=seed)
        tagger = Tagger(main, mix="linear", holdout=0.5).fit(TEXTS, labels)
        assert "once" in tagger.classes_.tolist()


def test_questions(tagger: Tagger, tmp_path: Path) -> None:
    text = NEW_TEXTS[0]
    assert sorted(tagger.predict([text])[0]) == sorted(NEW_LABELS[0])
    assert tagger.predict_proba([text]).shape == (1, 5)
    explanation = tagger.explain("A sailor, a boat", "sea")
    assert len(explanation.paths) == 4
    assert max(explanation.highlights, key=lambda h: h.amount)[:2] in ((2, 8), (12, 16))
    decided = clone(tagger).fit(TEXTS, LABELS).decide_for("micro_f1", NEW_TEXTS, NEW_LABELS)
    assert decided.decision_.metric == "micro_f1"
    decided.label_names_ = {"sea": "the sea"}
    decided.save(tmp_path / "model")
    opened = Tagger.load(tmp_path / "model", verify=True)
    assert opened.predict(NEW_TEXTS) == decided.predict(NEW_TEXTS)
    assert opened.tag(text) == decided.tag(text)
    assert dict(opened.label_names_ or {}) == {"sea": "the sea"}
    assert opened.explain(text, "sea") == decided.explain(text, "sea")
    assert pickle.loads(pickle.dumps(tagger)).tag(text) == tagger.tag(text)
    assert set(tagger.fit_seconds_) == {"training"}


def test_what_a_mix_has_not(tagger: Tagger, tmp_path: Path) -> None:
    with pytest.raises(AttributeError, match="has no method 'calibrate': ask its members_"):
        tagger.calibrate(NEW_TEXTS, NEW_LABELS)
    with pytest.raises(AttributeError, match="is a mix: its members_ have vectorizers"):
        _ = tagger.vectorizer_
    with pytest.raises(ValueError, match="stored with the types of weights that they have"):
        tagger.save(tmp_path / "model", weights="int8")
    with pytest.raises(ValueError, match="cannot be trained on a stream"):
        mixed_tagger().fit_stream(lambda: iter([(TEXTS, LABELS)]))


def test_a_loaded_mix_is_trained_again_with_the_same_parameters(tagger: Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "model")
    again = clone(Tagger.load(tmp_path / "model")).fit(TEXTS, LABELS)
    assert again.tag(NEW_TEXTS[0]) == tagger.tag(NEW_TEXTS[0])


def test_a_mix_of_three_is_opened_but_not_trained(tmp_path: Path) -> None:
    taggers = [Tagger(LabelTreeClassifier(random_state=seed)).fit(TEXTS, LABELS) for seed in range(3)]
    mixed = mix(taggers)
    mixed.save(tmp_path / "mix")
    opened = Tagger.load(tmp_path / "mix")
    assert opened.predict(NEW_TEXTS) == mixed.predict(NEW_TEXTS)
    with pytest.raises(ValueError, match="classifier must be one of this library's"):
        opened.fit(TEXTS, LABELS)


def test_fit_for() -> None:
    tagger = mixed_tagger().fit_for("micro_f1", TEXTS, LABELS)
    assert tagger.decision_.metric == "micro_f1"
    assert isinstance(tagger.classifier_, MixedModel)


def test_sample_weights_count() -> None:
    weight = np.ones(len(TEXTS))
    same = mixed_tagger().fit(TEXTS, LABELS, weight)
    assert same.tag(NEW_TEXTS[0]) == mixed_tagger().fit(TEXTS, LABELS).tag(NEW_TEXTS[0])
    other = mixed_tagger().fit(TEXTS, LABELS, np.where(np.arange(len(TEXTS)) < 50, 3.0, 0.5))
    assert other.tag(NEW_TEXTS[0]) != same.tag(NEW_TEXTS[0])


def test_another_second_model() -> None:
    letters = Tagger(
        OneVsRestClassifier(random_state=0), TextVectorizer(analyzer="char_wb", ngram_range=(2, 3))
    )
    tagger = Tagger(LabelTreeClassifier(random_state=0), mix=letters).fit(TEXTS, LABELS)
    second, main = tagger.classifier_.members_
    assert (type(second), type(main)) == (OneVsRestClassifier, LabelTreeClassifier)
    assert second.vectorizer_.analyzer == "char_wb"
    tagger.set_params(mix__classifier__C=0.5)
    assert letters.classifier.C == 0.5


def test_the_linear_model_reads_the_same_words_by_tf_idf() -> None:
    fields = TextVectorizer(fields={"title": 2.0}, use_idf=False, norm=None)
    tagger = Tagger(ExtremeTextClassifier(dimension=8, random_state=0), fields, mix="linear")
    tagger.fit([{"title": text} for text in TEXTS], LABELS)
    linear, main = tagger.classifier_.members_
    assert (linear.vectorizer_.use_idf, linear.vectorizer_.norm) == (True, "l2")
    assert (main.vectorizer_.use_idf, main.vectorizer_.norm) == (False, None)
    assert linear.vectorizer_.fields == main.vectorizer_.fields
    assert tagger.model_.text_fields == ("title",)
    assert tagger.tag({"title": "A boat"}, k=1)[0].label == "sea"


def test_names_of_labels_are_kept() -> None:
    tagger = mixed_tagger().fit(TEXTS, LABELS, label_names={"sea": "the sea"})
    assert dict(tagger.label_names_ or {}) == {"sea": "the sea"}


@pytest.mark.parametrize(
    ("tagger", "message"),
    [
        (Tagger(mix="quadratic"), "mix must be 'linear', a Tagger or None, got 'quadratic'"),
        (Tagger(mix=LabelTreeClassifier()), "mix must be 'linear', a Tagger or None"),  # type: ignore[arg-type]
        (Tagger(mix=Tagger(mix="linear")), "a mix itself"),
        (Tagger(mix="linear", holdout=2), "holdout"),
        (Tagger(mix="linear", refit="yes"), "refit"),  # type: ignore[arg-type]
        (Tagger(PfastreXMLClassifier(), mix="linear"), "scores that are no probabilities"),
        (Tagger(mix=Tagger(PfastreXMLClassifier())), "PfastreXMLClassifier gives scores that are no prob"),
        (Tagger(holdout=0.2), "holdout=0.2 is for a mix of two models: add mix='linear'"),
        (Tagger(refit=True), "refit=True is for a mix"),
        (Tagger(mix=Tagger(holdout=0.2)), "holdout=0.2 is for a mix"),
        (Tagger(method="extremetext", encoder="some/encoder"), "encoder is for method='encoder'"),
        (Tagger(LabelTreeClassifier(), encoder="some/encoder"), "encoder trains an EncoderTreeClassifier"),
        (
            Tagger(EncoderTreeClassifier("one"), encoder="other"),
            "encoder='other', but the classifier has encoder='one'",
        ),
    ],
)
def test_wrong_parameters(tagger: Tagger, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tagger.fit(TEXTS, LABELS)


def test_too_few_texts_to_hold_out() -> None:
    with pytest.raises(ValueError, match=r"holdout=0.1 of 2 rows"):
        mixed_tagger().fit(["a boat", "a cat"], [["sea"], ["animal"]])


def test_parameters_of_an_encoder_are_kept_as_they_are() -> None:
    tagger = Tagger(encoder="some/encoder", mix="linear")
    assert isinstance(tagger.classifier, EncoderTreeClassifier)
    assert tagger.vectorizer is None
    assert tagger.set_params(encoder="another", classifier__epochs=3).get_params()["encoder"] == "another"
    assert clone(tagger).get_params()["classifier__epochs"] == 3


def test_a_mix_is_not_tuned() -> None:
    with pytest.raises(ValueError, match="leave out mix"):
        tune(TEXTS, LABELS, budget=1, estimator=Tagger(mix="linear"))


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs the package torch: pip install 'labeltree\[torch\]'"):
        Tagger(encoder="some/encoder").fit(TEXTS, LABELS)
