"""Languages, tokenizers and warnings about texts on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run

from labeltree.text import Tagger, tokenizers

TOKENIZER = "tests.tokenizers:split_at_spaces"


@pytest.fixture
def german(tmp_path: Path) -> Path:
    texts = {"die Häuser am See": "haus", "Bäume und ein Baum": "baum"}
    lines = [json.dumps({"text": text, "labels": [label]}) for text, label in texts.items()]
    (tmp_path / "german.jsonl").write_text("\n".join(lines * 3))
    return tmp_path / "german.jsonl"


def test_stop_words_and_stems(german: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    run("train", german, "--model", model, "--stop-words", "german", "--stemmer", "german")
    assert list(Tagger.load(model).vectorizer_.vocabulary_) == ["baum", "haus", "see"]
    assert run("tag", model, "den Häusern", "-k", 1).stdout.split()[-1] == "haus"
    refused = run("train", german, "--model", tmp_path / "other", "--stemmer", "klingon", exit_code=2)
    assert "got 'klingon'" in " ".join(refused.stderr.split())
    assert not (tmp_path / "other").exists()


def test_a_tokenizer_must_be_allowed(german: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "_allowed", set())
    run("train", german, "--model", tmp_path / "model", "--tokenizer", TOKENIZER)
    monkeypatch.setattr(tokenizers, "_allowed", set())  # as in another process
    refused = run("tag", tmp_path / "model", "häuser", exit_code=1)
    assert f"set LABELTREE_ALLOW_IMPORT={TOKENIZER}" in " ".join(refused.stderr.split())
    monkeypatch.setenv("LABELTREE_ALLOW_IMPORT", TOKENIZER)
    assert run("tag", tmp_path / "model", "häuser", "-k", 1).stdout.split()[-1] == "haus"


def test_buckets_and_words_separated_by_white_space(german: Path, tmp_path: Path) -> None:
    """The options of fastText."""
    assert all(option in run("train", "--help-all").stdout for option in ("--buckets", "whitespace"))
    model = tmp_path / "model"
    words = (
        "--analyzer",
        "whitespace",
        "--no-lowercase",
        "--ngram-range",
        "1,2",
        "--char-ngram-range",
        "3,6",
    )
    run("train", german, "--model", model, *words, "--buckets", 100)
    vectorizer = Tagger.load(model).vectorizer_
    assert list(vectorizer.vocabulary_) == ["Baum", "Bäume", "Häuser", "See", "am", "die", "ein", "und"]
    assert vectorizer.n_features_out == 108
    assert run("tag", model, "die Häuser", "-k", 1).stdout.split()[-1] == "haus"
    assert "haus" in run("explain", model, german).stdout
    refused = run("train", german, "--model", tmp_path / "other", "--buckets", 100, exit_code=2)
    assert "ngram_range is (1, 1)" in " ".join(refused.stderr.split())
    assert not (tmp_path / "other").exists()


@pytest.mark.filterwarnings("default:most of these texts")
def test_texts_without_spaces_are_told_in_one_line(tmp_path: Path) -> None:
    lines = [
        json.dumps({"text": text, "labels": [text[0]]}) for text in ("我是中国人我喜欢船", "船在海上") * 5
    ]
    (tmp_path / "chinese.jsonl").write_text("\n".join(lines))
    result = run("train", tmp_path / "chinese.jsonl", "--model", tmp_path / "model")
    assert result.stderr.count("labeltree: warning: most of these texts are in a script without spaces") == 1
    assert "UserWarning" not in result.stderr
    result = run("train", tmp_path / "chinese.jsonl", "--model", tmp_path / "other", "--analyzer", "char")
    assert "warning" not in result.stderr


def test_a_parameters_file_imports_no_code(
    german: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizers, "_allowed", set())
    file, model = tmp_path / "parameters.json", tmp_path / "model"
    file.write_text(json.dumps({"text": {"tokenizer": TOKENIZER}}))
    message = run("train", german, "--model", model, "--parameters", file, exit_code=1).stderr
    assert "files may not import code by themselves" in message
    assert f"set LABELTREE_ALLOW_IMPORT={TOKENIZER}" in message
    assert not model.exists()
    run("train", german, "--model", model, "--parameters", file, "--tokenizer", TOKENIZER)
    monkeypatch.setattr(tokenizers, "_allowed", set())
    monkeypatch.setenv("LABELTREE_ALLOW_IMPORT", TOKENIZER)
    run("train", german, "--model", model, "--parameters", file)
