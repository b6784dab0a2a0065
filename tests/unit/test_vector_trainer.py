"""The training of word vectors and node vectors: the kernel beside its twin, and the same bits everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.embedding import Options, VectorTwin
from tests.servers import wait_until
from tests.strategies import label_trees
from tests.vector_training import (
    WIDE_TRAININGS,
    Arrays,
    Problem,
    kernel_arrays,
    native_trainer,
    random_problem,
    twin_arrays,
    wide_options,
    wide_problem,
)

from labeltree import LabelTree, _native
from labeltree.trees.huffman import huffman_tree

pytestmark = pytest.mark.native

TREES = {
    "flat": LabelTree.flat(9),
    "huffman": huffman_tree([9, 1, 4, 2, 2, 7, 1, 1, 3], 2),
    "nested": LabelTree.from_nested([0, [1, 2], [3, [4, 5, [6, 7]]], [[8]]]),
    "one label": LabelTree.flat(1),
}


def assert_same_bits(found: Arrays, expected: Arrays) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name].view(np.uint32), array.view(np.uint32), err_msg=name)


def assert_close(found: Arrays, expected: Arrays, tolerance: float = 2e-5) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == np.float32
        np.testing.assert_allclose(found[name], array, rtol=tolerance, atol=tolerance, err_msg=name)


# -- the twin --------------------------------------------------------------------------------------------------------

# A gradient that is 0 but for rounding makes a large step if epsilon is tiny, in a direction of its own.
KINDS: dict[str, dict[str, Any]] = {
    "logistic": {"loss": "logistic"},
    "hard negatives": {"loss": "logistic", "hard_negatives": 2},
    "softmax": {"loss": "softmax"},
}
SOLVERS: dict[str, dict[str, Any]] = {
    "sgd": {"solver": "sgd", "learning_rate": 0.3},
    "adagrad": {"solver": "adagrad", "learning_rate": 0.2, "epsilon": 1e-3},
    "adagrad from 1": {"solver": "adagrad", "learning_rate": 0.2, "initial_accumulator": 1.0},
    "adam": {"solver": "adam", "learning_rate": 0.05, "epsilon": 1e-3},
    "adam of short memory": {"solver": "adam", "epsilon": 1e-2, "beta1": 0.5, "beta2": 0.9},
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tree", TREES)
def test_vectors_are_those_of_the_twin(tree: str, kind: str, solver: str) -> None:
    problem = random_problem(TREES[tree], 25, 11, seed=len(tree + kind + solver))
    options = problem.options(
        5, passes=2, batch_size=4, l2=0.01, seed=7, dropout=0.2, **KINDS[kind], **SOLVERS[solver]
    )
    expected = twin_arrays(problem, options, passes=2)
    assert np.abs(expected["node_vector"]).max() > 0.005
    assert_close(kernel_arrays(problem, options, passes=2), expected)


@st.composite
def trainings(draw: st.DrawFn) -> tuple[Problem, Options, int, int]:
    """A problem, options, the number of passes and of threads."""
    tree = draw(label_trees() | st.sampled_from(list(TREES.values())))
    weighted, empty = draw(st.booleans()), draw(st.booleans())
    n_rows, n_words = draw(st.integers(0, 20)), draw(st.integers(1, 12))
    problem = random_problem(
        tree, n_rows, n_words, draw(st.integers(0, 2**32)), weighted=weighted, empty=empty
    )
    passes = draw(st.integers(1, 3))
    chosen = KINDS[draw(st.sampled_from(list(KINDS)))] | SOLVERS[draw(st.sampled_from(list(SOLVERS)))]
    if "hard_negatives" in chosen:
        chosen = chosen | {"hard_negatives": draw(st.sampled_from([1, 3, 100]))}
    options = problem.options(
        draw(st.sampled_from([1, 3, 15, 16, 17, 33])),
        passes,
        batch_size=draw(st.sampled_from([1, 3, 8, 100])),
        l2=draw(st.sampled_from([0.0, 0.02])),
        falling_rate=draw(st.booleans()),
        mean=draw(st.booleans()),
        bias=draw(st.booleans()),
        dropout=draw(st.sampled_from([0.0, 0.25, 0.9])),
        seed=draw(st.integers(0, 2**64 - 1)),
        **chosen,
    )
    return problem, options, passes, draw(st.sampled_from([1, 2, 5]))


@settings(max_examples=120)
@given(trainings())
def test_any_training_is_that_of_the_twin(training: tuple[Problem, Options, int, int]) -> None:
    problem, options, passes, n_threads = training
    found = kernel_arrays(problem, options, passes, n_threads)
    assert_close(found, twin_arrays(problem, options, passes), 2e-4)


def test_the_usual_epsilon() -> None:
    problem = random_problem(TREES["nested"], 40, 11, seed=3)
    for loss in ("logistic", "softmax"):
        options = problem.options(20, passes=3, batch_size=5, loss=loss, learning_rate=0.03)
        assert options.epsilon == np.float32(1e-8)
        assert_close(kernel_arrays(problem, options, 3), twin_arrays(problem, options, 3), 1e-3)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_wide_blocks_are_learned_in_parts(loss: str) -> None:
    """Blocks of more than 64 columns are cut into parts; of more than 4,096, into wider ones."""
    tree = LabelTree.from_nested([*range(150), [*range(150, 4_350)]])
    problem = random_problem(tree, 6, 5, seed=1)
    problem.labels[0][:] = [0, 63, 64, 149]  # either side of a cut
    problem.labels[1][:] = [150, 215, 216, 4_349]
    options = problem.options(3, loss=loss, solver="sgd", learning_rate=0.5, batch_size=4)
    assert_close(kernel_arrays(problem, options, n_threads=3), twin_arrays(problem, options))


def test_a_batch_of_many_rows_and_words() -> None:
    """More words than one task of a thread has, and words that all rows share."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((70, 300)) < 0.05, rng.normal(size=(70, 300)), 0).astype(np.float32)
    X[:, 0] = 1
    problem = Problem(TREES["nested"], X, [[i % 9] for i in range(70)])
    options = problem.options(4, batch_size=64, solver="sgd", learning_rate=0.02, l2=0.01)
    expected = twin_arrays(problem, options)
    for n_threads in (1, 4):
        assert_close(kernel_arrays(problem, options, n_threads=n_threads), expected)


def test_masks_are_those_of_the_twin_to_the_last_dimension() -> None:
    """With 5,000 dimensions some random numbers are just at the bound."""
    problem = random_problem(LabelTree.flat(2), 60, 3, seed=1)
    options = problem.options(5_000, solver="sgd", batch_size=30, dropout=0.25, initial_range=0.01)
    options = replace(options, learning_rate=0.5, bias=False)
    found, expected = kernel_arrays(problem, options), twin_arrays(problem, options)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-6, err_msg=name)


def test_no_step_is_taken_beyond_the_announced_visits() -> None:
    problem = random_problem(TREES["nested"], 20, 8, seed=0)
    options = problem.options(6, passes=1)
    assert_same_bits(kernel_arrays(problem, options, passes=3), kernel_arrays(problem, options, passes=1))


def test_frozen_words_stay_and_given_ones_learn() -> None:
    problem = random_problem(TREES["nested"], 30, 8, seed=4)
    options = problem.options(6, solver="sgd", learning_rate=0.3, batch_size=4)
    given = np.random.default_rng(1).normal(size=(2, 6)).astype(np.float32)
    trainer, twin = native_trainer(problem, options), VectorTwin(problem.tree, 8, options)
    for words, frozen in (([0, 3], True), ([5, 1], False)):
        trainer.set_words(np.array(words), given, frozen)
        twin.words.vectors[words] = given
    twin.frozen = {0, 3}
    trainer.learn(problem.native_examples, _native.Progress())
    twin.learn(problem.examples)
    found = dict(trainer.arrays())
    assert_close(found, twin.arrays())
    np.testing.assert_array_equal(found["word_vector"][[0, 3]], given)
    assert (found["word_vector"][[5, 1]] != given).any(axis=1).all()


def test_progress_counts_the_rows_of_all_passes() -> None:
    problem = random_problem(TREES["flat"], 10, 4, seed=4)
    trainer, progress = (
        native_trainer(problem, problem.options(3, passes=2, batch_size=4)),
        _native.Progress(),
    )
    trainer.learn(problem.native_examples, progress)
    assert (progress.done, progress.total) == (10, 20)
    trainer.learn(problem.native_examples, progress)
    assert (progress.done, progress.total) == (20, 20)


def test_training_can_be_cancelled() -> None:
    problem = wide_problem()
    trainer = native_trainer(problem, problem.options(3, batch_size=1), n_threads=2)
    start, cancelled = dict(trainer.arrays()), _native.Progress()
    cancelled.cancel()
    with pytest.raises(_native.Cancelled):
        trainer.learn(problem.native_examples, cancelled)
    assert_same_bits(dict(trainer.arrays()), start)
    # By another thread, in the middle.
    many = replace(problem.options(3), n_visits=10**9, batch_size=1)
    trainer, progress = native_trainer(problem, many, n_threads=2), _native.Progress()

    def cancel() -> None:
        wait_until(lambda: progress.done > 1_000)
        progress.cancel()

    def learn_for_ever() -> None:
        while True:
            trainer.learn(problem.native_examples, progress)

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(_native.Cancelled):
        learn_for_ever()
    thread.join()


def test_nothing_to_learn() -> None:
    no_rows = Problem(TREES["nested"], np.zeros((0, 3), dtype=np.float32), [])
    no_words = Problem(TREES["nested"], np.zeros((4, 3), dtype=np.float32), [[0], [], [1, 8], []])
    no_labels = Problem(TREES["nested"], np.ones((4, 3), dtype=np.float32), [[], [], [], []])
    for problem in (no_rows, no_words, no_labels):
        for loss in ("logistic", "softmax"):
            options = problem.options(4, passes=3, solver="sgd", learning_rate=0.5, loss=loss)
            start = kernel_arrays(problem, options, passes=0)
            found = kernel_arrays(problem, options, passes=3, n_threads=2)
            assert_close(found, twin_arrays(problem, options, passes=3))
            assert (found["word_vector"] == start["word_vector"]).all() == (problem is not no_labels)


# -- the same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WIDE_TRAININGS)
def test_any_number_of_threads_learns_the_same(kind: str) -> None:
    problem = wide_problem()
    for dimension in (7, 32):
        options = wide_options(problem, kind, dimension)
        one, *others = (kernel_arrays(problem, options, 2, n_threads) for n_threads in (1, 2, 5))
        for found in others:
            assert_same_bits(found, one)


# Trains with every kind of options and asks for scores with vectors of every type.
TRAINER = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[2])
from tests.vector_training import WIDE_TRAININGS, kernel_arrays, wide_options, wide_problem
from labeltree import _native
from labeltree.embedding.node_vectors import NodeVectors
from labeltree.embedding.vectors import Vectors
problem = wide_problem()
features = _native.FeatureMatrix.dense(problem.X, False)
found = {"code": _native.vector_code()}
for kind in WIDE_TRAININGS:
    for dimension in (1, 30, 65, 150):
        arrays = kernel_arrays(problem, wide_options(problem, kind, dimension), 2)
        found |= {f"{kind} {dimension} {name}": array for name, array in arrays.items()}
        for of in ("float32", "bfloat16", "int8"):
            words, nodes = (Vectors(arrays[n]).with_type(of) for n in ("word_vector", "node_vector"))
            store = NodeVectors(problem.tree, nodes, arrays["bias"]).store(dimension, "sigmoid")
            hidden = features.hidden(words.values, words.scale, True)
            rows, blocks = range(0, 150, 11), range(problem.tree.n_blocks + 1)
            found[f"{kind} {dimension} {of} hidden"] = np.concatenate([hidden.row(row)[1] for row in rows])
            found[f"{kind} {dimension} {of} scores"] = np.concatenate(
                [store.scores(hidden, row, block) for row in rows for block in blocks]
            )
np.savez(sys.argv[1], **found)
"""


def test_every_instruction_set_learns_and_answers_the_same(tmp_path: Path) -> None:
    codes = _native.available_vector_code()
    root = Path(__file__).parents[2]
    answers = [tmp_path / f"{code}.npz" for code in codes]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TRAINER, str(answer), str(root)],
            env={**os.environ, "LABELTREE_ISA": code},
            stderr=subprocess.PIPE,
        )
        for code, answer in zip(codes, answers, strict=True)
    ]
    for process in started:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error.decode()
    found = [dict(np.load(answer)) for answer in answers]
    assert [str(answer.pop("code")) for answer in found] == codes
    for answer in found[1:]:
        assert_same_bits(answer, found[0])


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_features", "options", "message"),
    [
        (0, {}, "n_features must be"),
        (-1, {}, "n_features must be"),
        (2**31, {}, "n_features must be"),
        (3, {"dimension": 0}, "dimension must be"),
        (3, {"dimension": 2**20 + 1}, "dimension must be"),
        (3, {"batch_size": 0}, "batch_size and n_visits"),
        (3, {"n_visits": 0}, "batch_size and n_visits"),
        (3, {"dropout": 1.0}, "dropout must be"),
        (3, {"dropout": -0.1}, "dropout must be"),
        (3, {"dropout": float("nan")}, "dropout must be"),
    ],
)
def test_options_are_checked(n_features: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.VectorTrainer(TREES["flat"].native, n_features, _native.VectorOptions(**options))


def test_given_words_are_checked() -> None:
    problem = random_problem(TREES["flat"], 5, 4, seed=0)
    trainer = native_trainer(problem, problem.options(3))
    before = dict(trainer.arrays())
    one, two = np.ones((1, 3), dtype=np.float32), np.ones((2, 3), dtype=np.float32)
    for words, vectors, message in (
        ([4], one, "out of range"),
        ([-1], one, "out of range"),
        ([0, 4], two, "out of range"),
        ([0], two, "vectors"),
        ([0], np.ones((1, 4), dtype=np.float32), "dimension"),
    ):
        with pytest.raises(ValueError, match=message):
            trainer.set_words(np.array(words), vectors, True)
    assert_same_bits(dict(trainer.arrays()), before)


def test_other_examples_are_refused() -> None:
    problem = random_problem(TREES["flat"], 5, 4, seed=0)
    trainer = native_trainer(problem, problem.options(3))
    wider = replace(problem, X=np.ones((5, 5), dtype=np.float32))
    other = random_problem(LabelTree.flat(10), 5, 4, seed=0)
    for wrong, message in ((wider, "features of the trainer"), (other, "9 labels, got 10")):
        with pytest.raises(ValueError, match=message):
            trainer.learn(wrong.native_examples, _native.Progress())
