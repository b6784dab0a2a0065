"""The parameters of LabelTreeClassifier: what each must be, and the presets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import cpu_count
from tests.documents import documents

from labeltree import ExtremeTextClassifier, LabelTree, LabelTreeClassifier
from labeltree.trees import Taxonomy, kmeans_tree
from labeltree.validation import _processors, n_threads

X, Y = documents(60, 30, 8)

INTEGERS_FROM_1 = ["n_trees", "max_leaves", "max_depth", "max_iter", "epochs", "beam"]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        *((name, [0, -3, 1.0, "4", True, 2**31], "an integer of at least 1") for name in INTEGERS_FROM_1),
        ("arity", [1, 2.0, None, 2**40], "an integer of at least 2 and at most 2,147,483,647"),
        ("max_arity", [1, 2.0, "8", 2**40], "an integer of at least 2 and at most 2,147,483,647 or None"),
        ("n_jobs", [1.5, "all", False], "an integer or None"),
        ("verbose", [0.5, None, True], "an integer"),
        (
            "C",
            [0, -1.0, "1", np.nan, np.inf, True, 1e11],
            r"'auto', a finite number above 0 and at most 1e\+10 or a sequence of such numbers",
        ),
        ("tol", [0, -0.1, None, np.nan, np.inf], "a finite number above 0"),
        ("prune", [-0.1, None, np.nan, np.inf, "0"], "a finite number of at least 0"),
        ("label_vector_prune", [-1, None, np.inf], "a finite number of at least 0"),
        ("frequent_share", [-0.1, 1.1, None, np.nan, "1"], "a finite number of at least 0 and at most 1"),
        ("solver", ["liblinear", None, 1], "one of 'descent', 'adagrad', 'sgd', 'fobos'"),
        ("learning_rate", [0, -1.0, "1", np.nan, np.inf, True], "a finite number above 0 and at most 1e"),
        (
            "regularization",
            [-1e-9, "0", np.nan, np.inf, True],
            "a finite number of at least 0 and at most 1e",
        ),
        ("loss", ["hinge", None, 1], "one of 'squared_hinge', 'logistic', 'squared', 'exponential'"),
        (
            "link",
            ["logit", None],
            "one of 'auto', 'exp5', 'exp4', 'exp3', 'exp2', 'clip', 'sigmoid', 'sigmoid2'",
        ),
        ("search", ["dfs", None, True], "one of 'exact', 'beam'"),
        (
            "tree",
            ["oak", None, 3],
            "one of 'complete', 'exact_kmeans', 'flat', 'huffman', 'kmeans', 'learned', .*, a LabelTree",
        ),
        ("collapse", [0, 1.5, None], "an integer of at least 1"),
        (
            "label_vectors",
            ["words", 1, [[1.0]], np.ones(8), np.array([["a"]])],
            "one of 'features', 'cooccurrence', 'both', a sparse matrix or 2-d array of numbers",
        ),
        ("normalize", [1, None, "yes"], "True or False"),
        ("bias", [1.0, None], "True or False"),
        ("normalize_siblings", [0, None], "True or False"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_wrong_values_are_named(name: str, values: list[Any], message: str) -> None:
    for value in values:
        model = LabelTreeClassifier(**{name: value})
        with pytest.raises(
            ValueError, match=f"LabelTreeClassifier: the parameter '{name}' must be {message}"
        ):
            model.fit(X, Y)


def test_threads_are_counted_as_in_scikit_learn() -> None:
    processors = cpu_count()
    counts = {None: 1, 1: 1, 3: 3, -1: processors, -2: max(1, processors - 1), -1000: 1, np.int64(2): 2}
    assert {n_jobs: n_threads(n_jobs) for n_jobs in counts} == counts
    assert n_threads(2**40) == 1024


def test_processors_are_counted_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    _processors.cache_clear()
    counted = iter(range(4, 100))
    monkeypatch.setattr("labeltree.validation.cpu_count", lambda: next(counted))
    monkeypatch.setattr("labeltree.validation.time.monotonic", iter([9.0, 9.9, 10.1, 12.0]).__next__)
    assert [n_threads(-1) for _ in range(4)] == [4, 4, 5, 6]
    _processors.cache_clear()


def test_every_parameter_is_checked() -> None:
    for name in LabelTreeClassifier().get_params():
        with pytest.raises((ValueError, TypeError), match=name if name != "random_state" else "seed"):
            LabelTreeClassifier(**{name: object()}).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"link": "sigmoid"}, "link 'sigmoid' does not work with loss 'squared_hinge'"),
        ({"loss": "logistic", "link": "exp2"}, "link 'exp2' does not work with loss 'logistic'"),
        ({"loss": "exponential", "link": "sigmoid"}, "link 'sigmoid' does not work with loss 'exponential'"),
        ({"tree": LabelTree.flat(3)}, "the given tree has 3 labels, but y has 8"),
        ({"tree": [LabelTree.flat(8)] * 2}, "expected n_trees=1 trees, got 2"),
        ({"tree": [[0, 1]]}, r"tree must hold LabelTree objects or the words 'complete', .*, got \[0, 1\]"),
        ({"tree": ["kmeans", "oak"], "n_trees": 2}, "tree must hold .*, got 'oak'"),
        ({"tree": ["kmeans"], "n_trees": 2}, "expected n_trees=2 trees, got 1"),
        ({"label_vectors": np.ones((7, 3))}, "a row for each of the 8 labels of y, but has 7"),
        ({"label_vectors": np.full((8, 3), np.nan)}, "Input label_vectors contains NaN"),
        ({"label_vectors": None}, "label_vectors is None: a saved model does not keep"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
    ids=str,
)
def test_values_that_do_not_fit_together(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelTreeClassifier(**parameters).fit(X, Y)


def test_numbers_of_numpy_are_numbers() -> None:
    plain = {"n_trees": 2, "arity": 2, "max_leaves": 2, "max_depth": 3, "max_iter": 7, "beam": 3, "n_jobs": 2}
    plain |= {"C": 0.5, "tol": 0.25, "prune": 0.125, "random_state": 3, "search": "beam"}
    plain |= {"normalize": False, "bias": True, "normalize_siblings": True}
    wrapped = {name: np.asarray(value)[()] if name != "search" else value for name, value in plain.items()}
    wrapped |= {"C": np.float32(0.5)}
    expected = LabelTreeClassifier(**plain).fit(X, Y)
    model = LabelTreeClassifier(**wrapped).fit(X, Y)
    np.testing.assert_array_equal(model.predict_topk(X).probabilities, expected.predict_topk(X).probabilities)
    assert model.predict_pairs(X, [0], [1]) == expected.predict_pairs(X, [0], [1])
    assert list(model.iter_labels(X[0])) == list(expected.iter_labels(X[0]))
    assert str(model.explain(X[0], 1)) == str(expected.explain(X[0], 1))


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared", "exponential"])
@pytest.mark.parametrize("C", [1e-42, 1e-6, 1e10])
@pytest.mark.parametrize("weight", [None, 1e-30, 1e38])
def test_extreme_weights_of_examples_give_finite_models(loss: str, C: float, weight: float | None) -> None:
    sample_weight = None if weight is None else np.full(X.shape[0], weight)
    model = LabelTreeClassifier(loss=loss, C=C, prune=0.0, random_state=0)
    arrays = model.fit(X, Y, sample_weight=sample_weight).weights_[0].arrays
    assert np.isfinite(arrays["weight"]).all()
    assert np.isfinite(arrays["bias"]).all()


class TestPresets:
    def test_parabel(self) -> None:
        model = LabelTreeClassifier.parabel(random_state=0, max_leaves=2)
        assert (model.n_trees, model.arity, model.C, model.tol, model.max_iter) == (3, 2, 1.0, 0.1, 20)
        assert (model.prune, model.loss, model.search, model.beam) == (0.1, "squared_hinge", "beam", 10)
        assert LabelTreeClassifier.parabel().max_leaves == 100
        model.fit(X, Y)
        assert [tree.arity for tree in model.trees_] == [2, 2, 2]
        assert model.predict_topk(X, k=3).labels.shape == (60, 3)

    def test_bonsai(self) -> None:
        model = LabelTreeClassifier.bonsai(random_state=0, max_leaves=2, arity=3)
        assert (model.n_trees, model.tree, model.max_depth) == (3, "unbalanced_kmeans", 3)
        model.fit(X, Y)
        assert max(tree.depth for tree in model.trees_) <= 3
        assert model.predict_topk(X, k=3).labels.shape == (60, 3)

    def test_napkinxc(self) -> None:
        model = LabelTreeClassifier.napkinxc(random_state=0, max_leaves=2)
        assert (model.n_trees, model.loss, model.C, model.search) == (1, "logistic", 12.0, "exact")
        model.fit(X, Y)
        assert model.tree_.arity == 2
        assert model.predict_topk(X, k=3).labels.shape == (60, 3)

    def test_values_of_ones_own_win(self) -> None:
        assert LabelTreeClassifier.parabel(n_trees=1, C=2.0).get_params()["C"] == 2.0
        with pytest.raises(TypeError, match="unexpected keyword"):
            LabelTreeClassifier.parabel(colour="red")


def test_a_subclass_may_take_fewer_parameters() -> None:
    class Mine(LabelTreeClassifier):
        def __init__(self, C: float = 1.0) -> None:
            super().__init__(C=C, random_state=0)

    expected = LabelTreeClassifier(C=2.0, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(Mine(C=2.0).fit(X, Y).predict_topk(X)[1], expected.predict_topk(X)[1])


@pytest.mark.parametrize(
    ("preset", "tree", "arity", "max_depth"),
    [
        ("parabel", "exact_kmeans", 2, None),
        ("bonsai", "unbalanced_kmeans", 100, 3),
        ("napkinxc", "exact_kmeans", 2, None),
    ],
)
def test_presets_have_the_trees_of_the_published_systems(
    preset: str, tree: str, arity: int, max_depth: int | None
) -> None:
    model = getattr(LabelTreeClassifier, preset)()
    assert model.label_vectors == ("both" if preset == "bonsai" else "features")
    assert (model.tree, model.arity, model.max_depth) == (tree, arity, max_depth)
    assert (model.max_leaves, model.frequent_share) == (100, 0.0)
    assert model.label_vector_prune == 0.0


def test_presets_have_exactly_as_many_clusters_as_asked_for() -> None:
    """As in the paper's tables of arity 16 and 64; "kmeans" would split 40 labels into 14 parts of 3."""
    rows, labels = documents(200, 60, 40)
    assert ExtremeTextClassifier.extremetext().tree == "exact_kmeans"
    for make in (LabelTreeClassifier.napkinxc, LabelTreeClassifier.parabel):
        tree = make(arity=16, max_leaves=3, random_state=0).build_tree(rows, labels)
        assert len(tree.children(0)) == 16
    for seed in range(5):
        binary = {"arity": 2, "max_leaves": 3, "frequent_share": 0.0, "random_state": seed}
        exact, even = (
            LabelTreeClassifier(tree=word, **binary).build_tree(rows, labels)
            for word in ("exact_kmeans", "kmeans")
        )
        assert exact == even


@pytest.mark.parametrize("preset", ["parabel", "bonsai", "napkinxc"])
def test_presets_cluster_labels_by_all_entries_of_their_vectors(preset: str) -> None:
    """The published systems drop none, and few small entries decide between clusters that are near each other."""
    rng = np.random.default_rng(0)
    rows, columns = sp.random(400, 80, 0.3, "csr", random_state=rng), rng.integers(0, 60, 400)
    labels = sp.csr_matrix((np.ones(400), (np.arange(400), columns)), (400, 60))
    make = getattr(LabelTreeClassifier, preset)
    settings = {"max_leaves": 2, "arity": 2, "random_state": 0}
    tree = make(**settings).build_tree(rows, labels)
    assert tree != make(**settings, label_vector_prune=0.1).build_tree(rows, labels)
    model = make(**settings)
    own = kmeans_tree(
        rows,
        labels,
        arity=2,
        max_leaves=2,
        max_depth=model.max_depth,
        balanced=model.tree == "exact_kmeans",
        frequent_share=0.0,
        label_vectors=model.label_vectors,
        label_vector_prune=0.0,
        random_state=0,
    )
    assert tree == own


@pytest.mark.parametrize("preset", ["parabel", "bonsai", "napkinxc"])
def test_presets_drop_what_another_solver_or_loss_does_not_know(preset: str) -> None:
    make = getattr(LabelTreeClassifier, preset)
    assert make(solver="adagrad").fit(X, Y).C == "auto"
    for loss in ("logistic", "squared_hinge", "exponential"):
        make(loss=loss).fit(X, Y)


def test_xmlc_plt_learns_by_sgd_unless_told_otherwise() -> None:
    model = LabelTreeClassifier.xmlc_plt()
    assert (model.tree, model.arity, model.solver, model.prune) == ("complete", 2, "sgd", 0.0)
    assert LabelTreeClassifier.xmlc_plt(loss="squared_hinge").fit(X, Y).solver == "sgd"
    assert LabelTreeClassifier.xmlc_plt(solver="descent", C=2.0).fit(X, Y).C_ == 2.0


def test_a_c_for_every_level() -> None:
    shape = {"arity": 2, "max_leaves": 2, "frequent_share": 0, "loss": "logistic", "random_state": 0}
    one = LabelTreeClassifier(C=2.0, **shape).fit(X, Y)
    same = LabelTreeClassifier(C=(2, 2.0), **shape).fit(X, Y)
    other = LabelTreeClassifier(C=[2.0, 2.0, 9.0], **shape).fit(X, Y)
    assert (one.C_, same.C_, other.C_) == (2.0, [2.0, 2.0], [2.0, 2.0, 9.0])
    np.testing.assert_array_equal(one.predict_topk(X)[1], same.predict_topk(X)[1])
    assert not np.array_equal(one.predict_topk(X)[1], other.predict_topk(X)[1])
    for wrong in ([], [1.0, 0.0], [[1.0]], ["auto"], [1.0, None]):
        with pytest.raises(ValueError, match=r"'C' must be 'auto', .* a sequence of such numbers"):
            LabelTreeClassifier(C=wrong).fit(X, Y)


def test_c_is_told_where_it_was_used() -> None:
    model = LabelTreeClassifier(random_state=0).fit(X, Y)
    assert model.C_ == 1.0
    assert not hasattr(model.set_params(solver="sgd").fit(X, Y), "C_")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"a": {"b": {}}}, r"give labeltree.trees.Taxonomy.from_dict\(tree\)"),
        (Taxonomy, "the class Taxonomy"),
    ],
)
def test_what_is_nearly_a_tree(tree: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelTreeClassifier(tree=tree).fit(X, Y)
