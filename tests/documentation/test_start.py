"""docs/start.md: all of its code and commands run in one empty directory, in the order of the page."""

from __future__ import annotations

import csv
import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.command_line import run
from tests.labelled_texts import labelled_texts
from tests.pages import ADDRESS, DOCS, answer_of_curl, blocks_in, code_blocks
from tests.servers import ServerProcess

PAGE = DOCS / "start.md"
OPTIONS = ("--text", "title", "--labels", "subjects", "--separator", ";")


def write_records(
    path: Path, *, delimiter: str = ",", separator: str = "; ", encoding: str = "utf-8"
) -> None:
    """Write the reader's own file."""
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["nr", "title", "abstract", "subjects"])
        for number, (text, labels) in enumerate(zip(*labelled_texts(300, 0), strict=True)):
            writer.writerow([number, text, f"{text}\nmore, and more", separator.join(labels)])


def test_the_page_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_records(Path("records.csv"))
    done = []
    server: ServerProcess | None = None
    with ExitStack() as stack:
        for language, code in code_blocks(PAGE):
            if language == "python" and "load_tate" not in code:  # the reader has a file
                here = code if server is None else code.replace(ADDRESS, server.url)
                exec(compile(here, str(PAGE), "exec"), {})
            for line in code.splitlines() if language == "bash" else ():
                command, *words = shlex.split(line, comments=True)
                if command == "curl":
                    assert server is not None
                    assert '"sea"' in answer_of_curl(server, words)
                elif command == "labeltree" and words[0] == "serve":
                    server = stack.enter_context(ServerProcess(*words[1:], log=tmp_path / "log"))
                elif command == "labeltree":
                    run(*words)
                else:  # of the installation
                    continue
                done.append(words[0])
    assert done == ["train", "evaluate", "decide", "tag", "predict", "serve", "-s", "-s"]
    assert Path("report.html").exists()
    assert len(Path("tagged.txt").read_text().splitlines()) == 30


def test_the_shown_table_is_one_that_train_reads(tmp_path: Path) -> None:
    shown, *_ = blocks_in(PAGE, "text")
    records = tmp_path / "records.csv"
    records.write_text(shown)
    trained = run("train", records, "--model", tmp_path / "m", *OPTIONS)
    assert "2 texts" in trained.stdout
    assert "3 labels" in trained.stdout


def test_the_sample_file_gives_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make, split = [code for code in blocks_in(PAGE, "python") if "import csv" in code]
    exec(compile(make, str(PAGE), "exec"), {})
    with open("records.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["nr", "title", "subjects"]
    assert len(rows) == 52_912
    assert rows[0][2].split("; ")[0] == "architecture"
    exec(compile(split, str(PAGE), "exec"), {})
    commands = [shlex.split(line)[1:] for code in blocks_in(PAGE, "bash") for line in code.splitlines()]
    shown_ones = [words for words in commands if words[0] in ("train", "evaluate", "decide")]
    printed = [parts_of(line) for words in shown_ones for line in run(*words).stdout.splitlines()]
    shown = [parts_of(line) for code in blocks_in(PAGE, "text")[1:] for line in code.splitlines()]
    assert len(shown) == 9
    assert [line for line in shown if not any(are_alike(line, other) for other in printed)] == []


def parts_of(line: str) -> tuple[str, list[float]]:
    """Return the words of a line of output, and its numbers, without times."""
    line = re.sub(r"[\d.]+ s\b", "", line).replace(",", "")
    return " ".join(re.sub(r"\d+(\.\d+)?", "#", line).split()), [
        float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)
    ]


def are_alike(shown: tuple[str, list[float]], printed: tuple[str, list[float]]) -> bool:
    """Whether words are the same, and numbers nearly: another C library may change the last digits."""
    return shown[0] == printed[0] and printed[1] == pytest.approx(shown[1], rel=0.02)


def test_mistakes_are_answered_as_the_page_says(tmp_path: Path) -> None:
    records, model = tmp_path / "records.csv", tmp_path / "m"
    write_records(records, delimiter=";", separator=", ", encoding="utf-8-sig")
    wrong = run("train", records, "--model", model, exit_code=1)
    assert "expected a column 'text', got the columns 'nr', 'title'" in " ".join(wrong.stderr.split())
    warned = run("train", records, "--model", model, "--text", "title", "--labels", "subjects")
    assert "are not split" in warned.stderr
    right = run(
        "train", records, "--model", model, "--text", "title", "--labels", "subjects", "--separator", ","
    )
    assert " 5 labels" in right.stdout
    records.write_bytes("title,subjects\nB\xf4te,sea\n".encode("latin-1"))
    wrong = run("train", records, "--model", model, "--text", "title", "--labels", "subjects", exit_code=1)
    assert "UTF-8" in wrong.stderr
