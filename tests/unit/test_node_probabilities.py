"""What every node says about a row: the kernel's numbers against weights decoded in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.kernel import kernel_probabilities
from tests.reference.search import LINKS, decoded, node_probabilities
from tests.strategies import models_and_rows

from labeltree import LabelTree, LabelTreeClassifier, _native
from labeltree.model.weight_types import to_bfloat16

pytestmark = pytest.mark.native


@given(models_and_rows())
def test_probabilities_are_those_of_decoded_weights(drawn: tuple[LabelTreeClassifier, np.ndarray]) -> None:
    model, X = drawn
    for row, x in enumerate(X.astype(np.float64)):
        expected = node_probabilities(model.weights_[0], x, model.link, model.normalize_siblings)
        np.testing.assert_allclose(kernel_probabilities(model, X, row), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_links(link: str) -> None:
    scores = np.concatenate([np.linspace(-12, 12, 193), [-1e30, -1000, 1000, 1e30]])
    found = [_native.apply_link(getattr(_native.Link, link), score) for score in scores]
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(found, LINKS[link](scores), rtol=2e-5, atol=1e-30)
    assert _native.apply_link(getattr(_native.Link, link), np.nan) == 0


def test_bfloat16_is_the_nearest_of_eight_bits() -> None:
    rng = np.random.default_rng(0)
    values = (rng.normal(size=2000) * 10.0 ** rng.integers(-20, 20, 2000)).astype(np.float32)
    rounded = (to_bfloat16(values).astype(np.uint32) << 16).view(np.float32)
    spacing = 2.0 ** (np.floor(np.log2(np.abs(values))) - 7)
    assert (np.abs(rounded.astype(np.float64) - values) <= spacing / 2).all()
    halfway = np.array([0x3F808000, 0x3F818000], dtype=np.uint32).view(np.float32)
    assert to_bfloat16(halfway).tolist() == [0x3F80, 0x3F82]  # ties to even


@pytest.mark.parametrize(("weight_type", "precision"), [("bfloat16", 2**-8), ("int8", 1 / 254)])
def test_smaller_weights_are_near_the_weights(weight_type: str, precision: float) -> None:
    rng = np.random.default_rng(1)
    tree = LabelTree.from_nested([[0, 1, 2], [3, [4, 5]]])
    W = rng.normal(size=(tree.n_nodes, 20)).astype(np.float32)
    W[3] = 0  # a node without weights has no scale to speak of
    smaller = tree_weights(tree, W, np.zeros(tree.n_nodes)).with_weight_type(weight_type)
    largest = np.abs(W).max(axis=1, keepdims=True) if weight_type == "int8" else np.abs(W)
    assert (np.abs(decoded(smaller, 20)[0] - W) <= largest * precision * 1.0001).all()
    assert smaller.nbytes < tree_weights(tree, W, np.zeros(tree.n_nodes)).nbytes
    widened = smaller.with_weight_type("float32")
    np.testing.assert_allclose(decoded(widened, 20)[0], decoded(smaller, 20)[0], rtol=1e-6)


def test_few_features_in_a_large_block_and_many_in_a_small_one() -> None:
    """Whatever the share of the features that a query and a block have."""
    rng = np.random.default_rng(2)
    tree = LabelTree.flat(3)
    W = rng.normal(size=(4, 5000)).astype(np.float32)
    W[:, ::3] = 0
    model = hand_made_classifier([tree_weights(tree, W, np.zeros(4))], 5000, "sigmoid")
    for n_nonzero in (0, 1, 2, 7, 50, 400, 5000):
        x = np.zeros((1, 5000), dtype=np.float32)
        x[0, rng.permutation(5000)[:n_nonzero]] = rng.normal(size=n_nonzero) / 10
        expected = node_probabilities(model.weights_[0], x[0].astype(np.float64), "sigmoid")
        np.testing.assert_allclose(kernel_probabilities(model, x, 0), expected, rtol=1e-4)


def test_features_that_crowd_together_are_found() -> None:
    """A block's features are looked up in buckets of ids; here nearly all of them are in the first and the last."""
    rng = np.random.default_rng(3)
    n_features = 100_000
    stored = np.r_[0:200:2, 50_000, n_features - 200 : n_features : 3, n_features - 1]
    W = np.zeros((4, n_features), dtype=np.float32)
    W[:, stored] = rng.normal(size=(4, len(stored)))
    model = hand_made_classifier([tree_weights(LabelTree.flat(3), W, np.zeros(4))], n_features, "sigmoid")
    # Beside those that are there, their absent neighbours; and more than are looked up at a time.
    asked = np.unique(np.r_[0:210, 49_999:50_002, n_features - 210 : n_features])
    for some in (asked, asked[::2], asked[1::2], rng.choice(asked, 70, replace=False), stored[-1:]):
        x = np.zeros((1, n_features), dtype=np.float32)
        x[0, some] = rng.normal(size=len(some)) / 10
        expected = node_probabilities(model.weights_[0], x[0].astype(np.float64), "sigmoid")
        np.testing.assert_allclose(kernel_probabilities(model, x, 0), expected, rtol=1e-4)
