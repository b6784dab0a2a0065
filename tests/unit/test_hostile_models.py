"""Models that are damaged or made to do harm: each gives `ModelFileError`, and says why."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from tests.reference.packed_index import unpack_model
from tests.small_models import N_FEATURES, N_LABELS, small_data, small_model

from labeltree import LabelTreeClassifier, ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.strict_json import parse_json
from labeltree.model_file.tensors import Tensor, map_tensors, write_tensors

X, _ = small_data()
LABEL_FILE = {"name": f"labels-{'0' * 32}.safetensors", "bytes": 1, "sha256": "0" * 64}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models") / "saved"
    unpack_model(small_model(n_trees=1)).save(directory)  # test_packed_index.py has the other form
    unpack_model(small_model(n_trees=1, random_state=5, C=2.0)).save(directory.with_name("other"))
    unpack_model(small_model(n_trees=1)).save(directory.with_name("int8"), weights="int8")
    small_model(n_trees=1).save(directory.with_name("packed"))
    return directory


@pytest.fixture
def directory(saved, tmp_path):
    """A copy of a model, to be spoiled."""
    return shutil.copytree(saved, tmp_path / "model")


def edit_document(directory, edit):
    path = directory / "model.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def the_file(directory, stem):
    return next(directory.glob(f"{stem}-*.safetensors"))


def edit_tensors(directory, stem, edit):
    """Change tensors of a file and make everything else, checksums included, fit again."""
    path = the_file(directory, stem)
    with path.open("rb") as file:
        tensors = {
            name: Tensor(dtype, values.copy()) for name, (dtype, values) in map_tensors(file).tensors.items()
        }
    edit(tensors)
    with (directory / "new").open("wb") as file:
        written = write_tensors(file, tensors)
    name = f"{stem}-{written.content[:32]}.safetensors"
    path.unlink()
    (directory / "new").rename(directory / name)

    def edit_entry(document):
        files = document["files"]
        entry = files["trees"][0] if stem == "tree-0" else files["labels"]
        entry.update(name=name, bytes=written.n_bytes, sha256=written.sha256)

    edit_document(directory, edit_entry)


def ask(model):
    labels, probabilities = model.predict_topk(X, k=N_LABELS)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    model.predict_proba(X, threshold=0.1)
    model.predict_pairs(X, range(60), [model.classes_[0]] * 60)
    list(model.iter_labels(X[0]))
    model.explain(X[0], model.classes_[1])
    return labels


# -- model.json ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a model of labeltree"),
        (
            {"format_version": 14},
            "format version 14, but this version of labeltree knows only 1, 2, 3, 4, 5, .*, 12 and 13: upgrade",
        ),
        ({"format_version": 4}, "format version 4, but its sections are those of version 1"),
        ({"format_version": 2}, "format version 2, but its sections are those of version 1"),
        ({"format_version": 10**15}, "upgrade"),
        ({"format_version": 0}, "knows only 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 13$"),
        ({"format_version": "1"}, "'format_version' must be of type int, got '1'"),
        ({"format_version": True}, "'format_version' must be of type int, got True"),
        (
            {"estimator": "os.system"},
            "of the class 'os.system', which this version of labeltree does not have",
        ),
        ({"estimator": 3}, "'estimator' must be of type str"),
        ({"n_features": N_FEATURES - 15}, "block 1: a feature is out of range"),
        ({"n_features": 0}, "n_features must be from 1"),
        ({"n_features": 2**31}, "n_features must be from 1"),
        ({"n_features": 2.0}, "'n_features' must be of type int"),
        ({"n_labels": N_LABELS - 1}, "model.json says 11 labels, but the tree has 12"),
        ({"n_labels": -1}, "n_labels must be from 1"),
        ({"n_labels": 10**18}, "n_labels must be from 1"),
        ({"label_kind": "set"}, "'label_kind' must be one of csr, dense, lists, multiclass, got 'set'"),
        ({"labels": "pickle"}, "labels must be positions, array, objects, text or fixed_text, got 'pickle'"),
        ({"labels": "positions"}, "expected the tensors"),
        ({"labels": "array"}, "expected the tensors"),
        ({"weights": "int8"}, "expected the tensors"),
        ({"weights": "bfloat16"}, "model.json says bfloat16 weights, but they are F32"),
        ({"training_report": {}}, "'training_report' must be of type list"),
        ({"training_report": [{"n_columns": "many"}]}, "'n_columns' must be of type int"),
        ({"parameters": []}, "'parameters' must be of type dict"),
        ({"parameters": {"shell": "rm"}}, "has no parameter 'shell'"),
        (
            {"parameters": {"beam": 2**40}},
            "'beam' must be an integer of at least 1 and at most 2,147,483,647",
        ),
        ({"parameters": {"beam": True}}, "'beam' must be an integer"),
        ({"parameters": {"n_jobs": 0}}, "n_jobs must not be 0"),
        ({"parameters": {"arity": [1, 2]}}, "'arity' must be a single value"),
        ({"parameters": {"tree": [1, 2]}}, "'tree' has 2 entries, but the model has 1 tree"),
        ({"parameters": {"tree": [1]}}, "tree must hold LabelTree objects or the words .*, got 1"),
        ({"parameters": {"tree": [{"stored": "trees"}]}}, "tree must hold .*, got {'stored': 'trees'}"),
        ({"parameters": {"label_vectors": {"stored": "tree"}}}, "'label_vectors' must be one of"),
        ({"parameters": {"tree": {"stored": "elsewhere"}}}, "'tree' must be a single value"),
        ({"parameters": {"link": "sigmoid"}}, "link 'sigmoid' does not work with loss 'squared_hinge'"),
        ({"parameters": {"random_state": "now"}}, "'now' cannot be used to seed"),
        ({"files": None}, "'files' must be of type dict"),
        ({"files": {"trees": [], "labels": LABEL_FILE, "feature_names": None}}, "at least one tree"),
        (
            {"files": {"trees": [], "labels": None, "feature_names": None}},
            "files, labels must be a JSON object",
        ),
        ({"n_samples_fit": 1}, "counts of labels must be from 0 to 1, the number of training rows"),
        ({"n_samples_fit": "many"}, "'n_samples_fit' must be of type int"),
        ({"extra": 1}, "unknown field 'extra'"),
    ],
    ids=str,
)
def test_documents_that_lie(directory, change, message):
    edit_document(directory, lambda document: document.update(change))
    with pytest.raises(ModelFileError, match=message) as caught:
        load(directory, verify=True)
    assert str(caught.value).startswith(f"{directory}: ")


@pytest.mark.parametrize(
    "name",
    ["format", "format_version", "estimator", "parameters", "n_features", "labels", "weights", "files"],
)
def test_documents_with_a_field_missing(directory, name):
    edit_document(directory, lambda document: document.pop(name))
    with pytest.raises(ModelFileError, match=f"no '{name}'|not a model"):
        load(directory)


@pytest.mark.parametrize(
    "name",
    [
        "../saved/tree-0-{hash}.safetensors",
        "/etc/passwd",
        "C:\\tree-0-{hash}.safetensors",
        "tree-0-{hash}.safetensors\n",
        "tree-0-{hash}.safetensors/../x",
        "tree-1-{hash}.safetensors",
        "tree-0-{hash}",
        "",
        "model.json",
        "tree-0-" + "\u0660" * 32 + ".safetensors",
    ],
)
def test_names_that_are_no_names_of_ours(directory, name):
    name = name.replace("{hash}", "0" * 32)
    edit_document(directory, lambda document: document["files"]["trees"][0].update(name=name))
    with pytest.raises(ModelFileError, match="expected a name like tree-0"):
        load(directory)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'"labeltree"', "model.json must be a JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format":' * 100_000, "nested too deeply"),
        (b'{"format": "labeltree", "format": "labeltree"}', "'format' comes twice"),
        (b'{"format_version": ' + b"9" * 5_000_000 + b"}", "does not fit into 64 bits"),
        (b'{"format_version": 1e999}', "too large"),
        (b'{"format_version": NaN}', "NaN is not JSON"),
        (b'{"format_version": -Infinity}', "-Infinity is not JSON"),
        (b" " * (1 << 24) + b"{}", "more than any model needs"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else "",
)
def test_documents_that_are_bombs_or_no_json(directory, text, message):
    (directory / "model.json").write_bytes(text)
    for read in (load, read_info):
        with pytest.raises(ModelFileError, match=message):
            read(directory)


def test_json_that_is_fine_is_read():
    text = '{"a": [1, -9223372036854775808, 1.5, true, null, "ä"]}'
    assert parse_json(text.encode()) == json.loads(text)


# -- the directory -------------------------------------------------------------------------------------


def test_what_is_no_directory_of_a_model(tmp_path):
    with pytest.raises(ModelFileError, match="there is no such directory"):
        load(tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="this is not a directory"):
        load(tmp_path / "file")
    with pytest.raises(ModelFileError, match=r"there is no model\.json in this directory"):
        LabelTreeClassifier.load(tmp_path)


@pytest.mark.parametrize("stem", ["tree-0", "labels"])
def test_a_missing_file(directory, stem):
    the_file(directory, stem).unlink()
    with pytest.raises(ModelFileError, match=f"{stem}-.*No such file"):
        load(directory)


def test_links_that_lead_outside(directory, saved):
    for name in ("model.json", the_file(directory, "tree-0").name):
        (directory / name).unlink()
        (directory / name).symlink_to(saved / name)
        with pytest.raises(ModelFileError, match="a link to a file outside"):
            load(directory)
        (directory / name).unlink()
        shutil.copy(saved / name, directory / name)
    # But the directory itself may be a link.
    directory.with_name("link").symlink_to(directory)
    ask(load(directory.with_name("link")))


def test_a_link_to_itself(directory):
    path = the_file(directory, "tree-0")
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(ModelFileError):
        load(directory)


def test_pipes_and_directories_are_not_opened(directory):
    for name in (the_file(directory, "tree-0").name, "model.json"):
        (directory / name).unlink()
        os.mkfifo(directory / name)
        with pytest.raises(ModelFileError, match="not a regular file"):
            load(directory)
        (directory / name).unlink()
        (directory / name).mkdir()
        with pytest.raises(ModelFileError, match="not a regular file"):
            load(directory)


def test_files_of_another_model(directory, saved):
    other = saved.with_name("other")
    mine, theirs = the_file(directory, "tree-0"), the_file(other, "tree-0")
    shutil.copy(theirs, mine)
    edit_document(directory, lambda document: document["files"]["trees"][0].update(bytes=mine.stat().st_size))
    with pytest.raises(ModelFileError, match="swapped or damaged"):
        load(directory)
    # Under its own name it would be taken, but its checksum gives it away.
    mine.rename(directory / theirs.name)
    edit_document(directory, lambda document: document["files"]["trees"][0].update(name=theirs.name))
    load(directory)
    with pytest.raises(ModelFileError, match=r"the checksum is not the one in model\.json"):
        load(directory, verify=True)


def test_a_truncated_file(directory):
    path = the_file(directory, "tree-0")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match=r"says that this file has \d+ bytes, but it has \d+"):
        load(directory)


# -- tensors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("child_begin", 0, 2, "child_begin must start with 1"),
        ("child_begin", 3, 2**31 - 1, "must not decrease"),
        ("label", -1, 2**31 - 1, "label 0 is missing|is missing"),
        ("label", 0, 0, "node 0 has children and label 0"),
        ("block_begin", 1, -1, "block_begin decreases"),
        ("block_begin", -1, 2**62, "block_begin does not span"),
        ("block_entry_begin", 1, 2**62, "block_entry_begin decreases"),
        ("block_entry_begin", 0, 1, "block_entry_begin does not span"),
    ],
)
def test_outer_arrays_that_lie(directory, name, index, value, message):
    def edit(tensors):
        tensors[name].values[index] = value

    edit_tensors(directory, "tree-0", edit)
    with pytest.raises(ModelFileError, match=f"tree-0-.*({message})"):
        load(directory)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda t: t["index_begin"].values.__setitem__(1, -1), "index_begin decreases"),
        (lambda t: t["index_begin"].values.__setitem__(-1, 2**62), "index_begin does not span"),
        (
            lambda t: t["index"].values.fill(255),
            "block [0-9]+: a number in the index of features does not end",
        ),
        (
            lambda t: t["index"].values.fill(14),
            "block [0-9]+: (a feature is out of range|features have fewer)",
        ),
        (
            lambda t: t.update(index_begin=Tensor("I64", t["index_begin"].values[:0])),
            "index_begin has the wrong",
        ),
        (lambda t: t.update(index_begin=Tensor("I64", t["index_begin"].values[1:])), "the number of blocks"),
        (lambda t: t.update(index=Tensor("U8", t["index"].values[1:])), "index_begin does not span"),
        (lambda t: t.update(index=Tensor.of(t["index"].values.astype("i2"))), "index has the wrong type"),
        (lambda t: t.pop("index"), "expected the tensors"),
        (lambda t: t.update(feature=Tensor("I32", t["label"].values)), "expected the tensors"),
    ],
)
def test_packed_features_that_lie(saved, tmp_path, edit, message):
    directory = shutil.copytree(saved.with_name("packed"), tmp_path / "model")
    edit_tensors(directory, "tree-0", edit)
    with pytest.raises(ModelFileError, match=f"tree-0-.*({message})"):
        load(directory, verify=True)


@pytest.mark.parametrize(
    ("packed", "message"),
    [(False, "format version 13, but its sections are those of version"), (1, "must be of type bool")],
)
def test_a_document_that_lies_about_packed_features(saved, tmp_path, packed, message):
    directory = shutil.copytree(saved.with_name("packed"), tmp_path / "model")
    edit_document(directory, lambda document: document.update(packed_features=packed))
    with pytest.raises(ModelFileError, match=message):
        load(directory)


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("feature", 0, -1, "a feature is out of range"),
        ("feature", -1, N_FEATURES, "a feature is out of range"),
        ("feature", 1, 0, "features are not ascending"),
        ("entry_begin", 2, 2**32 - 1, "entry_begin decreases"),
        ("entry_begin", 0, 1, "entry_begin does not span"),
        ("column", 0, 2**8 - 1, "a column is out of range"),
        ("column", -1, 3, "a column is out of range"),
    ],
)
def test_inner_arrays_that_lie_are_found_when_they_are_used(directory, name, index, value, message):
    def edit(tensors):
        tensors[name].values[index] = value

    edit_tensors(directory, "tree-0", edit)
    with pytest.raises(ModelFileError, match=f"tree-0-.*block [0-9]+: {message}"):
        load(directory, verify=True)
    model = load(directory)
    with pytest.raises(ModelFileError, match=message):
        ask(model)
    for weights in (None, "int8"):
        with pytest.raises(ModelFileError, match=message):
            model.save(directory.with_name("copy"), weights=weights)
    assert not directory.with_name("copy").exists()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["weight", "bias", "scale"])
@pytest.mark.parametrize("link", ["exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2"])
def test_numbers_that_are_not_finite_do_no_harm(saved, tmp_path, name, value, link):
    source = saved.with_name("int8") if name == "scale" else saved
    directory = shutil.copytree(source, tmp_path / "model")

    def edit(tensors):
        tensors[name].values[::2] = value

    edit_tensors(directory, "tree-0", edit)
    loss = {"sigmoid": "logistic", "sigmoid2": "exponential"}.get(link, "squared_hinge")
    edit_document(directory, lambda document: document["parameters"].update(link=link, loss=loss))
    model = load(directory, verify=True)
    ask(model)
    ask(model.set_params(normalize_siblings=True))
    ask(model.set_params(search="beam", beam=2))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda t: t.pop("bias"), "expected the tensors"),
        (lambda t: t.update(scale=t["bias"]), "expected the tensors"),
        (lambda t: t.update(bias=Tensor("F32", t["bias"].values[1:])), "the number of biases"),
        (
            lambda t: t.update(bias=Tensor("F32", t["bias"].values[:, None])),
            "bias has the wrong type or shape",
        ),
        (
            lambda t: t.update(bias=Tensor.of(t["bias"].values.astype(float))),
            "bias has the wrong type or shape",
        ),
        (lambda t: t.update(bias=Tensor("F32", t["bias"].values[0])), "bias has the wrong type or shape"),
        (lambda t: t.update(label=Tensor("I32", t["label"].values[:0])), "one entry more than label"),
        (lambda t: t.update(label=Tensor.of(t["label"].values.astype(float))), "1-d array of integers"),
        (lambda t: t.update(column=Tensor("U16", t["column"].values[1:])), "not as many columns as weights"),
        (
            lambda t: t.update(entry_begin=Tensor("U32", t["entry_begin"].values[1:])),
            "entry_begin has the wrong",
        ),
        (lambda t: t.update(feature=Tensor("I32", t["feature"].values[1:])), "entry_begin has the wrong"),
        (lambda t: t.update(block_begin=Tensor("I64", t["block_begin"].values[:0])), "the number of blocks"),
        (lambda t: t.update(weight=Tensor("I8", t["weight"].values.astype("i1"))), "but they are I8"),
    ],
)
def test_trees_of_the_wrong_tensors(directory, edit, message):
    edit_tensors(directory, "tree-0", edit)
    with pytest.raises(ModelFileError, match=message):
        load(directory)


@pytest.mark.parametrize(
    "count",
    [
        None,
        np.arange(11),
        np.arange(12, dtype=np.int32),
        np.arange(12)[:, None],
        np.full(12, -1),
        np.full(12, 10**6),
    ],
)
def test_counts_that_lie(directory, count):
    def edit(found):
        del found["count"]
        if count is not None:
            found["count"] = Tensor.of(count)

    edit_tensors(directory, "labels", edit)
    with pytest.raises(ModelFileError, match=r"labels-.*: .*count"):
        load(directory)


@pytest.mark.parametrize(
    ("storage", "tensors", "message"),
    [
        ("text", {"text": b"abc", "text_begin": [0] * 12 + [4]}, "do not span"),
        ("text", {"text": b"abc", "text_begin": [1] * 12 + [3]}, "do not span"),
        ("text", {"text": b"abc", "text_begin": [0, 2, 1] + [3] * 10}, "decrease at 1"),
        ("text", {"text": b"abc", "text_begin": [0, -5] + [3] * 11}, "decrease at 0"),
        ("text", {"text": b"abc", "text_begin": [0, 3]}, "expected 13 offsets"),
        ("text", {"text": "é".encode(), "text_begin": [0, 1] + [2] * 11}, "can't decode byte"),
        ("text", {"text": b"\xff", "text_begin": [0] + [1] * 12}, "can't decode byte"),
        ("text", {"text": np.arange(4), "text_begin": [0] + [4] * 12}, "text must be a row of bytes"),
        ("array", {"label": np.arange(11)}, "expected 12 labels in a row"),
        ("array", {"label": np.arange(12)[:, None]}, "expected 12 labels in a row"),
        ("objects", {"label": Tensor("BF16", np.arange(12))}, "expected 12 labels in a row"),
        ("array", {"label": Tensor("BOOL", np.full(12, 7, dtype="u1").view(bool))}, "neither"),
        ("fixed_text", {"label": np.arange(12)}, "expected 12 rows of code points"),
        ("fixed_text", {"label": np.zeros((12, 0), dtype="u4")}, "expected 12 rows of code points"),
        ("fixed_text", {"label": np.full((12, 2), 0x110000, dtype="u4")}, "code point 0x110000"),
    ],
)
def test_labels_that_lie(directory, storage, tensors, message):
    def as_tensor(values):
        if isinstance(values, Tensor):
            return values
        return Tensor.of(
            np.frombuffer(values, dtype=np.uint8) if isinstance(values, bytes) else np.array(values)
        )

    def edit(found):
        count = found["count"]
        found.clear()
        found.update(count=count, **{name: as_tensor(values) for name, values in tensors.items()})

    edit_tensors(directory, "labels", edit)
    edit_document(directory, lambda document: document.update(labels=storage))
    with pytest.raises(ModelFileError, match=f"labels-.*{message}"):
        load(directory)
