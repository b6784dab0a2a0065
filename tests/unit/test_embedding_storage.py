"""Saved models with word vectors answer as before, and are mapped, copied and converted."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.labelled_texts import labelled_texts
from tests.small_models import N_FEATURES, NAMES, small_data
from tests.vector_models import MODELS, untrained, vector_model

from labeltree import ExtremeTextClassifier, FastTextClassifier, LabelTree, ModelFileError
from labeltree.data import read_word_vectors
from labeltree.model_file import load, read_info
from labeltree.text import Tagger

X, Y = small_data()
DENSE = np.random.default_rng(3).normal(size=(X.shape[0], 5)).astype(np.float32)
LABELS = sorted(NAMES)

every_model = pytest.mark.parametrize("name", MODELS)


def assert_same(one: Any, other: Any, rows: Any = X) -> None:
    for a, b in zip(one.predict_topk(rows, len(LABELS)), other.predict_topk(rows, len(LABELS)), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.transform(rows), other.transform(rows))
    assert one.predict(rows) == other.predict(rows)


@every_model
@pytest.mark.parametrize("vector_type", ["float32", "bfloat16", "int8"])
def test_a_saved_model_answers_bit_for_bit_the_same(name: str, vector_type: str, tmp_path: Path) -> None:
    model = vector_model(name, vector_type=vector_type)
    model.save(tmp_path / "model")
    opened = type(model).load(tmp_path / "model", verify=True)
    assert read_info(tmp_path / "model").weights == vector_type
    assert opened.get_params() == model.get_params()
    assert opened.tree_ == model.tree_
    np.testing.assert_array_equal(opened.word_vectors_, model.word_vectors_)
    np.testing.assert_array_equal(opened.node_vectors_, model.node_vectors_)
    assert_same(opened, model)
    assert_same(pickle.loads(pickle.dumps(opened)), model)
    opened.save(tmp_path / "again")
    for path in (tmp_path / "model").glob("*.safetensors"):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("weights", "off"), [("float32", 0.0), ("bfloat16", 0.01), ("int8", 0.03)])
def test_smaller_weights(weights: str, off: float, tmp_path: Path) -> None:
    model = vector_model("logistic", vector_type="float32")
    model.save(tmp_path / "model", weights=weights)
    opened = load(tmp_path / "model")
    assert read_info(tmp_path / "model").weights == weights
    difference = opened.word_vectors_ - model.word_vectors_
    assert np.abs(difference).max() <= off * np.abs(model.word_vectors_).max()
    assert (np.abs(difference).max() > 0) == (off > 0)
    # The trained model is not touched, and the rounded one equals one that was rounded at training.
    assert model.word_vectors_.dtype == np.float32
    assert_same(opened, vector_model("logistic", vector_type=weights))


def test_unknown_types_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="weights must be one of float32, bfloat16, int8, got 'float16'"):
        vector_model("logistic").save(tmp_path / "model", weights="float16")
    assert not (tmp_path / "model").exists()


def test_sizes_of_files(tmp_path: Path) -> None:
    model = vector_model("flat", dimension=64, vector_type="float32")
    sizes = {}
    for weights in ("float32", "bfloat16", "int8"):
        model.save(tmp_path / weights, weights=weights)
        sizes[weights] = next((tmp_path / weights).glob("embedding-*")).stat().st_size
    n_numbers = 64 * (N_FEATURES + model.tree_.n_nodes)
    assert sizes["float32"] - sizes["bfloat16"] == pytest.approx(2 * n_numbers, abs=64)
    assert sizes["float32"] - sizes["int8"] == pytest.approx(3 * n_numbers, abs=500)


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_vectors_are_mapped_not_read(weights: str, tmp_path: Path) -> None:
    vector_model("logistic").save(tmp_path / "model", weights=weights)
    forest = load(tmp_path / "model").model_.forest
    arrays = [forest.words.values, forest.nodes.vectors.values, forest.nodes.bias]
    for array in arrays:
        assert not array.flags.owndata
        assert not array.flags.writeable


def test_two_models_of_one_file_share_its_pages(tmp_path: Path) -> None:
    vector_model("logistic").save(tmp_path / "model")
    models = [load(tmp_path / "model") for _ in range(3)]
    mapped = next((tmp_path / "model").glob("embedding-*")).name
    maps = Path("/proc/self/smaps")
    if maps.exists():
        # Mapped from the file and not private copies.
        assert sum(line.rstrip().endswith(mapped) for line in maps.read_text().splitlines()) >= 3
    assert_same(models[0], models[2])


def test_calibration_and_decision_are_saved(tmp_path: Path) -> None:
    model = vector_model("logistic").calibrate(X, Y, method="platt").decide_for("micro_f1", X, Y)
    model.save(tmp_path / "model")
    opened = load(tmp_path / "model", verify=True)
    assert read_info(tmp_path / "model").calibration == opened.calibration_.method == "platt"
    assert (opened.decision_.metric, opened.decision_.threshold) == ("micro_f1", model.decision_.threshold)
    assert_same(opened, model)
    del opened.calibration_
    assert not np.array_equal(opened.predict_topk(X).probabilities, model.predict_topk(X).probabilities)


def test_names_of_features(tmp_path: Path) -> None:
    frame = pd.DataFrame(X.toarray(), columns=[f"wörd{j}" for j in range(N_FEATURES)])
    model = untrained("logistic").fit(frame, Y)
    model.save(tmp_path / "model")
    opened = load(tmp_path / "model")
    assert opened.feature_names_in_.tolist() == frame.columns.tolist()
    assert_same(opened, model, frame)
    opened.save_word_vectors(tmp_path / "vectors.txt")
    words, values = read_word_vectors(tmp_path / "vectors.txt")
    assert words == frame.columns.tolist()
    np.testing.assert_array_equal(values, model.word_vectors_)


def test_dense_rows_are_the_same_model_as_sparse_ones(tmp_path: Path) -> None:
    model = untrained("logistic").fit(X.toarray(), Y)
    model.save(tmp_path / "model")
    assert_same(load(tmp_path / "model"), vector_model("logistic"))


@pytest.mark.parametrize("name", ["logistic", "fasttext-ova"])
def test_pairs_of_sparse_and_dense_rows(name: str, tmp_path: Path) -> None:
    model = untrained(name, **({} if name == "logistic" else {"learning_rate": 0.02})).fit((X, DENSE), Y)
    assert model.dense_features_ == (N_FEATURES, N_FEATURES + 5)
    model.save(tmp_path / "model")
    opened = load(tmp_path / "model", verify=True)
    assert opened.dense_features_ == model.dense_features_
    assert_same(opened, model, (X, DENSE))
    assert opened.explain((X[:1], DENSE[:1]), LABELS[0]).probability == pytest.approx(
        float(model.predict_pairs((X[:1], DENSE[:1]), [0], [LABELS[0]])[0]), rel=1e-5
    )
    with pytest.raises(ValueError, match="X is a pair of 20 sparse and 4 dense features"):
        opened.predict((X, DENSE[:, :4]))


def test_given_trees_and_label_vectors(tmp_path: Path) -> None:
    tree = LabelTree.from_nested([list(range(5)), list(range(5, 12))])
    given = untrained("logistic", tree=tree).fit(X, Y)
    given.save(tmp_path / "model")
    assert load(tmp_path / "model").tree_ == tree
    assert load(tmp_path / "model").get_params()["tree"] == tree
    vectors = sp.random(12, 5, density=0.9, random_state=0, format="csr")
    model = untrained("logistic", label_vectors=vectors).fit(X, Y)
    model.save(tmp_path / "model")
    assert_same(load(tmp_path / "model"), model)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("logistic", {"dimension": 9, "pooling": "mean", "loss": "softmax", "normalize": False}),
        ("fasttext-ova", {"dimension": 9, "loss": "hs"}),
    ],
)
def test_parameters_that_are_set_later_do_not_change_the_model(
    name: str, changed: dict[str, Any], tmp_path: Path
) -> None:
    model, expected = vector_model(name), vector_model(name)
    model.set_params(**changed)
    assert_same(model, expected)
    model.save(tmp_path / "model")
    opened = load(tmp_path / "model")
    assert_same(opened, expected)
    before = expected.get_params()
    assert {n: opened.get_params()[n] for n in changed} == {n: before[n] for n in changed}


def test_a_model_is_opened_by_its_own_class(tmp_path: Path) -> None:
    vector_model("logistic").save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="is an ExtremeTextClassifier, not a FastTextClassifier"):
        FastTextClassifier.load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="trained on numbers, not on texts"):
        Tagger.load(tmp_path / "model")


# -- texts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["extremetext", "fasttext"])
def test_a_tagger_by_method(method: str, tmp_path: Path) -> None:
    texts, labels = labelled_texts(120)
    tagger = Tagger(method=method)
    tagger.set_params(classifier__dimension=10, classifier__epochs=15, classifier__random_state=0)
    tagger.fit(texts, labels).save(tmp_path / "model", weights="bfloat16")
    opened = Tagger.load(tmp_path / "model", verify=True)
    assert (
        type(opened.classifier_)
        is {"extremetext": ExtremeTextClassifier, "fasttext": FastTextClassifier}[method]
    )
    assert opened.word_vectors_.shape == (len(opened.vectorizer_.get_feature_names_out()), 10)
    document = json.loads((tmp_path / "model" / "model.json").read_text())
    assert (document["format_version"], document["weights"]) == (10, "bfloat16")
    assert_same(opened.classifier_, load(tmp_path / "model"), texts)
    opened.classifier_.save_word_vectors(tmp_path / "vectors.txt.gz")
    words, values = read_word_vectors(tmp_path / "vectors.txt.gz")
    assert words == opened.vectorizer_.get_feature_names_out().tolist()
    np.testing.assert_array_equal(values, opened.word_vectors_)


def test_methods_and_classifiers_that_contradict() -> None:
    texts, labels = labelled_texts(20)
    with pytest.raises(ValueError, match=r"method must be one of label-tree, .*, got 'word2vec'"):
        Tagger(method="word2vec").fit(texts, labels)
    with pytest.raises(ValueError, match="method='extremetext' trains an ExtremeTextClassifier, got also"):
        Tagger(FastTextClassifier(), method="extremetext").fit(texts, labels)
    assert Tagger(method="fasttext").get_params()["method"] == "fasttext"


def test_word_vectors_need_words(tmp_path: Path) -> None:
    model = vector_model("logistic")
    with pytest.raises(ValueError, match="have no names: pass words, one for each feature"):
        model.save_word_vectors(tmp_path / "vectors.txt")
    with pytest.raises(ValueError, match="expected a vector for each of 2 words"):
        model.save_word_vectors(tmp_path / "vectors.txt", ["a", "b"])
    assert not (tmp_path / "vectors.txt").exists()
    model.save_word_vectors(tmp_path / "vectors.txt", [f"w{j}" for j in range(N_FEATURES)])
    np.testing.assert_array_equal(read_word_vectors(tmp_path / "vectors.txt").values, model.word_vectors_)
