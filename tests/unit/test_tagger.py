"""`Tagger`: the classifier and the vectoriser it is made of, together."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.labelled_texts import labelled_texts

from labeltree import (
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    ModelFileError,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    mix,
)
from labeltree.metrics import precision_at_k
from labeltree.model_file import load, read_info, save
from labeltree.text import Tag, Tagger, TextVectorizer

TEXTS, LABELS = labelled_texts(200)
NEW_TEXTS, NEW_LABELS = labelled_texts(50, seed=1)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS)


def test_it_is_its_parts_one_after_the_other(tagger: Tagger) -> None:
    vectorizer = TextVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    classifier = LabelTreeClassifier(random_state=0).fit(X, LABELS)
    expected = classifier.predict_topk(vectorizer.transform(NEW_TEXTS), 3)
    found = tagger.predict_topk(NEW_TEXTS, 3)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    assert tagger.predict(NEW_TEXTS) == classifier.predict(vectorizer.transform(NEW_TEXTS))
    assert tagger.classes_.tolist() == ["animal", "city", "food", "music", "sea"]


def test_it_learns(tagger: Tagger) -> None:
    assert precision_at_k(NEW_LABELS, tagger.predict_topk(NEW_TEXTS, 1).labels, 1) > 0.95


def test_tags(tagger: Tagger) -> None:
    tags = tagger.tag("A sailor, a boat and the tide", k=2)
    assert [type(tag) for tag in tags] == [Tag, Tag]
    assert tags[0].label == "sea"
    assert tags[0].probability > 0.9 > tags[1].probability
    assert tagger.tag(["the boat", "the cat"], k=1, threshold=0.1) == [
        tagger.tag("the boat", k=1),
        tagger.tag("the cat", k=1),
    ]
    assert tagger.tag("qwertz", threshold=0.99) == []


def test_a_text_without_a_known_word_is_answered_all_the_same(tagger: Tagger) -> None:
    assert len(tagger.tag("", k=3)) <= 3
    assert tagger.tag("qwertz", k=3) == tagger.tag("", k=3)


@pytest.mark.parametrize(
    "vectorizer",
    [
        TextVectorizer(),
        TextVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        TextVectorizer(n_features=2**12),
        TextVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
    ],
    ids=["words", "pairs", "hashed", "characters"],
)
@pytest.mark.parametrize(
    "kind", [LabelTreeClassifier, HierarchicalSoftmaxClassifier, OneVsRestClassifier, FastXMLClassifier]
)
def test_one_directory_is_the_whole_tagger(vectorizer: TextVectorizer, kind: Any, tmp_path: Path) -> None:
    tagger = Tagger(kind(random_state=0), vectorizer).fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    opened = Tagger.load(tmp_path / "tagger", verify=True)
    for one, other in zip(opened.predict_topk(NEW_TEXTS), tagger.predict_topk(NEW_TEXTS), strict=True):
        np.testing.assert_array_equal(one, other)
    assert opened.vectorizer_.get_params() == vectorizer.get_params()
    # What opens models opens it too, and what is saved again is whole.
    load(tmp_path / "tagger").save(tmp_path / "again")
    assert Tagger.load(tmp_path / "again").tag(TEXTS[0]) == tagger.tag(TEXTS[0])
    assert read_info(tmp_path / "tagger").format_version == (5 if kind is FastXMLClassifier else 13)


def test_copies(tagger: Tagger) -> None:
    assert pickle.loads(pickle.dumps(tagger)).tag(TEXTS[0]) == tagger.tag(TEXTS[0])
    with pytest.raises(NotFittedError):
        clone(tagger).tag("a boat")


def test_decisions_are_kept(tmp_path: Path) -> None:
    tagger = Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS)
    tagger.decide_for("micro_f1", NEW_TEXTS, NEW_LABELS).save(tmp_path / "tagger")
    opened = Tagger.load(tmp_path / "tagger")
    assert opened.classifier_.decision_.metric == "micro_f1"
    assert opened.predict(NEW_TEXTS) == tagger.predict(NEW_TEXTS)
    assert tagger.decide_for("precision@1").classifier_.decision_.metric == "precision@1"


def test_it_has_everything_that_its_classifier_has(tagger: Tagger) -> None:
    parameters = tagger.classifier.get_params()
    # Steps of training, which users do not call.
    internal = {
        "make_plan",
        "plan_of",
        "task_memory",
        "link_of",
        "trained_link",
        "kept_parameters",
        "seeds",
        "weight_of_trees",
    }
    presets = {"parabel", "bonsai", "napkinxc", "xmlc_plt"}
    public = {name for name in dir(tagger.classifier_) if not name.startswith("_")}
    missing = {name for name in public if not hasattr(tagger, name)}
    # It is not calibrated, words have no names of columns, and a tree is built from X.
    absent = {"calibration_", "feature_names_in_", "build_tree"}
    assert missing - parameters.keys() - internal - presets - absent == set()


def test_questions_of_its_classifier(tagger: Tagger) -> None:
    X = tagger.vectorizer_.transform(NEW_TEXTS)
    classifier = tagger.classifier_
    assert tagger.score(NEW_TEXTS, NEW_LABELS) == classifier.score(X, NEW_LABELS) > 0.9
    assert tagger.n_samples_fit_ == len(TEXTS)
    assert tagger.label_counts_.tolist() == classifier.label_counts_.tolist()
    assert (tagger.predict_proba(NEW_TEXTS) != classifier.predict_proba(X)).nnz == 0
    rows, labels = [3, 0], ["sea", "animal"]
    np.testing.assert_array_equal(
        tagger.predict_pairs(NEW_TEXTS, rows, labels), classifier.predict_pairs(X, rows, labels)
    )
    assert list(tagger.iter_labels(NEW_TEXTS[0])) == list(classifier.iter_labels(X[0]))
    assert tagger.fit_seconds_.keys() == {"clustering", "training"}
    assert tagger.training_report_ == classifier.training_report_
    assert (tagger.tree_, tagger.loss_, tagger.C_) == (classifier.tree_, "squared_hinge", 1.0)


def test_a_classifier_of_texts_reads_texts(tagger: Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "tagger")
    opened = LabelTreeClassifier.load(tmp_path / "tagger")
    assert opened.predict(NEW_TEXTS) == tagger.predict(NEW_TEXTS)
    assert opened.predict(opened.vectorizer_.transform(NEW_TEXTS)) == tagger.predict(NEW_TEXTS)


def test_calibration_more_trees_and_decisions(tmp_path: Path) -> None:
    tagger = Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS)
    assert len(tagger.add_trees(TEXTS, LABELS, 2).trees_) == 3
    assert tagger.calibrate(NEW_TEXTS, NEW_LABELS, method="platt").calibration_.method == "platt"
    tagger.save(tmp_path / "tagger", weights="int8")
    assert Tagger.load(tmp_path / "tagger").calibration_.method == "platt"
    del tagger.calibration_
    assert not hasattr(tagger, "calibration_")
    tagger.fit_for("micro_f1", TEXTS, LABELS)
    assert tagger.decision_.metric == "micro_f1"
    del tagger.decision_
    assert tagger.decision_.threshold == 0.5
    with pytest.raises(AttributeError, match="a FastXMLClassifier has no method 'calibrate'"):
        Tagger(FastXMLClassifier(n_trees=2)).fit(TEXTS, LABELS).calibrate(NEW_TEXTS, NEW_LABELS)


def test_parameters_of_both_parts() -> None:
    tagger = Tagger().set_params(classifier__C=3.0, vectorizer__min_df=2)
    assert (tagger.classifier.C, tagger.vectorizer.min_df) == (3.0, 2)
    assert clone(tagger).get_params()["classifier__C"] == 3.0


def test_grid_search_and_cross_validation() -> None:
    search = GridSearchCV(
        Tagger(LabelTreeClassifier(random_state=0)),
        {"classifier__C": [1e-6, 1.0], "vectorizer__min_df": [1, 2]},
        cv=3,
    ).fit(TEXTS, LABELS)
    assert search.best_params_["classifier__C"] == 1.0
    assert search.best_estimator_.tag("a boat", k=1)[0].label == "sea"
    assert cross_val_score(Tagger(), TEXTS, LABELS, cv=3).mean() > 0.9


def test_mixes_of_taggers(tagger: Tagger, tmp_path: Path) -> None:
    other = Tagger(OneVsRestClassifier(random_state=0)).fit(TEXTS, LABELS)
    mixed = mix([tagger, other])
    mixed.save(tmp_path / "mix")
    assert load(tmp_path / "mix").predict(NEW_TEXTS) == mixed.predict(NEW_TEXTS)
    save(tagger, tmp_path / "tagger")
    assert Tagger.load(tmp_path / "tagger").tag(TEXTS[0]) == tagger.tag(TEXTS[0])


@pytest.mark.parametrize(
    "form", ["pandas", "polars", "arrow", "chunks of arrow", "array", "objects", "tuple"]
)
def test_columns_of_texts_and_labels(tagger: Tagger, form: str) -> None:
    if form == "polars":
        pytest.importorskip("polars")
    if "arrow" in form:
        pytest.importorskip("pyarrow")

    def column(values: Any) -> Any:
        if form == "pandas":
            return pd.Series(values)
        if form == "polars":
            import polars

            return polars.Series(values)
        if "arrow" in form:
            import pyarrow

            array = pyarrow.array(values)
            return array if form == "arrow" else pyarrow.chunked_array([array[:50], array[50:]])
        if form == "tuple":
            return tuple(values)
        lists = isinstance(values[0], list)
        return np.array(values, dtype=object if lists or form == "objects" else str)

    texts, labels = column(TEXTS), column(LABELS)
    found = Tagger(LabelTreeClassifier(random_state=0)).fit(texts, labels)
    assert found.classes_.tolist() == tagger.classes_.tolist()
    np.testing.assert_array_equal(
        found.predict_topk(texts).probabilities, tagger.predict_topk(TEXTS).probabilities
    )
    assert found.score(texts, labels) == tagger.score(TEXTS, LABELS)
    expected = clone(found).fit_for("micro_f1", TEXTS, LABELS).decision_.threshold
    assert found.fit_for("micro_f1", texts, labels).decision_.threshold == expected


def test_no_texts_have_no_tags(tagger: Tagger) -> None:
    assert tagger.tag([]) == tagger.predict([]) == []
    assert tagger.predict_topk([], k=2).labels.shape == (0, 2)
    assert tagger.predict_proba([]).shape == (0, 5)
    with pytest.raises(ValueError, match="no texts to learn from"):
        Tagger().fit([], [])
    with pytest.raises(ValueError, match="at least one row"):
        tagger.score([], [])


def test_explanations_show_words_and_where_they_are(tagger: Tagger) -> None:
    text = "Two old boats? No: a BOAT, an anchor and a cat."
    explanation = tagger.explain(text, "sea", n_features=3)
    words = {text[h.begin : h.end]: h.amount for h in explanation.highlights}
    assert {"BOAT", "anchor"} <= words.keys()
    assert words["BOAT"] > 0.3
    assert words.get("cat", 0) <= 0
    assert all(len(step.contributions) <= 3 for path in explanation.paths for step in path)
    features = {c.feature for path in explanation.paths for step in path for c in step.contributions}
    assert features <= set(words)
    X = tagger.vectorizer_.transform([text])
    assert explanation.probability == pytest.approx(tagger.classifier_.explain(X, "sea").probability)
    # The amounts are those of all nodes together.
    (path,) = tagger.classifier_.explain(X, "sea", n_features=1000).paths
    names = tagger.vectorizer_.get_feature_names_out()
    total = sum(c.amount for step in path for c in step.contributions if names[c.feature] == "boat")
    assert words["BOAT"] == pytest.approx(total)


def test_hashed_words_are_named_by_the_text() -> None:
    tagger = Tagger(LabelTreeClassifier(random_state=0), TextVectorizer(n_features=2**14)).fit(TEXTS, LABELS)
    explanation = tagger.explain("the sailor", "sea")
    assert {c.feature for path in explanation.paths for s in path for c in s.contributions} <= {
        "the",
        "sailor",
    }


# -- errors ----------------------------------------------------------------------------------------------------------


def test_wrong_questions(tagger: Tagger) -> None:
    with pytest.raises(ValueError, match="put it into a list"):
        tagger.predict("a boat")  # type: ignore[arg-type]
    for question in (tagger.tag, tagger.predict, tagger.vectorizer_.transform):
        with pytest.raises(ValueError, match=r"texts must be a sequence of texts, .* got None"):
            question(None)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="one column of a frame, got DataFrame"):
            question(pd.DataFrame({"title": TEXTS}))
        with pytest.raises(ValueError, match="text 1: expected a string, got NoneType"):
            question(["a boat", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="explain one at a time"):
        tagger.explain(["a boat"], "sea")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'ocean' is not a label"):
        tagger.explain("a boat", "ocean")
    with pytest.raises(ValueError, match=r"text 1|row 1"):
        tagger.tag(["a boat", 7])  # type: ignore[list-item]
    with pytest.raises(NotFittedError):
        Tagger().tag("a boat")


def test_other_classifiers_are_refused() -> None:
    from sklearn.linear_model import LogisticRegression

    for classifier in (LogisticRegression(), OnlineLabelTreeClassifier()):
        with pytest.raises(ValueError, match="classifier must be one of this library's"):
            Tagger(classifier).fit(TEXTS, LABELS)


def test_other_vectorizers_are_refused_before_training() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    with pytest.raises(ValueError, match=r"vectorizer must be a labeltree\.text\.TextVectorizer"):
        Tagger(vectorizer=TfidfVectorizer()).fit(TEXTS, LABELS)  # type: ignore[arg-type]


def test_a_failed_fit_leaves_an_earlier_tagger_as_it_was() -> None:
    tagger = Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS)
    before = tagger.tag("a boat")
    with pytest.raises(ValueError, match="same number of rows"):
        tagger.fit(TEXTS, LABELS[:-1])
    assert tagger.tag("a boat") == before


def test_models_of_numbers_are_no_taggers(tmp_path: Path) -> None:
    LabelTreeClassifier().fit(np.eye(2), ["a", "b"]).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="trained on numbers, not on texts"):
        Tagger.load(tmp_path / "model")


def test_training_a_taggers_classifier_on_numbers_forgets_the_texts(tagger: Tagger) -> None:
    classifier = pickle.loads(pickle.dumps(tagger.classifier_)).fit(np.eye(3), ["a", "b", "a"])
    assert not hasattr(classifier, "vectorizer_")


@pytest.mark.parametrize("change", ["settings", "missing", "other features", "no text"])
def test_hostile_files(tagger: Tagger, tmp_path: Path, change: str) -> None:
    path = tmp_path / "tagger"
    tagger.save(path)
    document = json.loads((path / "model.json").read_text())
    if change == "settings":
        document["text"]["settings"] = {"analyzer": "evil"}
    elif change == "missing":
        (path / document["text"]["file"]["name"]).unlink()
    elif change == "other features":
        Tagger().fit(["one two three"] * 2, [["a"], ["b"]]).save(tmp_path / "other")
        stored = json.loads((tmp_path / "other" / "model.json").read_text())["text"]
        (path / stored["file"]["name"]).write_bytes(
            (tmp_path / "other" / stored["file"]["name"]).read_bytes()
        )
        document["text"] = stored
    else:
        del document["text"]
    (path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError):
        Tagger.load(path)


def test_a_single_mapping_is_refused() -> None:
    tagger = Tagger(vectorizer=TextVectorizer(fields={"title": 1.0}))
    tagger.fit([{"title": "a1"}, {"title": "b2"}], ["a", "b"])
    with pytest.raises(ValueError, match="got a single one: put it into a list"):
        tagger.predict({"title": "a1"})  # type: ignore[arg-type]
