"""What models with word vectors answer, beside all probabilities, computed from their vectors with NumPy."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.labelled_texts import labelled_texts
from tests.small_models import NAMES, small_data
from tests.vector_models import MODELS, vector_model

from labeltree import ExtremeTextClassifier, FastXMLClassifier, LabelTreeClassifier, mix
from labeltree.metrics import precision_at_k
from labeltree.model_file import load
from labeltree.text import Tagger

X, Y = small_data()
LABELS = sorted(NAMES)  # as `classes_` has them

every_model = pytest.mark.parametrize("name", MODELS)


@cache
def trained(name: str) -> Any:
    return vector_model(name)


def hidden_by_hand(model: Any, X: Any) -> np.ndarray:
    """The sum or the mean of the vectors of the words of each row."""
    rows = sp.csr_matrix(X, dtype=np.float64)
    if model.normalize:
        length = np.sqrt(rows.multiply(rows).sum(axis=1)).A1
        rows = sp.diags(1 / np.where(length > 0, length, 1)) @ rows
    if model.pooling == "mean":
        total = abs(rows).sum(axis=1).A1
        rows = sp.diags(1 / np.where(total > 0, total, 1)) @ rows
    return rows @ model.word_vectors_.astype(np.float64)


def node_probabilities(model: Any, X: Any) -> np.ndarray:
    """The probability of each node given its parent."""
    bias = model.model_.forest.nodes.bias.astype(np.float64)
    scores = hidden_by_hand(model, X) @ model.node_vectors_.T.astype(np.float64) + bias
    found = 1 / (1 + np.exp(-scores))
    if model.trained_link() == "softmax":
        for node in model.tree_.inner_nodes:
            children = list(model.tree_.children(node))
            e = np.exp(scores[:, children] - scores[:, children].max(axis=1, keepdims=True))
            if len(children) > 2:  # of two, one has the opposite score of the other
                found[:, children] = e / e.sum(axis=1, keepdims=True)
    return found


def parents(model: Any) -> dict[int, int]:
    return {int(c): int(v) for v in model.tree_.inner_nodes for c in model.tree_.children(v)}


def by_hand(model: Any, X: Any) -> np.ndarray:
    """The probabilities of all labels: products along paths."""
    found, parent = node_probabilities(model, X), parents(model)
    table = np.empty((X.shape[0], len(LABELS)))
    for node in np.flatnonzero(model.tree_.label >= 0):
        product, at = found[:, node].copy(), int(node)
        while at != 0:
            at = parent[at]
            product *= found[:, at]
        table[:, model.tree_.label[node]] = product
    return table


def pairs(model: Any, X: Any) -> np.ndarray:
    rows = np.repeat(np.arange(X.shape[0]), len(LABELS))
    return model.predict_pairs(X, rows, LABELS * X.shape[0]).reshape(-1, len(LABELS))


@pytest.mark.native
@every_model
def test_hidden_vectors_are_sums_of_word_vectors(name: str) -> None:
    model = trained(name)
    found = model.transform(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, hidden_by_hand(model, X), rtol=1e-4, atol=1e-5)
    assert not model.transform(sp.csr_matrix((2, X.shape[1]))).any()
    assert model.transform(X[:0]).shape == (0, 6)


@pytest.mark.native
@every_model
def test_probabilities_are_products_along_paths(name: str) -> None:
    model = trained(name)
    np.testing.assert_allclose(pairs(model, X), by_hand(model, X), rtol=1e-3, atol=1e-6)


@pytest.mark.native
@every_model
def test_the_best_labels_are_exact(name: str) -> None:
    model, table = trained(name), pairs(trained(name), X)
    for k in (1, 3, len(LABELS)):
        labels, probabilities = model.predict_topk(X, k)
        np.testing.assert_allclose(probabilities, -np.sort(-table, axis=1)[:, :k], rtol=1e-6)
        of_labels = table[np.arange(X.shape[0])[:, None], np.searchsorted(LABELS, labels)]
        np.testing.assert_allclose(of_labels, probabilities, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X, None).toarray(), table, rtol=1e-6)


@pytest.mark.native
@every_model
def test_masks_weights_and_thresholds(name: str) -> None:
    model, table = trained(name), pairs(trained(name), X)
    kept = [0, 3, 4, 9]
    allowed = model.predict_topk(X, 3, allow=[LABELS[j] for j in kept])
    denied = model.predict_topk(X, 3, deny=[LABELS[j] for j in range(len(LABELS)) if j not in kept])
    np.testing.assert_allclose(allowed.probabilities, -np.sort(-table[:, kept], axis=1)[:, :3], rtol=1e-6)
    np.testing.assert_array_equal(allowed.labels, denied.labels)
    weight = np.linspace(0.1, 3, len(LABELS))
    labels, probabilities = model.predict_topk(X, 2, label_weight=weight)
    position = np.searchsorted(LABELS, labels)
    weighted = -np.sort(-table * weight, axis=1)[:, :2]
    np.testing.assert_allclose(probabilities * weight[position], weighted, rtol=1e-5)
    bound = float(np.median(table))
    above = model.predict_topk(X, len(LABELS), threshold=bound)
    n_above = (table >= np.float32(bound)).sum(axis=1)
    np.testing.assert_array_equal((above.probabilities > 0).sum(axis=1), n_above)


@pytest.mark.native
@every_model
def test_labels_come_one_by_one(name: str) -> None:
    model, table = trained(name), pairs(trained(name), X)
    for row in (0, 7):
        found = list(model.iter_labels(X[row]))
        assert sorted(label for label, _ in found) == LABELS
        np.testing.assert_allclose([p for _, p in found], -np.sort(-table[row]), rtol=1e-6)


@pytest.mark.native
def test_a_beam_finds_less_and_a_wide_beam_everything() -> None:
    model = vector_model("logistic")
    exact = model.predict_topk(X, 3).probabilities
    narrow = model.set_params(search="beam", beam=1).predict_topk(X, 3).probabilities
    assert (narrow <= exact).all()
    assert (narrow < exact).any()
    np.testing.assert_array_equal(model.set_params(beam=100).predict_topk(X, 3).probabilities, exact)


@pytest.mark.native
def test_siblings_that_are_scaled() -> None:
    model = vector_model("logistic")
    before = model.predict_topk(X, 3).probabilities
    assert (model.set_params(normalize_siblings=True).predict_topk(X, 3).probabilities >= before).all()
    assert (model.predict_topk(X, 3).probabilities > before).any()


@pytest.mark.native
@every_model
def test_explanations_add_up(name: str) -> None:
    model, table = trained(name), pairs(trained(name), X)
    for row, label in ((0, 2), (5, 0), (11, 11)):
        found = model.explain(X[row], LABELS[label], n_features=X.shape[1])
        assert found.label == LABELS[label]
        assert found.probability == pytest.approx(table[row, label], rel=1e-5)
        (path,) = found.paths
        assert np.prod([step.probability for step in path]) == pytest.approx(found.probability, rel=1e-4)
        assert path[-1].probability_so_far == pytest.approx(found.probability, rel=1e-4)
        for step in path:
            amount = sum(c.amount for c in step.contributions)
            assert amount + step.bias == pytest.approx(step.score, rel=1e-3, abs=1e-4)
            assert {c.feature for c in step.contributions} <= set(X[row].indices.tolist())
        strongest = model.explain(X[row], LABELS[label], n_features=2).paths[0][-1].contributions
        assert strongest == path[-1].contributions[:2]


@pytest.mark.native
def test_names_of_words_in_explanations() -> None:
    model = trained("logistic")
    words = [f"word {j}" for j in range(X.shape[1])]
    numbered, named = (
        model.explain(X[3], LABELS[1], feature_names=names).paths[0][-1] for names in (None, words)
    )
    assert [c.feature for c in named.contributions] == [f"word {c.feature}" for c in numbered.contributions]


def test_text_is_explained_where_it_stands() -> None:
    texts, labels = labelled_texts()
    tagger = Tagger(ExtremeTextClassifier(20, epochs=20, random_state=0)).fit(texts, labels)
    text = "The OLD harbour, a violin."
    highlights = tagger.explain(text, "sea").highlights
    best = max(highlights, key=lambda highlight: highlight.amount)
    assert text[best.begin : best.end] == "harbour"
    np.testing.assert_array_equal(
        tagger.classifier_.transform(texts[:3]),
        tagger.classifier_.transform(tagger.vectorizer_.transform(texts[:3])),
    )


@pytest.mark.native
@pytest.mark.parametrize("method", ["isotonic", "platt"])
@pytest.mark.parametrize("name", ["logistic", "fasttext-ova"])
def test_calibration_keeps_the_order_of_siblings(name: str, method: str) -> None:
    model = vector_model(name)
    before = pairs(model, X)
    assert model.calibrate(X, Y, method=method) is model
    after = pairs(model, X)
    assert not np.array_equal(before, after)
    if name == "fasttext-ova":  # all labels are siblings
        for b, a in zip(before, after, strict=True):
            assert (np.diff(a[np.argsort(b)]) >= -1e-7).all()
    found = model.predict_topk(X, 4).probabilities
    np.testing.assert_allclose(found, -np.sort(-after, axis=1)[:, :4], rtol=1e-6)
    del model.calibration_
    np.testing.assert_array_equal(pairs(model, X), before)


def test_decisions() -> None:
    model = vector_model("logistic").decide_for("precision@2")
    assert all(len(row) == 2 for row in model.predict(X))
    model.decide_for("micro_f1", X, Y)
    bound = np.float32(model.decision_.threshold)
    assert [set(row) for row in model.predict(X)] == [
        {LABELS[j] for j in np.flatnonzero(row >= bound)} for row in pairs(model, X)
    ]


@pytest.mark.native
@every_model
def test_many_threads_ask_at_once(name: str) -> None:
    model = trained(name)
    questions: list[Any] = [
        lambda m: m.predict_topk(X, 3).probabilities,
        lambda m: m.transform(X),
        lambda m: m.predict_proba(X, None).toarray(),
        lambda m: np.array([p for _, p in m.iter_labels(X[1])]),
        lambda m: np.float64(m.explain(X[2], LABELS[0]).probability),
    ]
    expected = [ask(model) for ask in questions]
    fresh = pickle.loads(pickle.dumps(model))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda i: questions[i % 5](fresh), range(60)))
    for i, answer in enumerate(answers):
        np.testing.assert_array_equal(answer, expected[i % 5])


def test_evaluations_are_counted() -> None:
    model = trained("logistic")
    *_, one = model.predict_topk(X, 1, return_evaluations=True)
    *_, every = model.predict_topk(X, len(LABELS), return_evaluations=True)
    assert (every == model.tree_.n_nodes).all()
    assert (one < every).any()


# -- mixes ---------------------------------------------------------------------------------------------------------


def test_a_mix_with_a_label_tree_over_the_same_texts(tmp_path: Any) -> None:
    texts, labels = labelled_texts(120)
    words = Tagger(method="extremetext").set_params(classifier__epochs=20, classifier__random_state=0)
    both = [words.fit(texts, labels), Tagger(LabelTreeClassifier(random_state=0)).fit(texts, labels)]
    names = sorted({label for row in labels for label in row})
    mixed = mix(both, [2.0, 1.0])
    n = len(texts)
    row, label = np.repeat(np.arange(n), len(names)), names * n
    tables = [model.predict_pairs(texts, row, label) for model in both]
    expected = np.average(tables, axis=0, weights=[2, 1])
    np.testing.assert_allclose(mixed.predict_pairs(texts, row, label), expected, rtol=1e-5)
    mixed.save(tmp_path / "mix")
    opened = load(tmp_path / "mix", verify=True)
    for one, other in zip(mixed.predict_topk(texts, 3), opened.predict_topk(texts, 3), strict=True):
        np.testing.assert_array_equal(one, other)
    found = opened.explain(texts[0], names[0])
    assert len(found.paths) == 2
    assert found.probability == pytest.approx(expected[0], rel=1e-4)


@every_model
def test_every_model_can_be_mixed(name: str) -> None:
    other = FastXMLClassifier(n_trees=3, random_state=0).fit(X, Y)
    mixed = mix([trained(name), other])
    expected = (pairs(trained(name), X) + pairs(other, X)) / 2
    np.testing.assert_allclose(pairs(mixed, X), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        mixed.predict_topk(X, 3).probabilities, -np.sort(-expected, axis=1)[:, :3], rtol=1e-5
    )


@pytest.mark.parametrize("name", MODELS)
def test_they_learn(name: str) -> None:
    """Each row has one to three labels: the best is right far more often than the most frequent one."""
    true = sp.csr_matrix([[label in row for label in LABELS] for row in Y])
    best = np.searchsorted(LABELS, trained(name).predict_topk(X, 1).labels)
    assert precision_at_k(true, best, 1) > 0.75
