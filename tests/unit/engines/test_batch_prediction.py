"""Predictions by the workers of an engine are those of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.documents import documents

import labeltree
from labeltree import LabelTreeClassifier, ModelFileError
from labeltree.engines import BatchPredictor, predict, predict_topk
from labeltree.engines.opened_models import opened_model
from labeltree.text import Tagger

X, Y = documents(300, 40, 30, seed=1)
TEXTS = ["a boat at sea", "a small cat", "the sea at night", "a cat at night"] * 5
LABELS = [["sea", "boat"], ["cat"], ["sea"], ["cat", "night"]] * 5


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "numbers"
    LabelTreeClassifier(random_state=0).fit(X, Y).save(path)
    return path


@pytest.mark.parametrize("kind", ["process", "pool"])
def test_answers_are_those_of_the_model(kind: str, saved: Path) -> None:
    model = LabelTreeClassifier.load(saved)
    expected = model.predict_topk(X, 3, deny=[2])
    if kind == "process":
        found, decided = predict_topk(saved, X, 3, batch_size=7, deny=[2]), predict(saved, X, batch_size=299)
    else:
        with labeltree.engine("pool", n_workers=2):
            found = predict_topk(saved, X, 3, batch_size=70, deny=[2])
            decided = predict(saved, X, batch_size=150)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    assert (decided != model.predict(X)).nnz == 0


def test_texts_and_lists_of_labels(tmp_path: Path) -> None:
    tagger = Tagger().fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tags")
    assert predict(tmp_path / "tags", TEXTS, batch_size=3) == tagger.predict(TEXTS)
    found = predict_topk(tmp_path / "tags", TEXTS, 2, batch_size=3)
    assert found.labels.tolist() == tagger.predict_topk(TEXTS, 2).labels.tolist()


def test_no_rows(saved: Path) -> None:
    assert predict_topk(saved, X[:0], 3).labels.shape == (0, 3)


def test_wrong_arguments(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="batch_size"):
        predict_topk(saved, X, batch_size=0)
    with pytest.raises(ValueError, match="return_evaluations"):
        predict_topk(saved, X, return_evaluations=True)
    with pytest.raises(ValueError, match="k must be"):
        predict_topk(saved, X, k=0)
    with pytest.raises(ModelFileError, match=r"no model\.json"):
        predict_topk(tmp_path, X)


def test_a_model_is_opened_once_and_again_when_it_was_saved_anew(tmp_path: Path) -> None:
    path = tmp_path / "model"
    LabelTreeClassifier(random_state=0).fit(X, Y).save(path)
    first = opened_model(path)
    assert opened_model(path) is first
    LabelTreeClassifier(random_state=1, max_leaves=3).fit(X, Y).save(path)
    assert opened_model(path).max_leaves == 3


class TestBatchPredictor:
    def test_rows_of_numbers(self, saved: Path) -> None:
        predictor = BatchPredictor(saved, column="x", k=2, threshold=0.1)
        rows: Any = X[:9].toarray()
        batch = predictor({"x": rows, "id": np.arange(9)})
        expected = LabelTreeClassifier.load(saved).predict_topk(X[:9], 2, threshold=0.1)
        assert list(batch) == ["x", "id", "labels", "probabilities"]
        np.testing.assert_array_equal(batch["labels"], expected.labels)
        np.testing.assert_allclose(batch["probabilities"], expected.probabilities, rtol=1e-5)

    def test_a_column_that_is_not_there(self, saved: Path) -> None:
        with pytest.raises(ValueError, match=r"column 'text' in batches, got \['x'\]"):
            BatchPredictor(saved)({"x": np.zeros((1, 2))})
