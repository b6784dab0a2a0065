import numpy as np
import pytest
import scipy.sparse as sp
from experiments.online import BUDGETS, TABLE
from experiments.runner import stream, trial
from experiments.runner.features import Problem
from experiments.runner.figures import summarise
from experiments.runner.run import runs_of
from experiments.runner.series import describe
from experiments.runner.stream import figure_at, moving_mean, positions_of, progress, tree_of_stream
from experiments.runner.stream_picture import draw_streams
from experiments.runner.table import ONLINE, Row

from labeltree import OnlineLabelTreeClassifier


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr(stream, "WINDOW", 40)
    monkeypatch.setattr(stream, "STEP", 20)
    rng = np.random.default_rng(0)
    X = sp.random(100, 15, 0.4, "csr", random_state=rng, dtype=np.float32)
    y = sp.csr_matrix((rng.random((100, 9)) < 0.2).astype(np.float32))
    return Problem(X, y, X[:20], y[:20])


def test_moving_means_are_those_of_slices():
    values = np.random.default_rng(0).random(57)
    means = moving_mean(values, window=20, step=8)
    assert list(means) == [8, 16, 24, 32, 40, 48, 56]
    for end, mean in means.items():
        assert mean == pytest.approx(values[max(0, end - 20) : end].mean())
    assert moving_mean(values, window=20, step=58) == {}


def test_the_tree_of_a_stream_is_the_one_that_a_model_grows(problem):
    for arity, seed in ((2, 0), (3, 1)):
        model = OnlineLabelTreeClassifier(arity=arity, random_state=seed).fit(
            problem.X_train, problem.y_train
        )
        tree = tree_of_stream(problem.y_train, arity, seed)
        np.testing.assert_array_equal(tree.parent, model.tree_.parent)
        np.testing.assert_array_equal(tree.label, model.tree_.label)


def test_progress_is_what_was_known_before_an_example(problem):
    figures = progress(OnlineLabelTreeClassifier(), problem.X_train, problem.y_train, seed=3)
    model, hits = OnlineLabelTreeClassifier(), []
    for row in np.random.default_rng(3).permutation(100):
        X, y = problem.X_train[[row]], problem.y_train[[row]]
        best = model.predict_topk(X, 1).labels[0, 0] if hits and model.counts_["n_classifiers"] else -1
        hits.append(best >= 0 and y[0, best] > 0)
        model.partial_fit(X, y)
    assert figures == {figure_at(n): np.mean(hits[max(0, n - 40) : n]) for n in (20, 40, 60, 80, 100)}
    assert positions_of(["P@1", *reversed(figures)]) == [20, 40, 60, 80, 100]


def test_a_run_of_an_online_model(problem, tmp_path):
    row = Row("a", {"arity": 3, "weights": "shared", "memory_mb": 0.1}, system=ONLINE)
    (run,) = runs_of(TABLE, "eurlex57k", row, seeds=1, threads=1, n_rows=None)
    assert (
        describe(run)
        == "eurlex57k, OnlineLabelTreeClassifier, words, arity=3, weights=shared, memory_mb=0.1, seed 0"
    )
    figures = trial.learn_and_measure(run, problem)
    assert {"P@1", "P@3", "P@5", "train_s", "batch_ms", "model_mb", "P@1 at 100"} <= set(figures)
    assert 0.1 < figures["model_mb"] < 0.2
    (run,) = runs_of(TABLE, "eurlex57k", Row("b", {"tree": "stream"}), seeds=1, threads=1, n_rows=None)
    batch = trial.train_and_measure(run, problem, tmp_path / "model")
    assert not positions_of(batch)
    lines = summarise([("online", [figures], ""), ("batch", [batch], ""), ("other", [], "no memory")])
    draw_streams(TABLE, {"eurlex57k": lines}, tmp_path / "stream.png")
    assert (tmp_path / "stream.png").read_bytes().startswith(b"\x89PNG")


def test_every_set_has_its_budgets():
    for data, budgets in BUDGETS.items():
        named = [row.name for row in TABLE.rows_on(data)]
        assert len(set(named)) == len(named)
        assert sum("MB" in name for name in named) == 2 * len(budgets)
