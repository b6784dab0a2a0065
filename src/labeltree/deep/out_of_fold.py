"""Vectors of texts by encoders that were trained without them: for linear models over words and vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from labeltree.deep.text_model import check_texts
from labeltree.labels.reading import read_labels
from labeltree.validation import Number, check_arguments, check_same_rows, check_sample_weight, take_rows
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.deep.encoder_tree import EncoderTreeClassifier


def out_of_fold_vectors(
    classifier: EncoderTreeClassifier,
    texts: Any,
    y: Any,
    n_folds: int = 3,
    random_state: Any = 0,
    *,
    sample_weight: Any = None,
    label_names: Mapping[Any, str] | None = None,
) -> NDArray[np.float32]:
    """Return a vector of each text, by an encoder that was trained on the other folds.

    Vectors that an encoder makes of the texts that it was trained on know their labels too well: a model that learns
    from them trusts them too much. Train on these vectors instead, and predict with those of one encoder that is
    trained on all texts. The encoder is trained once for each fold.

    Parameters
    ----------
    classifier : EncoderTreeClassifier
        Stays as it is: copies are trained. If it has a `checkpoint`, each fold has a directory of its own in it.
    texts, y
        As for its `fit`.
    n_folds : int
        Number of folds, 2 or more.
    random_state : int, RandomState or None
        Deals the texts out to folds.
    sample_weight, label_names
        As for its `fit`.

    Returns
    -------
    array of float32 of shape (n_texts, dimension)

    Examples
    --------
    A linear tree over words and vectors::

        encoder = EncoderTreeClassifier("path/of/encoder", random_state=0)
        vectors = out_of_fold_vectors(encoder, texts, y)
        vectorizer = TextVectorizer()
        tree = LabelTreeClassifier(n_trees=3).fit((vectorizer.fit_transform(texts), vectors), y)
        encoder.fit(texts, y)
        tree.predict((vectorizer.transform(new_texts), encoder.transform(new_texts)))
    """
    given, labels = check_texts(texts, type(classifier).__name__), read_labels(y)
    check_same_rows(len(given), labels.n_rows)
    weight = check_sample_weight(sample_weight, len(given))
    check_arguments("out_of_fold_vectors", {"n_folds": n_folds}, {"n_folds": Number(2, integer=True)})
    if n_folds > len(given):
        raise ValueError(f"n_folds={n_folds} is more than there are texts: {count_text(len(given), 'text')}")
    fold = np.arange(len(given)) % n_folds
    fold = fold[check_random_state(random_state).permutation(len(given))]
    vectors: NDArray[np.float32] | None = None
    for number in range(n_folds):
        rest, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        copied: EncoderTreeClassifier = clone(classifier)
        if copied.checkpoint is not None:
            copied.checkpoint = os.path.join(os.fspath(copied.checkpoint), f"fold-{number}")
        own_weight = None if weight is None else weight[rest]
        copied.fit(take_rows(given, rest), labels.take(rest), own_weight, label_names=label_names)
        found = copied.transform(take_rows(given, held_out))
        if vectors is None:
            vectors = np.empty((len(given), found.shape[1]), dtype=np.float32)
        vectors[held_out] = found
    assert vectors is not None
    return vectors
