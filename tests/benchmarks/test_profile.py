import time
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import phases
from benchmarks.callgrind import read_callgrind
from benchmarks.instructions import short_name
from benchmarks.kernel_workload import problem
from benchmarks.latency import K, kernel_calls, latency
from benchmarks.phases import Ledger, medians, profile_prediction, profile_training

from labeltree import LabelTreeClassifier, _native
from labeltree.data import write_xmlc


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A profiled training, the path of its model and how long it all took."""
    folder = tmp_path_factory.mktemp("profile")
    write_xmlc(folder / "train.txt", *problem())
    kernel = _native.train_blocks
    started = time.perf_counter()
    training = profile_training(folder / "train.txt", folder / "model", n_trees=2, threads=2)
    elapsed = time.perf_counter() - started
    assert _native.train_blocks is kernel  # all is put back
    return training, folder / "model", elapsed


def test_the_phases_of_training_add_up(trained):
    training, _, elapsed = trained
    seconds = training.ledger.seconds
    assert list(seconds) == [
        "read: parse", "read: the rest", "check features", "check labels", "tree: label vectors", "tree: clustering",
        "nodes: assign rows", "nodes: costs", "nodes: plan", "nodes: solve", "nodes: assemble",
        "prepare to predict", "fit: the rest", "save",
    ]  # fmt: skip
    assert all(spent >= 0 for spent in seconds.values())
    assert 0 < sum(seconds.values()) <= elapsed
    assert seconds["nodes: solve"] > 0
    assert training.features_per_row == 60


def test_a_profiled_model_is_the_same_model(trained):
    X, y = problem()
    profiled = LabelTreeClassifier.load(trained[1])
    plain = LabelTreeClassifier(2, n_jobs=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(profiled.predict_topk(X, 3).labels, plain.predict_topk(X, 3).labels)


def test_the_phases_of_prediction(trained):
    seconds = profile_prediction(trained[1], problem()[0], 5, 2).seconds
    assert list(seconds) == ["open", "check features", "search", "name labels", "the rest"]
    assert all(spent >= 0 for spent in seconds.values())


def test_what_is_not_entered_elsewhere_is_the_rest(monkeypatch):
    clock = iter([0.0, 3.0, 8.0, 10.0])
    monkeypatch.setattr(phases, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    ledger = Ledger()
    with ledger.time_rest("rest"), ledger.time("part"):
        pass
    assert ledger.seconds == {"part": 5.0, "rest": 5.0}


def test_medians_of_phases():
    ledgers = [Ledger({"a": 1.0, "b": 4.0}), Ledger({"a": 2.0}), Ledger({"a": 9.0, "b": 2.0})]
    assert medians(ledgers) == {"a": 2.0, "b": 2.0}


def test_recorded_calls_of_the_kernel_give_the_answers_again():
    X, y = problem()
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    rows = [X[i] for i in range(5)]
    calls = kernel_calls(model, rows)
    expected = model.predict_topk(X[:5], K)
    for i, call in enumerate(calls):
        labels, probabilities = (a for a in call.args if isinstance(a, np.ndarray))
        labels[:] = -1
        call()
        np.testing.assert_array_equal(labels[0], expected.labels[i])
        np.testing.assert_array_equal(probabilities[0], expected.probabilities[i])


def test_latency_counts_the_calls_of_all_threads():
    made = []
    measured = latency([lambda: made.append(1), lambda: made.append(2)], threads=2, seconds=0.05)
    assert len(measured.times) == len(made)
    assert set(made) == {1, 2}
    assert 0 <= measured.quantile_us(0.5) <= measured.quantile_us(0.99)


def test_callgrind_files_are_read_with_what_functions_call():
    lines = ["version: 1", "events: Ir", "ob=a.so", "fl=f.cpp", "fn=f", "1 10", "cob=b.so", "cfn=g", "calls=2 7",
             "2 30", "3 5", "", "ob=b.so", "fn=g", "7 30", "totals: 45"]  # fmt: skip
    costs = read_callgrind(lines)
    assert {name: (c.object_file, c.own, c.inclusive) for name, c in costs.items()} == {
        "f": ("a.so", 15, 45),
        "g": ("b.so", 30, 30),
    }


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("labeltree::(anonymous namespace)::Trainer::solve_group(unsigned long)", "Trainer::solve_group"),
        ("void std::sort<int, long>(int*)", "void std::sort"),
        ("memcpy", "memcpy"),
    ],
)
def test_names_are_shown_without_arguments(name, short):
    assert short_name(name) == short
