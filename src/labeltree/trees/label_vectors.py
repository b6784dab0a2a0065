"""Label vectors for clustering: computed from examples, from co-occurring labels, or given by the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labeltree import _native, scikit_learn
from labeltree import sparse as sp
from labeltree.engines import Task
from labeltree.training.division import label_ranges
from labeltree.training.shared_examples import SharedExamples, share_examples
from labeltree.training.shared_features import FiledFeatures, SharedFeatures, share_features
from labeltree.validation import check_features
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.training.array_folder import Arrays
    from labeltree.training.examples import Examples
    from labeltree.training.run import Run


def check_label_vectors(label_vectors: Any, n_labels: int) -> None:
    """Raise `ValueError` if given vectors are missing or not as many as the labels."""
    if label_vectors is None:
        raise ValueError(
            "label_vectors is None: a saved model does not keep the vectors its labels were clustered by; "
            "set label_vectors to these vectors, or to 'features', 'cooccurrence' or 'both'"
        )
    if not isinstance(label_vectors, str) and label_vectors.shape[0] != n_labels:
        raise ValueError(
            f"label_vectors must have a row for each of the {n_labels} labels of y, but has "
            f"{label_vectors.shape[0]}"
        )


def make_label_vectors(label_vectors: Any, prune: float, examples: Examples, run: Run) -> SharedFeatures:
    """Return label vectors of unit length, for tasks; computed vectors drop entries below `prune`."""
    if not isinstance(label_vectors, str):
        return share_features(given_vectors(label_vectors), "label-vectors", run.workplace)
    kept = {} if run.label_vectors is None else run.label_vectors
    how = (label_vectors, prune)
    if how not in kept:
        kept[how] = _computed_vectors(label_vectors, prune, examples, run)
    vectors: SharedFeatures = kept[how]
    return vectors


def _computed_vectors(label_vectors: str, prune: float, examples: Examples, run: Run) -> SharedFeatures:
    workplace, n_labels = run.workplace, examples.labels.n_labels
    shared = share_examples(examples, workplace)
    tasks = [
        Task(
            f"vectors of labels {first} to {last - 1}",
            vectors_in_range,
            (shared, label_vectors, prune, run.task_threads, first, last),
        )
        for first, last in label_ranges(examples, workplace)
    ]
    title = f"computing vectors of {count_text(n_labels, 'label')}"
    arrays = run.joined("label-vectors", title, tasks, offsets=("X0",))
    sizes = {"features": examples.features.n_features, "cooccurrence": n_labels}
    vectors = FiledFeatures(arrays, sizes.get(label_vectors, sum(sizes.values())), False, (0, 0))
    return vectors.held() if workplace.is_here else vectors


def label_vector_matrix(vectors: _native.FeatureMatrix, label_vectors: Any) -> Any:
    """Return the result of `make_label_vectors` as a matrix with a row per label; it is sparse unless given dense."""
    if not isinstance(label_vectors, str):
        from sklearn.preprocessing import normalize

        return normalize(label_vectors)
    indptr, indices, data = vectors.arrays
    return sp.csr_array((data, indices, indptr), shape=(vectors.n_rows, vectors.n_features))


def vectors_in_range(
    examples: SharedExamples,
    label_vectors: str,
    prune: float,
    n_threads: int,
    first: int,
    last: int,
    progress: _native.Progress | None = None,
) -> Arrays:
    """Compute the vectors of some labels, as the arrays of a CSR matrix: a task."""
    how = (examples.open(), prune, n_threads, progress or _native.Progress(), first, last)
    if label_vectors == "features":
        made = _native.label_vectors(*how)
    elif label_vectors == "cooccurrence":
        made = _native.cooccurrence_vectors(*how)
    else:
        made = _native.join_vectors(_native.label_vectors(*how), _native.cooccurrence_vectors(*how))
    indptr, indices, data = made.arrays()
    return {"X0": indptr, "X1": indices, "X2": data}


def given_vectors(vectors: Any) -> _native.FeatureMatrix:
    """Return a matrix of vectors as the kernel reads it, scaled to unit length, without a copy if possible."""
    vectors = scikit_learn.check_array(
        vectors, accept_sparse="csr", dtype=[np.float32, np.float64], order="C", input_name="label_vectors"
    )
    return check_features(scikit_learn.BaseEstimator(), vectors, normalize=True, reset=True)
