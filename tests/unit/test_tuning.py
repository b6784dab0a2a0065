"""`tune` on small data."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents

from labeltree import LabelTreeClassifier
from labeltree.metrics import evaluate, inverse_propensity, precision_at_k
from labeltree.tuning import SearchSpace, Trial, Tuning, halving, read_parameters, tune, tuner
from labeltree.tuning.halving import Rung
from labeltree.tuning.problem import Problem

pytestmark = pytest.mark.native

X, Y = documents()
SMALL = SearchSpace(loss=("squared_hinge",), C=(0.5, 1.0), arity=(2, 8), max_leaves=(4,), n_trees=(1, 2))


def tuned(**arguments: Any) -> Tuning:
    estimator = LabelTreeClassifier(random_state=3, n_jobs=2)
    defaults = {"budget": 1000.0, "estimator": estimator, "space": SMALL}
    return tune(**{"X": X, "y": Y, **defaults, **arguments})


@pytest.fixture(scope="module")
def found() -> Tuning:
    return tuned()


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halving, "_FEWEST_ROWS", 20)


def without_times(trials: tuple[Trial, ...]) -> list[Any]:
    return [(t.parameters, t.n_rows, t.score, t.model_bytes, t.part_scores) for t in trials]


class TestSearch:
    def test_the_space_is_searched(self, found: Tuning) -> None:
        tried = {
            tuple(trial.parameters.values()) for trial in found.trials if trial.parameters["n_trees"] == 1
        }
        expected = set(
            itertools.product(("squared_hinge",), (0.5, 1.0), (2, 8), (4,), (0.05, 0.1, 0.2, 0.3), (1,))
        )
        assert tried == expected
        best = max(
            (trial for trial in found.trials if trial.parameters["n_trees"] == 1), key=lambda t: t.score
        )
        grown = [trial.parameters for trial in found.trials if trial.parameters["n_trees"] == 2]
        assert {**best.parameters, "n_trees": 2} in grown
        assert {**found.trials[0].parameters, "n_trees": 2} in grown
        assert 5 <= len(grown) <= 9  # a third, and those who were the best at some time

    def test_starts_from_the_estimator(self, found: Tuning) -> None:
        start = {"loss": "squared_hinge", "C": 1.0, "arity": 2, "max_leaves": 4, "prune": 0.1, "n_trees": 1}
        assert found.trials[0].parameters == start
        assert found.start is found.trials[0]

    def test_c_follows_the_loss(self) -> None:
        space = SearchSpace(arity=(8,), max_leaves=(4,), prune=(0.1,), n_trees=(1,))
        tried = {(t.parameters["loss"], t.parameters["C"]) for t in tuned(space=space).trials}
        hinge = {("squared_hinge", C) for C in (0.25, 0.5, 1.0, 2.0, 4.0)}
        start = {("squared_hinge", "auto")}
        assert tried == start | hinge | {("logistic", 8 * C) for _, C in hinge}

    def test_same_seed_same_trials(self, small_samples: None) -> None:
        space = SMALL.fixed(prune=0.1)
        one = tuned(space=space)
        other = tuned(space=space, estimator=LabelTreeClassifier(random_state=3, n_jobs=1))
        assert without_times(one.trials) == without_times(other.trials)
        assert one.parameters == other.parameters
        another = tuned(space=space, estimator=LabelTreeClassifier(random_state=4))
        assert without_times(another.trials) != without_times(one.trials)

    def test_samples_are_climbed(self, small_samples: None) -> None:
        found = tuned()
        assert {trial.n_rows for trial in found.trials} == {26, 80, 240}
        assert found.chosen.n_rows == 240

    def test_the_budget_ends_the_search(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ticks = itertools.count()
        monkeypatch.setattr(tuner, "monotonic", lambda: float(next(ticks)))
        seen: list[Trial] = []
        trials = tuned(budget=6.0, on_trial=seen.append).trials
        # A tick before the search begins and one for each job; three candidates, and one of them with two trees.
        assert [t.parameters["n_trees"] for t in trials] == [1, 1, 1, 2, 1]
        assert tuple(seen) == trials


class TestMeasures:
    def test_a_trial_is_what_the_same_model_does_in_python(self) -> None:
        X_valid, y_valid = documents(n_rows=90, seed=1)
        for trial in tuned(X_valid=X_valid, y_valid=y_valid, space=SMALL.fixed(prune=0.2)).finalists:
            model = LabelTreeClassifier(**trial.parameters, random_state=3).fit(X, Y)
            labels, _ = model.predict_topk(X_valid, 5)
            expected = np.mean([precision_at_k(y_valid, labels, k) for k in (1, 3, 5)])
            assert trial.score == pytest.approx(expected)
            assert trial.model_bytes == sum(weights.nbytes for weights in model.weights_)
            assert trial.ms_per_row > 0
            assert trial.n_rows == 300

    def test_rows_held_out_are_not_learned(self) -> None:
        # Who has learned a row by heart knows its label; nobody can tell it from the others.
        y = [[f"label {i}"] for i in range(60)]
        space = SMALL.fixed(prune=0.1, n_trees=1)
        known = tune(sp.eye(60, format="csr"), y, budget=1000, space=space, metric="P@1")
        assert known.n_valid_rows == 12
        assert {trial.score for trial in known.trials} == {0.0}

    def test_labels_that_a_sample_lacks_are_not_found(self) -> None:
        # Whoever has seen a label knows it by its feature.
        labels = np.repeat(np.arange(30), 5)
        features = sp.csr_matrix(np.eye(30, dtype=np.float32)[labels])
        problem = Problem.read(features, features, None, None, "P@1", np.random.RandomState(0))
        estimator = LabelTreeClassifier(arity=2, max_leaves=2, random_state=0)
        (trial,) = problem.trials(estimator, {"prune": 0.0}, Rung(40, (1,)))
        seen = set(labels[problem.order[:40]].tolist())
        valid = problem.y_valid.indices.tolist()
        assert 0 < trial.score < 1
        assert trial.score == pytest.approx(np.mean([label in seen for label in valid]))

    @pytest.mark.parametrize("metric", ["P@2", "nDCG@1,4", "recall@9", "PSP@3", "PSnDCG@1,3"])
    def test_metrics(self, metric: str) -> None:
        X_valid, y_valid = documents(n_rows=50, seed=1)
        space = SMALL.fixed(C=1.0, arity=2, prune=0.1, n_trees=1)
        trial = tuned(X_valid=X_valid, y_valid=y_valid, space=space, metric=metric).chosen
        model = LabelTreeClassifier(**trial.parameters, random_state=3).fit(X, Y)
        name, _, cutoffs = metric.partition("@")
        ks = [int(k) for k in cutoffs.split(",")]
        labels, _ = model.predict_topk(X_valid, max(ks))
        values = evaluate(y_valid, labels, ks, inverse_propensity=inverse_propensity(Y))
        assert trial.score == pytest.approx(np.mean([values[f"{name}@{k}"] for k in ks]))
        assert np.mean(trial.part_scores) == pytest.approx(trial.score, abs=0.1)


class TestInputs:
    @pytest.mark.parametrize("as_pair", [False, True])
    def test_labels_of_any_kind_and_features_of_two(self, as_pair: bool) -> None:
        names = [[f"label {column}" for column in row.indices] for row in Y]
        features = (X[:, :300], X[:, 300:].toarray()) if as_pair else X
        held_out = features if as_pair else X[:50]
        y_valid = [["unheard of"], *names[1:]][: 300 if as_pair else 50]
        space = SMALL.fixed(prune=0.1, C=1.0)
        found = tuned(X=features, y=names, X_valid=held_out, y_valid=y_valid, space=space)
        assert found.chosen.score > 0.4

    def test_classes(self) -> None:
        classes = np.repeat(["a", "b", "c"], 20)
        features = np.eye(3)[np.repeat([0, 1, 2], 20)]
        assert tuned(X=features, y=classes, metric="P@1").chosen.score == 1.0

    def test_parameters_hold_where_they_are_not_searched(self) -> None:
        estimator = LabelTreeClassifier(random_state=3, tol=0.01, frequent_share=0.5, verbose=1, n_jobs=2)
        found = tuned(estimator=estimator, space=SMALL.fixed(C=2.0))
        assert found.given == {"tol": 0.01, "frequent_share": 0.5, "random_state": 3}
        model = LabelTreeClassifier(**found.parameters)
        assert (model.C, model.tol, model.arity) == (2.0, 0.01, found.chosen.parameters["arity"])
        assert estimator.get_params()["verbose"] == 1  # it is left as it was

    def test_numbers_of_numpy_can_be_saved(self, tmp_path: Path) -> None:
        space = SMALL.fixed(C=np.float32(0.5), arity=np.int64(4), prune=0.1)
        found = tuned(estimator=LabelTreeClassifier(random_state=np.random.RandomState(0)), space=space)
        found.save(tmp_path / "p.json")
        assert read_parameters(tmp_path / "p.json") == found.parameters
        assert "random_state" not in found.parameters

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"budget": 0}, "budget must be a finite number of seconds above 0, got 0"),
            ({"metric": "F@1"}, "metric must be one of P, nDCG"),
            ({"metric": "P@0"}, "metric must be one of P, nDCG"),
            ({"X_valid": X}, "X_valid and y_valid must be given both"),
            ({"y": Y[:9]}, "X and y must have the same number of rows, got 300 and 9"),
            ({"X": X[:9], "y": Y[:9]}, "expected at least 10 rows to hold some of them out, got 9"),
            ({"X_valid": X, "y_valid": Y[:, :5]}, r"got 40 labels \(csr\) and 5 \(csr\)"),
            ({"X_valid": X[:0], "y_valid": Y[:0]}, "X_valid must have at least one row, got none"),
            ({"X_valid": X, "y_valid": Y[:5]}, "X_valid and y_valid must have the same number of rows"),
            ({"estimator": LabelTreeClassifier(tree="huffman")}, "tree must be one of"),
            ({"estimator": LabelTreeClassifier(solver="sgd")}, "solver must be 'descent'"),
            (
                {"estimator": LabelTreeClassifier(label_weight=[1.0] * 40)},
                "label_weight None or 'propensity'",
            ),
            ({"estimator": LabelTreeClassifier(tree_weight=[1.0])}, "leave tree_weight at None"),
            ({"space": SearchSpace(loss=("hinge",))}, "the parameter 'loss' must be one of"),
            ({"space": SearchSpace(n_trees=(1, 0))}, "the parameter 'n_trees' must be an integer"),
        ],
    )
    def test_mistakes(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            tuned(**arguments)

    @pytest.mark.parametrize("values", [(), [1], 3])
    def test_a_space_of_nothing(self, values: Any) -> None:
        with pytest.raises(ValueError, match="arity must be a tuple of at least one value"):
            SearchSpace(arity=values)

    def test_a_space_without_end(self) -> None:
        with pytest.raises(ValueError, match="more than anyone can try"):
            tuned(space=SearchSpace(C=tuple(range(1, 1001)), prune=(0.1, 0.2, 0.3)))
