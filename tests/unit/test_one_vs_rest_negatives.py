"""A label tree as a sampler of negative examples: each group of siblings learns from the rows it should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import normalize
from tests.documents import documents
from tests.reference.one_vs_rest import label_weights
from tests.unit.test_one_vs_rest import PRECISE, assert_same_weights, trained, weights_of

from labeltree import LabelTree, LabelTreeClassifier, _native
from labeltree.labels.reading import read_labels
from labeltree.model.feature_reader import FeatureReader
from labeltree.progress import Phases
from labeltree.rivals.one_vs_rest import negatives as negatives_module
from labeltree.rivals.one_vs_rest.negatives import Negatives, find_negatives
from labeltree.training import column_plan
from labeltree.training.column_plan import ColumnPlan
from labeltree.training.examples import Examples
from labeltree.training.run import Run

pytestmark = pytest.mark.native


def proposals(X: Any, y: Any, n_negatives: int, seed: int) -> Negatives:
    _, features = FeatureReader.learn("LabelTreeClassifier", X, True)
    return find_negatives(Examples(features, read_labels(y)), n_negatives, seed, Run(1, Phases(None)))


def test_siblings_are_learned_together() -> None:
    tree = LabelTree.from_nested([0, 1, [*range(2, 72)], [72, [73, 74, 75]], 76, 77])
    counts = np.random.default_rng(0).integers(0, 4, 78)
    counts[[0, 20]] = 10  # all rows have them
    plan = ColumnPlan.by_siblings(tree, counts, n_rows=10)
    assert sorted(plan.label.tolist()) == np.flatnonzero((counts > 0) & (counts < 10)).tolist()
    groups = [plan.label[a:b] for a, b in zip(plan.group_begin[:-1], plan.group_begin[1:], strict=True)]
    siblings = [{0, 1, 76, 77}, set(range(2, 72)), {72}, {73, 74, 75}]
    assert all(1 <= len(group) <= 32 for group in groups)
    assert all(any(set(group.tolist()) <= part for part in siblings) for group in groups)
    wide = np.concatenate([group for group in groups if set(group.tolist()) <= siblings[1]])
    assert (np.diff(counts[wide]) <= 0).all()


def test_the_tree_is_that_of_the_seed_and_proposes_its_best_labels() -> None:
    X, y = documents(150, 80, 40, unlabelled=0.1)
    found = proposals(X, y, 5, seed=3)
    sampler = LabelTreeClassifier(weights="float32", random_state=0)
    sampler.seeds = lambda *_: [3]  # type: ignore[method-assign]
    expected = sampler.fit(X, y).predict_topk(X, k=5).labels
    np.testing.assert_array_equal(found.indptr, np.arange(0, 751, 5))
    np.testing.assert_array_equal(found.indices.reshape(-1, 5), expected)
    assert found.tree.to_nested() == sampler.tree_.to_nested()


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("n_negatives", [1, 4])
def test_labels_learn_from_the_rows_of_their_group(
    loss: str, n_negatives: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(negatives_module, "RANDOM_ROWS", 0)
    X, y = documents(300, 80, 60, unlabelled=0.1, seed=1)
    weight = np.random.default_rng(0).exponential(size=300)
    model = trained(
        X, y, loss=loss, negatives="tree", n_negatives=n_negatives, sample_weight=weight, **PRECISE
    )
    _, features = FeatureReader.learn("LabelTreeClassifier", X, True)
    examples = Examples(features, read_labels(y), weight.astype(np.float32))
    found = find_negatives(examples, n_negatives, model.seeds(1)[0], Run(1, Phases(None)))
    proposed = found.indices.reshape(300, n_negatives)
    plan = ColumnPlan.by_siblings(found.tree, np.asarray(y.sum(axis=0)).ravel(), 300)
    n_left_out = 0
    for a, b in zip(plan.group_begin[:-1], plan.group_begin[1:], strict=True):
        group = plan.label[a:b]
        rows = (y[:, group].sum(axis=1).A1 > 0) | np.isin(proposed, group).any(axis=1)
        n_left_out += np.count_nonzero(~rows)
        expected = label_weights(
            normalize(X)[rows], y[rows], loss=loss, tol=1e-9, prune=0.0, sample_weight=weight[rows]
        )[group]
        learned = np.isfinite(expected).all(axis=1)
        np.testing.assert_allclose(weights_of(model)[group[learned]], expected[learned], atol=1e-4)
    assert n_left_out > 0


def test_who_is_proposed_everywhere_learns_from_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(negatives_module, "RANDOM_ROWS", 0)
    X, y = documents(200, 80, 40, unlabelled=0.1, seed=2)
    everything = trained(X, y, **PRECISE)
    proposed = trained(X, y, negatives="tree", n_negatives=1000, **PRECISE)
    np.testing.assert_allclose(weights_of(proposed), weights_of(everything), atol=5e-5)


def test_rows_drawn_at_random_come_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = documents(2000, 200, 300, unlabelled=0.1, seed=3)
    visits = {}
    for n_random in (0, 100, 10_000):
        monkeypatch.setattr(negatives_module, "RANDOM_ROWS", n_random)
        model = trained(X, y, negatives="tree", n_negatives=2, max_iter=1)
        visits[n_random] = model.training_report_[0]["n_row_visits"]
    everything = trained(X, y, max_iter=1).training_report_[0]["n_row_visits"]
    assert visits[0] < visits[100] < visits[10_000]
    assert visits[100] < everything / 2


def test_it_is_nearly_as_precise_for_less_work() -> None:
    X, y = documents(4000, 400, 300, seed=4)
    X_train, y_train, X_test, y_test = X[:3000], y[:3000], X[3000:], y[3000:]
    precision, visits = {}, {}
    for negatives in ("all", "tree"):
        model = trained(X_train, y_train, negatives=negatives)
        found = model.predict_topk(X_test, k=3).labels
        precision[negatives] = y_test[np.arange(1000)[:, None], found].mean()
        visits[negatives] = model.training_report_[0]["n_row_visits"]
    assert precision["tree"] > precision["all"] - 0.01
    assert visits["tree"] < visits["all"]


def test_neither_threads_nor_chunks_nor_a_checkpoint_change_a_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = documents(300, 100, 200, unlabelled=0.1, seed=5)
    expected = trained(X, y, negatives="tree", n_negatives=3)
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 1)
    assert_same_weights(trained(X, y, negatives="tree", n_negatives=3, n_jobs=3), expected)
    for _ in range(2):
        kept = trained(X, y, negatives="tree", n_negatives=3, checkpoint=tmp_path / "run")
        assert_same_weights(kept, expected)
        (tmp_path / "run" / "chunk-000000.safetensors").unlink()
    with pytest.raises(ValueError, match=r"to another run, with .*n_negatives=3 instead of None"):
        trained(X, y, checkpoint=tmp_path / "run")
    other = trained(X, y, negatives="tree", n_negatives=3, random_state=1)
    assert not np.array_equal(other.weights_[0].arrays["bias"], expected.weights_[0].arrays["bias"])


def test_the_search_for_negatives_can_be_stopped() -> None:
    X, y = documents(100, 60, 20)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    features, search = model.model_.read(X), _native.Search(3, n_threads=2)
    progress = _native.Progress()
    model.model_.forest.top_k(features, search, progress=progress)
    assert progress.done == progress.total == 100
    progress.cancel()
    with pytest.raises(_native.Cancelled):
        model.model_.forest.top_k(features, search, progress=progress)


def test_a_number_of_negatives_needs_a_tree() -> None:
    with pytest.raises(ValueError, match="n_negatives works only with negatives='tree', got n_negatives=5"):
        trained(np.eye(3), [["a"], ["b"], []], n_negatives=5)
    with pytest.raises(ValueError, match="'n_negatives' must be an integer of at least 1"):
        trained(np.eye(3), [["a"], ["b"], []], negatives="tree", n_negatives=0)
