"""Saved models: what goes in comes out, for every kind of model, and what cannot be stored is refused."""

from __future__ import annotations

import copy
import json
import mmap
import pickle
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
import safetensors
import safetensors.numpy
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.small_models import N_FEATURES, N_LABELS, small_data, small_model

from labeltree import LabelTree, LabelTreeClassifier, ModelFileError, OneVsRestClassifier
from labeltree.labels.label_index import LabelIndex
from labeltree.model import block_weights, weight_types
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.weight_types import to_bfloat16
from labeltree.model_file import load, read_info, save
from labeltree.model_file.label_tensors import decode_texts, encode_texts
from labeltree.model_file.tensors import map_tensors

WEIGHT_TYPES = ("float32", "bfloat16", "int8")
X, Y = small_data()


@pytest.fixture(scope="module")
def model():
    return small_model()


def same_predictions(one, other, rows=X):
    a, b = one.predict_topk(rows, k=N_LABELS), other.predict_topk(rows, k=N_LABELS)
    return np.array_equal(a.labels, b.labels) and np.array_equal(a.probabilities, b.probabilities)


@pytest.mark.parametrize("kind", [LabelTreeClassifier, OneVsRestClassifier])
def test_a_loaded_model_is_trained_again_with_another_loss(kind, tmp_path):
    kind(random_state=0).fit(X, Y).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    before = loaded.predict_topk(X)
    loaded.set_params(loss="logistic")
    np.testing.assert_array_equal(loaded.predict_topk(X).probabilities, before.probabilities)
    fresh = kind(loss="logistic", random_state=0).fit(X, Y)
    assert same_predictions(loaded.fit(X, Y), fresh)


def test_a_link_that_was_chosen_is_kept(tmp_path):
    LabelTreeClassifier(link="exp2", random_state=0).fit(X, Y).save(tmp_path / "model")
    assert load(tmp_path / "model").link == "exp2"


# -- there and back --------------------------------------------------------------------------------------


def test_float32_predicts_bit_identically(model, tmp_path):
    model.save(tmp_path / "a.labeltree")
    loaded = LabelTreeClassifier.load(tmp_path / "a.labeltree")
    assert same_predictions(model, loaded)
    assert model.predict(X) == loaded.predict(X)
    assert (model.predict_proba(X) != loaded.predict_proba(X)).nnz == 0
    assert str(model.explain(X[0], "läbel 3")) == str(loaded.explain(X[0], "läbel 3"))
    assert loaded.get_params() == model.get_params()
    assert loaded.trained_link() == "exp4"  # the file has it by name, so that it stays
    assert loaded.training_report_ == model.training_report_
    assert loaded.trees_ == model.trees_


def test_load_finds_the_class(model, tmp_path):
    model.save(tmp_path)
    assert type(load(tmp_path)) is LabelTreeClassifier
    assert same_predictions(model, load(str(tmp_path), verify=True))


def test_parents_of_the_directory_are_made(model, tmp_path):
    model.save(tmp_path / "there" / "is" / "none")
    assert same_predictions(model, load(tmp_path / "there" / "is" / "none"))


def test_weights_are_mapped_not_read(model, tmp_path):
    model.save(tmp_path)
    for weights in load(tmp_path).weights_:
        for array in weights.arrays.values():
            assert not array.flags.owndata
            assert not array.flags.writeable
            base = array
            while isinstance(base, np.ndarray):
                base = base.base
            assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


@pytest.mark.parametrize("weights", WEIGHT_TYPES)
def test_loaded_models_pickle_copy_and_clone(model, tmp_path, weights):
    model.save(tmp_path / "a", weights=weights)
    loaded = load(tmp_path / "a")
    loaded.predict(X)  # fills the caches, which must not travel
    joblib.dump(loaded, tmp_path / "dumped")
    for twin in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded), joblib.load(tmp_path / "dumped")):
        assert same_predictions(loaded, twin)
        twin.save(tmp_path / "b")
        assert read_info(tmp_path / "b").weights == weights
        assert same_predictions(loaded, load(tmp_path / "b"))
    assert clone(loaded).get_params() == {**model.get_params(), "weights": weights}
    with pytest.raises(NotFittedError):
        clone(loaded).predict(X)


def test_trees_given_by_the_user_come_back_as_parameters(tmp_path):
    rows, y = small_data()
    trees = [LabelTree.flat(N_LABELS), LabelTree.from_nested([[0, 1, 2, 3], [4, [5, 6, 7, 8, 9, 10, 11]]])]
    LabelTreeClassifier(tree=trees[1]).fit(rows, y).save(tmp_path / "one")
    assert load(tmp_path / "one").tree == trees[1]
    LabelTreeClassifier(2, tree=tuple(trees)).fit(rows, y).save(tmp_path / "two")
    loaded = load(tmp_path / "two")
    assert loaded.tree == trees == loaded.trees_
    clone(loaded).fit(rows, y)


def test_a_random_state_that_is_a_generator_becomes_none(tmp_path):
    small_model(random_state=np.random.RandomState(3)).save(tmp_path / "a")
    assert load(tmp_path / "a").random_state is None
    small_model(random_state=np.int64(3), C=np.float32(0.5)).save(tmp_path / "b")
    assert load(tmp_path / "b").random_state == 3
    assert load(tmp_path / "b").C == 0.5


def test_feature_names_are_kept(tmp_path):
    rows, y = small_data()
    frame = pd.DataFrame(rows.toarray(), columns=[f"größe {j}" for j in range(N_FEATURES)])
    model = LabelTreeClassifier().fit(frame, y)
    model.save(tmp_path)
    loaded = load(tmp_path)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert same_predictions(model, loaded, frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"größe 3": "size"}))


# -- labels ----------------------------------------------------------------------------------------------


def multiclass(values):
    return np.array(values)[np.arange(60) % len(values)]


@pytest.mark.parametrize(
    "y",
    [
        sp.csr_matrix(np.eye(6, dtype=int)[np.arange(60) % 6]),
        np.eye(6, dtype=int)[np.arange(60) % 6],
        [[i % 6, 100] for i in range(60)],
        [["", "a\0b", "𝄞"][: i % 4] for i in range(60)],
        [[np.str_("x"), "y"][: i % 3] for i in range(60)],
        [[0.5, np.float64(1.5), -2.25][: i % 4] for i in range(60)],
        [[True, False][: i % 3] for i in range(60)],
        multiclass(["a", "bb", "ccc"]),
        multiclass(["a", "b"]).astype("U10"),
        multiclass(["a", "bb", "ccc"]).astype(object),
        multiclass([1, 2, 2**40]),
        multiclass([1, 2, 3]).astype(">i2"),
        multiclass(np.array([0, 2**64 - 1], dtype=np.uint64)),
        multiclass([1.0, 2.0, 3.0]).astype(np.float32),
        multiclass([True, False]),
    ],
    ids=lambda y: None,
)
def test_labels_of_every_kind_come_back(y, tmp_path):
    model = LabelTreeClassifier().fit(X, y)
    model.save(tmp_path)
    loaded = load(tmp_path)
    assert loaded.classes_.dtype.newbyteorder("=") == model.classes_.dtype.newbyteorder("=")
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.label_kind_ == model.label_kind_
    assert loaded.label_counts_.tolist() == model.label_counts_.tolist()
    assert loaded.n_samples_fit_ == model.n_samples_fit_ == X.shape[0]
    expected, found = model.predict(X), loaded.predict(X)
    assert type(expected) is type(found)
    if sp.issparse(expected):
        expected, found = expected.toarray(), found.toarray()
    assert np.array_equal(expected, found) if isinstance(expected, np.ndarray) else expected == found


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([("a", 1), ("b", 2)], r"\('a', 1\) is of type tuple"),
        ([b"a", b"b"], "b'a' is of type bytes"),
        (["a", 1], "'a' and 1 are of different kinds"),
        ([None, "a"], "None and 'a' are of different kinds"),
        ([1, 2.5], r"1 and 2\.5 are of different kinds"),
        ([1, 2**70], f"{2**70} is too large"),
        (["a", "\udc80"], "not valid Unicode"),
    ],
)
def test_labels_that_cannot_be_stored_are_refused(model, tmp_path, labels, message):
    other = copy.copy(model)
    classes = np.empty(N_LABELS, dtype=object)
    classes[:] = [labels[min(i, 1)] for i in range(N_LABELS)]
    other.adopt(replace(model.model_, label_index=LabelIndex(classes)))
    with pytest.raises(ValueError, match=message):
        other.save(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_dates_are_refused(model, tmp_path):
    other = copy.copy(model)
    index = LabelIndex(np.arange(N_LABELS).astype("datetime64[D]"))
    other.adopt(replace(model.model_, label_index=index))
    with pytest.raises(ValueError, match=r"datetime64.*labels that are all strings"):
        other.save(tmp_path / "a")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_texts_of_any_kind_come_back(texts):
    assert decode_texts(encode_texts(texts), len(texts)).tolist() == texts


# -- smaller weights -------------------------------------------------------------------------------------


def scores(weights, row):
    """The scores of all nodes for one row."""
    store = weights.store(N_FEATURES, "exp3")
    features = FeatureReader("LabelTreeClassifier", False, N_FEATURES).read(row)
    return np.concatenate([store.scores(features, 0, block) for block in range(weights.tree.n_blocks + 1)])


def dense_weights(weights):
    """Weights as a matrix of nodes and features."""
    store = weights.store(N_FEATURES, "exp3")
    table = np.zeros((weights.tree.n_nodes, N_FEATURES), dtype=np.float32)
    node = 0
    for block, n_columns in enumerate([1, *np.diff(weights.tree.child_begin)[weights.tree.inner_nodes]]):
        for column in range(n_columns):
            features, values = store.column(block, column)
            table[node, features] = values
            node += 1
    return table


@pytest.mark.parametrize("name", ["bfloat16", "int8"])
def test_smaller_weights_are_within_their_rounding(model, name):
    for weights in model.weights_:
        smaller = weights.with_weight_type(name)
        exact, rounded = dense_weights(weights), dense_weights(smaller)
        largest = np.abs(exact).max(axis=1, keepdims=True)
        bound = np.abs(exact) / 256 if name == "bfloat16" else np.broadcast_to(largest / 254, exact.shape)
        assert (np.abs(exact - rounded) <= bound * 1.0001).all()
        assert not np.array_equal(exact, rounded)
        row = X[:1]
        change = np.abs(scores(weights, row) - scores(smaller, row))
        assert (change <= (bound * np.abs(row.toarray())).sum(axis=1) + 1e-5).all()


def test_smaller_weights_make_smaller_files_and_nearly_the_same_probabilities(model, tmp_path):
    sizes = []
    for name in WEIGHT_TYPES:
        model.save(tmp_path / name, weights=name)
        loaded = load(tmp_path / name, verify=True)
        info = read_info(tmp_path / name)
        assert info.weights == loaded.weights_[0].weight_type == name
        sizes.append(info.n_bytes)
        rows, labels = np.divmod(np.arange(60 * N_LABELS), N_LABELS)
        exact = model.predict_pairs(X, rows, model.classes_[labels])
        assert np.abs(loaded.predict_pairs(X, rows, model.classes_[labels]) - exact).max() < 0.02
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("stored", WEIGHT_TYPES)
@pytest.mark.parametrize("wanted", WEIGHT_TYPES)
def test_any_weight_type_becomes_any_other(model, stored, wanted):
    weights = model.weights_[0].with_weight_type(stored)
    again = weights.with_weight_type(wanted)
    assert again.weight_type == wanted
    assert ("scale" in again.arrays) == (wanted == "int8")
    np.testing.assert_allclose(dense_weights(again), dense_weights(weights), atol=0.02)
    if wanted == "float32":  # holds them all exactly
        assert np.array_equal(dense_weights(again), dense_weights(weights))


@pytest.mark.parametrize("name", ["bfloat16", "int8"])
def test_weights_are_converted_in_parts_of_any_size(model, name, monkeypatch):
    weights = model.weights_[0]
    whole = weights.with_weight_type(name)
    monkeypatch.setattr(block_weights, "CHUNK", 7)
    monkeypatch.setattr(weight_types, "CHUNK", 7)
    parts = weights.with_weight_type(name)
    for key, array in whole.arrays.items():
        assert np.array_equal(array, parts.arrays[key])
    assert np.array_equal(dense_weights(whole), dense_weights(parts.with_weight_type("float32")))


@pytest.mark.parametrize("name", WEIGHT_TYPES)
def test_a_model_without_any_weight(name, tmp_path):
    model = small_model(prune=1e9)
    assert model.weights_[0].n_weights == 0
    model.save(tmp_path, weights=name)
    assert same_predictions(model, load(tmp_path, verify=True))


def test_bfloat16_rounds_to_nearest_even_and_keeps_what_is_special():
    numbers = np.array(
        [0, -0.0, 1, np.inf, -np.inf, np.nan, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3.14159]
    )
    bits = to_bfloat16(numbers.astype(np.float32))
    back = (bits.astype(np.uint32) << 16).view(np.float32)
    expected = [0, -0.0, 1, np.inf, -np.inf, np.nan, 1, 1 + 2**-6, 1 + 2**-7, -3.140625]
    np.testing.assert_array_equal(back, np.array(expected, dtype=np.float32))
    all_ones = np.array([0x7FFFFFFF, 0xFFFFFFFF], dtype=np.uint32).view(np.float32)
    assert np.isnan((to_bfloat16(all_ones).astype(np.uint32) << 16).view(np.float32)).all()


def test_int8_needs_finite_weights_and_survives_tiny_ones(model):
    weights = copy.deepcopy(model.weights_[0])
    weights.arrays["weight"] = np.full(weights.n_weights, 1e-45, dtype=np.float32)
    assert np.isfinite(dense_weights(weights.with_weight_type("int8"))).all()
    weights.arrays["weight"][5] = np.nan
    with pytest.raises(ValueError, match=r"node \d+ has a weight that is not finite"):
        weights.with_weight_type("int8")


def test_an_unknown_weight_type_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="weights must be one of float32, bfloat16, int8, got 'float16'"):
        model.save(tmp_path / "a", weights="float16")
    assert not (tmp_path / "a").exists()


# -- what is refused -------------------------------------------------------------------------------------


def test_an_untrained_estimator_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        LabelTreeClassifier().save(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_parameter_that_cannot_be_stored_is_refused(model, tmp_path):
    other = copy.copy(model).set_params(C=float("inf"))
    with pytest.raises(ValueError, match="the parameter 'C' is inf"):
        other.save(tmp_path / "a")
    assert not (tmp_path / "a").exists()


class Other(LabelTreeClassifier):
    pass


def test_the_class_must_be_the_one_that_was_saved(model, tmp_path):
    model.save(tmp_path / "a")
    with pytest.raises(ModelFileError, match="the model is a LabelTreeClassifier, not an Other"):
        Other.load(tmp_path / "a")
    rows, y = small_data()
    save(Other().fit(rows, y), tmp_path / "b")
    assert type(Other.load(tmp_path / "b")) is Other
    with pytest.raises(
        ModelFileError, match="of the class 'Other', which this version of labeltree does not have"
    ):
        load(tmp_path / "b")


# -- the files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", WEIGHT_TYPES)
def test_the_safetensors_library_reads_the_files(model, tmp_path, weights):
    model.save(tmp_path, weights=weights)
    paths = sorted(tmp_path.glob("*.safetensors"))
    assert [path.name.split("-")[0] for path in paths] == ["labels", "tree", "tree"]
    for path in paths:
        with path.open("rb") as file:
            ours = map_tensors(file).tensors
        theirs = dict(safetensors.deserialize(path.read_bytes()))
        assert theirs.keys() == ours.keys()
        for name, tensor in ours.items():
            assert theirs[name]["dtype"] == tensor.dtype
            assert theirs[name]["shape"] == list(tensor.values.shape)
            assert bytes(theirs[name]["data"]) == tensor.values.tobytes()
            assert tensor.values.flags.aligned
            assert tensor.values.ctypes.data % tensor.values.itemsize == 0
        if weights != "bfloat16":  # of which NumPy, and so this part of the library, knows nothing
            assert safetensors.numpy.load_file(path).keys() == ours.keys()


def test_the_document_is_for_people_too(model, tmp_path):
    model.save(tmp_path)
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert text.splitlines()[1] == '  "format": "labeltree",'
    assert json.loads(text)["parameters"]["max_leaves"] == 3


def test_information_without_opening(model, tmp_path):
    model.save(tmp_path, weights="int8")
    info = read_info(tmp_path)
    assert (info.estimator, info.format_version, info.n_features, info.n_labels) == (
        "LabelTreeClassifier",
        13,
        N_FEATURES,
        N_LABELS,
    )
    given = {**model.get_params(), "link": "exp4"}
    del given["rerank"]  # written only if it is not 0
    del given["weights"]  # a field of its own
    for name in ("memory_gb", "checkpoint"):  # of a training, not of a model
        del given[name]
    assert info.parameters == given
    assert info.training_report == model.training_report_
    assert [tree.n_weights for tree in info.trees] == [weights.n_weights for weights in model.weights_]
    assert not info.has_feature_names


def test_the_same_model_is_saved_as_the_same_bytes(model, tmp_path):
    for name in ("a", "b"):
        model.save(tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
