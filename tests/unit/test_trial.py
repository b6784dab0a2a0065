"""Groups of siblings that are drawn from a tree, trained on most rows and judged by the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.documents import documents

from labeltree import LabelTree, LabelTreeClassifier, _native
from labeltree.labels.reading import read_labels
from labeltree.progress import Phases, phases
from labeltree.training import trial as trial_module
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.run import Run
from labeltree.training.trial import (
    FEWEST_ROWS,
    TRIAL_SHARE,
    WORK_SHARE,
    Trial,
    TrialScores,
    TrialSize,
    TrialSource,
    draw_columns,
)
from labeltree.training.workplace import Workplace

pytestmark = pytest.mark.native

TREE = LabelTree.from_nested([*range(20), [*range(20, 45)], [[45, 46], [47, 48, 49]], [*range(50, 60)]])
X, Y = documents(600, 300, 60, unlabelled=0.1)


def examples_of(X: Any = X, y: Any = Y, **weights: Any) -> Examples:
    features = _native.FeatureMatrix.csr(
        X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1], True
    )
    return Examples(features, read_labels(y), **weights)


N_COLUMNS = 8
SIZE = TrialSize(N_COLUMNS, n_positive=800, most_work=0.2)


def draw(tree: LabelTree, examples: Examples, seed: int, n_threads: int, size: TrialSize = SIZE) -> Trial:
    return Trial.draw(TrialSource.of(tree, examples, Run(n_threads, Phases(None))), size, seed)


def settings_of(model: LabelTreeClassifier) -> SolverSettings:
    return model._solver_settings()


def scores_of(
    trial: Trial, C_values: list[float] | None = None, n_threads: int = 1, **parameters: Any
) -> TrialScores:
    with phases(-1) as shown:
        return trial.scores(
            settings_of(LabelTreeClassifier(**parameters)), C_values or [1.0], Run(n_threads, shown)
        )


def assert_same(one: Any, other: Any, names: list[str]) -> None:
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(("n_rows", "share"), [(300, 0.25), (4_000, 0.25), (10_000, 0.2), (40_000, 0.1)])
def test_a_tenth_to_a_quarter_of_the_rows_is_held_out(n_rows: int, share: float) -> None:
    random = np.random.default_rng(0)
    rows = np.arange(n_rows)
    X = sp.csr_matrix((np.ones(n_rows, np.float32), (rows, random.integers(4, size=n_rows))))
    y = sp.csr_matrix((np.ones(n_rows), (rows, random.integers(4, size=n_rows))))
    drawn = draw(LabelTree.flat(4), examples_of(X, y), 0, 1)
    assert set(drawn.held_out.tolist()) == {0, 1}
    assert abs(drawn.held_out.mean() - share) < 4 * np.sqrt(share * (1 - share) / n_rows)


def test_every_level_is_drawn() -> None:
    for seed in range(5):
        drawn = draw(TREE, examples_of(), seed, 1)
        assert set(drawn.level.tolist()) == set(range(TREE.depth + 1))
        assert (drawn.level == TREE.depth_of_node[TREE.inner_nodes][drawn.block - 1] + 1)[
            drawn.block > 0
        ].all()
    # Without rows that lack labels the root needs no training.
    whole = draw(TREE, examples_of(*documents(600, 300, 60)), 0, 1)
    assert set(whole.level.tolist()) == set(range(1, TREE.depth + 1))


def test_no_more_blocks_are_drawn_than_are_needed() -> None:
    X, y = documents(2_000, 300, 400)
    tree = LabelTree.from_nested([[*range(first, first + 4)] for first in range(0, 400, 4)])
    examples = examples_of(X, y)
    for least_pairs, most_work in ((0, 1.0), (10**9, 0.3)):
        drawn = draw(tree, examples, 0, 1, TrialSize(N_COLUMNS, least_pairs, most_work))
        groups = _native.block_groups(tree.native, examples.native, 1)
        of_level = groups["level"] == 2
        work = groups["n_entries"][of_level].astype(float)
        share = work[np.isin(groups["block"][of_level], drawn.block)].sum() / work.sum()
        wanted = WORK_SHARE if least_pairs == 0 else most_work
        assert wanted <= share < wanted + work.max() / work.sum()
        n_positive = y.sum()
        in_drawn = sum(y[:, 4 * (b - 2) : 4 * (b - 1)].sum() for b in drawn.block[drawn.level == 2])
        assert drawn.level_scale[2] == pytest.approx(n_positive / in_drawn)


@given(st.integers(1, 5_000), st.integers(0, 100))
def test_weights_of_columns_sum_to_their_number(n: int, seed: int) -> None:
    (columns,), (weight,) = draw_columns([n], N_COLUMNS, np.random.default_rng(seed))
    assert weight.sum() == n
    assert len(columns) == len(weight) <= N_COLUMNS
    assert (weight >= 1).all()
    assert (np.diff(columns) > 0).all()
    assert columns[0] >= 0
    assert columns[-1] < n
    if n <= 3:
        assert columns.tolist() == list(range(n))


def test_blocks_that_are_drawn_together_are_those_drawn_one_by_one() -> None:
    sizes = [1, 300, 7, 2, 900]
    together, alone = np.random.default_rng(3), np.random.default_rng(3)
    columns, weight = draw_columns(sizes, N_COLUMNS, together)
    for n, found, of_found in zip(sizes, columns, weight, strict=True):
        (expected,), (of_expected,) = draw_columns([n], N_COLUMNS, alone)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(of_found, of_expected)
    assert draw_columns([], N_COLUMNS, together) == ([], [])


def test_weighted_columns_stand_for_all() -> None:
    random = np.random.default_rng(0)
    value = 1 / np.arange(1, 201)
    drawn = list(zip(*draw_columns([200] * 4_000, N_COLUMNS, random), strict=True))
    estimates = [weight @ value[columns] for columns, weight in drawn]
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - value.sum()) < 4 * error
    assert np.mean([columns[0] for columns, _ in drawn]) < 1  # a frequent one is always among them


def test_the_draws_depend_on_the_seed_only() -> None:
    one, same, other = (draw(TREE, examples_of(), *seed) for seed in ((3, 1), (3, 2), (4, 1)))
    assert_same(one, same, ["held_out", "block", "level", "level_scale", "negative_share"])
    for name in ("columns", "column_weight"):
        for found, expected in zip(getattr(one, name), getattr(same, name), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(one.held_out, other.held_out)
    # Weights of rows do not move the draw.
    weighted = draw(TREE, examples_of(sample_weight=np.linspace(0.1, 2, 600, dtype=np.float32)), 3, 1)
    assert_same(one, weighted, ["held_out", "block"])


def test_scores_do_not_depend_on_threads() -> None:
    drawn = draw(TREE, examples_of(), 0, 1)
    one, two = (scores_of(drawn, [0.5, 1.0, 2.0], n) for n in (1, 2))
    assert one.score.shape == (len(one.row), 3)
    assert_same(one, two, ["row", "level", "positive", "weight", "score"])


def test_pairs_are_held_out_rows_below_positive_parents() -> None:
    drawn = draw(TREE, examples_of(), 0, 1)
    found = scores_of(drawn)
    assert drawn.held_out[found.row].all()
    assert np.isfinite(found.score).all()
    assert (found.score > -1000).all()
    # The positive pairs of the root are the held-out rows with a label.
    labelled = np.flatnonzero(drawn.held_out & (np.diff(Y.indptr) > 0))
    root = found.take((found.level == 0) & found.positive)
    assert root.row.tolist() == labelled.tolist()
    assert set(found.level.tolist()) == set(range(TREE.depth + 1))


def test_negative_pairs_that_are_drawn_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw(TREE, examples_of(), 0, 1)
    assert whole.negative_share == 1
    monkeypatch.setattr(trial_module, "NEGATIVE_PAIRS", 1_000)
    part = draw(TREE, examples_of(), 0, 1)
    assert part.negative_share < 0.8
    every, some = (scores_of(trial) for trial in (whole, part))
    assert some.positive.sum() == every.positive.sum()
    assert (~some.positive).sum() < 0.8 * (~every.positive).sum()
    assert some.weight[~some.positive].sum() == pytest.approx(every.weight[~every.positive].sum(), rel=0.2)
    assert some.weight[some.positive].sum() == every.weight[every.positive].sum()


def test_weights_of_rows_weigh_pairs_and_the_training() -> None:
    weight = np.random.default_rng(0).exponential(size=600).astype(np.float32)
    weight[::5] = 0
    plain = draw(TREE, examples_of(), 0, 1)
    weighted = replace(plain, examples=examples_of(sample_weight=weight))
    one, other = scores_of(plain), scores_of(weighted)
    assert (weight[other.row] > 0).all()
    kept = one.take(weight[one.row] > 0)
    assert_same(kept, other, ["row", "level", "positive"])
    np.testing.assert_allclose(other.weight, kept.weight * weight[kept.row])
    assert np.abs(kept.score - other.score).max() > 0.05


def test_large_blocks_may_learn_from_fewer_rows() -> None:
    whole = draw(TREE, examples_of(), 0, 1)
    part = draw(TREE, examples_of(), 0, 1, replace(SIZE, most_rows=200))
    assert_same(whole, part, ["held_out", "block", "level"])
    every, some = scores_of(whole), scores_of(part)
    assert_same(every, some, ["row", "level", "positive", "weight"])
    assert np.abs(every.score - some.score)[every.level == 0].max() > 0.01


def test_every_level_is_scored_with_its_own_c() -> None:
    drawn = draw(TREE, examples_of(), 0, 1)
    settings = replace(settings_of(LabelTreeClassifier(tol=1e-4, max_iter=1000)), C=[0.1, 3.0])
    with phases(-1) as shown:
        found = drawn.scores_of_levels(settings, Run(1, shown))
    expected = scores_of(drawn, [0.1, 3.0], tol=1e-4, max_iter=1000)
    assert found.score.ndim == 1
    for level in range(TREE.depth + 1):
        score = expected.score[expected.level == level, min(level, 1)]
        np.testing.assert_allclose(found.score[found.level == level], score, atol=5e-3)


@pytest.mark.parametrize("C", ["auto", 1.0])
def test_where_no_node_needs_training_there_is_no_trial(C: Any) -> None:
    X = np.random.default_rng(0).normal(size=(FEWEST_ROWS + 50, 5)).astype(np.float32)
    model = LabelTreeClassifier(C=C, random_state=0).fit(X, [["a", "b"]] * len(X))
    assert model.C_ == 1.0
    assert not hasattr(model, "calibration_")
    np.testing.assert_array_equal(model.predict_topk(X[:2], 2).probabilities, np.ones((2, 2)))


def test_where_no_held_out_row_counts_the_default_stands() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 20)).astype(np.float32), [[str(i % 7)] for i in range(300)]
    model = LabelTreeClassifier(random_state=0)
    # As Trial.draw does it.
    held_out = np.random.default_rng(model.seeds(1)[0]).random(300) < 0.25
    model.fit(X, y, sample_weight=np.where(held_out, 0.0, 1.0))
    assert model.C_ == 1.0
    assert not hasattr(model, "calibration_")
    assert np.isfinite(model.predict_topk(X, 1).probabilities).all()


def test_large_groups_are_trained_alone_within_a_memory(tmp_path: Path) -> None:
    trial = draw(TREE, examples_of(), 3, 1)
    assert (trial.n_bytes > 8 * np.diff(X.indptr).min()).all()
    titles: list[str] = []

    class Watched(Phases):
        def run(self, description: str, compute: Any) -> Any:
            titles.append(description)
            return super().run(description, compute)

    def scored(memory: int | None) -> TrialScores:
        titles.clear()
        run = Run(2, Watched(None), workplace=Workplace(directory=tmp_path, memory=memory))
        limited = Trial.draw(TrialSource.of(TREE, examples_of(), run), SIZE, 3)
        assert (memory is None) or isinstance(limited.rows["rows"], np.memmap)
        return limited.scores(settings_of(LabelTreeClassifier()), [0.5, 1.0], run)

    whole = scored(None)
    assert len(titles) == 1
    for share in (0.5, 1e-9):  # some groups are alone, or all
        divided = scored(int(2 * share * trial.n_bytes.max() / TRIAL_SHARE))
        assert_same(divided, whole, ["row", "level", "positive", "weight", "score"])
        n_alone = int((trial.n_bytes > share * trial.n_bytes.max()).sum())
        assert len(titles) == n_alone + (n_alone < len(trial.n_bytes))
        assert len(titles) > 1
        assert titles[0].endswith(f" of nodes, part 1 of {len(titles)}")
