"""`Tagger` with neural networks, alone and mixed with a linear model."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from tests.labelled_texts import labelled_texts

from labeltree import AttentionXMLClassifier, EncoderTreeClassifier, LabelTreeClassifier, mix
from labeltree.deep import out_of_fold_vectors
from labeltree.text import Tagger, TextVectorizer

torch = pytest.importorskip("torch")

TEXTS, LABELS = labelled_texts(160)
NEW_TEXTS, NEW_LABELS = labelled_texts(40, seed=1)
QUICK: dict[str, Any] = {
    "epochs": 8,
    "batch_size": 16,
    "learning_rate": 3e-3,
    "node_rate": 3e-2,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def deep(tiny_encoder: Path) -> Tagger:
    return Tagger(EncoderTreeClassifier(**QUICK), encoder=tiny_encoder).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def mixed(tiny_encoder: Path) -> Tagger:
    return Tagger(EncoderTreeClassifier(**QUICK), encoder=tiny_encoder, mix="linear").fit(TEXTS, LABELS)


def test_texts_reach_the_network_as_they_are(tiny_encoder: Path, deep: Tagger) -> None:
    alone = EncoderTreeClassifier(tiny_encoder, **QUICK).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(
        deep.predict_topk(NEW_TEXTS, 3).probabilities, alone.predict_topk(NEW_TEXTS, 3).probabilities
    )
    assert deep.tag("A sailor and a boat", k=1)[0].label == "sea"
    with pytest.raises(AttributeError, match="reads texts without a vectorizer"):
        _ = deep.vectorizer_


def test_the_method_needs_no_classifier(tiny_encoder: Path) -> None:
    tagger = Tagger(method="attentionxml").set_params(
        classifier__epochs=1, classifier__hidden=4, classifier__dimension=8, classifier__shared=4
    )
    assert len(tagger.fit(TEXTS, LABELS).tag("A boat", k=3)) == 3
    tagger = Tagger(encoder=str(tiny_encoder)).set_params(classifier__epochs=1)
    assert len(tagger.fit(TEXTS, LABELS).tag("A boat", k=3)) == 3


def test_a_vectorizer_needs_a_mix(tiny_encoder: Path) -> None:
    tagger = Tagger(vectorizer=TextVectorizer(min_df=2), encoder=tiny_encoder)
    with pytest.raises(
        ValueError, match="reads texts without a vectorizer, got also a TextVectorizer: leave it"
    ):
        tagger.fit(TEXTS, LABELS)
    tagger.set_params(mix="linear", classifier__epochs=1).fit(TEXTS, LABELS)
    assert tagger.classifier_.members_[0].vectorizer_.min_df == 2


def test_mix(mixed: Tagger) -> None:
    linear, network = mixed.classifier_.members_
    assert (type(linear), type(network)) == (LabelTreeClassifier, EncoderTreeClassifier)
    assert (linear.n_samples_fit_, network.n_samples_fit_) == (160, 144)
    expected = mix([linear, network], mixed.classifier_.weights_).predict_topk(NEW_TEXTS, 2)
    np.testing.assert_array_equal(mixed.predict_topk(NEW_TEXTS, 2).probabilities, expected.probabilities)
    assert sorted(mixed.predict(NEW_TEXTS)[0]) == NEW_LABELS[0]
    assert mixed.decide_for("micro_f1", NEW_TEXTS, NEW_LABELS).decision_.metric == "micro_f1"
    del mixed.decision_
    assert pickle.loads(pickle.dumps(mixed)).tag(NEW_TEXTS[0]) == mixed.tag(NEW_TEXTS[0])
    assert clone(mixed).get_params()["encoder"] == mixed.encoder


def test_members_are_explained_together(mixed: Tagger) -> None:
    text = "A sailor, a boat"
    whole = mixed.explain(text, "sea", n_features=2)
    weights = np.array(mixed.classifier_.weights_) / sum(mixed.classifier_.weights_)
    parts = [Tagger._untrained_like(member) for member in mixed.classifier_.members_]
    for part, member in zip(parts, mixed.classifier_.members_, strict=True):
        part.classifier_ = member
    found = [part.explain(text, "sea") for part in parts]
    expected: dict[tuple[int, int], float] = {}
    for weight, explanation in zip(weights, found, strict=True):
        for begin, end, amount, _ in explanation.highlights:
            expected[begin, end] = expected.get((begin, end), 0) + weight * amount
    assert {(h.begin, h.end): h.amount for h in whole.highlights} == pytest.approx(expected)
    assert whole.probability == pytest.approx(weights @ [one.probability for one in found])
    assert all(len(step.contributions) <= 2 for path in whole.paths for step in path)
    assert len(whole.paths) == 4


def test_fields(tiny_encoder: Path) -> None:
    fields = TextVectorizer(fields={"title": 1.0, "text": 1.0})
    texts = [{"title": text[:9], "text": text} for text in TEXTS]
    tagger = Tagger(EncoderTreeClassifier(**QUICK), fields, encoder=tiny_encoder, mix="linear").fit(
        texts, LABELS
    )
    assert tagger.model_.text_fields == ("title", "text")
    text = {"title": "A boat", "text": "the cat and the boat"}
    explanation = tagger.explain(text, "sea")
    parts = {(h.field, text[h.field or ""][h.begin : h.end]) for h in explanation.highlights}
    words = {(field, word) for field, value in text.items() for word in value.split()}
    assert parts == words


def test_fit_for_and_checkpoints(tiny_encoder: Path, tmp_path: Path) -> None:
    quick = EncoderTreeClassifier(epochs=1, random_state=0, checkpoint=tmp_path / "checkpoint")
    tagger = Tagger(quick, encoder=tiny_encoder, mix="linear", refit=True)
    assert tagger.fit_for("micro_f1", TEXTS, LABELS).decision_.metric == "micro_f1"
    found = {path.name for path in (tmp_path / "checkpoint").iterdir()}
    assert found == {"tree-0", "all-texts", "some-texts"}


def test_names_of_labels_are_learned(tiny_encoder: Path) -> None:
    classifier = EncoderTreeClassifier(tiny_encoder, epochs=1, name_vectors=True, random_state=0)
    named, plain = (
        Tagger(classifier).fit(TEXTS, LABELS, label_names=names) for names in ({"sea": "boat harbour"}, None)
    )
    assert dict(named.label_names_ or {}) == {"sea": "boat harbour"}
    assert named.tag(NEW_TEXTS[0]) != plain.tag(NEW_TEXTS[0])


def test_loading(mixed: Tagger, deep: Tagger, tmp_path: Path) -> None:
    for name, tagger in {"mixed": mixed, "deep": deep}.items():
        tagger.save(tmp_path / name)
        opened = Tagger.load(tmp_path / name)
        assert opened.predict(NEW_TEXTS) == tagger.predict(NEW_TEXTS)
        assert opened.explain(NEW_TEXTS[0], "sea").label == "sea"
        assert opened.vectorizer is None


class Recorder(EncoderTreeClassifier):
    """An encoder that notes what it was trained on and asked for."""

    seen: ClassVar[list[tuple[list[str], list[str]]]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **given: Any) -> Any:
        self._texts = list(X)
        return super().fit(X, y, sample_weight, **given)

    def transform(self, X: Any) -> Any:
        self.seen.append((self._texts, list(X)))
        return super().transform(X)


def test_vectors_out_of_fold(tiny_encoder: Path) -> None:
    Recorder.seen.clear()
    texts = [f"{text} {number}" for number, text in enumerate(TEXTS)]
    recorder = Recorder(tiny_encoder, epochs=1, random_state=0)
    vectors = out_of_fold_vectors(recorder, texts, LABELS, n_folds=4)
    assert vectors.shape == (160, 32)
    assert len(Recorder.seen) == 4
    assert sorted(text for _, asked in Recorder.seen for text in asked) == sorted(texts)
    for trained, asked in Recorder.seen:
        assert (len(trained), len(asked)) == (120, 40)
        assert not set(trained) & set(asked)
    whole = EncoderTreeClassifier(tiny_encoder, epochs=1, random_state=0).fit(texts, LABELS)
    assert np.abs(vectors - whole.transform(texts)).max(axis=1).min() > 1e-4
    again = out_of_fold_vectors(whole, texts, LABELS, n_folds=4)
    np.testing.assert_array_equal(again, vectors)


def test_folds_are_trained_with_weights_and_names(tiny_encoder: Path) -> None:
    def vectors(classifier: EncoderTreeClassifier, **given: Any) -> Any:
        return out_of_fold_vectors(classifier, TEXTS[:60], LABELS[:60], n_folds=2, **given)

    plain = EncoderTreeClassifier(tiny_encoder, epochs=1, batch_size=8, random_state=0)
    weight = np.linspace(0.1, 2, 60)
    assert np.abs(vectors(plain) - vectors(plain, sample_weight=weight)).max() > 1e-5
    np.testing.assert_array_equal(vectors(plain), vectors(plain, sample_weight=np.ones(60)))
    named, names = clone(plain).set_params(name_vectors=True), {"sea": "boat harbour"}
    assert np.abs(vectors(named) - vectors(named, label_names=names)).max() > 1e-5
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(60,\)"):
        vectors(plain, sample_weight=weight[:9])


def test_early_fusion(tiny_encoder: Path) -> None:
    classifier, words = EncoderTreeClassifier(tiny_encoder, **QUICK), TextVectorizer()
    vectors = out_of_fold_vectors(classifier, TEXTS, LABELS)
    tree = LabelTreeClassifier(random_state=0).fit((words.fit_transform(TEXTS), vectors), LABELS)
    classifier.fit(TEXTS, LABELS)
    top = tree.predict_topk((words.transform(NEW_TEXTS), classifier.transform(NEW_TEXTS)), 1)
    right = [label in labels for label, labels in zip(top.labels[:, 0], NEW_LABELS, strict=True)]
    assert np.mean(right) > 0.9


@pytest.mark.parametrize(
    ("n_folds", "message"), [(1, "must be an integer of at least 2"), (161, "more than there are texts")]
)
def test_wrong_folds(n_folds: int, message: str, tiny_encoder: Path) -> None:
    with pytest.raises(ValueError, match=message):
        out_of_fold_vectors(EncoderTreeClassifier(tiny_encoder), TEXTS, LABELS, n_folds=n_folds)


@pytest.mark.parametrize(
    ("name", "message"),
    [("no/such/directory", "does not exist"), ("{tmp}", "has no config.json"), ("{tmp}/file", "is a file")],
)
def test_the_place_of_an_encoder_is_checked_first(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=message):
        Tagger(encoder=name.format(tmp=tmp_path)).fit(TEXTS, LABELS)


def test_attention_is_explained() -> None:
    network = AttentionXMLClassifier(
        epochs=2, dimension=8, hidden=4, shared=4, batch_size=16, random_state=0, average=0.0
    )
    tagger = Tagger(network).fit(TEXTS, LABELS)
    explanation = tagger.explain("A boat, two boats", "sea")
    assert [(h.begin, h.end) for h in explanation.highlights] == [(0, 1), (2, 6), (8, 11), (12, 17)]
