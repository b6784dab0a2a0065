"""Saved word vectors that are damaged or made to do harm: each file gives `ModelFileError`, and says why."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.small_models import N_FEATURES, N_LABELS, small_data
from tests.unit.test_model_file_fuzz import (
    Model,
    change_document,
    change_header,
    change_numbers,
    cut_or_lengthen,
    flip_bits,
    overwrite_range,
)
from tests.unit.test_model_file_fuzz import ask as ask_everything
from tests.vector_models import vector_model

from labeltree import ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import Tensor, map_tensors, write_tensors

X, Y = small_data()
TYPES = ("int8", "float32", "bfloat16")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for weights in TYPES:
        vector_model("logistic").save(root / weights, weights=weights)
    vector_model("logistic", random_state=5).save(root / "other")
    vector_model("fasttext-hs").save(root / "fasttext")
    vector_model("logistic").calibrate(X, Y).save(root / "calibrated")
    return root


@pytest.fixture
def directory(saved: Path, tmp_path: Path) -> Path:
    """A copy of a model, to be spoiled."""
    return shutil.copytree(saved / "int8", tmp_path / "model")


def edit_document(directory: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    path = directory / "model.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def edit_tensors(directory: Path, edit: Callable[[dict[str, Tensor]], Any]) -> None:
    """Change tensors of the vectors and make everything else, checksums included, fit again."""
    path = next(directory.glob("embedding-*.safetensors"))
    with path.open("rb") as file:
        tensors = {
            name: Tensor(dtype, values.copy()) for name, (dtype, values) in map_tensors(file).tensors.items()
        }
    edit(tensors)
    with (directory / "new").open("wb") as file:
        written = write_tensors(file, tensors)
    name = f"embedding-{written.content[:32]}.safetensors"
    path.unlink()
    (directory / "new").rename(directory / name)
    edit_document(
        directory,
        lambda document: document["files"]["embedding"].update(
            name=name, bytes=written.n_bytes, sha256=written.sha256
        ),
    )


def refused(directory: Path, message: str) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        load(directory)
    assert str(caught.value).startswith(f"{directory}: ")
    with pytest.raises(ModelFileError):
        load(directory, verify=True)


# -- model.json ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 9}, "format version 9, but its sections are those of version 10"),
        ({"dimension": 5}, r"word_vector must be of shape \(20, 5\), got int8 of shape \(20, 6\)"),
        ({"dimension": 0}, "dimension must be from 1"),
        ({"dimension": 2**31}, "dimension must be from 1"),
        ({"dimension": 6.0}, "'dimension' must be of type int"),
        ({"dimension": None}, "'dimension' must be of type int"),
        ({"weights": "float32"}, "expected the tensors"),
        ({"weights": "bfloat16"}, "expected the tensors"),
        ({"weights": "float16"}, "'weights' must be one of"),
        ({"n_features": N_FEATURES - 1}, r"word_vector must be of shape \(19, 6\)"),
        ({"n_features": 2**31 - 2}, r"word_vector must be of shape \(2147483646, 6\)"),
        ({"n_features": 0}, "n_features must be from 1"),
        ({"n_labels": N_LABELS - 1}, "model.json says 11 labels, but the tree has 12"),
        ({"n_labels": 10**18}, "n_labels must be from 1"),
        ({"dense_features": [5, 2]}, "dense_features must be a range"),
        ({"dense_features": [0, 21]}, "dense_features must be a range"),
        ({"dense_features": [1]}, "dense_features must be two integers"),
        ({"estimator": "FastTextClassifier"}, "FastTextClassifier has no parameter"),
        ({"estimator": "LabelTreeClassifier"}, "."),
        ({"estimator": "FastXMLClassifier"}, "."),
        ({"training_report": [{"n_passes": "many"}]}, "'n_passes' must be of type int"),
        ({"parameters": {"dimension": 7}}, "parameter 'dimension' is 7, but the vectors have 6"),
        ({"parameters": {"dimension": 10**9}}, "'dimension' must be an integer of at least 1 and at most"),
        ({"parameters": {"dimension": 6, "loss": "hs"}}, "'loss' must be one of 'logistic', 'softmax'"),
        ({"parameters": {"dimension": 6, "pooling": "max"}}, "'pooling' must be one of 'sum', 'mean'"),
        ({"parameters": {"dimension": 6, "tree": "oak"}}, "'tree' must be one of .*, got 'oak'"),
        ({"parameters": {"dimension": 6, "tree": [1]}}, "tree"),
        ({"parameters": {"dimension": 6, "solver": "os.system"}}, "'solver' must be one of"),
        ({"parameters": {"dimension": 6, "vector_type": "pickle"}}, "'vector_type' must be one of"),
        ({"parameters": {"dimension": 6, "hard_negatives": -1}}, "'hard_negatives' must be"),
        ({"parameters": {"dimension": 6, "shell": "rm"}}, "has no parameter 'shell'"),
        ({"files": {"labels": None, "feature_names": None}}, "."),
        ({"another": 1}, "unknown field 'another'"),
    ],
    ids=str,
)
def test_documents_that_lie(directory: Path, change: dict[str, Any], message: str) -> None:
    edit_document(directory, lambda document: document.update(change))
    refused(directory, message)


@pytest.mark.parametrize("name", ["dimension", "weights", "n_features", "dense_features", "parameters"])
def test_documents_with_a_field_missing(directory: Path, name: str) -> None:
    edit_document(directory, lambda document: document.pop(name))
    refused(directory, f"no '{name}'")


def test_models_of_trained_files_are_never_read_from_elsewhere(directory: Path) -> None:
    """A saved model says nothing about files of word vectors, and opens none."""
    edit_document(
        directory, lambda document: document["parameters"].update(pretrained="/etc/passwd", frozen=True)
    )
    model = load(directory)
    assert model.predict_topk(X, 3).probabilities.shape == (60, 3)
    assert model.stored_parameters()["pretrained"] is None


# -- tensors -------------------------------------------------------------------------------------------------------

NAMES = (
    "child_begin",
    "label",
    "bias",
    "word_vector",
    "node_vector",
    "word_vector_scale",
    "node_vector_scale",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_tensor(directory: Path, name: str) -> None:
    edit_tensors(directory, lambda tensors: tensors.pop(name))
    refused(directory, f"embedding-.*expected the tensors .*{name}")


def test_a_tensor_too_many(directory: Path) -> None:
    edit_tensors(directory, lambda tensors: tensors.update(more=tensors["bias"]))
    refused(directory, "embedding-.*expected the tensors .*, got .*'more'")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["longer", "shorter", "empty", "wider", "a number"])
def test_tensors_of_another_shape(directory: Path, name: str, how: str) -> None:
    change: dict[str, Callable[[Any], Any]] = {
        "longer": lambda v: np.concatenate([v, v[-1:]]),
        "shorter": lambda v: v[:-1],
        "empty": lambda v: v[:0],
        "wider": lambda v: np.stack([v, v], axis=-1),
        "a number": lambda v: v.reshape(-1)[:1].reshape(()),
    }

    def edit(tensors: dict[str, Tensor]) -> None:
        dtype, values = tensors[name]
        tensors[name] = Tensor(dtype, np.ascontiguousarray(change[how](values)))

    edit_tensors(directory, edit)
    refused(directory, "embedding-.*(must|entry|1-d|shape)")


OF_INT8, OF_INT32 = ("word_vector", "node_vector"), ("child_begin", "label")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in NAMES for dtype in (np.float64, np.int64, np.uint8)]
    + [(name, np.float32) for name in OF_INT8 + OF_INT32]
    + [(name, np.int8) for name in NAMES if name not in OF_INT8],
)
def test_tensors_of_another_type(directory: Path, name: str, dtype: type) -> None:
    def edit(tensors: dict[str, Tensor]) -> None:
        assert tensors[name].values.dtype != dtype
        tensors[name] = Tensor.of(tensors[name].values.astype(dtype))

    edit_tensors(directory, edit)
    if (name, dtype) == ("label", np.uint8):  # -1 is none
        refused(directory, "embedding-.*label 255")
    elif name in ("child_begin", "label") and np.dtype(dtype).kind in "iu":
        assert ask_everything(directory, verify=True) == "answered"  # other integers will do
    else:
        refused(directory, "embedding-.*(must|float32|integers|but .*_vector has)")


@pytest.mark.parametrize("weights", TYPES)
def test_model_json_lies_about_the_type_of_vectors(saved: Path, tmp_path: Path, weights: str) -> None:
    directory = shutil.copytree(saved / weights, tmp_path / "model")
    for said in set(TYPES) - {weights}:
        edit_document(directory, lambda document, said=said: document.update(weights=said))
        refused(directory, f"expected the tensors|model.json says {said} weights, but word_vector has")


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("child_begin", 0, 2, "child_begin must start with 1"),
        ("child_begin", 3, 2**31 - 1, "must not decrease"),
        ("child_begin", -1, 2**31 - 1, "child_begin"),
        ("child_begin", 1, -1, "child_begin"),
        ("label", -1, 2**31 - 1, "is missing"),
        ("label", 0, 0, "node 0 has children and label 0"),
        ("label", -1, -1, "label"),
    ],
)
def test_trees_that_lie(directory: Path, name: str, index: int, value: int, message: str) -> None:
    def edit(tensors: dict[str, Tensor]) -> None:
        tensors[name].values[index] = value

    edit_tensors(directory, edit)
    refused(directory, f"embedding-.*{message}")


@pytest.mark.native
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize(
    ("source", "name"),
    [(source, name) for source in ("float32", "bfloat16") for name in ("word_vector", "node_vector", "bias")]
    + [
        (source, name)
        for source in ("int8", "fasttext")
        for name in ("word_vector_scale", "node_vector_scale", "bias")
    ],
)
def test_numbers_that_are_not_finite_do_no_harm(
    saved: Path, tmp_path: Path, source: str, name: str, value: float
) -> None:
    directory = shutil.copytree(saved / source, tmp_path / "model")

    def edit(tensors: dict[str, Tensor]) -> None:
        values = tensors[name].values
        if values.dtype == np.uint16:  # the upper half of float32
            values[::2] = np.float32(value).view(np.uint32) >> 16
        else:
            values[::2] = value

    edit_tensors(directory, edit)
    # Refused, or all answers are probabilities.
    for verify in (False, True):
        assert ask_everything(directory, verify) in ("answered", "refused", "refused when asked")
    try:
        model = load(directory)
    except ModelFileError:
        return
    for parameters in ({"normalize_siblings": True}, {"search": "beam", "beam": 2}):
        if source != "fasttext":
            found = model.set_params(**parameters).predict_topk(X, N_LABELS).probabilities
            assert ((found >= 0) & (found <= 1)).all()
    model.transform(X)


# -- files ---------------------------------------------------------------------------------------------------------


def test_files_of_another_model(directory: Path, saved: Path) -> None:
    mine = next(directory.glob("embedding-*"))
    theirs = next((saved / "other").glob("embedding-*"))
    shutil.copy(theirs, mine)
    size = {"bytes": mine.stat().st_size}
    edit_document(directory, lambda document: document["files"]["embedding"].update(size))
    refused(directory, "swapped or damaged")
    # Under its own name it would be taken, but its checksum gives it away.
    mine.rename(directory / theirs.name)
    edit_document(directory, lambda document: document["files"]["embedding"].update(name=theirs.name))
    with pytest.raises(ModelFileError, match=r"the checksum is not the one in model\.json"):
        load(directory, verify=True)


def test_labels_in_place_of_vectors(directory: Path) -> None:
    def swap(document: dict[str, Any]) -> None:
        files = document["files"]
        files["embedding"], files["labels"] = files["labels"], files["embedding"]

    edit_document(directory, swap)
    refused(directory, "expected a name like")


def test_missing_and_truncated_files(directory: Path) -> None:
    path = next(directory.glob("embedding-*"))
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    refused(directory, r"says that this file has \d+ bytes, but it has \d+")
    path.unlink()
    refused(directory, "embedding-.*No such file")
    with pytest.raises(ModelFileError):
        read_info(directory)


def test_a_calibration_of_another_tree(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved / "fasttext", tmp_path / "model")
    calibration = json.loads((saved / "calibrated" / "model.json").read_text())["calibration"]
    shutil.copy(saved / "calibrated" / calibration["file"]["name"], directory)
    edit_document(directory, lambda document: document.update(calibration=calibration))
    refused(directory, "calibration-")


class VectorModel(Model):
    def with_file(self, name: str, content: bytes) -> dict[str, bytes]:
        document = json.loads(self.files["model.json"])
        for entry in document["files"].values():
            if entry is not None and entry["name"] == name:
                entry["bytes"] = len(content)
        return {name: content, "model.json": json.dumps(document).encode()}


@pytest.mark.native
@pytest.mark.parametrize("source", ["int8", "float32", "fasttext", "calibrated"])
@pytest.mark.parametrize(
    "damage",
    [flip_bits, cut_or_lengthen, overwrite_range, change_numbers, change_header, change_document],
    ids=lambda damage: damage.__name__,
)
def test_damaged_models_are_refused_or_answer(saved: Path, tmp_path: Path, source: str, damage: Any) -> None:
    shutil.copytree(saved / source, tmp_path / "model")
    model, rng, outcomes = VectorModel(tmp_path / "model"), random.Random(f"{source} {damage}"[:20]), set()
    assert ask_everything(model.directory, verify=True) == "answered"
    for _ in range(60):
        outcomes.add(model.outcome(damage(rng, model)))
    assert "refused" in outcomes
