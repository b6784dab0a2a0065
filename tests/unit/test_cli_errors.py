"""What goes wrong ends in one line on standard error and an exit code, never in a traceback."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import make_rows, run, start, write_rows

from labeltree import LabelTreeClassifier, ModelFileError
from labeltree.data import read_xmlc


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors")
    train = write_rows(folder / "train.txt", make_rows(60, seed=1))
    LabelTreeClassifier(random_state=0).fit(*read_xmlc(train)).save(folder / "model")
    return folder


@pytest.mark.parametrize("command", ["evaluate", "predict", "explain", "info", "convert"])
def test_no_model(folder: Path, command: str) -> None:
    (folder / "empty").mkdir(exist_ok=True)
    rest = {"info": [], "convert": [folder / "other", "--weights", "int8"]}.get(
        command, [folder / "train.txt"]
    )
    result = run(command, folder / "empty", *rest, exit_code=1)
    assert result.stderr.startswith("labeltree: ")
    assert "it is not a model" in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_no_data(folder: Path) -> None:
    result = run("evaluate", folder / "model", folder / "none.txt", exit_code=1)
    assert result.stderr == f"labeltree: {folder / 'none.txt'}: No such file or directory\n"


def test_bad_line(folder: Path) -> None:
    result = run("train", "-", "--model", folder / "other", input="1 2:x\n", exit_code=1)
    assert result.stderr == "labeltree: <stdin>:1: expected 'feature:value' with a number, got '2:x'\n"
    assert not (folder / "other").exists()


def test_debug_shows_where(folder: Path) -> None:
    with pytest.raises(ModelFileError):
        run("--debug", "info", folder / "none")
    process = start("--debug", "info", folder / "none")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error.startswith(b"Traceback")


def test_exit_code_of_the_process(folder: Path) -> None:
    process = start("info", folder / "none")
    output, error = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, b"")
    assert error.startswith(b"labeltree: ")
    assert b"Traceback" not in error


def test_unknown_command() -> None:
    assert "No such command 'teach'" in run("teach", exit_code=2).stderr


def test_too_few_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("one\ntwo\n")
    for option in ("--label-names", "--feature-names"):
        result = run(
            "explain", folder / "model", folder / "train.txt", option, tmp_path / "names.txt", exit_code=1
        )
        assert f"{tmp_path / 'names.txt'}: expected " in result.stderr
        assert "got 2" in result.stderr


def test_ctrl_c_while_a_library_is_imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any) -> Any:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("labeltree.model_file.loading.load", interrupted)
    monkeypatch.setattr("labeltree.model_file.load", interrupted)
    result = run("predict", folder / "model", folder / "train.txt", exit_code=130)
    assert result.stderr == "labeltree: interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither such terminals nor such signals")
@pytest.mark.parametrize(
    ("phase", "parameters", "number", "code"),
    [
        (b"trying C", [], signal.SIGINT, 130),
        (b"training", ["--C", 1, "--link", "exp4"], signal.SIGINT, 130),
        (b"training", ["--C", 1, "--link", "exp4", "--memory-gb", 8], signal.SIGTERM, 143),
        (b"training", ["--C", 1, "--link", "exp4", "--workers", 1], signal.SIGTERM, 143),
    ],
)
def test_interrupted_training_leaves_nothing(
    tmp_path: Path,
    phase: bytes,
    parameters: list[Any],
    number: signal.Signals,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    train = write_rows(tmp_path / "train.txt", make_rows(2000, seed=1))
    # So small a tolerance that it would take minutes.
    options = ["--tol", 1e-12, "--max-iter", 1_000_000_000, "--prune", 0, *parameters]
    terminal, other_end = os.openpty()
    with start("train", train, "--model", tmp_path / "model", *options, stderr=other_end) as process:
        os.close(other_end)
        shown = b""
        while phase not in shown:
            shown += os.read(terminal, 1000)
        process.send_signal(number)
        with suppress(OSError):  # how the other end of a terminal says that there is no more
            while text := os.read(terminal, 1000):
                shown += text
        assert process.wait(timeout=60) == code
    os.close(terminal)
    assert shown.endswith(b"labeltree: \x1b[0minterrupted\r\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scratch", "train.txt"]
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_program_that_calls_commands_keeps_its_handler_of_sigterm(folder: Path) -> None:
    def handler(*_: Any) -> None:
        raise AssertionError

    for own in (handler, signal.SIG_DFL):
        before = signal.signal(signal.SIGTERM, own)
        try:
            run("info", folder / "model")
            assert signal.getsignal(signal.SIGTERM) is own
        finally:
            signal.signal(signal.SIGTERM, before)


def test_output_that_cannot_be_written_is_named_as_it_was_given(folder: Path, tmp_path: Path) -> None:
    for output, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "no" / "file", "No such file or directory"),
    ):
        result = run("predict", folder / "model", folder / "train.txt", "-o", output, exit_code=1)
        assert result.stderr == f"labeltree: {output}: {reason}\n"


def test_control_characters_in_messages_are_escaped() -> None:
    assert r"a\x1b[31m: there is no such directory" in run("info", "a\x1b[31m", exit_code=1).stderr
