"""The catalogue of the Tate galleries: captions of artworks and the subjects that they show."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer


class TateMatrices(NamedTuple):
    """The catalogue as sparse matrices of float32."""

    X_train: csr_matrix
    y_train: csr_matrix
    X_test: csr_matrix
    y_test: csr_matrix
    words: NDArray[Any]
    """The word of each column of X."""
    subject_ids: NDArray[np.int64]
    """The subject of each column of y, in ascending order."""


@dataclass(frozen=True)
class TateCatalogue:
    """Captions of artworks and the subjects that they show.

    Attributes
    ----------
    texts_train, texts_test : list of str
        Title, artist, medium, date and provenance.
    labels_train, labels_test : list of list of int
        Ids of the subjects of each artwork, including their ancestors in the hierarchy.
    subject_names : dict of int to str
        The name of each subject. Names are not unique.
    parents : dict of int to int
        The parent of each subject. The root of the hierarchy, 1, is not a subject itself.
    """

    texts_train: list[str]
    labels_train: list[list[int]]
    texts_test: list[str]
    labels_test: list[list[int]]
    subject_names: dict[int, str]
    parents: dict[int, int]

    def to_matrices(self) -> TateMatrices:
        """Return the words of the texts, weighted by tf-idf, and the subjects seen in training.

        Words are runs of two or more letters, in lower case, that occur in at least three training texts. Their
        weight is (1 + log tf) · idf, and rows have length 1.

        Examples
        --------
        >>> from labeltree.datasets import load_tate
        >>> matrices = load_tate().to_matrices()
        >>> matrices.X_train.shape, matrices.y_train.shape
        ((52912, 9493), (52912, 15803))
        """
        vectorizer = TfidfVectorizer(
            token_pattern=r"[^\W\d_]{2,}", min_df=3, sublinear_tf=True, dtype=np.float32
        )
        X_train = csr_matrix(vectorizer.fit_transform(self.texts_train))
        X_train.sort_indices()
        subject_ids = np.unique(np.concatenate([np.array(ids, dtype=np.int64) for ids in self.labels_train]))
        return TateMatrices(
            X_train=X_train,
            y_train=_label_matrix(self.labels_train, subject_ids),
            X_test=csr_matrix(vectorizer.transform(self.texts_test)),
            y_test=_label_matrix(self.labels_test, subject_ids),
            words=vectorizer.get_feature_names_out(),
            subject_ids=subject_ids,
        )


def load_tate() -> TateCatalogue:
    """Load the catalogue of the Tate galleries, 58,801 artworks tagged with 16,632 subjects.

    Tate published it under CC0, and the library includes it. An artwork is a test example if its id is divisible
    by 10.

    Returns
    -------
    TateCatalogue

    Examples
    --------
    >>> from labeltree.datasets import load_tate
    >>> tate = load_tate()
    >>> len(tate.texts_train), len(tate.texts_test)
    (52912, 5889)
    >>> tate.texts_train[0][:69]
    'A Fishing Boat in Dieppe Harbour Christopher Wood Oil paint on canvas'
    >>> [tate.subject_names[subject] for subject in tate.labels_train[0]][:4]
    ['architecture', 'townscapes, man-made features', 'nature', 'seascapes and coasts']
    """
    texts: dict[bool, list[str]] = {True: [], False: []}
    labels: dict[bool, list[list[int]]] = {True: [], False: []}
    for artwork, subjects, text in _read_table("artworks.tsv.xz"):
        is_test = int(artwork) % 10 == 0
        texts[is_test].append(text)
        labels[is_test].append([int(subject) for subject in subjects.split()])
    _header, *rows = _read_table("subjects.tsv.xz")
    names = {int(subject): name for subject, _, _, name in rows}
    parents = {int(subject): int(parent) for subject, parent, _, _ in rows}
    return TateCatalogue(texts[False], labels[False], texts[True], labels[True], names, parents)


def _read_table(name: str) -> list[list[str]]:
    file = resources.files(__package__) / "tate_catalogue" / name
    lines = lzma.decompress(file.read_bytes()).decode("utf-8").removesuffix("\n").split("\n")
    return [line.split("\t") for line in lines]


def _label_matrix(labels: list[list[int]], subject_ids: NDArray[np.int64]) -> csr_matrix:
    """Return 1 where a row has the subject of a column; subjects without a column are left out."""
    columns = set(subject_ids.tolist())
    binarizer = MultiLabelBinarizer(classes=subject_ids, sparse_output=True)
    y = csr_matrix(binarizer.fit_transform([columns.intersection(row) for row in labels]), dtype=np.float32)
    y.sort_indices()
    return y
