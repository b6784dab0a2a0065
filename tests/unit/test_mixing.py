"""Several models that answer as one."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.small_models import NAMES as UNSORTED
from tests.small_models import small_data

import labeltree
from labeltree import (
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    MixedModel,
    ModelFileError,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    PfastreXMLClassifier,
    mix,
)
from labeltree.metrics import precision_at_k
from labeltree.model_file import load, read_info
from labeltree.report import measure_report, report_page
from labeltree.text import Tagger, TextVectorizer

NAMES = sorted(UNSORTED)  # as `classes_` has them
SHAPE = {"arity": 2, "max_leaves": 3, "frequent_share": 0.0, "prune": 0.01, "random_state": 0}


def members() -> list:
    """One model of each kind that can be mixed, over the same labels."""
    X, y = small_data()
    tree = LabelTreeClassifier(**SHAPE).fit(X, y)
    calibrated = LabelTreeClassifier(**{**SHAPE, "random_state": 1}, n_trees=2).fit(X, y).calibrate(X, y)
    return [
        tree,
        calibrated,
        HierarchicalSoftmaxClassifier(arity=2, random_state=0).fit(X, y),
        OneVsRestClassifier(random_state=0).fit(X, y),
        FastXMLClassifier(n_trees=5, random_state=0).fit(X, y),
        OnlineLabelTreeClassifier(random_state=0).fit(X, y).freeze(),
        LabelTreeClassifier(node_estimator=LogisticRegression(), random_state=0).fit(X, y),
    ]


def table(model, X) -> np.ndarray:
    """The probabilities of all pairs, by walking paths: rows by labels in the order of NAMES."""
    n = X.shape[0]
    rows = np.repeat(np.arange(n), len(NAMES))
    return model.predict_pairs(X, rows, NAMES * n).reshape(n, len(NAMES)).astype(np.float64)


@pytest.fixture(scope="module")
def mixed() -> MixedModel:
    models = members()
    return mix(models, weights=[1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25])


@pytest.fixture(scope="module")
def truth(mixed) -> np.ndarray:
    X, _ = small_data()
    tables = [table(model, X) for model in mixed.members_]
    return np.average(tables, axis=0, weights=mixed.weights_)


def test_pairs_are_the_weighted_mean_of_all_members(mixed, truth):
    np.testing.assert_allclose(table(mixed, small_data()[0]), truth, rtol=1e-6, atol=1e-9)


def test_all_probabilities_are_exact(mixed, truth):
    X, _ = small_data()
    found = mixed.predict_proba(X, top_k=None).toarray()
    np.testing.assert_allclose(found, truth, rtol=1e-6, atol=1e-9)
    above = mixed.predict_proba(X, top_k=None, threshold=0.2).toarray()
    np.testing.assert_allclose(above, np.where(truth >= 0.2, truth, 0), rtol=1e-6, atol=1e-9)
    bounds = np.linspace(0.05, 0.5, len(NAMES), dtype=np.float32)
    per_label = mixed.predict_proba(X, top_k=None, threshold=bounds).toarray()
    np.testing.assert_allclose(per_label, np.where(truth >= bounds, truth, 0), rtol=1e-6, atol=1e-9)


def test_labels_come_one_by_one_in_the_exact_order(mixed, truth):
    X, _ = small_data()
    for row in range(5):
        found = list(mixed.iter_labels(X[row]))
        probabilities = [probability for _, probability in found]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sorted(label for label, _ in found) == sorted(NAMES)
        np.testing.assert_allclose(
            probabilities, [truth[row, NAMES.index(label)] for label, _ in found], rtol=1e-6, atol=1e-9
        )


def test_the_best_labels_are_the_best_on_average(mixed, truth):
    X, _ = small_data()
    top = mixed.predict_topk(X, k=len(NAMES))
    expected = -np.sort(-truth, axis=1)
    np.testing.assert_allclose(top.probabilities, expected, rtol=1e-6, atol=1e-9)
    masked = mixed.predict_topk(X, k=3, deny=NAMES[:6])
    assert not set(masked.labels.ravel()) & set(NAMES[:6])
    weighted = mixed.predict_topk(X, k=1, label_weight={NAMES[3]: 1e6})
    assert set(weighted.labels.ravel()) == {NAMES[3]}


@pytest.mark.parametrize("search", ["exact", "beam"])
def test_two_trees_mixed_are_one_model_of_two_trees_bit_for_bit(search):
    X, y = small_data()
    both = LabelTreeClassifier(**SHAPE, n_trees=2, search=search, beam=3, tree_weight=[1.0, 0.3]).fit(X, y)
    alone = []
    for number in (0, 1):
        one = LabelTreeClassifier(**SHAPE, search=search, beam=3).fit(X, y)
        forest = type(both.model_.forest)([both.weights_[number]], X.shape[1], "exp4")
        alone.append(one.adopt(type(one.model_)(**{**vars(one.model_), "forest": forest})))
    mixed = mix(alone, weights=[1.0, 0.3])
    for k in (1, 3, 12):
        for wanted in ({}, {"threshold": 0.1}, {"allow": NAMES[2:9]}, {"label_weight": "propensity"}):
            expected, found = both.predict_topk(X, k, **wanted), mixed.predict_topk(X, k, **wanted)
            np.testing.assert_array_equal(found.labels, expected.labels)
            np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    for threshold in (0.0, 0.05, 0.3):
        expected, found = (
            m.predict_proba(X, top_k=None, threshold=threshold).toarray() for m in (both, mixed)
        )
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(table(mixed, X), table(both, X))
    assert list(islice(mixed.iter_labels(X[0]), 6)) == list(islice(both.iter_labels(X[0]), 6))


def test_members_may_have_their_labels_in_another_order():
    X, y = small_data()
    columns = np.array([[float(name in row) for name in NAMES] for row in y])
    as_lists = LabelTreeClassifier(**SHAPE).fit(X, y)
    order = np.random.default_rng(0).permutation(len(NAMES))
    import pandas as pd

    shuffled = LabelTreeClassifier(**SHAPE).fit(
        X, pd.DataFrame(columns[:, order], columns=[NAMES[i] for i in order])
    )
    assert as_lists.classes_.tolist() != shuffled.classes_.tolist()
    mixed = mix([as_lists, shuffled])
    expected = (table(as_lists, X) + table(shuffled, X)) / 2
    np.testing.assert_allclose(table(mixed, X), expected, rtol=1e-6)
    top = mixed.predict_topk(X, k=2)
    np.testing.assert_allclose(top.probabilities, -np.sort(-expected, axis=1)[:, :2], rtol=1e-6)
    assert mixed.classes_.tolist() == as_lists.classes_.tolist()


def test_it_has_all_questions_and_no_fit(mixed):
    X, y = small_data()
    assert not hasattr(mixed, "fit")
    assert not hasattr(mixed, "calibrate")
    assert not hasattr(mixed, "tree_")
    assert mixed.decide_for("micro_f1", X, y).decision_.metric == "micro_f1"
    assert 0 < mixed.score(X, y) <= 1
    del mixed.decision_
    assert mixed.decision_.threshold == 0.5
    assert mixed.n_features_in_ == X.shape[1]
    assert "FastXMLClassifier" in repr(mixed)
    copied = pickle.loads(pickle.dumps(mixed))
    np.testing.assert_array_equal(
        copied.predict_topk(X, 3).probabilities, mixed.predict_topk(X, 3).probabilities
    )


@pytest.mark.parametrize("search", ["exact", "beam"])
def test_evaluations_are_those_of_all_members(search):
    X, y = small_data()
    one, other = (
        LabelTreeClassifier(**{**SHAPE, "random_state": seed, "search": search, "beam": 3}).fit(X, y)
        for seed in (0, 1)
    )
    models = (one, other, mix([one, other]))
    for k in (3, len(NAMES)):
        counts = [m.predict_topk(X, k, return_evaluations=True)[2] for m in models]
        if search == "beam" or k == len(NAMES):
            np.testing.assert_array_equal(counts[0] + counts[1], counts[2])
        else:  # members are asked for more than k labels, until no other label can be among the best
            assert (counts[0] + counts[1] <= counts[2]).all()


def test_an_explanation_has_the_paths_of_all_members():
    X, _ = small_data()
    models = [members()[0], members()[3]]
    mixed = mix(models, weights=[3.0, 1.0])
    explanation = mixed.explain(X[0], NAMES[1])
    assert len(explanation.paths) == 2
    assert explanation.label == NAMES[1]
    expected = mixed.predict_pairs(X[:1], [0], [NAMES[1]])[0]
    assert explanation.probability == pytest.approx(expected, rel=1e-5)


def test_what_a_member_cannot_do_is_refused_by_its_name(mixed, tmp_path):
    X, _ = small_data()
    with pytest.raises(ValueError, match=r"model 7, a LabelTreeClassifier: explain needs linear"):
        mixed.explain(X[0], NAMES[0])
    with pytest.raises(ValueError, match=r"model 7 of the mix: .*node_estimator cannot be saved"):
        mixed.save(tmp_path / "mix")
    assert not (tmp_path / "mix").exists()


def test_members_that_cannot_be_mixed_are_refused():
    X, y = small_data()
    tree = LabelTreeClassifier(**SHAPE).fit(X, y)
    with pytest.raises(ValueError, match="two models or more, got 1"):
        mix([tree])
    with pytest.raises(ValueError, match=r"model 2, a PfastreXMLClassifier, gives scores that are no probab"):
        mix([tree, PfastreXMLClassifier(n_trees=3, random_state=0).fit(X, y)])
    with pytest.raises(ValueError, match=r"model 2, an OnlineLabelTreeClassifier, goes on learning.*freeze"):
        mix([tree, OnlineLabelTreeClassifier().fit(X, y)])
    with pytest.raises(ValueError, match=r"is a mix itself"):
        mix([tree, mix([tree, tree])])
    with pytest.raises(ValueError, match=r"model 2, a LogisticRegression, is not a model of this library"):
        mix([tree, LogisticRegression()])
    fewer = LabelTreeClassifier(**SHAPE).fit(X, [[name for name in row if name != NAMES[0]] for row in y])
    with pytest.raises(ValueError, match=rf"model 2, a LabelTreeClassifier, does not know .*{NAMES[0]}"):
        mix([tree, fewer])
    with pytest.raises(ValueError, match=rf"model 2, a LabelTreeClassifier, also knows .*{NAMES[0]}"):
        mix([fewer, tree])
    with pytest.raises(NotFittedError, match=r"model 2, a LabelTreeClassifier, is not fitted yet"):
        mix([tree, LabelTreeClassifier()])
    odd = LabelTreeClassifier(**SHAPE).fit(X, [[float("nan")] if i % 2 else [1.0] for i in range(X.shape[0])])
    with pytest.raises(ValueError, match=r"model 1, a LabelTreeClassifier, has the label nan"):
        mix([odd, odd])
    for weights in ([1.0], [0.0, 0.0], [1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0], [1e308, 1e308], 1.0):
        with pytest.raises(ValueError, match="weights must be 2 finite numbers"):
            mix([tree, tree], weights)


def test_what_becomes_of_its_members_does_not_change_it(tmp_path):
    X, y = small_data()
    tree, votes = (
        LabelTreeClassifier(**SHAPE).fit(X, y),
        FastXMLClassifier(n_trees=5, random_state=0).fit(X, y),
    )
    mixed = mix([tree, votes])
    expected = mixed.predict_topk(X, 3).probabilities

    def check() -> None:
        mixed.save(tmp_path / "mix")
        for model in (mixed, load(tmp_path / "mix"), pickle.loads(pickle.dumps(mixed)), copy.copy(mixed)):
            np.testing.assert_array_equal(model.predict_topk(X, 3).probabilities, expected)

    tree.set_params(link="exp2", search="beam", beam=1)
    mixed.members_[0].set_params(link="exp2")
    mixed.members_.append(tree)
    check()
    tree.fit(X, [["other"]] * X.shape[0])
    votes.fit(X[:, :5], y)
    check()


def test_thresholds_of_another_model_are_refused(mixed):
    X, y = small_data()
    other = mix(mixed.members_[:2]).decide_for("macro_f1", X, y)
    for n in (3, 20):
        other.decision_ = replace(other.decision_, threshold=np.full(n, 0.5, dtype=np.float32))
        with pytest.raises(ValueError, match=f"label_threshold must have one entry per label: .* got {n}"):
            other.predict(X)


def test_a_class_that_nobody_could_load_is_not_saved(tmp_path):
    class OwnClassifier(LabelTreeClassifier):
        pass

    X, y = small_data()
    own = mix([OwnClassifier(**SHAPE).fit(X, y), members()[0]])
    with pytest.raises(ValueError, match="model 1 of the mix is of the class OwnClassifier"):
        own.save(tmp_path / "mix")
    assert not (tmp_path / "mix").exists()


def test_a_damaged_member_is_a_fault_of_the_file(tmp_path):
    X, y = small_data()
    tree = LabelTreeClassifier(**SHAPE).fit(X, y)
    tree.weights_[0].arrays["index"][:] = 14  # as a damaged file would have them
    broken = mix([tree, tree])
    with pytest.raises(ModelFileError, match="model 1, a LabelTreeClassifier: block"):
        broken.explain(X[0], NAMES[0])
    with pytest.raises(ModelFileError, match="model 1 of the mix: block"):
        broken.save(tmp_path / "mix")


def test_it_is_saved_as_one_flat_directory(tmp_path):
    X, y = small_data()
    mixed = mix(members()[:6], weights=[1, 2, 3, 4, 5, 6]).decide_for("macro_f1", X, y)
    mixed.save(tmp_path / "mix")
    assert all(path.is_file() for path in (tmp_path / "mix").iterdir())
    info = read_info(tmp_path / "mix")
    assert (info.format_version, info.estimator) == (13, "MixedModel")
    assert info.n_bytes == sum(p.stat().st_size for p in (tmp_path / "mix").glob("*.safetensors"))
    for opened in (load(tmp_path / "mix", verify=True), MixedModel.load(tmp_path / "mix")):
        assert [type(m).__name__ for m in opened.members_] == [type(m).__name__ for m in mixed.members_]
        assert opened.weights_ == mixed.weights_
        assert opened.predict(X) == mixed.predict(X)
        top, expected = opened.predict_topk(X, 5), mixed.predict_topk(X, 5)
        np.testing.assert_array_equal(top.labels, expected.labels)
        np.testing.assert_array_equal(top.probabilities, expected.probabilities)
    opened.save(tmp_path / "again")
    names = sorted(path.name for path in (tmp_path / "mix").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "again").iterdir())
    for name in names:
        assert (tmp_path / "mix" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    # A smaller model in its place leaves no file of the mix behind.
    members()[0].save(tmp_path / "mix")
    assert isinstance(load(tmp_path / "mix"), LabelTreeClassifier)
    assert len(list((tmp_path / "mix").iterdir())) < len(names)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["members"].pop(), "two models or more"),
        (lambda d: d["members"].clear(), "two"),
        (lambda d: d.update(members=5), "'members' must be of type list"),
        (lambda d: d["members"].__setitem__(0, 1), "member 1 must be a JSON object"),
        (lambda d: d["members"][0].update(weight="1"), "member 1 must be a JSON object with a weight"),
        (lambda d: d["members"][0].update(weight=True), "member 1 must be a JSON object with a weight"),
        (lambda d: d["members"][0].update(weight=-1.0), "weights must be 2 finite numbers"),
        (
            lambda d: d["members"][0].update(format_version=7),
            r"format_version must be one of \(1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13\), got 7",
        ),
        (lambda d: d["members"][1].update(estimator="MixedModel"), "not a MixedModel"),
        (lambda d: d["members"][1].update(estimator="Nobody"), "Nobody"),
        (lambda d: d["members"][1].update(odd=1), "unknown field 'odd'"),
        (lambda d: d.update(odd=1), "unknown field 'odd'"),
        (lambda d: d.update(format_version=6), "version"),
        (lambda d: d["members"][0]["files"].update(labels=None), "labels"),
    ],
)
def test_a_damaged_document_is_refused(tmp_path, change, message):
    mix([members()[0], members()[3]]).save(tmp_path / "mix")
    path = tmp_path / "mix" / "model.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "mix")


def test_weights_are_chosen_by_validation_rows():
    X, y = small_data()
    good = LabelTreeClassifier(**SHAPE).fit(X, y)
    rng = np.random.default_rng(0)
    noise = LabelTreeClassifier(**SHAPE).fit(X, [y[i] for i in rng.permutation(len(y))])
    mixed = mix([noise, good])
    before = precision_at_k(y, mixed.predict_topk(X, 1).labels.tolist(), 1)
    chosen = mixed.decide_for("precision@1").weigh_for("precision@1", X, y)
    assert chosen is mixed
    assert mixed.decision_.metric == "hamming"  # its decision was for other probabilities
    after = precision_at_k(y, mixed.predict_topk(X, 1).labels.tolist(), 1)
    assert after >= before
    assert mixed.weights_[1] > mixed.weights_[0]
    assert sum(mixed.weights_) == pytest.approx(2)
    for metric in ("micro_f1", "psprecision@3", "ndcg@5"):
        assert mix([noise, good]).weigh_for(metric, X, y).weights_[1] >= 1
    with pytest.raises(ValueError, match="same number of rows"):
        mixed.weigh_for("precision@1", X[:3], y)


TEXTS = ["a boat on the sea", "boats and the sea", "a cat on a mat", "the cat sat", "a sea cat", "mats"]
TAGS = [["sea", "boat"], ["sea", "boat"], ["cat"], ["cat"], ["sea", "cat"], ["cat"]]


def test_members_with_different_features_take_texts_only(tmp_path):
    words = Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, TAGS)
    letters = Tagger(
        OneVsRestClassifier(random_state=0), TextVectorizer(analyzer="char", ngram_range=(2, 3))
    ).fit(TEXTS, TAGS)
    mixed = mix([words.classifier_, letters.classifier_])
    found = mixed.predict_topk(["the sea"], k=1)
    assert found.labels.tolist() == [["sea"]]
    expected = [
        tagger.classifier_.predict_pairs(tagger.vectorizer_.transform(["the sea"]), [0], ["sea"])[0]
        for tagger in (words, letters)
    ]
    assert found.probabilities[0, 0] == pytest.approx(np.mean(expected), rel=1e-6)
    with pytest.raises(ValueError, match=r"different features.*pass texts"):
        mixed.predict_topk(words.vectorizer_.transform(TEXTS))
    with pytest.raises(ValueError, match="got a single one"):
        mixed.predict_topk("the sea")
    mixed.save(tmp_path / "mix")
    assert load(tmp_path / "mix").predict_topk(["the sea"], k=1).labels.tolist() == [["sea"]]


def test_members_with_the_same_features_take_rows_too():
    one = Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, TAGS)
    other = Tagger(OneVsRestClassifier(random_state=0)).fit(TEXTS, TAGS)
    mixed = mix([one.classifier_, other.classifier_])
    X = one.vectorizer_.transform(["a cat"])
    np.testing.assert_array_equal(
        mixed.predict_topk(X, 3).probabilities, mixed.predict_topk(["a cat"], 3).probabilities
    )


def test_texts_are_refused_by_members_that_know_numbers_only(mixed):
    with pytest.raises(ValueError, match="model 1, a LabelTreeClassifier, was trained on numbers"):
        mixed.predict_topk(["a text"])


def test_it_is_reported(mixed):
    X, y = small_data()
    report = measure_report(mixed, X, y, k=3)
    assert report.first_tree is None
    assert report.n_trees == sum(m.model_.forest.n_trees for m in mixed.members_)
    assert "<html" in report_page(report, "a mix")


def test_it_is_public():
    assert {"mix", "MixedModel"} <= set(labeltree.__all__)
