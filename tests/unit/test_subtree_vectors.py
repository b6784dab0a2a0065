"""Label vectors of subtrees: the same rows from all over the file, and brought together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labeltree import _native
from labeltree.progress import Phases
from labeltree.training.run import Run
from labeltree.training.shared_features import HeldFeatures
from labeltree.training.workplace import Workplace
from labeltree.trees import subtree_vectors as module
from labeltree.trees.subtree_vectors import ScatteredVectors, SortedVectors, subtree_vectors

pytestmark = pytest.mark.native

N_LABELS = 300


@pytest.fixture
def vectors() -> HeldFeatures:
    """Vectors of unit length; some are empty."""
    rng = np.random.default_rng(0)
    X = sp.random(N_LABELS, 40, 0.1, "csr", np.float32, rng)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    return HeldFeatures(_native.FeatureMatrix.csr(indptr, indices, X.data, 40, False))


@pytest.fixture
def top() -> dict[str, np.ndarray]:
    """Three open nodes; the other labels have a leaf in the top."""
    labels = np.random.default_rng(1).permutation(N_LABELS)[:250].astype(np.int32)
    return {"open_begin": np.array([0, 1, 90, 250]), "open_label": labels}


@pytest.mark.parametrize("piece", [1, 7, 1 << 22])
def test_sorted_vectors_are_those_at_their_old_places(
    vectors: HeldFeatures,
    top: dict[str, np.ndarray],
    piece: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_PIECE", piece)
    run = Run(1, Phases(None), workplace=Workplace(directory=tmp_path))
    with subtree_vectors(vectors, top, run, are_computed=True) as together:
        assert isinstance(together, SortedVectors)
        for number in range(3):
            found, expected = together.open(top, number), ScatteredVectors(vectors).open(top, number)
            assert found.n_rows == expected.n_rows == np.diff(top["open_begin"])[number]
            for row in range(found.n_rows):
                for ours, theirs in zip(found.row(row), expected.row(row), strict=True):
                    np.testing.assert_array_equal(ours, theirs)
    assert list(tmp_path.iterdir()) == []


def test_vectors_stay_where_they_are(
    vectors: HeldFeatures, top: dict[str, np.ndarray], tmp_path: Path
) -> None:
    """In memory, and if they are the user's."""
    for directory, are_computed in ((None, True), (tmp_path, False)):
        run = Run(1, Phases(None), workplace=Workplace(directory=directory))
        with subtree_vectors(vectors, top, run, are_computed=are_computed) as scattered:
            assert isinstance(scattered, ScatteredVectors)
