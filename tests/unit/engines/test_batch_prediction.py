"""Predictions by the workers of an engine are those of the model."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.documents import documents
from tests.engine_elsewhere import Elsewhere

import labeltree
from labeltree import DataFormatError, LabelTreeClassifier, LabelTreeError, ModelFileError
from labeltree.data import Store, StoreWriter
from labeltree.engines import BatchPredictor, predict, predict_topk
from labeltree.engines.opened_models import opened_model
from labeltree.engines.protocol import LocalPlace
from labeltree.engines.shared_rows import opened_store
from labeltree.text import Tagger

X, Y = documents(300, 40, 30, seed=1)
TEXTS = ["a boat at sea", "a small cat", "the sea at night", "a cat at night"] * 5
LABELS = [["sea", "boat"], ["cat"], ["sea"], ["cat", "night"]] * 5


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "numbers"
    LabelTreeClassifier(random_state=0).fit(X, Y).save(path)
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("stores") / "store"
    with StoreWriter(path) as writer:
        writer.append(X, Y)
    return Store(path)


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


class TestStores:
    @pytest.mark.parametrize("rows", [None, [7, 3, 250, 3, 9]])
    def test_workers_read_the_copy_of_a_store(
        self, rows: list[int] | None, store: Store, saved: Path, tmp_path: Path
    ) -> None:
        given: Any = store if rows is None else store.take(rows)
        expected = LabelTreeClassifier.load(saved).predict_topk(given, 3)
        with labeltree.engine(Elsewhere(tmp_path, saved, store.path)) as engine:
            found = predict_topk(saved, given, 3, batch_size=4)
        assert isinstance(engine, Elsewhere)
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        assert engine.published == [saved, store.path]
        assert max(engine.sizes) < 4_000  # rows do not travel with tasks

    def test_a_worker_opens_a_store_once(
        self, store: Store, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[Any] = []
        monkeypatch.setattr("labeltree.data.store.Store", lambda path: opened.append(path) or Store(path))
        with labeltree.engine(Elsewhere(tmp_path, saved, store.path)):
            predict_topk(saved, store, 3, batch_size=50)
        assert len(opened) == 1

    def test_a_pool(self, store: Store, saved: Path) -> None:
        expected = predict_topk(saved, X, 3)
        with labeltree.engine("pool", n_workers=2):
            found = predict_topk(saved, store, 3, batch_size=70)
        np.testing.assert_array_equal(found.labels, expected.labels)

    def test_a_store_that_is_imported_again_meanwhile(
        self, store: Store, saved: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "store"
        shutil.copytree(store.path, path)
        place = LocalPlace.of(path)
        assert opened_store(place) is opened_store(place)
        os.utime(path / "store.json", ns=(0, 0))
        with pytest.raises(LabelTreeError, match=r"store\.json was changed while tasks needed it"):
            opened_store(place)

    def test_a_store_that_was_replaced_after_it_was_opened(self, saved: Path, tmp_path: Path) -> None:
        for rows in (X, X[::-1]):
            with StoreWriter(tmp_path / "store", overwrite=True) as writer:
                writer.append(rows, Y)
            if rows is X:
                opened = Store(tmp_path / "store")
        with (
            labeltree.engine("pool", n_workers=1),
            pytest.raises(DataFormatError, match="was replaced after it was opened"),
        ):
            predict_topk(saved, opened)


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
