"""The bundled catalogue: what it holds, and its matrices against a plain computation."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from labeltree.datasets import TateCatalogue, TateMatrices, load_tate


@pytest.fixture(scope="module")
def tate() -> TateCatalogue:
    return load_tate()


@pytest.fixture(scope="module")
def matrices(tate: TateCatalogue) -> TateMatrices:
    return tate.to_matrices()


def test_contents(tate: TateCatalogue) -> None:
    assert len(tate.texts_train) == len(tate.labels_train) == 52_912
    assert len(tate.texts_test) == len(tate.labels_test) == 5_889
    assert len(tate.subject_names) == len(tate.parents) == 16_632
    index = tate.texts_test.index(next(text for text in tate.texts_test if "Turner" in text))
    assert all(tate.labels_test[index])
    with pytest.raises(dataclasses.FrozenInstanceError):
        tate.texts_train = []  # type: ignore[misc]  # the mistake under test


def test_subjects_are_a_hierarchy(tate: TateCatalogue) -> None:
    def ancestors(subject: int) -> list[int]:
        path = []
        while (subject := tate.parents[subject]) != 1:
            path.append(subject)
        return path

    assert 1 not in tate.subject_names
    assert max(len(ancestors(subject)) for subject in tate.subject_names) == 2
    top = [name for subject, name in tate.subject_names.items() if tate.parents[subject] == 1]
    assert len(top) == 16
    assert "nature" in top
    missing = total = 0
    for labels in tate.labels_train:
        assert len(set(labels)) == len(labels)
        for subject in labels:
            total += 1
            missing += not set(ancestors(subject)) <= set(labels)
    assert missing == 0
    assert total / len(tate.labels_train) == pytest.approx(14.3, abs=0.05)


def test_matrices_like_a_plain_computation(tate: TateCatalogue, matrices: TateMatrices) -> None:
    word = re.compile(r"[^\W\d_]{2,}")
    frequency: Counter[str] = Counter()
    for text in tate.texts_train:
        frequency.update(set(word.findall(text.lower())))
    words = sorted(w for w, count in frequency.items() if count >= 3)
    assert matrices.words.tolist() == words
    column = {w: i for i, w in enumerate(words)}
    n = len(tate.texts_train)
    for X, texts in ((matrices.X_train, tate.texts_train), (matrices.X_test, tate.texts_test)):
        assert X.dtype == np.float32
        assert X.has_sorted_indices
        assert X.shape == (len(texts), len(words))
        for row in range(0, len(texts), 97):
            counts = Counter(column[w] for w in word.findall(texts[row].lower()) if w in column)
            weights = {
                j: (1 + math.log(count)) * (math.log((1 + n) / (1 + frequency[words[j]])) + 1)
                for j, count in sorted(counts.items())
            }
            norm = math.hypot(*weights.values()) or 1.0
            found = slice(X.indptr[row], X.indptr[row + 1])
            assert X.indices[found].tolist() == list(weights)
            np.testing.assert_allclose(X.data[found], [w / norm for w in weights.values()], rtol=2e-6)


def test_label_matrices(tate: TateCatalogue, matrices: TateMatrices) -> None:
    seen = sorted({subject for labels in tate.labels_train for subject in labels})
    assert matrices.subject_ids.tolist() == seen
    for y, labels in ((matrices.y_train, tate.labels_train), (matrices.y_test, tate.labels_test)):
        assert y.dtype == np.float32
        assert y.has_canonical_format
        assert y.shape == (len(labels), len(seen))
        assert (y.data == 1).all()
        for row in range(0, len(labels), 97):
            columns = y.indices[y.indptr[row] : y.indptr[row + 1]]
            assert matrices.subject_ids[columns].tolist() == sorted(set(labels[row]) & set(seen))


def test_licence_is_there() -> None:
    licence = resources.files("labeltree.datasets") / "tate_catalogue" / "LICENCE"
    assert "CC0 1.0 Universal" in licence.read_text()
