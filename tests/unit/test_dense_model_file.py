"""Models with dense features on disk: as they were, smaller on request, and nothing believed."""

from __future__ import annotations

import json
import shutil
from typing import Any

import numpy as np
import pytest
from tests.embeddings import embedded_documents
from tests.reference.search import decoded
from tests.unit.test_hostile_models import edit_document, edit_tensors, the_file

from labeltree import LabelTreeClassifier, ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import Tensor, map_tensors

pytestmark = pytest.mark.native

WORDS, EMBEDDING, Y = embedded_documents()
PAIR = (WORDS, EMBEDDING)


@pytest.fixture(scope="module")
def model() -> LabelTreeClassifier:
    return LabelTreeClassifier(arity=3, max_leaves=20, weights="float32", random_state=0).fit(PAIR, Y)


@pytest.fixture(scope="module")
def saved(model: LabelTreeClassifier, tmp_path_factory: Any) -> Any:
    directory = tmp_path_factory.mktemp("models")
    for weights in ("float32", "bfloat16", "int8"):
        model.save(directory / weights, weights=weights)
    return directory


@pytest.fixture
def directory(saved: Any, tmp_path: Any) -> Any:
    """A copy of a model, to be spoiled."""
    return shutil.copytree(saved / "float32", tmp_path / "model")


def test_a_loaded_model_answers_as_it_did(model: LabelTreeClassifier, saved: Any) -> None:
    loaded = LabelTreeClassifier.load(saved / "float32", verify=True)
    assert loaded.dense_features_ == model.dense_features_ == (60, 72)
    expected, found = model.predict_topk(PAIR), loaded.predict_topk(PAIR)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_only_models_with_dense_features_have_their_range(saved: Any, tmp_path: Any) -> None:
    document = json.loads((saved / "float32" / "model.json").read_text(encoding="utf-8"))
    assert document["dense_features"] == [60, 72]
    info = read_info(saved / "float32")
    assert (info.format_version, info.dense_features) == (13, (60, 72))
    LabelTreeClassifier(random_state=0).fit(WORDS, Y).save(tmp_path / "sparse")
    document = json.loads((tmp_path / "sparse" / "model.json").read_text(encoding="utf-8"))
    assert "dense_features" not in document


def test_dense_weights_are_mapped_at_the_beginning_of_a_vector(saved: Any) -> None:
    with the_file(saved / "float32", "tree-0").open("rb") as file:
        weight = map_tensors(file).tensors["dense_weight"].values
    assert weight.ctypes.data % 64 == 0
    loaded = load(saved / "float32").weights_[0].arrays["dense_weight"]
    assert not loaded.flags.owndata
    assert not loaded.flags.writeable


@pytest.mark.parametrize(("weights", "error"), [("bfloat16", 2.0**-8), ("int8", 0.5 / 127)])
def test_smaller_weights(model: LabelTreeClassifier, saved: Any, weights: str, error: float) -> None:
    loaded = load(saved / weights, verify=True)
    for exact, rounded in zip(model.weights_, loaded.weights_, strict=True):
        assert rounded.weight_type == weights
        W, approximate = (decoded(w, 72)[0][:, 60:] for w in (exact, rounded))
        largest = np.abs(W).max(axis=1, keepdims=True) if weights == "int8" else np.abs(W)
        assert (np.abs(W - approximate) <= 1.01 * error * largest + 1e-12).all()
        assert (approximate != W).any()
    found = loaded.predict_topk(PAIR, k=30)
    expected = model.predict_topk(PAIR, k=30)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=0.05)
    sizes = [read_info(saved / kind).n_bytes for kind in ("float32", "bfloat16", "int8")]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_saving_again_and_back(saved: Any, tmp_path: Any, weights: str) -> None:
    loaded = load(saved / weights)
    loaded.save(tmp_path / "again")
    names = sorted(path.name for path in (saved / weights).iterdir())
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == names
    loaded.save(tmp_path / "wide", weights="float32")
    found = load(tmp_path / "wide").predict_topk(PAIR)
    np.testing.assert_allclose(found.probabilities, loaded.predict_topk(PAIR).probabilities, rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dense_features": [60, 71]}, "not the first or the last"),
        ({"dense_features": [59, 72]}, "weights of dense features does not fit the tree"),
        ({"dense_features": [0, 12]}, "a dense feature is among the sparse ones"),
        ({"dense_features": [30, 42]}, "not the first or the last"),
        ({"dense_features": [60, 73]}, "must be a range within the features, got 60 to 73"),
        ({"dense_features": [72, 60]}, "must be a range within the features"),
        ({"dense_features": [72, 72]}, "must be a range within the features"),
        ({"dense_features": [-12, 0]}, "must be a range within the features"),
        ({"dense_features": [60]}, "must be two integers"),
        ({"dense_features": [60.0, 72]}, "must be two integers"),
        ({"dense_features": [False, True]}, "must be two integers"),
        ({"dense_features": None}, "'dense_features' must be of type list"),
        ({"dense_features": [0, 2**62], "n_features": 2**31 - 2}, "must be a range within the features"),
        ({"dense_features": [0, 2**31 - 2], "n_features": 2**31 - 2}, "does not fit the tree"),
        ({"n_features": 60}, "must be a range within the features"),
        ({"format_version": 1}, "format version 1, but its sections are those of version 13"),
    ],
    ids=str,
)
def test_documents_that_lie(directory: Any, change: dict[str, Any], message: str) -> None:
    edit_document(directory, lambda document: document.update(change))
    with pytest.raises(ModelFileError, match=message):
        load(directory, verify=True)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda t: t.update(dense_weight=Tensor("F32", t["dense_weight"].values[16:])),
            "does not fit the tree",
        ),
        (
            lambda t: t.update(dense_weight=Tensor("F32", t["dense_weight"].values[:0])),
            "does not fit the tree",
        ),
        (
            lambda t: t.update(dense_weight=Tensor("F32", np.tile(t["dense_weight"].values, 2))),
            "does not fit",
        ),
        (
            lambda t: t.update(dense_weight=Tensor("F32", t["dense_weight"].values.reshape(-1, 16))),
            "dense_weight has the wrong type or shape",
        ),
        (
            lambda t: t.update(dense_weight=Tensor("F64", t["dense_weight"].values.astype(np.float64))),
            "model.json says float32 weights",
        ),
        (
            lambda t: t.update(dense_weight=Tensor("BF16", t["dense_weight"].values.astype("<u2"))),
            "but they are BF16",
        ),
        (lambda t: t.update(dense_scale=t["bias"]), "expected the tensors"),
        (lambda t: t.pop("dense_weight"), "expected the tensors"),
    ],
)
def test_trees_of_the_wrong_tensors(directory: Any, edit: Any, message: str) -> None:
    edit_tensors(directory, "tree-0", edit)
    with pytest.raises(ModelFileError, match=f"tree-0-.*({message})"):
        load(directory)


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t.update(dense_scale=Tensor("F32", t["dense_scale"].values[1:])),
        lambda t: t.update(dense_scale=Tensor("F32", t["dense_scale"].values[:0])),
        lambda t: t.update(dense_weight=Tensor("I8", t["dense_weight"].values[:-16])),
        lambda t: t.update(dense_scale=Tensor("F32", t["dense_scale"].values.reshape(1, -1))),
    ],
)
def test_scales_that_do_not_fit(saved: Any, tmp_path: Any, edit: Any) -> None:
    directory = shutil.copytree(saved / "int8", tmp_path / "model")
    edit_tensors(directory, "tree-0", edit)
    with pytest.raises(
        ModelFileError,
        match=r"tree-0-.*(does not fit the (weights of dense features|tree)|wrong type or shape)",
    ):
        load(directory)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_do_no_harm(directory: Any, value: float) -> None:
    edit_tensors(
        directory, "tree-0", lambda t: t["dense_weight"].values.__setitem__(slice(None, None, 3), value)
    )
    model = load(directory)
    top = model.predict_topk(PAIR, k=30)
    assert ((top.probabilities >= 0) & (top.probabilities <= 1)).all()
    alone = model.predict_topk((WORDS[[5]], EMBEDDING[[5]]), k=30)
    np.testing.assert_array_equal(alone.probabilities[0], top.probabilities[5])
    with pytest.raises(ValueError, match="not finite; int8 cannot hold it, but weights='float32' can"):
        model.save(directory.with_name("copy"), weights="int8")
    assert not directory.with_name("copy").exists()
