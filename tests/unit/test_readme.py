"""The README, from top to bottom: its commands and its Python run in one directory, in the order of the page."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run
from tests.labelled_texts import labelled_texts
from tests.pages import README, answer_of_curl, blocks_in
from tests.servers import ServerProcess


def write_texts(path: Path, n_texts: int, seed: int) -> None:
    rows = zip(*labelled_texts(n_texts, seed), strict=True)
    path.write_text("".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files that the README names."""
    for seed, name in enumerate(("train.jsonl", "test.jsonl", "valid.jsonl")):
        write_texts(tmp_path / name, 60, seed)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sessions() -> list[tuple[str, list[str]]]:
    """Return the commands of the page in their order, each with the lines of output that the page shows."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks_in(README, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            elif line:
                found[-1][1].append(line)
    return found


def shape(line: str) -> str:
    """Return the line without what depends on the data: numbers, plurals and units of size."""
    return re.sub(r"[\d.,]*\d", "N", line).replace("levels", "level").replace(" kB,", " MB,")


def test_commands_run_in_their_order(folder: Path) -> None:
    commands = sessions()
    assert commands[0][0].startswith("labeltree train train.jsonl")
    n_shown = 0
    with ExitStack() as stack:
        server: ServerProcess | None = None
        for line, shown in commands:
            command, *words = shlex.split(line, comments=True)
            if command == "curl":
                assert server is not None
                assert "sea" in answer_of_curl(server, words)
            elif words[0] == "serve":
                server = stack.enter_context(ServerProcess(*words[1:], log=folder / "log"))
            else:
                assert command == "labeltree", line
                printed = {shape(each) for each in run(*words).stdout.splitlines()}
                expected = [each for each in shown if "%  " not in each]  # labels are those of the data
                assert {shape(each) for each in expected} <= printed
                n_shown += len(expected)
        assert server is not None
    assert n_shown == 4
    assert (folder / "tags.html").exists()


def test_the_line_of_text_is_one_that_train_reads(folder: Path) -> None:
    (line,) = blocks_in(README, "json")
    Path("one.jsonl").write_text(line + (folder / "train.jsonl").read_text())
    run("train", "one.jsonl", "--model", "one.labeltree")
    assert "boat" in run("tag", "one.labeltree", "A fishing boat in the harbour", "-k", 3).stdout


def test_python_runs_in_its_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "train.jsonl", "--model", "tags.labeltree")
    (block,) = blocks_in(README, "python")
    names: dict[str, Any] = {}
    exec(block, names)
    assert names["tagger"].tag("the sea and a boat", k=1)[0].label == "sea"
    shown = re.findall(r"print\(precision_at_k.*# (.*)", block)
    assert [float(precision) for precision in shown] == pytest.approx(
        [float(capsys.readouterr().out.split()[-1])], abs=0.003
    )
