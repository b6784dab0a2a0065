"""`labeltree train --method extremetext` and `fasttext` on every kind of file, and what their models can be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import ExtremeTextClassifier, FastTextClassifier, metrics
from labeltree.data import read_word_vectors, read_xmlc, write_word_vectors
from labeltree.model_file import load
from labeltree.text import Tagger, TextVectorizer

TEXTS, LABELS = labelled_texts(150)
OPTIONS: dict[str, list[object]] = {
    "extremetext": ["--dimension", 12, "--epochs", 20, "--batch-size", 8, "--dropout", 0],
    "fasttext": ["--loss", "ova", "--dimension", 12, "--epochs", 60, "--learning-rate", 0.2],
}
CLASSES = {"extremetext": ExtremeTextClassifier, "fasttext": FastTextClassifier}

every_method = pytest.mark.parametrize("method", OPTIONS)


def in_words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    lines = [
        f"{' '.join(f'__label__{label}' for label in labels)} {text}\n"
        for text, labels in zip(TEXTS, LABELS, strict=True)
    ]
    (folder / "train.fasttext").write_text("".join(lines))
    objects = [{"text": text, "labels": labels} for text, labels in zip(TEXTS, LABELS, strict=True)]
    (folder / "train.jsonl").write_text("".join(json.dumps(o) + "\n" for o in objects))
    write_rows(folder / "train.txt", make_rows(200, seed=1))
    return folder


@pytest.fixture(scope="module", params=OPTIONS)
def trained(request: pytest.FixtureRequest, files: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A method, its model of texts, and a file of labelled texts."""
    method, path = request.param, tmp_path_factory.mktemp("models") / "model"
    data = files / "train.fasttext"
    run("train", data, "--model", path, "--method", method, "--random-state", 0, *OPTIONS[method])
    return method, path, data


def test_a_fasttext_file_and_json_lines_train_the_model_of_python(
    trained: Any, files: Path, tmp_path: Path
) -> None:
    method, path, _ = trained
    run(
        "train", files / "train.jsonl", "--model", tmp_path / "m", "--method", method, "--random-state", 0,
        *OPTIONS[method],
    )  # fmt: skip
    names = [str(word)[2:].replace("-", "_") for word in OPTIONS[method][::2]]
    parameters = dict(zip(names, OPTIONS[method][1::2], strict=True))
    tagger = Tagger(method=method)
    tagger.set_params(**{f"classifier__{n}": v for n, v in parameters.items()}, classifier__random_state=0)
    expected = tagger.fit(TEXTS, LABELS).predict_topk(TEXTS, 3)
    for model in (load(path), load(tmp_path / "m")):
        found = model.predict_topk(TEXTS, 3)
        assert found.labels.tolist() == expected.labels.tolist()
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_evaluate_and_report(trained: Any, tmp_path: Path) -> None:
    _, path, data = trained
    page = tmp_path / "report.html"
    figures = run_json("evaluate", path, data, "--report", page)
    best = load(path).predict_topk(TEXTS, 1).labels.ravel()
    right = [label in labels for label, labels in zip(best, LABELS, strict=True)]
    assert figures["metrics"]["P@1"] == pytest.approx(np.mean(right))
    assert np.mean(right) > 0.9
    assert figures["nodes"] == load(path).tree_.n_nodes
    assert "<html" in page.read_text()
    assert f"{np.mean(right):.1%}"[:4] in run("evaluate", path, data).stdout


def test_predict_and_tag(trained: Any) -> None:
    _, path, data = trained
    model = load(path)
    lines = run("predict", path, data, "-k", 2).stdout.splitlines()
    found = [[tag.rpartition(":") for tag in line.split("\t")] for line in lines]
    labels, probabilities = model.predict_topk(TEXTS, 2)
    assert [[label for label, _, _ in row] for row in found] == labels.tolist()
    numbers = [[float(number) for _, _, number in row] for row in found]
    np.testing.assert_allclose(numbers, probabilities, rtol=1e-4)
    assert "music" in run("tag", path, "a violin, a choir and a song", "-k", 1).stdout


def test_explain(trained: Any) -> None:
    _, path, data = trained
    found = run_json("explain", path, data, "--row", 3, "--label", "sea")
    expected = load(path).predict_pairs(TEXTS[3:4], [0], ["sea"])[0]
    assert found["label"] == "sea"
    assert found["probability"] == pytest.approx(float(expected), rel=1e-4)
    printed = in_words(run("explain", path, data, "--row", 3, "--label", "sea").stdout)
    assert "label sea of row 3: probability" in printed
    assert "harbour +" in printed


def test_info(trained: Any) -> None:
    method, path, _ = trained
    model, found = load(path), run_json("info", path, "--verify")
    assert (found["estimator"], found["format_version"]) == (CLASSES[method].__name__, 10)
    assert (found["labels"], found["weights"]) == (5, "int8")
    (tree,) = found["trees"]
    assert tree["nodes"] == model.tree_.n_nodes
    assert tree["weights"] == model.word_vectors_.size + model.node_vectors_.size
    printed = in_words(run("info", path).stdout)
    assert CLASSES[method].__name__ in printed
    assert "int8" in printed
    assert "music" in run("info", path, "--tree").stdout
    assert "music" in run("tree", "show", path).stdout


def test_decide_and_calibrate(trained: Any, tmp_path: Path) -> None:
    _, path, data = trained
    load(path).save(tmp_path / "m")
    run("calibrate", tmp_path / "m", data, "--method", "platt")
    assert load(tmp_path / "m").calibration_.method == "platt"
    run("decide", tmp_path / "m", data, "--metric", "micro_f1")
    model = load(tmp_path / "m")
    assert (model.decision_.metric, model.calibration_.method) == ("micro_f1", "platt")
    figures = run_json("evaluate", tmp_path / "m", data)
    assert figures["metrics"]["P@1"] > 0.9


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_convert(trained: Any, weights: str, tmp_path: Path) -> None:
    _, path, _ = trained
    run("convert", path, tmp_path / "converted", "--weights", weights)
    assert run_json("info", tmp_path / "converted")["weights"] == weights
    off = np.abs(load(tmp_path / "converted").word_vectors_ - load(path).word_vectors_)
    assert off.max() <= 0.01 * np.abs(load(path).word_vectors_).max()


@every_method
def test_rows_of_numbers(method: str, files: Path, tmp_path: Path) -> None:
    data, path = files / "train.txt", tmp_path / "model"
    run("train", data, "--model", path, "--method", method, "--vector-type", "float32", *OPTIONS[method])
    X, y = read_xmlc(data)
    model = load(path)
    assert type(model) is CLASSES[method]
    figures = run_json("evaluate", path, data)
    assert figures["metrics"]["P@1"] == pytest.approx(
        metrics.precision_at_k(y, model.predict_topk(X, 1).labels, 1)
    )
    assert figures["metrics"]["P@1"] > 0.8
    info = run_json("info", path)
    assert (info["features"], info["labels"], info["weights"]) == (N_FEATURES, N_LABELS, "float32")
    lines = run("predict", path, data, "-k", 1).stdout.splitlines()
    assert [int(line.partition(":")[0]) for line in lines] == model.predict_topk(X, 1).labels.ravel().tolist()
    assert run_json("explain", path, data, "--row", 2)["label"] == model.predict_topk(X[2], 1).labels[0, 0]
    run("decide", path, data, "--metric", "macro_f1")
    run("calibrate", path, data)


# -- pretrained vectors --------------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("kind", ["vec", "npy"])
def test_pretrained(method: str, kind: str, files: Path, tmp_path: Path) -> None:
    words, values = ["harbour", "violin"], np.random.default_rng(0).normal(size=(2, 12)).astype(np.float32)
    file = tmp_path / f"vectors.{kind}"
    if kind == "npy":
        np.save(file, values)
        file.with_suffix(".txt").write_text("harbour\nviolin\n")
    else:
        write_word_vectors(file, words, values)
    arguments = [
        "train", files / "train.jsonl", "--model", tmp_path / "model", "--method", method, *OPTIONS[method],
        "--vector-type", "float32", "--pretrained", file,
    ]  # fmt: skip
    report = run_json(*arguments, "--frozen")
    assert report["parameters"]["frozen"] is True
    assert report["parameters"]["pretrained"] == str(file)
    model = load(tmp_path / "model")
    names = model.vectorizer_.get_feature_names_out().tolist()
    np.testing.assert_array_equal(model.word_vectors_[[names.index(word) for word in words]], values)
    run(*arguments)
    moved = load(tmp_path / "model").word_vectors_[[names.index(word) for word in words]]
    assert (moved != values).any(axis=1).all()


def test_pretrained_vectors_that_are_refused(files: Path, tmp_path: Path) -> None:
    file, path = tmp_path / "vectors.vec", tmp_path / "model"
    arguments = [
        "train",
        files / "train.jsonl",
        "--model",
        path,
        "--method",
        "extremetext",
        "--pretrained",
        file,
    ]
    file.write_text("harbour 1 2\nharbour 1 2\n")
    error = in_words(run(*arguments, "--dimension", 2, exit_code=1).stderr)
    assert "vectors.vec:2: expected each word once, got 'harbour' again" in error
    file.write_text("harbour 1 2\n")
    error = in_words(run(*arguments, exit_code=1).stderr)
    assert "the pretrained vectors have 2 dimensions: set dimension=2, got 100" in error
    file.write_text("HARBOUR 1 2\n")
    assert "has a pretrained vector" in in_words(run(*arguments, "--dimension", 2, exit_code=1).stderr)
    file.unlink()
    assert "vectors.vec" in in_words(run(*arguments, exit_code=1).stderr)
    assert not path.exists()


def test_rows_of_numbers_have_no_words(files: Path, tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("harbour 1 2\n")
    options = ["--method", "fasttext", "--dimension", 2, "--pretrained", file]
    error = in_words(
        run("train", files / "train.txt", "--model", tmp_path / "m", *options, exit_code=1).stderr
    )
    assert "the columns of X have no names" in error
    assert not (tmp_path / "m").exists()


# -- options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("extremetext", ["--dimension", 0], "'dimension' must be an integer of at least 1"),
        ("extremetext", ["--dimension", "many"], "unable to parse string as an integer"),
        ("extremetext", ["--loss", "hs"], "'hs' is not one of 'logistic', 'softmax'"),
        ("extremetext", ["--dropout", 1], "'dropout' must be a finite number"),
        (
            "extremetext",
            ["--hard-negatives", 2, "--loss", "softmax"],
            "--hard-negatives needs --loss logistic",
        ),
        ("extremetext", ["--frozen"], "--frozen keeps pretrained vectors as they are, but there are none"),
        ("extremetext", ["--tree", "oak"], "oak"),
        ("fasttext", ["--loss", "ns"], "'ns' is not one of 'softmax', 'hs', 'ova'"),
        ("fasttext", ["--learning-rate", 0], "'learning_rate' must be"),
        ("fasttext", ["--tree", "kmeans"], "--tree is an option of"),
        ("fasttext", ["--lr", 1], "No such option"),
        ("fasttext", ["--vector-type", "float16"], "'float16' is not one of"),
    ],
    ids=str,
)
def test_wrong_options_end_before_anything_is_read(
    method: str, options: list[object], message: str, tmp_path: Path
) -> None:
    arguments = ["train", tmp_path / "missing.jsonl", "--model", tmp_path / "m", "--method", method]
    assert message in in_words(run(*arguments, *options, exit_code=2).stderr)
    assert not (tmp_path / "m").exists()


def test_training_that_diverges_leaves_no_model(files: Path, tmp_path: Path) -> None:
    options = ["--method", "fasttext", "--loss", "ova", "--solver", "sgd", "--learning-rate", 1e10]
    error = run("train", files / "train.txt", "--model", tmp_path / "m", *options, exit_code=1).stderr
    assert "training diverged" in in_words(error)
    assert "Lower learning_rate" in in_words(error)
    assert not (tmp_path / "m").exists()


def test_options_of_the_search(trained: Any) -> None:
    method, path, data = trained
    if method == "extremetext":
        run("predict", path, data, "--search", "beam", "--beam", 2)
    else:
        error = run("predict", path, data, "--beam", 2, exit_code=2).stderr
        assert "has no such parameter" in in_words(error)


@every_method
def test_texts_are_read_as_the_method_likes(method: str, trained: Any) -> None:
    """The vectorizer of a method is the same in Python and on the command line."""
    name, path, _ = trained
    expected = Tagger(method=name).vectorizer.get_params()
    found = load(path).vectorizer_.get_params()
    skipped = {"n_jobs"}
    assert {n: v for n, v in found.items() if n not in skipped} == {
        n: v for n, v in expected.items() if n not in skipped
    }
    assert isinstance(load(path).vectorizer_, TextVectorizer)


def test_word_vectors_of_a_model_from_the_command_line(trained: Any, tmp_path: Path) -> None:
    _, path, _ = trained
    model = load(path)
    model.save_word_vectors(tmp_path / "vectors.txt")
    words, values = read_word_vectors(tmp_path / "vectors.txt")
    assert "harbour" in words
    np.testing.assert_array_equal(values, model.word_vectors_)
