"""`labeltree tune`, and `labeltree train` with what it writes."""

from __future__ import annotations

import io
import json
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from tests.command_line import make_rows, run, run_json, write_rows, write_texts

from labeltree import LabelTreeClassifier, tuning
from labeltree.cli.parameter_search import seconds_of
from labeltree.cli.training_rows import TrainingRows
from labeltree.cli.tuning_display import TuningDisplay, front_table
from labeltree.data import read_xmlc
from labeltree.text import TextVectorizer
from labeltree.tuning import Trial, Tuning, read_parameters, write_parameters

SEARCHED = ["loss", "C", "arity", "max_leaves", "prune", "n_trees"]
#: Leaves but a few candidates.
QUICK = ["--arity", 2, "--max-leaves", 3, "--prune", 0.1, "--loss", "logistic", "--random-state", 0]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("data") / "train.txt", make_rows(200, seed=1))


class TestTune:
    def test_writes_what_train_takes(self, data: Path, tmp_path: Path) -> None:
        out, model = tmp_path / "parameters.json", tmp_path / "model"
        text = run("tune", data, "--budget", 5, "--out", out, "--tol", 0.05, *QUICK).stdout
        found = json.loads(out.read_text())
        assert found["tol"] == 0.05
        assert found["random_state"] == 0
        assert [name for name in found if name in SEARCHED] == SEARCHED
        assert f"labeltree train {data} --model DIR --parameters {out}" in text
        assert "P@1,3,5" in text
        assert "→" in text
        run("train", data, "--model", model, "--parameters", out)
        expected = {**LabelTreeClassifier(n_jobs=-1).get_params(), **found}
        assert LabelTreeClassifier.load(model).get_params() == expected

    def test_json(self, data: Path, tmp_path: Path) -> None:
        valid = write_rows(tmp_path / "valid.txt", make_rows(30, seed=2))
        arguments = ["tune", data, "--valid", valid, "--budget", 5, "--metric", "nDCG@3", *QUICK]
        report = run_json(*arguments, "--out", tmp_path / "p.json")
        assert report["parameters"] == read_parameters(tmp_path / "p.json")
        assert (report["metric"], report["valid_rows"], report["budget_seconds"]) == ("nDCG@3", 30, 300)
        X, y = read_xmlc(data)
        estimator = LabelTreeClassifier(random_state=0)
        space = tuning.SearchSpace().fixed(arity=2, max_leaves=3, prune=0.1, loss="logistic")
        expected = tuning.tune(
            X, y, *read_xmlc(valid), budget=300, estimator=estimator, space=space, metric="nDCG@3"
        )
        assert report["trials"] == len(expected.trials)
        assert report["parameters"] == expected.parameters
        assert report["chosen"]["score"] == expected.chosen.score
        assert {trial["n_rows"] for trial in report["front"]} == {200}
        assert report["start"]["parameters"]["C"] == "auto"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--budget", 0], "must be a positive number"),
            (["--budget", 1, "--metric", "F1"], "metric must be one of P, nDCG"),
            (["--budget", 1, "--arity", 1], "the parameter 'arity' must be an integer"),
            (["--budget", 1, "--tree", "flat"], "No such option"),
        ],
    )
    def test_wrong_options_are_told_before_anything_is_read(
        self, tmp_path: Path, options: list[object], message: str
    ) -> None:
        result = run("tune", "no-such-data.txt", "--out", tmp_path / "p.json", *options, exit_code=2)
        assert message in " ".join(result.stderr.replace("│", " ").split())

    def test_a_place_where_nothing_can_be_written(self, tmp_path: Path) -> None:
        for out, message in (
            (tmp_path, "got a directory"),
            (tmp_path / "no" / "p.json", "no such directory"),
        ):
            result = run("tune", "no-such-data.txt", "--budget", 1, "--out", out, exit_code=1)
            assert message in result.stderr

    def test_labels_beyond_those_of_the_training_data(self, tmp_path: Path) -> None:
        (tmp_path / "train.txt").write_text("0 0:1\n1 1:1\n" * 10)
        (tmp_path / "valid.txt").write_text("7 0:1\n")
        arguments = ["tune", tmp_path / "train.txt", "--valid", tmp_path / "valid.txt", "--budget", 1]
        result = run(*arguments, "--out", tmp_path / "p.json", exit_code=1)
        assert f"{tmp_path / 'valid.txt'}: has ids that the training data has not" in result.stderr
        assert "--n-labels 8" in result.stderr
        assert not (tmp_path / "p.json").exists()


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("data") / "texts.jsonl", 150, seed=1)


#: A single candidate, but for pairs of words.
FOR_TEXTS = [
    *QUICK,
    "--C",
    8,
    "--n-trees",
    1,
    "--min-df",
    1,
    "--no-sublinear-tf",
    "--char-ngram-range",
    "3,3",
]


class TestTexts:
    def test_parameters_of_texts_are_found_and_used(self, texts: Path, tmp_path: Path) -> None:
        out, model = tmp_path / "parameters.json", tmp_path / "model"
        options = ["--stop-words", "english", *FOR_TEXTS]
        page = run("tune", texts, "--budget", "300s", "--out", out, *options).stdout
        found = json.loads(out.read_text())
        assert found["text"] == {
            "stop_words": "english",
            "ngram_range": [1, 2],
            "min_df": 1,
            "sublinear_tf": False,
            "max_features": None,
            "char_ngram_range": [3, 3],
        }
        assert page.startswith("2 trials in ")
        assert "all: loss logistic, C 8" in page
        run("train", texts, "--model", model, "--parameters", out, "--max-features", 99)
        vectorizer = LabelTreeClassifier.load(model).vectorizer_
        expected = {**read_parameters(out)["text"], "max_features": 99, "n_jobs": -1}
        assert vectorizer.get_params() == {**TextVectorizer().get_params(), **expected}

    def test_json_with_validation_texts(self, texts: Path, tmp_path: Path) -> None:
        valid = write_texts(tmp_path / "valid.jsonl", 40, seed=2)
        options = ["--valid", valid, "--metric", "P@1", *FOR_TEXTS]
        report = run_json("tune", texts, "--budget", "1h", "--out", tmp_path / "p.json", *options)
        assert (report["valid_rows"], report["budget_seconds"], report["stopped_by"]) == (40, 3600, None)
        assert report["parameters"]["text"]["ngram_range"] == [1, 2]
        assert report["chosen"]["parameters"]["char_ngram_range"] == [3, 3]

    def test_texts_and_numbers_are_not_mixed(self, texts: Path, data: Path, tmp_path: Path) -> None:
        out = ["--budget", 1, "--out", tmp_path / "p.json"]
        result = run("tune", texts, "--valid", data, *out, exit_code=1)
        assert f"{data}: expected texts, as in the training data, got rows of numbers" in result.stderr
        result = run("tune", data, "--valid", texts, *out, exit_code=1)
        assert f"{texts}: expected rows of numbers, as in the training data, got texts" in result.stderr
        result = run("tune", data, *out, "--min-df", 2, exit_code=2)
        assert "is an option for texts" in result.stderr
        (tmp_path / "texts.json").write_text('{"text": {"min_df": 2}}')
        arguments = ["train", data, "--model", tmp_path / "model", "--parameters", tmp_path / "texts.json"]
        assert "is an option for texts" in run(*arguments, exit_code=2).stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("5m", 300), ("90s", 90), ("1.5h", 5400), ("10", 600), (".5", 30)]
)
def test_budgets(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["0", "0s", "5 minutes", "-1", "m", "1h30m", "nan", ""])
def test_wrong_budgets(text: str) -> None:
    with pytest.raises(
        typer.BadParameter, match="must be a positive number with a unit, such as 90s, 5m or 2h"
    ):
        seconds_of(text)


def signal_after(monkeypatch: pytest.MonkeyPatch, n_trials: int, number: signal.Signals) -> None:
    """Send this process a signal after a number of trials."""
    show = TuningDisplay.show

    def counted(self: TuningDisplay, trial: Trial) -> None:
        show(self, trial)
        if len(self._trials) == n_trials:
            signal.raise_signal(number)

    monkeypatch.setattr(TuningDisplay, "show", counted)


class TestStopped:
    @pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
    def test_the_best_so_far_is_written(
        self,
        data: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        number: signal.Signals,
        exit_code: int,
    ) -> None:
        signal_after(monkeypatch, 2, number)
        before = signal.getsignal(signal.SIGTERM)
        out = tmp_path / "p.json"
        page = run("tune", data, "--budget", "2h", "--out", out, exit_code=exit_code).stdout
        assert f"stopped by {number.name} after 2 trials: the best so far is in {out}" in " ".join(
            page.split()
        )
        assert set(SEARCHED) < read_parameters(out).keys()
        assert signal.getsignal(signal.SIGTERM) is before

    def test_json(self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        signal_after(monkeypatch, 3, signal.SIGTERM)
        report = run_json("tune", data, "--budget", "2h", "--out", tmp_path / "p.json")
        assert (report["stopped_by"], report["trials"]) == ("SIGTERM", 3)

    def test_without_a_trial_there_is_nothing_to_write(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(self: LabelTreeClassifier, X: Any, y: Any) -> None:
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(LabelTreeClassifier, "fit", interrupt)
        result = run("tune", data, "--budget", "2h", "--out", tmp_path / "p.json", exit_code=130)
        assert result.stderr == "labeltree: interrupted\n"
        assert not (tmp_path / "p.json").exists()


class TestTrainAndTune:
    def test_the_model_has_the_chosen_parameters(self, texts: Path, tmp_path: Path) -> None:
        model = tmp_path / "model"
        report = run_json("train", texts, "--model", model, "--tune", "10m", *FOR_TEXTS)
        assert report["rows"] == 150  # all of them, though some were held out
        assert (report["tuning"]["trials"], report["tuning"]["valid_rows"]) == (2, 30)
        assert not report["tuning"]["interrupted"]
        assert report["tuning"]["chosen"]["parameters"]["ngram_range"] == [1, 2]
        trained = LabelTreeClassifier.load(model)
        assert trained.vectorizer_.ngram_range == (1, 2)
        assert trained.vectorizer_.char_ngram_range == (3, 3)
        assert (trained.C, trained.arity, trained.prune) == (8.0, 2, 0.1)
        expected = run_json("train", texts, "--model", tmp_path / "same", *FOR_TEXTS, "--ngram-range", "1,2")
        assert expected["tuning"] is None
        files = [
            {file.name: file.read_bytes() for file in path.iterdir()} for path in (model, tmp_path / "same")
        ]
        assert files[0] == files[1]

    def test_rows_of_numbers(self, data: Path, tmp_path: Path) -> None:
        valid = write_rows(tmp_path / "valid.txt", make_rows(30, seed=2))
        options = ["--tune", "10m", "--valid", valid, "--metric", "nDCG@3", *QUICK]
        page = " ".join(run("train", data, "--model", tmp_path / "model", *options).stdout.split())
        model = LabelTreeClassifier.load(tmp_path / "model")
        assert f"on held-out rows with loss logistic, C {model.C:g}, arity 2" in page
        assert "nDCG@3 " in page
        run(
            "tune",
            data,
            "--valid",
            valid,
            "--budget",
            "10m",
            "--metric",
            "nDCG@3",
            "--out",
            tmp_path / "p",
            *QUICK,
        )
        assert read_parameters(tmp_path / "p")["C"] == model.C

    def test_ctrl_c_ends_the_search_only(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        signal_after(monkeypatch, 2, signal.SIGINT)
        result = run("train", data, "--model", tmp_path / "model", "--tune", "2h")
        assert result.stdout.startswith("2 trials in ")
        assert ", interrupted:" in result.stdout
        assert "search interrupted: training with the best parameters so far" in result.stderr
        LabelTreeClassifier.load(tmp_path / "model")

    def test_the_second_ctrl_c_ends_the_command(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(self: TrainingRows, classifier: Any) -> None:
            signal.raise_signal(signal.SIGINT)

        signal_after(monkeypatch, 2, signal.SIGINT)
        monkeypatch.setattr(TrainingRows, "fit", interrupt)
        run("train", data, "--model", tmp_path / "model", "--tune", "2h", exit_code=130)
        assert not (tmp_path / "model").exists()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--tune", "soon"], "must be a positive number with a unit"),
            (["--tune", 1, "--preset", "parabel"], "a preset has settings of its own"),
            (["--tune", 1, "--tree", "flat"], "tree must be one of"),
            (["--tune", 1, "--metric", "F1"], "metric must be one of P, nDCG"),
            (["--metric", "P@1"], "works only with --tune"),
            (["--valid", "valid.txt"], "works only with --tune"),
            (["--tune", 1, "--method", "fastxml"], "--tune is an option of label-tree, not of fastxml"),
        ],
    )
    def test_wrong_options_are_told_before_anything_is_read(
        self, tmp_path: Path, options: list[object], message: str
    ) -> None:
        result = run("train", "no-such-data.txt", "--model", tmp_path / "model", *options, exit_code=2)
        assert message in " ".join(result.stderr.replace("│", " ").split())


class TestDisplay:
    def trial(self, score: float, n_rows: int) -> Trial:
        values = ("squared_hinge", 0.25, 128, 400, 0.05, 3)
        return Trial(dict(zip(SEARCHED, values, strict=True)), n_rows, score, 0.12345, 123_456_789, 1.0)

    def drawn(self, thing: object) -> list[str]:
        console = Console(file=io.StringIO(), width=80)
        console.print(thing)
        return console.file.getvalue().splitlines()  # type: ignore[attr-defined] # it is a StringIO

    def test_the_best_on_the_most_rows_are_shown(self) -> None:
        display = TuningDisplay(120.0, "P@1,3,5", time.monotonic() - 60.5)
        assert "1 min 0 s of 2 min 0 s  0 trials" in self.drawn(display)[0]
        for score, n_rows in ((0.9, 10), (0.5, 3000), (0.75, 3000)):
            display.show(self.trial(score, n_rows))
        head, title, _, *lines = self.drawn(display)
        assert "3 trials" in head
        assert "3,000 rows" in title
        assert [line.split()[0] for line in lines] == ["75.00", "50.00"]

    def test_the_front_fits_a_terminal(self) -> None:
        trials = (self.trial(0.5, 10), self.trial(0.9, 10))
        page = self.drawn(front_table(Tuning(trials, "P@1,3,5", {}, 7)))
        assert not any("…" in line for line in page)
        assert page[1].split() == [
            "→",
            "90.00",
            "0.1235",
            "123",
            "MB",
            "squared_hinge",
            "0.25",
            "128",
            "400",
            "0.05",
            "3",
        ]

    def test_a_trial_is_shown_once(self) -> None:
        # The first one is chosen, because it is the start; the second one is faster.
        trials = (self.trial(0.5, 10), replace(self.trial(0.5, 10), ms_per_row=0.1))
        page = self.drawn(front_table(Tuning(trials, "P@1,3,5", {}, 7)))
        assert [line.split()[0] for line in page[1:3]] == ["→·", "50.00"]
        assert not page[3].strip()

    def test_texts_show_the_columns_that_differ(self) -> None:
        values = {"ngram_range": (1, 1), "min_df": 1, "sublinear_tf": False, "char_ngram_range": None}
        trials = []
        for score, changes in ((0.5, {}), (0.9, {"ngram_range": (1, 2), "char_ngram_range": (3, 4)})):
            one = self.trial(score, 10)
            trials.append(replace(one, parameters={**one.parameters, **values, **changes}))
        page = self.drawn(front_table(Tuning(tuple(trials), "P@1", {}, 7, {})))
        assert page[0].split() == ["P@1", "ms/row", "size", "ngrams", "chars"]
        assert page[1].split() == ["→", "90.00", "0.1235", "123", "MB", "1-2", "3-4"]
        assert page[2].split() == ["·", "50.00", "0.1235", "123", "MB", "1-1", "none"]
        assert "min_df 1, sublinear_tf no" in " ".join(page)


class TestTrainWithParameters:
    def trained(self, data: Path, folder: Path, parameters: dict[str, Any], *options: object) -> Any:
        write_parameters(folder / "p.json", parameters)
        run("train", data, "--model", folder / "model", "--parameters", folder / "p.json", *options)
        return LabelTreeClassifier.load(folder / "model")

    def test_options_override_the_file(self, data: Path, tmp_path: Path) -> None:
        model = self.trained(data, tmp_path, {"C": 3.0, "arity": 4, "bias": False}, "--arity", 32)
        assert (model.C, model.arity, model.bias, model.n_jobs) == (3.0, 32, False, -1)

    def test_the_file_overrides_the_preset(self, data: Path, tmp_path: Path) -> None:
        model = self.trained(data, tmp_path, {"n_trees": 1, "beam": 4}, "--preset", "parabel", "--beam", 5)
        assert (model.n_trees, model.beam, model.search) == (1, 5, "beam")

    def test_trees_by_name(self, data: Path, tmp_path: Path) -> None:
        assert len(self.trained(data, tmp_path, {"tree": "flat,huffman"}).trees_) == 2

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"c": 1}', "'c' is not a parameter that a file may have; expected one of C, arity, beam"),
            ('{"node_estimator": null}', "'node_estimator' is not a parameter that a file may have"),
            ('{"arity": 1}', "the parameter 'arity' must be an integer of at least 2"),
            ('{"arity": 2, "arity": 3}', "the name 'arity' comes twice"),
            ('{"solver": "sgd", "C": 1.0}', "solver 'sgd' does not use C"),
            ('{"tree": [1]}', "tree must be a word or the name of a file, got [1]"),
            ("[1]", "expected a JSON object of parameters by name, got list"),
            ("C: 1", "not JSON"),
        ],
    )
    def test_files_that_are_not_right(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "p.json").write_text(text)
        arguments = ["train", "no-such-data.txt", "--model", tmp_path / "model"]
        result = run(*arguments, "--parameters", tmp_path / "p.json", exit_code=1)
        assert f"{tmp_path / 'p.json'}: " in result.stderr
        assert message in result.stderr

    def test_no_file(self, tmp_path: Path) -> None:
        arguments = ["train", "no-such-data.txt", "--model", tmp_path / "model"]
        result = run(*arguments, "--parameters", tmp_path / "p.json", exit_code=1)
        assert result.stderr == f"labeltree: {tmp_path / 'p.json'}: No such file or directory\n"


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    write_parameters(path, {"C": 1.0})
    with pytest.raises(TypeError):
        write_parameters(path, {"C": object()})
    assert read_parameters(path) == {"C": 1.0}
    assert [file.name for file in tmp_path.iterdir()] == ["p.json"]
