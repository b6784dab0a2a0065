"""`decide_for` and `fit_for`: what `predict` gives then, and for how long."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from tests.noisy_models import MODELS, TRAINED, VALID, as_lists, batch_model, noisy_data, online_model

from labeltree import OnlineLabelTreeClassifier
from labeltree.decisions import OFO, exact_threshold, ofo_threshold
from labeltree.decisions.decision import Decision
from labeltree.metrics import AM, CutOffMetric, FBeta, Hamming, LinearFractional, get_metric


def above(model: Any, X: Any, threshold: Any) -> NDArray[Any]:
    return (model.predict_proba(X, top_k=None, threshold=threshold).toarray() > 0).astype(int)


def test_at_first_labels_of_probability_one_half_or_more_are_predicted() -> None:
    model = batch_model().fit(*TRAINED)
    assert (model.decision_.metric, model.decision_.threshold) == ("hamming", 0.5)
    np.testing.assert_array_equal(model.predict(VALID[0]).toarray(), above(model, VALID[0], 0.5))


@pytest.mark.parametrize("make", MODELS)
def test_rare_labels_count_more_for_propensity_scored_metrics(make: Any, tmp_path: Any) -> None:
    model = make().fit(*TRAINED).decide_for("psp@2")
    top = model.predict_topk(VALID[0], k=2, label_weight="propensity").labels
    expected = np.zeros((VALID[0].shape[0], len(model.classes_)), dtype=int)
    np.put_along_axis(expected, top, 1, axis=1)
    np.testing.assert_array_equal(model.predict(VALID[0]).toarray(), expected)
    assert not np.array_equal(expected, model.decide_for("precision@2").predict(VALID[0]).toarray())
    model.decide_for("psndcg@2").save(tmp_path / "model")
    np.testing.assert_array_equal(type(model).load(tmp_path / "model").predict(VALID[0]).toarray(), expected)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("name", ["micro_f1", "macro_f1", "micro_f2", "macro_jaccard", "micro_jaccard"])
@pytest.mark.parametrize("method", ["auto", "ofo"])
def test_predict_gives_what_the_thresholds_say(make: Any, name: str, method: str) -> None:
    model = make().fit(*TRAINED)
    before = model.predict_proba(VALID[0], top_k=None, threshold=0.2)
    topk = model.predict_topk(VALID[0], k=3)
    metric, by_halves = get_metric(name), model.predict(VALID[0])
    assert model.decide_for(name, *VALID, method=method) is model

    tune = ofo_threshold if method == "ofo" else exact_threshold
    scores = model.predict_proba(VALID[0], top_k=None, threshold=0.01)
    expected = tune(metric, VALID[1], scores)
    if method == "ofo":
        np.testing.assert_allclose(model.decision_.threshold, expected)
    found = model.predict(VALID[0])
    np.testing.assert_array_equal(found.toarray(), above(model, VALID[0], model.decision_.threshold))
    assert metric(VALID[1], found) == pytest.approx(model.decision_.value)
    assert metric(VALID[1], found) > metric(VALID[1], by_halves)
    assert model.decision_.is_per_label == name.startswith("macro")
    assert (model.decision_.metric, model.decision_.method) == (name, "exact" if method == "auto" else "ofo")
    # What is asked for explicitly is not touched.
    np.testing.assert_array_equal(
        model.predict_proba(VALID[0], top_k=None, threshold=0.2).toarray(), before.toarray()
    )
    np.testing.assert_array_equal(model.predict_topk(VALID[0], k=3).labels, topk.labels)


@pytest.mark.parametrize("make", MODELS)
def test_exact_thresholds_are_the_best_there_are(make: Any) -> None:
    model = make().fit(*TRAINED).decide_for("micro_f1", *VALID)
    probabilities = model.predict_proba(VALID[0], top_k=None).toarray()
    values = [FBeta()(VALID[1], (probabilities >= t).astype(int)) for t in np.linspace(0.01, 0.99, 99)]
    assert FBeta()(VALID[1], model.predict(VALID[0])) >= max(values)


@pytest.mark.parametrize("make", MODELS)
def test_metrics_at_k_are_decided_by_the_k_most_probable_labels(make: Any) -> None:
    model = make().fit(*TRAINED).decide_for("precision@3")
    found = model.predict(VALID[0])
    assert (found.sum(axis=1) == 3).all()
    labels = model.predict_topk(VALID[0], k=3).labels
    np.testing.assert_array_equal(np.sort(found.indices.reshape(-1, 3)), np.sort(labels))
    assert (model.decision_.k, model.decision_.threshold) == (3, None)


def test_fixed_thresholds_need_no_validation_rows() -> None:
    model = batch_model().fit(*TRAINED)
    prior = model.label_counts_ / TRAINED[0].shape[0]
    assert model.decide_for(Hamming(false_negative_cost=4.0)).decision_.threshold == pytest.approx(0.2)
    assert model.decide_for("micro_am").decision_.threshold == pytest.approx(prior.mean())
    prior = np.maximum(prior, 1 / TRAINED[0].shape[0])
    np.testing.assert_allclose(model.decide_for("macro_am").decision_.threshold, prior, rtol=1e-6)
    found = model.predict(VALID[0]).toarray()
    np.testing.assert_array_equal(found, above(model, VALID[0], prior.astype(np.float32)))
    assert AM("macro")(VALID[1], found) > AM("macro")(VALID[1], above(model, VALID[0], 0.5)) + 0.05


def test_a_label_that_no_training_row_has_is_not_predicted_for_all() -> None:
    X, y = TRAINED
    y = sp.hstack([y, sp.csr_matrix((y.shape[0], 1), dtype=y.dtype)], format="csr")
    model = batch_model().fit(X, y).decide_for("macro_am")
    assert model.decision_.threshold[-1] == pytest.approx(1 / X.shape[0])
    assert model.predict(VALID[0])[:, -1].sum() == 0


def test_fixed_thresholds_can_be_tuned_too() -> None:
    model = batch_model().fit(*TRAINED).decide_for("hamming", *VALID, method="exact")
    by_halves = Hamming()(VALID[1], above(model, VALID[0], 0.5))
    assert Hamming()(VALID[1], model.predict(VALID[0])) >= by_halves
    assert model.decision_.value == pytest.approx(Hamming()(VALID[1], model.predict(VALID[0])))


def test_a_metric_of_ones_own() -> None:
    metric = LinearFractional("micro", 1, -1, -4, 4, 1, 1)
    model = batch_model().fit(*TRAINED).decide_for(metric, *VALID)
    assert metric(VALID[1], model.predict(VALID[0])) == pytest.approx(model.decision_.value)
    assert model.decision_.threshold < 0.5


def test_ofo_starts_as_it_is_told() -> None:
    model = batch_model().fit(*TRAINED)
    stubborn = model.decide_for("macro_f1", *VALID, method=OFO(a=1e9, b=4e9)).decision_.threshold
    np.testing.assert_allclose(stubborn, 0.25, rtol=1e-3)


@pytest.mark.parametrize("method", ["exact", OFO(a=0.1, b=0.2)])
def test_no_tuned_threshold_is_below_the_floor(method: Any) -> None:
    model = batch_model().fit(*TRAINED).decide_for("macro_f1", *VALID, method=method, floor=0.3)
    assert model.decision_.threshold.min() >= np.float32(0.3)


@pytest.mark.parametrize("make", MODELS)
def test_labels_may_be_of_any_kind_and_unknown_ones_are_missed(make: Any) -> None:
    y_train, y_valid = as_lists(TRAINED[1]), as_lists(VALID[1])
    model = make().fit(TRAINED[0], y_train).decide_for("micro_f1", VALID[0], y_valid)
    assert FBeta()(y_valid, model.predict(VALID[0])) == pytest.approx(model.decision_.value)
    threshold = model.decision_.threshold
    with_news = [[*row, "news", "more news"] for row in y_valid]
    model.decide_for("micro_f1", VALID[0], with_news)
    # What is missed whatever is decided makes the best value smaller, and so the threshold.
    assert model.decision_.threshold < threshold
    positives = sum(map(len, with_news))
    found = model.predict(VALID[0])
    hits = sum(len({*row} & {*true}) for row, true in zip(found, with_news, strict=True))
    assert model.decision_.value == pytest.approx(2 * hits / (positives + sum(map(len, found))))


def test_dense_matrices_and_frames_are_read() -> None:
    X, y = TRAINED[0].toarray(), TRAINED[1].toarray()
    model = batch_model().fit(X, y).decide_for("micro_f1", VALID[0].toarray(), VALID[1].toarray())
    frames = batch_model().fit(pd.DataFrame(X), pd.DataFrame(y))
    frames.decide_for("micro_f1", pd.DataFrame(VALID[0].toarray()), pd.DataFrame(VALID[1].toarray()))
    assert frames.decision_.threshold == model.decision_.threshold
    np.testing.assert_array_equal(model.predict(X), above_dense(model, X))


def above_dense(model: Any, X: Any) -> NDArray[Any]:
    return (model.predict_proba(X).toarray() >= model.decision_.threshold).astype(int)


def test_allowed_and_denied_labels_are_respected() -> None:
    model = batch_model().fit(*TRAINED).decide_for("macro_f1", *VALID)
    everything = model.predict(VALID[0]).toarray()
    everything[:, [0, 3]] = 0
    np.testing.assert_array_equal(model.predict(VALID[0], deny=[0, 3]).toarray(), everything)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("name", ["micro_f1", "macro_f1", "recall@2"])
def test_a_decision_survives_pickling_but_not_training_again(make: Any, name: str) -> None:
    model = make().fit(*TRAINED).decide_for(name, *VALID)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(VALID[0]).toarray(), model.predict(VALID[0]).toarray())
    assert copied.decision_.describe() == model.decision_.describe()
    assert clone(model).fit(*TRAINED).decision_.metric == "hamming"
    assert model.fit(*TRAINED).decision_.metric == "hamming"


# -- online models -----------------------------------------------------------------------------------------------------


def test_thresholds_of_an_online_model_stay_with_their_labels() -> None:
    y = as_lists(TRAINED[1])
    model = online_model().fit(TRAINED[0], y).decide_for("macro_f1", VALID[0], as_lists(VALID[1]))
    before = dict(zip(model.classes_, model.decision_.threshold, strict=True))
    model.partial_fit(TRAINED[0][:2], [["a new one"], ["label 0", "label 10a"]])
    after = dict(zip(model.classes_, model.decision_.threshold, strict=True))
    assert {label: after.pop(label) for label in before} == before
    assert after == dict.fromkeys(["a new one", "label 10a"], np.float32(np.median([*before.values()])))
    model.forget(labels=["label 0", "a new one"])
    after = dict(zip(model.classes_, model.decision_.threshold, strict=True))
    assert after.keys() == {*before, "label 10a"} - {"label 0"}
    assert all(after[label] == before[label] for label in after.keys() & before.keys())


def test_freezing_and_thawing_keep_the_decision() -> None:
    model = online_model().fit(*TRAINED).decide_for("macro_f1", *VALID)
    frozen = model.freeze(prune=0)
    np.testing.assert_array_equal(frozen.decision_.threshold, model.decision_.threshold)
    np.testing.assert_array_equal(frozen.predict(VALID[0]).toarray(), model.predict(VALID[0]).toarray())
    thawed = OnlineLabelTreeClassifier.from_batch(frozen)
    np.testing.assert_array_equal(thawed.predict(VALID[0]).toarray(), model.predict(VALID[0]).toarray())


# -- fit_for -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["micro_f1", "macro_f1"])
def test_fit_for_trains_on_all_rows_and_decides_by_rows_set_aside(name: str) -> None:
    X, y = noisy_data(400)
    model = batch_model().fit_for(name, X, y)
    plain = batch_model().fit(X, y)
    np.testing.assert_array_equal(
        model.predict_topk(X, 4).probabilities, plain.predict_topk(X, 4).probabilities
    )
    assert model.n_samples_fit_ == 400
    metric = get_metric(name)
    assert metric(VALID[1], model.predict(VALID[0])) > metric(VALID[1], plain.predict(VALID[0])) + 0.02
    again = batch_model(n_jobs=2).fit_for(name, X, y)
    np.testing.assert_array_equal(again.decision_.threshold, model.decision_.threshold)


def test_fit_for_is_what_one_does_by_hand() -> None:
    X, y = noisy_data(100)
    model = batch_model(random_state=7).fit_for("macro_f1", X, y, holdout=0.4, method="ofo", floor=0.05)
    shuffled = np.random.RandomState(7).permutation(100)
    aside, trained = np.sort(shuffled[:40]), np.sort(shuffled[40:])
    first = batch_model(random_state=7).fit(X[trained], y[trained])
    first.decide_for("macro_f1", X[aside], y[aside], method="ofo", floor=0.05)
    np.testing.assert_array_equal(model.decision_.threshold, first.decision_.threshold)


def test_fit_for_takes_every_form_of_examples() -> None:
    X, y = noisy_data(120)
    expected = batch_model().fit_for("micro_f1", X, as_lists(y), np.ones(120)).decision_.threshold
    dense = X.toarray()
    frame = pd.DataFrame(dense, columns=[f"f{i}" for i in range(25)])
    for rows in (dense, dense.tolist(), frame):
        model = batch_model().fit_for("micro_f1", rows, as_lists(y))
        assert model.label_kind_ == "lists"
        assert model.decision_.threshold == pytest.approx(expected, rel=0.02)
    pair = batch_model().fit_for("micro_f1", (X[:, :20], dense[:, 20:]), as_lists(y))
    assert 0.01 <= pair.decision_.threshold <= 0.6


def test_labels_that_were_all_set_aside_have_a_threshold() -> None:
    X, y = noisy_data(60)
    lists: list[list[Any]] = as_lists(y)
    for row in range(60):
        lists[row].append(("only in row", row))
    model = batch_model().fit_for("macro_f1", X, lists)
    assert (
        len(model.decision_.threshold)
        == len(model.classes_)
        == len({label for row in lists for label in row})
    )
    assert len(model.predict(X)) == 60


def test_fit_for_sets_nothing_aside_where_nothing_is_tuned() -> None:
    X, y = TRAINED[0][:2], sp.csr_matrix([[1, 0, 1], [0, 1, 0]])
    model = batch_model().fit_for("precision@2", X, y)
    assert (model.decision_.k, model.n_samples_fit_) == (2, 2)
    with pytest.raises(ValueError, match=r"holdout=0\.1 of 2 rows leaves none"):
        batch_model().fit_for("micro_f1", X, y, holdout=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.decide_for("micro_f1"), "micro_f1 are tuned on validation rows: pass X_valid and y_valid"),
        (lambda m: m.decide_for("accuracy", *VALID), "metric must be a name such as"),
        (lambda m: m.decide_for("micro_f1", *VALID, method="best"), "'method' must be one of 'auto', 'fixed'"),
        (lambda m: m.decide_for("micro_f1", *VALID, method="fixed"), "micro_f1 depends on the data"),
        (lambda m: m.decide_for("hamming", *VALID, method="ofo"), "not for hamming; use method='exact'"),
        (lambda m: m.decide_for("micro_f1", *VALID, floor=2), "'floor' must be"),
        (lambda m: m.decide_for("precision@5", method="exact"), "no threshold to tune"),
        (
            lambda m: m.decide_for(CutOffMetric("psprecision", 5, np.ones(len(m.classes_)))),
            "ranks by the propensities of the model's own training rows",
        ),
        (lambda m: m.decide_for("micro_f1", VALID[0], VALID[1][:5]), "same number of rows .inconsistent: 160 and 5"),
        (lambda m: m.decide_for("micro_f1", VALID[0], 0 * VALID[1]), "no label in any row"),
        (lambda m: m.decide_for("micro_f1", VALID[0][:2], [["x"], ["y"]]), "none of the labels of this model"),
        (lambda m: m.fit_for("micro_f1", *TRAINED, holdout=2), "'holdout' must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_is_explained(call: Any, message: str) -> None:
    model = batch_model().fit(*TRAINED)
    with pytest.raises(ValueError, match=message):
        call(model)
    assert model.decision_.metric == "hamming"


def test_of_classes_that_exclude_each_other_there_is_nothing_to_decide() -> None:
    model = batch_model().fit([[1.0], [2.0]], ["cat", "dog"])
    with pytest.raises(ValueError, match="one class per row, and predict returns the most probable class"):
        model.decide_for("hamming")


def test_decisions_describe_themselves() -> None:
    model = batch_model().fit(*TRAINED)
    assert model.decision_.describe() == "threshold 0.5"
    assert model.decide_for("P@3").decision_.describe() == "the 3 most probable labels"
    assert model.decide_for("P@1").decision_.describe() == "the most probable label"
    assert (
        model.decide_for("macro_f1", *VALID)
        .decision_.describe()
        .startswith("a threshold for each label, from 0.")
    )
    per_label = Decision("macro_f1", "exact", np.array([0.9, 0.125, 0.4], dtype=np.float32))
    assert per_label.describe() == "a threshold for each label, from 0.125 to 0.9, the median 0.4"
