"""An example that would make weights overflow is refused, and leaves the model as it was."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier

pytestmark = pytest.mark.native

WEIGHTS: dict[str, dict[str, Any]] = {
    "map": {},
    "dense": {},
    "hashed": {"memory_mb": 0.1, "expected_labels": 40},
    "shared": {"memory_mb": 0.1},
}
SETTINGS = [
    {"solver": solver, "loss": loss, "weights": weights, **WEIGHTS[weights]}
    for solver in ("adagrad", "sgd", "fobos")
    for loss in ("logistic", "squared_hinge")
    for weights in WEIGHTS
    if (solver, weights) != ("fobos", "shared")
]


def state(model: Any) -> tuple[dict[str, bytes], list[Any]]:
    arrays = model.model_.trees[0].state()
    return {name: array.tobytes() for name, array in arrays.items()}, model.classes_.tolist()


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(map(str, s.values())))
def test_a_refused_row_changes_nothing(settings: dict[str, Any], tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    model = OnlineLabelTreeClassifier(normalize=False, arity=3, random_state=0, **settings)
    model.partial_fit(random.random((20, 6)), [[i % 7] for i in range(20)])
    n_refused = 0
    # Also values that are learned although they are large: what comes after them starts from large weights.
    for value in (1e5, 1e10, 1e16, 1e20, 1e25, -3e38):
        for labels in ([0], [1, 50], [60, 61]):
            for _ in range(3):
                X, y = random.random((3, 6)), [[0], labels, [2]]
                X[1, random.integers(6)] = value
                twin = pickle.loads(pickle.dumps(model))
                n_before = model.n_examples_
                refusal = ""
                try:
                    model.partial_fit(X, y)
                except ValueError as error:
                    refusal = str(error)
                n_learned = model.n_examples_ - n_before
                if refusal:
                    assert f"X, row {n_learned}: " in refusal
                    n_refused += 1
                if n_learned:
                    twin.partial_fit(X[:n_learned], y[:n_learned])
                assert state(model) == state(twin)
                pickle.loads(pickle.dumps(model))  # checks all numbers, as load does
    assert n_refused > 3
    model.save(tmp_path / "model")
    assert state(OnlineLabelTreeClassifier.load(tmp_path / "model")) == state(model)


def test_the_refusal_says_what_to_do() -> None:
    model = OnlineLabelTreeClassifier(normalize=False, loss="squared_hinge").partial_fit(
        [[1.0, 2.0]], [["a"]]
    )
    with pytest.raises(ValueError, match=r"row 1: .*largest value is 1e\+25 \(feature 1\).*normalize=True"):
        model.partial_fit([[1.0, 2.0], [1.0, 1e25]], [["b"], ["c"]])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.n_examples_ == 2


def test_names_of_a_refused_row_are_not_kept() -> None:
    model = OnlineLabelTreeClassifier(normalize=False, loss="squared_hinge").partial_fit(
        [{"x": 1.0}], [["a"]]
    )
    with pytest.raises(ValueError, match="X, row 1"):
        model.partial_fit([{"y": 1.0}, {"x": 1e25, "z": 1.0}, {"v": 1.0}], [["b"], ["c"], ["d"]])
    assert model.model_.features.names == ["x", "y"]
    assert model.n_features_in_ == 2
    model.partial_fit([{"z": 1.0}], [["c"]])
    assert model.model_.features.names == ["x", "y", "z"]


@pytest.mark.parametrize("value", [1e10, 1e19, 1e25, 3e38])
@pytest.mark.parametrize(
    "parameters",
    [
        *(
            {"solver": s, "loss": x}
            for s in ("sgd", "adagrad", "fobos")
            for x in ("logistic", "squared_hinge")
        ),
        *({"loss": x} for x in ("logistic", "squared_hinge", "squared", "exponential")),
        *({"penalty": "l1", "loss": x} for x in ("logistic", "squared_hinge")),
    ],
    ids=str,
)
def test_what_fit_makes_can_be_saved_and_loaded(
    parameters: dict[str, Any], value: float, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    X = random.random((20, 4))
    X[3, 2] = value
    model = LabelTreeClassifier(normalize=False, random_state=0, **parameters)
    try:
        model.fit(X, [[i % 5] for i in range(20)])
        model.save(tmp_path / "model")
    except ValueError:
        return  # refused, and nothing is saved
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    np.testing.assert_array_equal(
        loaded.predict_topk(X, k=2).probabilities, model.predict_topk(X, k=2).probabilities
    )
