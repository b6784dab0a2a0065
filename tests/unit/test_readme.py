"""The README, from top to bottom: its commands and its Python run in one directory, in the order of the page."""

from __future__ import annotations

import csv
import json
import re
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import make_rows, run, write_rows
from tests.labelled_texts import labelled_texts
from tests.servers import BEARER, ServerProcess

ADDRESS = "http://127.0.0.1:8000"
README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    """Return the blocks of code in one language; commands have none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [code for name, code in found if name == language]


def write_texts(path: Path, n_texts: int, seed: int) -> None:
    rows = zip(*labelled_texts(n_texts, seed), strict=True)
    path.write_text("".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files that the README names."""
    for seed, name in enumerate(("train.jsonl", "test.jsonl", "valid.jsonl", "events.jsonl", "new.jsonl")):
        write_texts(tmp_path / name, 60, seed)
    with open(tmp_path / "records.csv", "w", newline="") as file:
        records = csv.writer(file)
        records.writerow(["title", "abstract", "subjects"])
        records.writerows(
            (text[:20], text, ";".join(labels)) for text, labels in zip(*labelled_texts(60, 0), strict=True)
        )
    for seed, name in enumerate(("train.txt", "test.txt")):
        write_rows(tmp_path / name, make_rows(60, seed))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(server: ServerProcess, words: list[str]) -> None:
    """Do what curl does with these words, at the port that the server has here."""
    (url,) = [word for word in words if word.startswith(ADDRESS)]
    body = json.loads(words[words.index("--json") + 1])
    answer = server.client.post(url.removeprefix(ADDRESS), json=body, headers=BEARER)
    assert answer.status_code == 200, answer.text
    assert "sea" in answer.text


def test_commands_run_in_their_order(folder: Path) -> None:
    commands = [line for block in blocks("") for line in block.splitlines() if not line.startswith("pip ")]
    assert commands[0].startswith("labeltree train train.jsonl")
    n_run = 0
    with ExitStack() as stack:
        server: ServerProcess | None = None
        for line in commands:
            source, _, last = line.rpartition(" | ")
            command, *words = shlex.split(last, comments=True)
            if command == "curl":
                assert server is not None
                ask(server, words)
            elif words[0] == "serve":
                server = stack.enter_context(ServerProcess(*words[1:], log=folder / "log"))
            else:
                assert command == "labeltree", line
                run(*words, input=Path(shlex.split(source)[-1]).read_text() if source else None)
                n_run += 1
    assert n_run >= 8
    assert (folder / "tags.html").exists()


def test_the_line_of_text_is_one_that_train_reads(folder: Path) -> None:
    (line,) = blocks("json")
    Path("one.jsonl").write_text(line + (folder / "train.jsonl").read_text())
    run("train", "one.jsonl", "--model", "one.labeltree")
    assert "boat" in run("tag", "one.labeltree", "A fishing boat in the harbour", "-k", 3).stdout


def test_python_runs_in_its_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(block, names)
    assert names["tagger"].predict(["the sea and a boat"]) == [["boat", "sea"]]
    assert names["live"].predict_topk([{"sea": 1.0}], k=1).labels.tolist() == [["marine"]]
    assert float(capsys.readouterr().out.split()[0]) == pytest.approx(0.935, abs=0.005)
    assert "boat" in run("tag", "pictures.labeltree", "the sea and a boat").stdout
