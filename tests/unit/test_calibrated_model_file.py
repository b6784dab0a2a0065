"""Calibrated models on disk: they answer as before, and maps that are damaged or hostile are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run, run_json
from tests.small_models import small_data, small_model

from labeltree import LabelTreeClassifier, ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import Tensor, map_tensors, write_tensors

X, y = small_data(1)
METHODS = ("isotonic", "platt")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One saved model of two trees for each method."""
    folder = tmp_path_factory.mktemp("models")
    for method in METHODS:
        small_model().calibrate(X, y, method=method).save(folder / method)
    return folder


@pytest.fixture
def copies(models, tmp_path):
    """Copies of them, to be spoiled."""
    return shutil.copytree(models, tmp_path / "copies")


def edit_document(directory, edit):
    path = directory / "model.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def edit_tensors(directory, edit):
    """Change tensors of the calibration and make everything else, checksums included, fit again."""
    path = next(directory.glob("calibration-*.safetensors"))
    with path.open("rb") as file:
        arrays = {name: tensor.values.copy() for name, tensor in map_tensors(file).tensors.items()}
    edit(arrays)
    path.unlink()
    with (directory / "new").open("wb") as file:
        written = write_tensors(file, {name: Tensor.of(array) for name, array in arrays.items()})
    name = f"calibration-{written.content[:32]}.safetensors"
    (directory / "new").rename(directory / name)
    entry = {"name": name, "bytes": written.n_bytes, "sha256": written.sha256}
    edit_document(directory, lambda document: document["calibration"].update(file=entry))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_a_saved_model_answers_as_before(method, weights, tmp_path):
    model = small_model().calibrate(X, y, method=method)
    model.save(tmp_path / "model", weights=weights)
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    assert loaded.calibration_.method == method
    for mine, read in zip(model.calibration_.trees, loaded.calibration_.trees, strict=True):
        assert mine.keys() == read.keys()
        for name, array in mine.items():
            assert array.dtype == read[name].dtype
            assert np.array_equal(array, read[name])
    if weights == "float32":
        found, expected = loaded.predict_topk(X, k=12), model.predict_topk(X, k=12)
        assert np.array_equal(found.labels, expected.labels)
        assert np.array_equal(found.probabilities, expected.probabilities)


@pytest.mark.parametrize("method", METHODS)
def test_saving_again_writes_the_same_bytes(method, models, tmp_path):
    load(models / method).save(tmp_path / "again")
    files = {path.name: path.read_bytes() for path in (models / method).iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == files


def test_only_calibrated_models_say_so(models, tmp_path):
    assert read_info(models / "platt").calibration == "platt"
    model = load(models / "platt")
    del model.calibration_
    model.save(tmp_path / "plain")
    assert read_info(tmp_path / "plain").calibration is None
    assert not list((tmp_path / "plain").glob("calibration-*"))


def test_info_tells_of_it(models):
    assert run_json("info", models / "platt")["calibration"] == "platt"
    assert "isotonic, level by level" in run("info", models / "isotonic").stdout


def test_bytes_of_all_files_are_counted(models):
    sizes = [path.stat().st_size for path in (models / "isotonic").glob("*.safetensors")]
    assert read_info(models / "isotonic").n_bytes == sum(sizes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"calibration": None}, "calibration must be a JSON object"),
        (
            {"calibration": {"method": "beta", "file": {}}},
            "'method' must be one of platt, isotonic, got 'beta'",
        ),
        ({"calibration": {"method": "platt"}}, "calibration has no 'file'"),
        ({"format_version": 1}, "format version 1, but its sections are those of version 13"),
        ({"format_version": 2}, "format version 2, but its sections are those of version 13"),
    ],
)
def test_documents_that_contradict_themselves(change, message, copies):
    edit_document(copies / "isotonic", lambda document: document.update(change))
    for read in (load, read_info):
        with pytest.raises(ModelFileError, match=message):
            read(copies / "isotonic")


def test_other_fields_and_a_version_without_a_reason(copies):
    edit_document(copies / "platt", lambda document: document["calibration"].update(shell="rm"))
    with pytest.raises(ModelFileError, match="calibration has the unknown field 'shell'"):
        load(copies / "platt")
    older = shutil.copytree(
        Path(__file__).parents[1] / "golden" / "version-4" / "calibrated-platt", copies / "older"
    )
    edit_document(older, lambda document: document.pop("calibration"))
    with pytest.raises(ModelFileError, match="format version 4, but its sections are those of version 2"):
        load(older)


def test_a_calibration_of_another_method_is_refused(copies):
    edit_document(copies / "platt", lambda document: document["calibration"].update(method="isotonic"))
    with pytest.raises(ModelFileError, match=r"expected the tensors \['knot_begin'"):
        load(copies / "platt")


def test_a_calibration_that_is_missing_or_swapped_is_noticed(copies):
    path = next((copies / "platt").glob("calibration-*"))
    other = next((copies / "isotonic").glob("calibration-*"))
    path.unlink()
    with pytest.raises(ModelFileError, match="No such file"):
        load(copies / "platt")
    shutil.copy(other, path)
    with pytest.raises(ModelFileError, match="bytes"):
        load(copies / "platt")


def shorten(name):
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


def put(name, at, value):
    return lambda arrays: arrays[name].__setitem__(at, value)


def retype(name, dtype):
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})


@pytest.mark.parametrize(
    ("method", "edit", "message"),
    [
        ("platt", shorten("slope"), "expected a map for each of"),
        ("platt", shorten("intercept"), "expected a map for each of"),
        ("platt", put("slope", 1, np.nan), "the map of level 1 is not monotone"),
        ("platt", put("slope", 2, -0.5), "the map of level 2 is not monotone"),
        ("platt", put("slope", 0, np.inf), "the map of level 0 is not monotone"),
        ("platt", put("intercept", 0, np.nan), "the map of level 0 is not monotone"),
        ("platt", put("intercept", -1, -np.inf), "is not monotone"),
        (
            "platt",
            retype("slope", np.float64),
            "slope must be of one dimension and of type float32, got float64",
        ),
        ("platt", lambda arrays: arrays.pop("slope"), r"expected the tensors \['intercept', 'slope'\]"),
        ("platt", lambda arrays: arrays.update(knot_begin=np.zeros(2, np.int64)), "expected the tensors"),
        ("platt", lambda arrays: arrays.update(slope=arrays["slope"][:, None].copy()), r"shape \(\d+, 1\)"),
        ("isotonic", shorten("knot_begin"), "expected a map for each of"),
        ("isotonic", shorten("knot_score"), "knot_begin must ascend from 0 to the number of knots"),
        ("isotonic", shorten("knot_probability"), "knot_begin does not span the knots"),
        ("isotonic", put("knot_begin", 0, 1), "knot_begin must ascend from 0"),
        ("isotonic", put("knot_begin", 1, -5), "knot_begin must ascend from 0"),
        ("isotonic", put("knot_begin", 1, 2**62), "knot_begin must ascend from 0"),
        ("isotonic", put("knot_begin", 1, 0), "level 0 has no knots"),
        ("isotonic", put("knot_score", 2, np.nan), "the map of level 1 is not monotone"),
        ("isotonic", put("knot_score", 2, np.inf), "the map of level 1 is not monotone"),
        ("isotonic", put("knot_score", 3, -1e30), "the map of level 1 is not monotone"),
        ("isotonic", put("knot_probability", 0, np.nan), "the map of level 0 is not monotone"),
        ("isotonic", put("knot_probability", 0, 1.5), "the map of level 0 is not monotone"),
        ("isotonic", put("knot_probability", 2, 1.0), "the map of level 1 is not monotone"),
        ("isotonic", put("knot_probability", -1, -0.1), "is not monotone"),
        ("isotonic", retype("knot_begin", np.int32), "knot_begin must be of one dimension and of type int64"),
    ],
)
def test_hostile_maps_are_refused(method, edit, message, copies):
    edit_tensors(copies / method, edit)
    with pytest.raises(ModelFileError, match=message) as raised:
        load(copies / method)
    assert "calibration-" in str(raised.value)


@pytest.mark.native
def test_extreme_maps_give_probabilities_all_the_same(copies):
    """Knots as far apart as float32 has them: their distance is infinite."""

    def spread(arrays):
        for level in range(len(arrays["knot_begin"]) - 1):
            begin, end = arrays["knot_begin"][level : level + 2]
            if end - begin > 1:
                arrays["knot_score"][begin], arrays["knot_score"][end - 1] = -3e38, 3e38

    edit_tensors(copies / "isotonic", spread)
    _, probabilities = load(copies / "isotonic").predict_topk(X, k=12)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


@pytest.mark.native
@pytest.mark.parametrize("method", METHODS)
def test_scores_that_are_not_finite_give_probabilities_all_the_same(method):
    model = small_model(normalize=False).calibrate(X, y, method=method)
    huge = np.full((2, X.shape[1]), 3e38, dtype=np.float32)
    _, probabilities = model.predict_topk(huge, k=12)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
