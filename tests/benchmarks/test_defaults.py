import json

import numpy as np
import pytest
from benchmarks import defaults, trials
from benchmarks.development import Parts
from benchmarks.paired import Scores

from labeltree.data import write_xmlc
from labeltree.metrics import compare, evaluate, inverse_propensity


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    rng = np.random.default_rng(0)
    for part, n_rows in (("train", 200), ("dev", 60), ("test", 40)):
        labels = rng.integers(0, 12, n_rows)
        X = rng.random((n_rows, 12)) * 0.5
        X[np.arange(n_rows), labels] += 1
        y = np.zeros((n_rows, 12), dtype=int)
        y[np.arange(n_rows), labels] = 1
        write_xmlc(folder / f"{part}.txt", X, y)
    return folder


@pytest.fixture
def results(tmp_path, monkeypatch, folder):
    """Run the command with options, in this process, and return what it writes."""
    monkeypatch.setattr(trials, "CACHE", tmp_path)
    monkeypatch.setattr(defaults, "ProcessPoolExecutor", SameProcess)

    def run(*options):
        out = tmp_path / "out.md"
        defaults.main(["--sets", str(folder), "--seeds", "2", "--no-peers", "--out", str(out), *options])
        return out.read_text(), json.loads(out.with_suffix(".json").read_text())[folder.name]

    return run


class SameProcess:
    def __init__(self, *options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, function, *arguments):
        return Done(function(*arguments))


class Done:
    def __init__(self, outcome):
        self.outcome = outcome

    def add_done_callback(self, function):
        function(self)

    def result(self):
        return self.outcome


def test_settings_are_compared_with_the_default(results):
    text, figures = results("--grid", "0.01", "1", "--setting", 'binary={"arity": 2}')
    assert list(figures) == ["default", "C=0.01", "C=1", "binary"]
    for name in ("P@1", "PSP@5", "nDCG@5", "log_loss", "error", "error_of_best", "train_cpu_s"):
        assert name in figures["binary"]
    assert "| C=1 |" in text
    assert "200 training rows, 60 dev rows, 12 labels; 1.0 labels per row" in text
    assert "The best rivals" in text


def test_a_second_run_trains_only_what_is_new(results, monkeypatch):
    _, first = results("--no-grid")
    started = []
    monkeypatch.setattr(defaults, "run", lambda trial: started.append(trial) or trial.run())
    _, second = results("--grid", "0.5")
    assert [(trial.setting.name, trial.seed) for trial in started] == [("C=0.5", 0), ("C=0.5", 1)]
    assert second["default"] == first["default"]
    results("--no-grid", "--on", "test")
    assert len(started) == 6
    results("--no-grid", "--fresh")
    assert len(started) == 10


def test_a_setting_that_fails_is_in_the_table(results):
    text, figures = results("--no-grid", "--setting", 'bad={"arity": "many"}')
    assert "| bad | failed: " in text
    assert "arity" in text
    assert list(figures) == ["default", "C=1"]


def test_another_class_is_compared_with_its_own_default(results):
    text, figures = results("--estimator", "FastXMLClassifier", "--setting", 'few={"n_trees": 2}')
    assert list(figures) == ["default", "few"]
    assert set(figures["few"]) >= {"P@1", "P@3", "P@5", "train_cpu_s"}
    assert "log_loss" not in figures["few"]
    assert "| – | – | – | 1.00 |" in text


def test_the_class_is_part_of_what_is_stored(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(trials, "CACHE", tmp_path)
    parts = Parts.of(folder)
    settings = [trials.Setting("a", estimator=name) for name in ("LabelTreeClassifier", "FastXMLClassifier")]
    trees, forest = (trials.Trial(parts, "dev", setting, 0) for setting in settings)
    trees.run()
    assert trees.stored() is not None
    assert forest.stored() is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--estimator", "Oracle"], "--estimator must be a class of labeltree"),
        (["--setting", "flat"], "expected NAME=JSON"),
        (["--setting", "flat=[1]"], "expected an object"),
        (["--setting", "default={}"], "different names"),
        (["--seeds", "0"], "--seeds must be at least 1"),
    ],
)
def test_wrong_options_are_told(options, message, capsys):
    with pytest.raises(SystemExit):
        defaults.parse(options)
    assert message in capsys.readouterr().err


def test_scores_are_the_metrics_and_intervals_agree_with_the_bootstrap():
    rng = np.random.default_rng(0)
    y = (rng.random((400, 30)) < 0.1).astype(int)
    y[:, 0] = 1
    tops = [np.argsort(-(y + rng.normal(0, noise, y.shape)), axis=1)[:, :5] for noise in (0.4, 0.5, 0.5)]
    propensity = inverse_propensity(y)
    better, worse = Scores.of(y, tops[:1], propensity), Scores.of(y, tops[1:2], propensity)
    expected = compare(y, tops[1], tops[0], inverse_propensity=propensity)
    for name in ("P@1", "P@3", "P@5", "PSP@5", "nDCG@5"):
        difference = better.minus(worse, name)
        found = expected.metrics[name]
        assert better.value(name) == pytest.approx(100 * found.b)
        assert difference.difference == pytest.approx(100 * found.difference)
        assert difference.low == pytest.approx(100 * found.low, abs=0.4)
        assert difference.high == pytest.approx(100 * found.high, abs=0.4)
    of_seeds = [evaluate(y, top)["P@3"] for top in tops[1:]]
    assert Scores.of(y, tops[1:], propensity).value("P@3") == pytest.approx(100 * np.mean(of_seeds))
    mean_precision = np.mean([better.value(f"P@{k}") for k in (1, 3, 5)])
    assert better.value("mean P") == pytest.approx(mean_precision)
