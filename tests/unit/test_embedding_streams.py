"""Training of word vectors on streams that are read once for each pass."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.command_line import run

from labeltree import ExtremeTextClassifier, FastTextClassifier, LabelTreeClassifier
from labeltree.embedding.streaming import Survey, in_random_order
from labeltree.metrics import precision_at_k
from labeltree.text import Tagger

N_ROWS = 120


def rows(n_rows: int = N_ROWS) -> tuple[csr_matrix, list[list[str]]]:
    """Rows whose label is the first half or the second half of the features that they have."""
    random = np.random.default_rng(3)
    X = np.zeros((n_rows, 20), dtype=np.float32)
    y = []
    for row in range(n_rows):
        group = int(random.integers(4))
        X[row, random.choice(5, 3, replace=False) + 5 * group] = random.random(3) + 0.5
        y.append([f"group {group}"] + (["even"] if group % 2 == 0 else []))
    return csr_matrix(X), y


def batches(size: int, n_rows: int = N_ROWS) -> Callable[[], Iterator[Any]]:
    X, y = rows(n_rows)

    def read() -> Iterator[Any]:
        for begin in range(0, n_rows, size):
            yield X[begin : begin + size], y[begin : begin + size]

    return read


def model(**parameters: Any) -> ExtremeTextClassifier:
    return ExtremeTextClassifier(
        **{
            "dimension": 6,
            "epochs": 30,
            "max_leaves": 2,
            "arity": 2,
            "batch_size": 16,
            "random_state": 0,
            **parameters,
        }
    )


def test_a_stream_is_learned_as_well_as_rows_in_memory() -> None:
    X, y = rows()
    streamed = model().fit_stream(batches(25), buffer_rows=40)
    assert precision_at_k(y, streamed.predict_topk(X, 1).labels, k=1) > 0.95
    assert streamed.n_samples_fit_ == N_ROWS
    assert streamed.n_features_in_ == 20
    assert streamed.classes_.tolist() == ["even", "group 0", "group 1", "group 2", "group 3"]
    counts = {label: sum(label in labels for labels in y) for label in streamed.classes_}
    assert streamed.label_counts_.tolist() == [counts[label] for label in streamed.classes_]


@pytest.mark.parametrize("buffer_rows", [1, 7, 50, 1000])
def test_the_model_depends_neither_on_batches_nor_on_threads(buffer_rows: int) -> None:
    expected = model(epochs=2).fit_stream(batches(N_ROWS), buffer_rows=buffer_rows)
    for size, n_jobs in ((1, 1), (37, 2), (N_ROWS, 5)):
        other = model(epochs=2, n_jobs=n_jobs, batch_size=64 if n_jobs == 5 else 16)
        if n_jobs == 5:  # the team has several threads
            expected = model(epochs=2, batch_size=64).fit_stream(batches(N_ROWS), buffer_rows=buffer_rows)
        other.fit_stream(batches(size), buffer_rows=buffer_rows)
        np.testing.assert_array_equal(other.word_vectors_, expected.word_vectors_)
        np.testing.assert_array_equal(other.node_vectors_, expected.node_vectors_)


def test_all_rows_come_once_and_far_from_their_place() -> None:
    X, _ = rows()
    numbered = [[str(row)] for row in range(N_ROWS)]
    chunks = list(in_random_order([(X[:50], numbered[:50]), (X[50:], numbered[50:])], 20, seed=1))
    order = [int(labels[0]) for chunk in chunks for labels in chunk.y]
    assert sorted(order) == list(range(N_ROWS))
    assert order != sorted(order)
    assert max(len(chunk.y) for chunk in chunks) <= 20
    for chunk in chunks:
        np.testing.assert_array_equal(chunk.X.toarray(), X[[int(labels[0]) for labels in chunk.y]].toarray())


@pytest.mark.parametrize("buffer_rows", [1, 5, 119, 120, 500])
def test_the_sample_is_a_part_of_the_rows(buffer_rows: int) -> None:
    samples = []
    for size in (1, 7, N_ROWS):
        survey = Survey(buffer_rows, seed=4)
        X, _ = rows()
        for begin in range(0, N_ROWS, size):
            part = range(begin, min(begin + size, N_ROWS))
            survey.add(next(in_random_order([(X[list(part)], [[row] for row in part])], 10**6, 0)))
        samples.append([labels[0] for labels in survey.sample().y])
    assert samples[0] == samples[1] == samples[2]
    assert len(set(samples[0])) == min(buffer_rows, N_ROWS)


def test_batches_may_have_different_widths_and_be_empty() -> None:
    def read() -> Iterator[Any]:
        yield csr_matrix((0, 2)), []
        yield csr_matrix([[1.0, 0.0]] * 8), [["a"]] * 8
        yield csr_matrix([[0.0, 0.0, 0.0, 1.0]] * 8), [["b"]] * 8

    trained = model().fit_stream(read, buffer_rows=4)
    assert trained.n_features_in_ == 4
    assert trained.predict([[1.0, 0, 0, 0], [0, 0, 0, 1.0]]) == [["a"], ["b"]]


def test_rows_without_labels_lower_the_root() -> None:
    X, y = rows()
    y = [labels if row % 2 else [] for row, labels in enumerate(y)]
    trained = model().fit_stream(lambda: [(X, y)], buffer_rows=30)
    assert trained.predict_topk(X, 5).probabilities.max() < 0.99


def refused(read: Any, match: str, **arguments: Any) -> None:
    trained = model().fit_stream(batches(30))
    before = trained.word_vectors_
    with pytest.raises(ValueError, match=match):
        trained.fit_stream(read, **arguments)
    np.testing.assert_array_equal(trained.word_vectors_, before)  # the earlier model stays


def test_refusals() -> None:
    X, y = rows()
    refused([(X, y)], "expected a function that returns batches")
    refused(iter([(X, y)]), "expected a function that returns batches")
    refused(batches(10), "buffer_rows", buffer_rows=0)
    refused(list, "the stream has no row with a label")
    refused(lambda: [(X, [[]] * N_ROWS)], "the stream has no row with a label")
    refused(lambda: [(X, y[:-1])], f"got {N_ROWS} rows and {N_ROWS - 1} lists of labels after row 0")
    refused(lambda: [(X, np.eye(N_ROWS))], "got an array of shape")
    refused(lambda: [(X, ["cat"] * N_ROWS)], "y, row 0: expected a list of labels")
    refused(lambda: [(X, [*y[:-1], 7])], f"y, row {N_ROWS - 1}: expected a list of labels")


def test_a_stream_that_changes_is_refused() -> None:
    sizes = iter([N_ROWS, N_ROWS, N_ROWS - 1])
    refused(lambda: batches(50, next(sizes))(), f"had {N_ROWS} rows at first, and {N_ROWS - 1} in pass 2")


def test_a_stream_that_fails_in_the_middle() -> None:
    passes = iter(range(10))

    def read() -> Iterator[Any]:
        yield from batches(50)()
        if next(passes) == 1:
            raise ValueError("the disk is gone")

    refused(read, "the disk is gone")


def test_taggers_learn_streams_of_texts() -> None:
    texts, labels = ["a boat at sea", "a cat on a mat"] * 30, [["sea"], ["cat"]] * 30

    def read() -> Iterator[Any]:
        for begin in range(0, 60, 7):
            yield texts[begin : begin + 7], labels[begin : begin + 7]

    for method in ("extremetext", "fasttext"):
        tagger = Tagger(method=method)
        tagger.classifier.set_params(dimension=6, epochs=30, batch_size=4, random_state=0)
        assert tagger.fit_stream(read, buffer_rows=9).predict(["the sea", "my cat"]) == [["sea"], ["cat"]]
    with pytest.raises(ValueError, match="LabelTreeClassifier cannot be trained on a stream"):
        Tagger(LabelTreeClassifier()).fit_stream(read)
    with pytest.raises(ValueError, match="expected a function"):
        Tagger(FastTextClassifier()).fit_stream(texts)  # type: ignore[arg-type]


def test_the_command_line_streams_files(tmp_path: Path) -> None:
    lines = [json.dumps({"text": text, "labels": [text.split()[-1]]}) for text in ("at sea", "my cat")] * 40
    packed = tmp_path / "texts.jsonl.gz"
    packed.write_bytes(gzip.compress("\n".join(lines).encode()))
    options = ["--method", "extremetext", "--stream", "--buffer-rows", 15, "--dimension", 6, "--epochs", 40]
    told = run("train", packed, "--model", tmp_path / "m", *options, "--json").stdout
    report = json.loads(told)
    assert (report["rows"], report["labels"]) == (80, 2)
    assert "sea" in run("tag", tmp_path / "m", "the sea").stdout
    error = run("train", "-", "--model", tmp_path / "n", *options, exit_code=2, input="").stderr
    assert "give a file" in " ".join(error.split())
    numbers = tmp_path / "rows.txt"
    numbers.write_text("4 3 2\n0 0:1\n1 1:1\n0 0:1 2:1\n1 1:1\n")
    run("train", numbers, "--model", tmp_path / "r", *options)
    wide = run("train", numbers, "--model", tmp_path / "s", *options, "--n-features", 9, "--json").stdout
    assert json.loads(wide)["features"] == 9
    never = ("--model", tmp_path / "t", *options)
    assert "--n-labels" in run("train", numbers, *never, "--n-labels", 9, exit_code=2).stderr
    os.mkfifo(tmp_path / "pipe")
    error = run("train", tmp_path / "pipe", *never, exit_code=2).stderr
    assert "a pipe" in " ".join(error.split())
    assert not (tmp_path / "t").exists()
