"""Pretrained word vectors: which words start from them, which stay as they are, and files that are refused."""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.labelled_texts import labelled_texts
from tests.small_models import N_FEATURES, small_data
from tests.vector_models import untrained

from labeltree import ExtremeTextClassifier, FastTextClassifier
from labeltree.data import DataFormatError, WordVectors, write_word_vectors
from labeltree.data.word_vector_array import read_word_vector_array
from labeltree.text import Tagger

X, Y = small_data()
WORDS = [f"wörd{j}" for j in range(N_FEATURES)]
#: Vectors of every other word, in an order of their own, and of words that X does not have.
KNOWN = ["sky", *WORDS[::-2], "moon"]
VALUES = np.random.default_rng(1).normal(size=(len(KNOWN), 6)).astype(np.float32)
VECTORS = WordVectors(KNOWN, VALUES)
COLUMNS = [WORDS.index(word) for word in KNOWN[1:-1]]
OTHERS = [j for j in range(N_FEATURES) if j not in COLUMNS]


def npy_pair(folder: Path) -> tuple[Path, Path]:
    np.save(folder / "vectors.npy", VALUES)
    (folder / "vocabulary.lst").write_text("\n".join(KNOWN) + "\n", encoding="utf-8")
    return folder / "vectors.npy", folder / "vocabulary.lst"


def npy_beside(folder: Path) -> str:
    np.save(folder / "vectors.npy", VALUES.astype(np.float64))
    (folder / "vectors.txt").write_text("\r\n".join(KNOWN), encoding="utf-8")
    return str(folder / "vectors.npy")


def text_file(folder: Path, name: str = "vectors.vec") -> Path:
    write_word_vectors(folder / name, KNOWN, VALUES)
    return folder / name


def binary_file(folder: Path) -> Path:
    rows = [w.encode() + b" " + v.tobytes() for w, v in zip(KNOWN, VALUES, strict=True)]
    (folder / "vectors.bin").write_bytes(f"{len(KNOWN)} 6\n".encode() + b"".join(rows))
    return folder / "vectors.bin"


FORMS: dict[str, Any] = {
    "pair of paths": npy_pair,
    "pair of strings": lambda folder: tuple(map(str, npy_pair(folder))),
    ".npy": npy_beside,
    "text": text_file,
    "compressed": lambda folder: str(text_file(folder, "vectors.txt.gz")),
    "binary": binary_file,
    "WordVectors": lambda folder: VECTORS,
    "WordVectors of float64": lambda folder: WordVectors(KNOWN, VALUES.astype(np.float64)),
}


def trained(pretrained: Any, **parameters: Any) -> ExtremeTextClassifier:
    """A model whose words start from vectors, after one pass."""
    parameters = {"epochs": 1, "vector_type": "float32", "pretrained": pretrained, **parameters}
    return untrained("logistic", **parameters).fit(X, Y, words=WORDS)


@pytest.mark.parametrize("form", FORMS)
def test_frozen_words_keep_their_vectors_and_others_learn(form: str, tmp_path: Path) -> None:
    model = trained(FORMS[form](tmp_path), frozen=True)
    np.testing.assert_array_equal(model.word_vectors_[COLUMNS], VALUES[1:-1])
    small, large = (trained(VECTORS, frozen=True, learning_rate=rate) for rate in (1e-9, 0.05))
    moved = np.abs(large.word_vectors_ - small.word_vectors_).max(axis=1)
    assert (moved[COLUMNS] == 0).all()
    assert (moved[OTHERS] > 1e-3).all()


@pytest.mark.parametrize("form", FORMS)
def test_other_words_start_from_their_vectors(form: str, tmp_path: Path) -> None:
    still = trained(FORMS[form](tmp_path), learning_rate=1e-12)
    np.testing.assert_allclose(still.word_vectors_[COLUMNS], VALUES[1:-1], rtol=1e-5, atol=1e-6)
    # Those without a vector start from small random numbers, as all do without vectors.
    untouched = untrained("logistic", epochs=1, vector_type="float32", learning_rate=1e-12).fit(X, Y)
    np.testing.assert_array_equal(still.word_vectors_[OTHERS], untouched.word_vectors_[OTHERS])
    assert np.abs(untouched.word_vectors_).max() <= 1 / 6
    moved = trained(FORMS[form](tmp_path), learning_rate=0.05)
    assert (np.abs(moved.word_vectors_[COLUMNS] - VALUES[1:-1]).max(axis=1) > 1e-3).all()


@pytest.mark.parametrize("solver", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize("name", ["logistic", "fasttext-softmax", "fasttext-hs", "fasttext-ova"])
def test_frozen_under_every_solver_and_loss(name: str, solver: str) -> None:
    model = untrained(
        name,
        solver=solver,
        regularization=0.01,
        pretrained=VECTORS,
        frozen=True,
        vector_type="float32",
        epochs=3,
    ).fit(X, Y, words=WORDS)
    np.testing.assert_array_equal(model.word_vectors_[COLUMNS], VALUES[1:-1])


def test_columns_of_a_frame_are_words() -> None:
    frame = pd.DataFrame(X.toarray(), columns=WORDS)
    named = untrained("logistic", epochs=1, pretrained=VECTORS, vector_type="float32").fit(frame, Y)
    np.testing.assert_array_equal(named.word_vectors_, trained(VECTORS).word_vectors_)
    other = frame.rename(columns=dict(zip(WORDS, reversed(WORDS), strict=True)))
    renamed = untrained("logistic", epochs=1, pretrained=VECTORS, frozen=True, vector_type="float32")
    swapped = renamed.fit(other, Y).word_vectors_
    np.testing.assert_array_equal(swapped[::-1][COLUMNS], VALUES[1:-1])


@pytest.mark.parametrize("method", ["extremetext", "fasttext"])
def test_texts_bring_their_words(method: str, tmp_path: Path) -> None:
    texts, labels = labelled_texts(60)
    write_word_vectors(tmp_path / "vectors.txt", ["harbour", "violin", "Violin"], VALUES[:3])
    tagger = Tagger(method=method)
    tagger.set_params(
        classifier__dimension=6,
        classifier__pretrained=tmp_path / "vectors.txt",
        classifier__frozen=True,
        classifier__vector_type="float32",
    )
    tagger.fit(texts, labels)
    names = tagger.vectorizer_.get_feature_names_out().tolist()
    np.testing.assert_array_equal(
        tagger.word_vectors_[[names.index("harbour"), names.index("violin")]], VALUES[:2]
    )


def test_vectors_of_one_training_start_another(tmp_path: Path) -> None:
    first = untrained("logistic", vector_type="float32").fit(X, Y)
    first.save_word_vectors(tmp_path / "vectors.txt", WORDS)
    again = trained(tmp_path / "vectors.txt", frozen=True)
    np.testing.assert_array_equal(again.word_vectors_, first.word_vectors_)


def test_a_saved_model_forgets_where_its_vectors_came_from(tmp_path: Path) -> None:
    path = text_file(tmp_path)
    model = trained(path, frozen=True)
    assert (model.pretrained, model.frozen) == (path, True)
    model.save(tmp_path / "model")
    path.unlink()
    opened = ExtremeTextClassifier.load(tmp_path / "model")
    assert (opened.pretrained, opened.frozen) == (None, False)
    np.testing.assert_array_equal(opened.predict_topk(X).probabilities, model.predict_topk(X).probabilities)
    pickle.loads(pickle.dumps(model)).predict(X)


def test_the_words_are_not_kept() -> None:
    model = trained(VECTORS)
    assert not hasattr(model, "_words")
    with pytest.raises(ValueError, match="the columns of X have no names"):
        model.fit(X, Y)
    assert not hasattr(model, "_words")


# -- refusals ------------------------------------------------------------------------------------------------------


def test_columns_without_names() -> None:
    message = "the columns of X have no names: pass words=… to fit, use a frame, or train on texts with"
    for rows in (X, X.toarray()):
        with pytest.raises(ValueError, match=message):
            untrained("logistic", pretrained=VECTORS).fit(rows, Y)


def test_words_that_are_not_as_many_as_columns() -> None:
    for words in (WORDS[:-1], [*WORDS, "more"]):
        with pytest.raises(ValueError, match=f"words must name all 20 columns of X, got {len(words)} words"):
            untrained("logistic", pretrained=VECTORS).fit(X, Y, words=words)


def test_words_that_are_repeated() -> None:
    with pytest.raises(ValueError, match="words must be distinct, but 'wörd1' occurs twice"):
        untrained("logistic", pretrained=VECTORS).fit(X, Y, words=[*WORDS[:2], WORDS[1], *WORDS[3:]])


@pytest.mark.parametrize("form", FORMS)
def test_another_dimension(form: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="vectors have 6 dimensions: set dimension=6, got 8"):
        trained(FORMS[form](tmp_path), dimension=8)


def test_no_word_is_known() -> None:
    unknown = WordVectors(["WÖRD1", "x"], VALUES[:2])
    with pytest.raises(
        ValueError, match=r"none of the 20 words of X has a pretrained vector: check .* lower case"
    ):
        trained(unknown)


@pytest.mark.parametrize("pretrained", [3, b"vectors.txt", ("a", "b", "c"), ("a", 1), ["a", "b"], VALUES])
def test_what_are_no_vectors(pretrained: Any) -> None:
    with pytest.raises(
        ValueError, match=r"'pretrained' must be a file of word vectors, a pair of .* or None, got"
    ):
        trained(pretrained)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (WordVectors(WORDS[:2], VALUES), r"each of 2 words, got the shape \(12, 6\)"),
        (WordVectors(WORDS[:2], VALUES[:2] * np.nan), "finite .* vector of 'wörd0'"),
        (WordVectors(WORDS[:2], VALUES[:2] * np.inf), "finite .* vector of 'wörd0'"),
        (WordVectors(WORDS[:2], VALUES[:2].astype(np.float64) * 1e39), "finite .* vector of 'wörd0'"),
        (WordVectors(WORDS[:2], VALUES[0, :2]), "shape"),
        (WordVectors(WORDS[:2], np.array([["a"] * 6] * 2)), "could not convert string to float"),
        (WordVectors([], VALUES[:0]), "none of the 20 words"),
    ],
    ids=range(7),
)
def test_word_vectors_that_are_wrong(vectors: WordVectors, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trained(vectors)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"vectors\.vec"):
        trained(tmp_path / "vectors.vec")
    with pytest.raises(FileNotFoundError, match=r"vectors\.npy"):
        trained(tmp_path / "vectors.npy")
    np.save(tmp_path / "vectors.npy", VALUES)
    with pytest.raises(FileNotFoundError, match=r"vectors\.txt"):
        trained(tmp_path / "vectors.npy")


LINE = " ".join(["0.5"] * 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"2 6\nwörd0 {LINE}\n", ": expected the 2 words of the first line, got 1"),
        (f"1 6\nwörd0 {LINE}\nwörd1 {LINE}\n", ": expected the 1 words of the first line, got 2"),
        (f"wörd0 {LINE}\nwörd1 0.5\n", ":2: expected a word and 6 numbers, got 2 fields"),
        (f"wörd0 {LINE}\nwörd1 {LINE} 1\n", ":2: expected a word and 6 numbers, got more numbers"),
        (
            f"wörd0 {LINE}\nwörd1 {LINE[:-3]}nan\n",
            ":2: expected finite float32 numbers, got nan in the vector of",
        ),
        (f"wörd0 {LINE[:-3]}inf\n", ":1: expected finite float32 numbers, got inf in the vector of 'wörd0'"),
        (f"wörd0 {LINE[:-3]}1e39\n", ":1: expected finite float32 numbers, got inf"),
        (f"wörd0 {LINE[:-3]}x\n", ":1: expected numbers after the word"),
        (f"wörd0 {LINE}\nsky {LINE}\nwörd0 {LINE}\n", ":3: expected each word once, got 'wörd0' again"),
        (b"w\xf6rd0 " + LINE.encode() + b"\n", ":1: expected a word in UTF-8"),
        ("1 999999999\nwörd0 1\n", ":1: expected 1 to 100000 dimensions, got 999999999"),
        ("1 0\nwörd0\n", ":1: expected 1 to 100000 dimensions, got 0"),
        ("999999999999 6\n", ": expected the 999999999999 words of the first line, got 0"),
        ("", ": expected word vectors, got none"),
        ("\n\n", ": expected word vectors, got none"),
    ],
    ids=range(15),
)
def test_text_files_that_are_wrong(text: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataFormatError) as caught:
        trained(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_empty_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text(f"2 6\n\nwörd0 {LINE}\n\n\nsky {LINE}\n")
    assert (trained(path, frozen=True).word_vectors_[0] == 0.5).all()


def pickled() -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    return content.getvalue()


def as_npy(array: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def header_only(shape: tuple[int, ...]) -> bytes:
    """A file that says it is huge."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a NumPy file with an array of numbers"),
        (b"not numpy at all", "expected a NumPy file with an array of numbers"),
        (pickled(), "expected a NumPy file with an array of numbers"),
        (
            as_npy(np.zeros((2, 3, 6), np.float32)),
            r"of shape \(words, dimensions\), got float32 of shape \(2, 3, 6\)",
        ),
        (as_npy(np.zeros(6, np.float32)), r"of shape \(words, dimensions\), got float32 of shape \(6,\)"),
        (as_npy(np.float32(3)), r"of shape \(words, dimensions\), got float32 of shape \(\)"),
        (as_npy(np.zeros((2, 6), complex)), "got complex128"),
        (as_npy(np.zeros((2, 6), "U3")), "got <U3"),
        (as_npy(np.zeros((2, 6), bool)), "got bool"),
        (as_npy(np.zeros((2, 0), np.float32)), "expected 1 to 100000 dimensions, got 0"),
        (as_npy(np.zeros((2, 100_001), np.float32)), "expected 1 to 100000 dimensions, got 100001"),
        (header_only((2, 6)), "expected a NumPy file with an array of numbers"),
        (header_only((10**12, 6)), "expected a NumPy file with an array of numbers"),
        (header_only((2, 10**12)), "expected a NumPy file with an array of numbers|dimensions"),
        (as_npy(VALUES[:2])[:-4], "expected a NumPy file with an array of numbers"),
    ],
    ids=range(15),
)
def test_arrays_that_are_wrong(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    path.write_bytes(content)
    path.with_suffix(".txt").write_text("wörd0\nwörd1\n", encoding="utf-8")
    with pytest.raises(DataFormatError, match=message) as caught:
        trained(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_several_arrays_in_one_file(tmp_path: Path) -> None:
    with (tmp_path / "vectors.npy").open("wb") as file:
        np.savez(file, a=VALUES)
    with pytest.raises(DataFormatError, match="got several arrays"):
        trained((tmp_path / "vectors.npy", tmp_path / "words.txt"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (b"a\nb\n", r": expected a word for each of the 3 vectors of .*vectors\.npy, got 2 words"),
        (b"a\nb\nc\nd\n", r": expected a word for each of the 3 vectors of .*vectors\.npy, got 4 words"),
        (b"", r": expected a word for each of the 3 vectors of .*, got 0 words"),
        (b"a\n\nc\n", ":2: expected a word, got an empty line"),
        (b"a\nb\nc\n\n", ":4: expected a word, got an empty line"),
        (b"a\nb\na\n", ":3: expected each word once, but 'a' stands also in line 1"),
        (b"a\nb\nw\xf6rd\n", ":3: expected a word in UTF-8"),
    ],
    ids=range(7),
)
def test_words_of_arrays_that_are_wrong(words: bytes, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", VALUES[:3])
    path = tmp_path / "vectors.txt"
    path.write_bytes(words)
    with pytest.raises(DataFormatError, match=re.escape(str(path)) + message):
        trained(tmp_path / "vectors.npy")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_numbers_of_arrays_that_are_wrong(value: float, tmp_path: Path) -> None:
    values = VALUES[:3].astype(np.float64)
    values[1, 2] = value
    np.save(tmp_path / "vectors.npy", values)
    (tmp_path / "vectors.txt").write_text("sky\nwörd1\nwörd2\n", encoding="utf-8")
    with pytest.raises(DataFormatError, match=r"vectors\.txt:2: expected finite float32 numbers.* 'wörd1'"):
        trained(tmp_path / "vectors.npy")
    # The numbers of a word that is not needed are not looked at.
    found = read_word_vector_array(tmp_path / "vectors.npy", words=["wörd2"])
    assert found.words == ["wörd2"]
    np.testing.assert_array_equal(found.values, VALUES[2:3])


def test_arrays_of_other_numbers_and_orders(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("b\na\n")
    for values in (
        np.array([[1, 2], [3, 4]], np.int16),
        np.asfortranarray(np.array([[1, 2], [3, 4]], ">f8")),
        np.array([[1, 2], [3, 4]], np.float16),
    ):
        np.save(tmp_path / "v.npy", values)
        found = read_word_vector_array(tmp_path / "v.npy")
        assert found.words == ["b", "a"]
        assert found.values.dtype == np.float32
        np.testing.assert_array_equal(found.values, [[1, 2], [3, 4]])


def test_a_refused_file_leaves_the_earlier_model(tmp_path: Path) -> None:
    model = trained(VECTORS)
    before = model.predict_topk(X).probabilities
    (tmp_path / "vectors.vec").write_text("wörd0 1 2\nwörd0 1\n")
    model.set_params(pretrained=tmp_path / "vectors.vec")
    with pytest.raises(DataFormatError):
        model.fit(X, Y, words=WORDS)
    model.set_params(pretrained=None)
    np.testing.assert_array_equal(model.predict_topk(X).probabilities, before)


def test_fasttext_takes_words_too() -> None:
    model = FastTextClassifier(dimension=6, epochs=1, pretrained=VECTORS, frozen=True, vector_type="float32")
    np.testing.assert_array_equal(model.fit(X, Y, words=WORDS).word_vectors_[COLUMNS], VALUES[1:-1])
