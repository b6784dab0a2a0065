"""Models with label classifiers on disk: they answer as before, and damaged or hostile files are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import run, run_json
from tests.small_models import N_LABELS, small_data, small_model

from labeltree import LabelTreeClassifier, ModelFileError, mix
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import Tensor, map_tensors, write_tensors

X, y = small_data(1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three saved models of two trees: weights of two types, and a calibrated one."""
    folder = tmp_path_factory.mktemp("models")
    model = small_model(rerank=4)
    model.save(folder / "float32")
    model.save(folder / "int8", weights="int8")
    model.calibrate(X, y).save(folder / "calibrated")
    return folder


@pytest.fixture
def copies(saved: Path, tmp_path: Path) -> Path:
    """Copies of them, to be spoiled."""
    return Path(shutil.copytree(saved, tmp_path / "copies"))


def edit_document(directory: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    path = directory / "model.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def edit_tensors(directory: Path, edit: Callable[[dict[str, np.ndarray]], object]) -> None:
    """Change tensors of the label classifiers and make everything else, checksums included, fit again."""
    path = next(directory.glob("label-classifiers-*.safetensors"))
    with path.open("rb") as file:
        arrays = {name: tensor.values.copy() for name, tensor in map_tensors(file).tensors.items()}
    edit(arrays)
    path.unlink()
    with (directory / "new").open("wb") as file:
        written = write_tensors(file, {name: Tensor.of(array) for name, array in arrays.items()})
    name = f"label-classifiers-{written.content[:32]}.safetensors"
    (directory / "new").rename(directory / name)
    entry = {"name": name, "bytes": written.n_bytes, "sha256": written.sha256}
    edit_document(directory, lambda document: document["rerank"].update(file=entry))


def assert_same_answers(found: Any, expected: Any) -> None:
    for k in (1, N_LABELS):
        ours, theirs = found.predict_topk(X, k=k), expected.predict_topk(X, k=k)
        assert np.array_equal(ours.labels, theirs.labels)
        assert np.array_equal(ours.probabilities, theirs.probabilities)
    assert found.predict(X) == expected.predict(X)


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_a_saved_model_answers_as_before(weights: str, calibrated: bool, tmp_path: Path) -> None:
    model = small_model(rerank=4)
    if calibrated:
        model.calibrate(X, y)
    model.save(tmp_path / "model", weights=weights)
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    assert loaded.rerank == loaded.model_.forest.n_proposals == 4
    assert loaded.model_.forest.judges.weight_type == weights
    if weights == "float32":
        assert_same_answers(loaded, model)
    loaded.save(tmp_path / "again")
    files = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == files


def test_only_models_with_label_classifiers_say_so(saved: Path, tmp_path: Path) -> None:
    assert read_info(saved / "float32").rerank == 4
    small_model().save(tmp_path / "plain")
    assert read_info(tmp_path / "plain").rerank == 0
    # What older versions of the library do not know is not in the file.
    assert "rerank" not in (tmp_path / "plain" / "model.json").read_text(encoding="utf-8")


def test_what_was_trained_is_saved_whatever_is_set_later(tmp_path: Path) -> None:
    model = small_model(rerank=4).set_params(rerank=0)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").rerank == 4
    plain = small_model().set_params(rerank=7)
    plain.save(tmp_path / "plain")
    assert load(tmp_path / "plain").rerank == 0


def test_info_tells_of_it(saved: Path) -> None:
    assert run_json("info", saved / "float32")["rerank"] == 4
    assert "4 proposals by label classifiers" in run("info", saved / "float32").stdout
    sizes = [path.stat().st_size for path in (saved / "float32").glob("*.safetensors")]
    assert read_info(saved / "float32").n_bytes == sum(sizes)


def test_a_mix_with_such_a_model(tmp_path: Path) -> None:
    mixed = mix([small_model(rerank=4), small_model(1)])
    mixed.save(tmp_path / "mix")
    assert read_info(tmp_path / "mix").format_version == 13
    assert_same_answers(load(tmp_path / "mix", verify=True), mixed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rerank": 4}, "rerank must be a JSON object"),
        ({"rerank": {"file": {}}}, "rerank has no 'proposals'"),
        ({"rerank": {"proposals": 0, "file": {}}}, "proposals must be from 1"),
        ({"rerank": {"proposals": 2**31, "file": {}}}, "proposals must be from 1"),
        ({"rerank": {"proposals": True, "file": {}}}, "'proposals' must be of type int"),
        ({"rerank": {"proposals": 4, "file": {}}}, "rerank has no 'least'"),
        ({"rerank": {"proposals": 4, "least": -0.1, "file": {}}}, "'least' must be a probability"),
        ({"rerank": {"proposals": 4, "least": 0.1}}, "rerank has no 'file'"),
        ({"format_version": 8}, "format version 8, but its sections are those of version 13"),
    ],
)
def test_documents_that_contradict_themselves(change: dict[str, Any], message: str, copies: Path) -> None:
    edit_document(copies / "float32", lambda document: document.update(change))
    for read in (load, read_info):
        with pytest.raises(ModelFileError, match=message):
            read(copies / "float32")


def test_other_fields_and_a_version_without_a_reason(copies: Path) -> None:
    edit_document(copies / "float32", lambda document: document["rerank"].update(shell="rm"))
    with pytest.raises(ModelFileError, match="rerank has the unknown field 'shell'"):
        load(copies / "float32")
    older = shutil.copytree(
        Path(__file__).parents[1] / "golden" / "version-9" / "reranked-float32", copies / "older"
    )
    edit_document(older, lambda document: document.pop("rerank"))
    with pytest.raises(ModelFileError, match="format version 9, but its sections are those of version 2"):
        load(older)


def test_a_map_of_label_classifiers_needs_label_classifiers(copies: Path) -> None:
    edit_document(copies / "calibrated", lambda document: document.pop("rerank"))
    with pytest.raises(ModelFileError, match="there are no label classifiers"):
        load(copies / "calibrated")


def test_a_file_that_is_missing_or_swapped_is_noticed(copies: Path) -> None:
    path = next((copies / "float32").glob("label-classifiers-*"))
    other = next((copies / "int8").glob("label-classifiers-*"))
    path.unlink()
    with pytest.raises(ModelFileError, match="No such file"):
        load(copies / "float32")
    shutil.copy(other, path)
    with pytest.raises(ModelFileError, match="bytes"):
        load(copies / "float32")


def shorten(name: str) -> Callable[[dict[str, np.ndarray]], object]:
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


def put(name: str, at: int, value: float) -> Callable[[dict[str, np.ndarray]], object]:
    return lambda arrays: arrays[name].__setitem__(at, value)


def retype(name: str, dtype: type) -> Callable[[dict[str, np.ndarray]], object]:
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})


@pytest.mark.parametrize(
    ("model", "edit", "message"),
    [
        ("float32", shorten("bias"), "expected a classifier for each of 12 labels, got 11"),
        ("float32", shorten("begin"), "begin has the wrong length"),
        ("float32", shorten("feature"), "begin does not span the features"),
        ("float32", shorten("weight"), "not as many weights as features"),
        ("float32", put("begin", 0, 1), "begin does not span the features"),
        ("float32", put("begin", 1, 2**62), "begin decreases|more weights than features"),
        ("float32", put("begin", 1, -5), "begin decreases"),
        ("float32", put("slope", 0, -1), "is not monotone"),
        ("float32", put("slope", 0, np.nan), "is not monotone"),
        ("float32", put("intercept", 0, np.inf), "is not monotone"),
        ("float32", shorten("slope"), "slope is empty|not one map"),
        ("float32", lambda a: a.update(slope=np.ones(2, np.float32)), "not one map"),
        ("float32", retype("weight", np.float64), "weight must be of one dimension and of type float32"),
        ("float32", retype("weight", np.int8), "says float32 weights, but they are I8"),
        ("float32", retype("feature", np.int64), "feature must be of one dimension and of type int32"),
        ("float32", lambda a: a.update(bias=a["bias"][:, None].copy()), r"shape \(12, 1\)"),
        ("float32", lambda a: a.pop("bias"), "expected the tensors"),
        ("float32", lambda a: a.update(scale=a["bias"].copy()), "expected the tensors"),
        ("int8", shorten("scale"), "number of scales does not fit"),
        ("int8", lambda a: a.pop("scale"), "expected the tensors"),
    ],
)
def test_hostile_tensors_are_refused(
    model: str, edit: Callable[[dict[str, np.ndarray]], object], message: str, copies: Path
) -> None:
    edit_tensors(copies / model, edit)
    with pytest.raises(ModelFileError, match=message) as raised:
        load(copies / model)
    assert "label-classifiers-" in str(raised.value)


@pytest.mark.parametrize(
    ("at", "value", "message"), [(0, 2**31 - 1, "out of range"), (1, -1, "out of range")]
)
def test_a_damaged_column_is_found_when_it_is_used_or_verified(
    at: int, value: int, message: str, copies: Path
) -> None:
    edit_tensors(copies / "float32", put("feature", at, value))
    model = load(copies / "float32")
    with pytest.raises(ModelFileError, match=message):
        model.predict_topk(X, k=N_LABELS)
    with pytest.raises(ModelFileError, match=message):
        model.save(copies / "again")
    with pytest.raises(ModelFileError, match=message):
        load(copies / "float32", verify=True)
    assert not (copies / "again").exists()


def test_dense_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    dense = X.toarray()[:, :7]  # an odd number: the other tensors are aligned all the same
    model = LabelTreeClassifier(rerank=3, max_leaves=3, random_state=0).fit((X, dense), y)
    for weights in ("float32", "int8"):
        model.save(tmp_path / weights, weights=weights)
        loaded = load(tmp_path / weights, verify=True)
        assert (
            loaded.predict_topk((X, dense), 3).labels == model.predict_topk((X, dense), 3).labels
        ).mean() > 0.9
        edit_tensors(tmp_path / weights, shorten("dense"))
        with pytest.raises(
            ModelFileError, match=r"of dense features does not fit the labels|sizes of dense and"
        ):
            load(tmp_path / weights)


def test_scores_that_are_not_finite_give_probabilities_all_the_same() -> None:
    model = small_model(normalize=False, rerank=4)
    huge = np.full((2, X.shape[1]), 3e38, dtype=np.float32)
    _, probabilities = model.predict_topk(huge, k=12)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
