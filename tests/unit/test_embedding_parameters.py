"""Parameters of classifiers with word vectors: refusals, what they change, and training that diverges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.small_models import small_data
from tests.vector_models import MODELS, untrained, vector_model

from labeltree import ExtremeTextClassifier, FastTextClassifier, LabelTree

X, Y = small_data()
BOTH = (ExtremeTextClassifier, FastTextClassifier)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dimension": 0}, "'dimension' must be an integer of at least 1 and at most 100,000, got 0"),
        ({"dimension": 100_001}, "'dimension' must be an integer of at least 1 and at most 100,000"),
        ({"dimension": 8.0}, "'dimension' must be an integer"),
        ({"dimension": True}, "'dimension' must be an integer"),
        ({"dimension": None}, "'dimension' must be an integer"),
        ({"solver": "lbfgs"}, "'solver' must be one of 'adam', 'adagrad', 'sgd', got 'lbfgs'"),
        ({"learning_rate": 0}, "'learning_rate' must be"),
        ({"learning_rate": -1.0}, "'learning_rate' must be"),
        ({"learning_rate": np.nan}, "'learning_rate' must be"),
        ({"learning_rate": np.inf}, "'learning_rate' must be"),
        ({"learning_rate": 1e30}, "'learning_rate' must be a finite number above 0 and at most 1e.10"),
        ({"learning_rate": "fast"}, "'learning_rate' must be"),
        ({"epochs": 0}, "'epochs' must be an integer of at least 1"),
        ({"epochs": 1.5}, "'epochs' must be an integer of at least 1"),
        ({"batch_size": 0}, "'batch_size' must be an integer of at least 1 and at most 65,536"),
        ({"batch_size": 2**16 + 1}, "'batch_size' must be an integer of at least 1 and at most 65,536"),
        ({"regularization": -0.1}, "'regularization' must be a finite number of at least 0"),
        ({"frozen": 1}, "'frozen' must be True or False, got 1"),
        ({"frozen": True}, "frozen=True keeps pretrained vectors as they are, but there are none"),
        ({"vector_type": "float16"}, "'vector_type' must be one of .*, got 'float16'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"random_state": "now"}, "'now' cannot be used to seed"),
        ({"verbose": "very"}, "'verbose' must be"),
    ],
    ids=str,
)
@pytest.mark.parametrize("cls", BOTH)
def test_refusals_of_both(cls: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hs"}, "'loss' must be one of 'logistic', 'softmax', got 'hs'"),
        ({"tree": "oak"}, "tree"),
        ({"tree": None}, "tree"),
        ({"tree": ["kmeans", "kmeans"]}, "'tree' must be one of"),
        ({"tree": LabelTree.flat(5)}, "tree has 5 labels.*12"),
        ({"max_arity": 1}, "'max_arity' must be"),
        ({"arity": 1}, "'arity' must be"),
        ({"max_leaves": 0}, "'max_leaves' must be"),
        ({"max_depth": 0}, "'max_depth' must be"),
        ({"frequent_share": 1.5}, "'frequent_share' must be"),
        ({"collapse": 0}, "'collapse' must be"),
        ({"label_vectors": "words"}, "'label_vectors' must be one of 'features', 'cooccurrence', 'both'"),
        ({"label_vectors": sp.eye(5, format="csr")}, "label_vectors.*12"),
        ({"label_vector_prune": -1}, "'label_vector_prune' must be"),
        ({"rate_schedule": "cosine"}, "'rate_schedule' must be one of 'linear', 'constant', got 'cosine'"),
        ({"dropout": 0.96}, "'dropout' must be a finite number of at least 0 and at most 0.95, got 0.96"),
        ({"dropout": -0.1}, "'dropout' must be a finite number of at least 0 and at most 0.95"),
        ({"pooling": "max"}, "'pooling' must be one of 'sum', 'mean', got 'max'"),
        ({"hard_negatives": -1}, "'hard_negatives' must be an integer of at least 0 and at most 1,000"),
        (
            {"hard_negatives": 3, "loss": "softmax"},
            "hard_negatives needs loss='logistic'.*got loss='softmax'",
        ),
        ({"initial_accumulator": -1}, "'initial_accumulator' must be a finite number of at least 0"),
        ({"epsilon": -1}, "'epsilon' must be a finite number of at least"),
        ({"normalize": "l1"}, "'normalize' must be True or False"),
        ({"bias": 1}, "'bias' must be True or False"),
        ({"search": "depth"}, "'search' must be"),
        ({"beam": 0}, "'beam' must be an integer of at least 1"),
        ({"normalize_siblings": None}, "'normalize_siblings' must be"),
    ],
    ids=str,
)
def test_refusals_of_extremetext(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExtremeTextClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "logistic"}, "'loss' must be one of 'softmax', 'hs', 'ova', got 'logistic'"),
        ({"loss": "ns"}, "'loss' must be one of 'softmax', 'hs', 'ova', got 'ns'"),
        ({"loss": None}, "'loss' must be one of 'softmax', 'hs', 'ova', got None"),
    ],
    ids=str,
)
def test_refusals_of_fasttext(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FastTextClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize("name", ["lr", "dropout", "tree", "normalize"])
def test_fasttext_has_no_other_parameters(name: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        FastTextClassifier(**{name: 1})


@pytest.mark.parametrize("parameters", [{"dimension": 0}, {"solver": "x"}, {"learning_rate": 1e10}])
def test_a_failed_fit_leaves_the_earlier_model(parameters: dict[str, Any]) -> None:
    model = vector_model("logistic", solver="sgd", learning_rate=0.05)
    before, attributes = model.predict_topk(X), sorted(vars(model))
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=r"must be|diverged"):
        model.fit(X, Y)
    after = model.predict_topk(X)
    np.testing.assert_array_equal(before.probabilities, after.probabilities)
    np.testing.assert_array_equal(before.labels, after.labels)
    assert sorted(vars(model)) == attributes


@pytest.mark.native
@pytest.mark.parametrize("rate", [1e3, 1e6, 1e10])
@pytest.mark.parametrize("solver", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize("name", MODELS)
def test_training_that_diverges_says_so_or_answers(name: str, solver: str, rate: float) -> None:
    """Numbers that are not finite are never kept, and answers are probabilities."""
    model = untrained(name, solver=solver, learning_rate=rate, epochs=20)
    try:
        model.fit(X * 100, Y)
    except ValueError as error:
        told = str(error)
    else:
        told = ""
    if told:
        assert "training diverged" in told
        assert "Lower learning_rate" in told
        assert not hasattr(model, "classes_")
        return
    assert np.isfinite(model.word_vectors_).all()
    assert np.isfinite(model.node_vectors_).all()
    probabilities = model.predict_topk(X * 100, 12).probabilities
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


def test_some_training_diverges() -> None:
    with pytest.raises(
        ValueError, match=r"training diverged: vectors are no longer finite\. Lower learning_rate"
    ):
        FastTextClassifier("ova", dimension=4, solver="sgd", learning_rate=1e10, random_state=0).fit(X, Y)


@pytest.mark.parametrize("name", ["word_vector", "node_vector", "bias"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_array_of_the_trainer_may_diverge(name: str, value: float) -> None:
    tree = LabelTree.flat(3)

    class Diverged:
        def arrays(self) -> dict[str, Any]:
            found = {
                "word_vector": np.ones((5, 2), np.float32),
                "node_vector": np.ones((tree.n_nodes, 2), np.float32),
                "bias": np.ones(tree.n_nodes, np.float32),
            }
            found[name].flat[-1] = value
            return found

    trainer: Any = Diverged()
    with pytest.raises(ValueError, match="training diverged"):
        ExtremeTextClassifier(2).make_plan().forest(trainer, tree, False)


@pytest.mark.native
@pytest.mark.parametrize("scale", [1e-30, 1e18, 1e30])
@pytest.mark.parametrize("name", MODELS)
def test_values_of_any_size(name: str, scale: float) -> None:
    """Rows of unit length and means do not depend on the size of values."""
    expected = vector_model(name)
    scaled = (X.astype(np.float64) * scale).astype(np.float32)
    found = untrained(name).fit(scaled, Y)
    np.testing.assert_allclose(
        found.predict_topk(scaled, 3).probabilities,
        expected.predict_topk(X, 3).probabilities,
        rtol=0.05,
        atol=0.02,
    )


#: Each of these changes what is learned.
CHANGES: dict[str, Any] = {
    "dimension": 7,
    "tree": "flat",
    "arity": 3,
    "max_leaves": 2,
    "loss": "softmax",
    "solver": "adagrad",
    "learning_rate": 0.01,
    "rate_schedule": "constant",
    "epochs": 61,
    "batch_size": 15,
    "regularization": 0.1,
    "dropout": 0.2,
    "pooling": "mean",
    "hard_negatives": 2,
    "epsilon": 0.1,
    "vector_type": "float32",
    "normalize": False,
    "bias": False,
    "random_state": 1,
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_changes_the_model(name: str) -> None:
    model = vector_model("logistic", **{name: CHANGES[name]})
    assert not np.array_equal(
        model.predict_topk(X, 12).probabilities, vector_model("logistic").predict_topk(X, 12).probabilities
    )
    assert getattr(model, name) == CHANGES[name]


def test_the_accumulator_of_adagrad() -> None:
    small, large = (
        vector_model("logistic", solver="adagrad", initial_accumulator=value, vector_type="float32")
        for value in (0.0, 1e6)
    )
    assert np.abs(large.word_vectors_).max() < np.abs(small.word_vectors_).max()


@pytest.mark.parametrize(
    "name", ["dimension", "learning_rate", "epochs", "solver", "batch_size", "regularization"]
)
def test_every_parameter_of_fasttext_changes_the_model(name: str) -> None:
    change = {"solver": "adagrad"}.get(name, CHANGES[name])
    one, other = vector_model("fasttext-ova", **{name: change}), vector_model("fasttext-ova")
    assert not np.array_equal(one.predict_topk(X, 12).probabilities, other.predict_topk(X, 12).probabilities)


def test_the_default_learning_rate_depends_on_the_solver() -> None:
    shape = {"dimension": 16, "batch_size": 25, "epochs": 5}
    for solver, pooling, rate in (
        ("adam", "sum", 0.2 / 4),
        ("adam", "mean", 0.5 / 4),
        ("adagrad", "sum", 0.2),
        ("sgd", "sum", 0.1 / 5),
    ):
        default, given = (
            vector_model("logistic", solver=solver, pooling=pooling, learning_rate=value, **shape)
            for value in (None, rate)
        )
        np.testing.assert_array_equal(default.word_vectors_, given.word_vectors_)
        assert default.learning_rate is None


def test_the_settings_of_extremetext() -> None:
    model = ExtremeTextClassifier.extremetext(dimension=10, epochs=3, random_state=0)
    assert isinstance(model, ExtremeTextClassifier)
    assert (model.solver, model.pooling, model.batch_size, model.arity) == ("sgd", "mean", 1, 2)
    assert not model.bias
    assert (model.dimension, model.epochs) == (10, 3)
    assert clone(model).get_params() == model.get_params()
    top = model.fit(X, Y).predict_topk(X, 3)
    assert np.isfinite(top.probabilities).all()
    with pytest.raises(TypeError, match="unexpected keyword"):
        ExtremeTextClassifier.extremetext(lr=1)


@pytest.mark.parametrize("loss", ["softmax", "hs", "ova"])
def test_the_trees_of_fasttext(loss: str) -> None:
    tree = vector_model(f"fasttext-{loss}").tree_
    if loss == "hs":
        assert all(len(tree.children(node)) == 2 for node in tree.inner_nodes)
        assert tree.n_nodes == 2 * 12 - 1
    else:
        assert tree == LabelTree.flat(12)


@pytest.mark.parametrize("name", ["fasttext-softmax", "fasttext-hs"])
def test_a_softmax_shares_one(name: str) -> None:
    everything = vector_model(name).predict_proba(X, None)
    np.testing.assert_allclose(everything.sum(axis=1), 1, rtol=1e-4)


@pytest.mark.parametrize("cls", BOTH)
def test_training_warns_of_nothing(cls: Any, recwarn: pytest.WarningsRecorder) -> None:
    cls(dimension=4, epochs=1, random_state=0).fit(X, Y).predict(X)
    assert not recwarn.list
    assert cls(dimension=4, epochs=2).fit(X, Y).n_iter_ == 2
