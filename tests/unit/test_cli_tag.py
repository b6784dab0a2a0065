"""Texts on the command line: `labeltree train` on them, `labeltree tag`, and the other commands with such models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import make_rows, run, run_json, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import LabelTreeClassifier
from labeltree.text import Tagger, TextVectorizer


def write_texts(path: Path, n_texts: int, seed: int) -> Path:
    texts, labels = labelled_texts(n_texts, seed)
    records = (
        {"text": text, "labels": of_text, "id": 7} for text, of_text in zip(texts, labels, strict=True)
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    write_texts(folder / "train.jsonl", 200, 0)
    write_texts(folder / "test.jsonl", 60, 1)
    run("train", folder / "train.jsonl", "--model", folder / "model", "--random-state", 0)
    return folder


def test_trains_the_tagger_that_python_trains(folder: Path, tmp_path: Path) -> None:
    options = ["--ngram-range", "1,2", "--min-df", 2, "--max-df", 0.9, "--sublinear-tf", "--random-state", 3]
    result = run("train", folder / "train.jsonl", "--model", tmp_path / "model", *options)
    vectorizer = TextVectorizer(ngram_range=(1, 2), min_df=2, max_df=0.9, sublinear_tf=True)
    tagger = Tagger(LabelTreeClassifier(random_state=3), vectorizer).fit(*labelled_texts(200))
    opened = Tagger.load(tmp_path / "model")
    for text in labelled_texts(5, seed=1)[0]:
        assert opened.tag(text) == tagger.tag(text)
    words = " ".join(result.stdout.split())
    assert "200 texts, " in words
    assert f'labeltree tag {tmp_path / "model"} "some text"' in words.replace("\n", "")


def test_hashed_and_character_features(folder: Path, tmp_path: Path) -> None:
    run("train", folder / "train.jsonl", "--model", tmp_path / "hashed", "--n-features", 1024)
    assert Tagger.load(tmp_path / "hashed").classifier_.n_features_in_ == 1024
    run("train", folder / "train.jsonl", "--model", tmp_path / "both", "--char-ngram-range", "3,4")
    assert Tagger.load(tmp_path / "both").vectorizer_.char_ngram_range == (3, 4)


def test_tag(folder: Path) -> None:
    result = run("tag", folder / "model", "A boat, a sailor and the tide", "-k", 2)
    first, second = result.stdout.splitlines()
    assert first.endswith("%  sea")
    assert float(first.split("%")[0]) > float(second.split("%")[0])


def test_tag_several_texts(folder: Path) -> None:
    lines = run("tag", folder / "model", "a boat", "a cat", "-k", 1).stdout.splitlines()
    assert [line.split("  ")[-1] for line in lines] == ["a boat", "sea", "a cat", "animal"]
    assert "no label" in run("tag", folder / "model", "qwertz", "--threshold", 0.99).stdout


def test_tag_as_json_from_standard_input(folder: Path) -> None:
    printed = run("tag", folder / "model", "--json", "-k", 1, input="a boat\na cat\n").stdout.splitlines()
    objects = [json.loads(line) for line in printed]
    assert [(o["text"], o["labels"][0]["label"]) for o in objects] == [("a boat", "sea"), ("a cat", "animal")]


def test_tag_follows_decide(folder: Path, tmp_path: Path) -> None:
    tagger = Tagger.load(folder / "model").decide_for("micro_f1", *labelled_texts(60, 1))
    tagger.save(tmp_path / "model")
    text = "A boat, a sailor, a cat and a kitten"
    chosen = [line.split()[-1] for line in run("tag", tmp_path / "model", text).stdout.splitlines()]
    assert chosen == tagger.predict([text])[0]
    assert len(chosen) < 5
    decided = run_json("tag", tmp_path / "model", text)
    assert [label["label"] for label in decided["labels"]] == chosen
    assert len(run("tag", tmp_path / "model", text, "-k", 5).stdout.splitlines()) == 5
    assert len(run("tag", tmp_path / "model", text, "--threshold", 0).stdout.splitlines()) == 5
    assert len(run("tag", folder / "model", text).stdout.splitlines()) == 5


def test_output_has_no_control_characters(tmp_path: Path) -> None:
    odd = ["\x1b[31mred", "two\nlines", "[bold]b[/bold]", "\x9b0m", "\u202eright to left", "café 日本"]
    texts = ["boat sea", "cat dog", "street house", "soup salt", "choir drum", "tram tower"]
    Tagger(LabelTreeClassifier(random_state=0)).fit(texts * 4, [[label] for label in odd] * 4).save(
        tmp_path / "m"
    )
    given = "boat \x1b[2J\ttram [red]x[/red] :boat:"
    lines = run("tag", tmp_path / "m", given, "cat", "-k", 6).stdout.splitlines()
    assert lines[0] == "boat \\x1b[2J\\ttram [red]x[/red] :boat:"
    shown = {line.split("%  ")[1] for line in lines[1:7]}
    escaped = {"\\x1b[31mred", "two\\nlines", "\\x9b0m", "\\u202eright to left"}
    assert shown == escaped | {"[bold]b[/bold]", "café 日本"}
    printed = run("tag", tmp_path / "m", given, "-k", 6, "--json").stdout
    assert printed.isascii() is False
    assert all(character.isprintable() for character in printed.rstrip("\n"))
    row = '{"text": "boat"}\n'
    for others in (("explain", tmp_path / "m", "-", "--label", odd[0]), ("info", tmp_path / "m", "--tree")):
        shown_too = run(*others, input=row).stdout
        assert "\\x1b[31mred" in shown_too
        assert "\x1b" not in shown_too
    predicted = run("predict", tmp_path / "m", "-", "-k", 6, input=row).stdout.rstrip("\n").split("\t")
    assert {text.rpartition(":")[0] for text in predicted} == shown
    predicted_too = run("predict", tmp_path / "m", "-", "-k", 6, "--json", input=row).stdout
    assert {label["label"] for label in json.loads(predicted_too)["labels"]} == set(odd)
    assert predicted_too.rstrip("\n").isprintable()
    read = json.loads(printed)
    assert read["text"] == given
    assert {label["label"] for label in read["labels"]} == set(odd)


def test_texts_without_known_words(folder: Path) -> None:
    lines = run("tag", folder / "model", "-k", 1, input="\na boat\r\n\n").stdout.splitlines()
    assert [line.split("  ")[-1] for line in lines][3:5] == ["a boat", "sea"]
    assert lines[0] == lines[5] == ""
    assert lines[2] == lines[7] == "the model knows no word of this text: these are frequent labels"
    objects = [
        json.loads(line) for line in run("tag", folder / "model", "--json", input="\n\n").stdout.splitlines()
    ]
    assert [found["text"] for found in objects] == ["", ""]
    assert run("tag", folder / "model", input="").stdout == ""
    nothing = run("tag", folder / "model", "qwertz", "--threshold", 1).stdout.splitlines()
    assert nothing == ["no label is probable enough", "the model knows no word of this text"]


def test_the_other_commands_take_texts(folder: Path, tmp_path: Path) -> None:
    figures = run_json("evaluate", folder / "model", folder / "test.jsonl")
    assert figures["rows"] == 60
    assert figures["metrics"]["P@1"] > 0.95
    predicted = run("predict", folder / "model", folder / "test.jsonl", "--json").stdout.splitlines()
    assert json.loads(predicted[0])["labels"][0]["label"] in labelled_texts(60, 1)[1][0]
    assert (
        "sea"
        in run("predict", folder / "model", "-", "--format", "jsonl", input='{"text": "a boat"}\n').stdout
    )
    explained = run_json("explain", folder / "model", folder / "test.jsonl", "--row", 1)
    features = [f["feature"] for step in explained["trees"][0] for f in step["features"]]
    assert features
    assert all(isinstance(feature, str) for feature in features)
    run("decide", folder / "model", folder / "test.jsonl", "--metric", "micro_f1")
    assert Tagger.load(folder / "model").classifier_.decision_.metric == "micro_f1"
    assert "texts" in run("info", folder / "model").stdout


def test_online_models_that_learned_texts(folder: Path, tmp_path: Path) -> None:
    run("learn", folder / "train.jsonl", "--model", tmp_path / "online")
    assert "sea" in run("tag", tmp_path / "online", "a boat, a sailor", "-k", 1).stdout


# -- errors ----------------------------------------------------------------------------------------------------------


def test_models_of_numbers_have_no_tags(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "train.txt", make_rows(50, seed=1))
    run("train", data, "--model", tmp_path / "model")
    result = run("tag", tmp_path / "model", "a boat", exit_code=2)
    assert "rows of numbers" in " ".join(result.stderr.replace("│", " ").split())
    result = run("train", data, "--model", tmp_path / "m", "--min-df", 2, exit_code=2)
    assert "an option for texts" in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            '{"text": "a", "labels": ["b"]}\n{"text": 7, "labels": []}\n',
            "bad.jsonl:2: expected a string as 'text'",
        ),
        ('{"labels": ["b"]}\n', "bad.jsonl:1: expected an object with the key 'text'"),
        ("", "expected at least one text"),
        ("label text\n", "bad.jsonl:1: expected a JSON object"),
    ],
)
def test_files_that_are_not_right(lines: str, message: str, tmp_path: Path) -> None:
    import re

    (tmp_path / "bad.jsonl").write_text(lines)
    result = run("train", tmp_path / "bad.jsonl", "--model", tmp_path / "model", exit_code=1)
    assert re.search(message, " ".join(result.stderr.split()))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("options", [["--ngram-range", "2"], ["--ngram-range", "2,1"], ["--min-df", "few"]])
def test_options_that_are_not_right(folder: Path, tmp_path: Path, options: list[str]) -> None:
    run("train", folder / "train.jsonl", "--model", tmp_path / "model", *options, exit_code=2)
