"""Help pages, the version, and that they come at once."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from functools import cache
from importlib import metadata

import pytest
from tests.command_line import run
from typer.main import get_command
from typer.testing import CliRunner

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.cli.application import app
from labeltree.cli.datasets import data_app
from labeltree.cli.parameters import PANELS, classifier_parameters
from labeltree.cli.tree.application import tree_app
from labeltree.kinds import kind_named

COMMANDS = (
    "train",
    "tune",
    "learn",
    "evaluate",
    "compare",
    "calibrate",
    "decide",
    "predict",
    "tag",
    "explain",
    "name",
    "info",
    "convert",
    "export",
    "serve",
    "demo",
)
#: Python objects, which cannot be typed.
IN_PYTHON_ONLY = ("node_estimator",)
TREE_COMMANDS = ("build", "show", "import", "export")
DATA_COMMANDS = ("import", "info", "check", "list", "fetch", "path")


@cache
def wide_page(command: str) -> str:
    """The help page with all options, on a terminal so wide that no line breaks."""
    source = f"from labeltree.cli.application import app; app(['{command}', '--help-all'])"
    environment = {**os.environ, "COLUMNS": "1000", "TERMINAL_WIDTH": "1000", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_overview_names_all_commands() -> None:
    overview = run("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^│ {command} ", overview, re.MULTILINE)
    assert [command.callback.__name__ for command in app.registered_commands] == list(COMMANDS)  # type: ignore[union-attr] # all have one


def test_overview_of_trees_names_all_commands() -> None:
    assert re.search(r"^│ tree ", run("--help").stdout, re.MULTILINE)
    overview = run("tree", "--help").stdout
    for command in TREE_COMMANDS:
        assert re.search(rf"^│ {command} ", overview, re.MULTILINE)
    assert [command.name for command in tree_app.registered_commands] == list(TREE_COMMANDS)


def test_overview_of_data_sets_names_all_commands() -> None:
    assert re.search(r"^│ data ", run("--help").stdout, re.MULTILINE)
    overview = run("data", "--help").stdout
    for command in DATA_COMMANDS:
        assert re.search(rf"^│ {command} ", overview, re.MULTILINE)
    assert [command.name for command in data_app.registered_commands] == list(DATA_COMMANDS)


def test_no_arguments_print_the_overview() -> None:
    assert "Usage: labeltree [OPTIONS] COMMAND" in run(exit_code=2).output


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        *(f"tree {command}" for command in TREE_COMMANDS),
        *(f"data {command}" for command in DATA_COMMANDS),
    ],
)
def test_help_pages_teach_by_examples(command: str) -> None:
    page = run(*command.split(), "--help").stdout
    assert f"Usage: labeltree {command} " in page
    assert re.search(rf"Examples\s+(\S+ )*labeltree {command}", page)
    assert max(map(len, page.splitlines())) <= 80


class TestParameters:
    SIGNATURE = inspect.signature(LabelTreeClassifier)

    def test_all_parameters_and_defaults_are_those_of_the_estimator(self) -> None:
        defaults = {name: parameter.default for name, parameter in self.SIGNATURE.parameters.items()}
        assert {name: p.default for name, p in classifier_parameters().items()} == defaults

    def test_every_parameter_has_its_place_on_the_page(self) -> None:
        placed = [name for names in PANELS.values() for name in names]
        assert sorted([*placed, *IN_PYTHON_ONLY]) == sorted(self.SIGNATURE.parameters)

    @pytest.mark.parametrize("name", [name for name in SIGNATURE.parameters if name not in IN_PYTHON_ONLY])
    def test_option_has_the_name_and_the_help_of_the_parameter(self, name: str) -> None:
        # From the docstring by other means: the indented lines below the name.
        lines = inspect.cleandoc(LabelTreeClassifier.__doc__ or "").splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith(f"{name} : ")) + 1
        end = next(i for i in range(begin, len(lines)) if not lines[i].startswith("    "))
        text = " ".join(line.strip() for line in lines[begin:end])
        assert text
        assert classifier_parameters()[name].help == text
        (line,) = re.findall(rf"^│ +--{name.replace('_', '-')} .*", wide_page("train"), re.MULTILINE)
        assert text.replace("``", "`") in " ".join(line.split())

    def test_choices_are_those_of_the_docstring(self) -> None:
        assert classifier_parameters()["loss"].words == (
            "squared_hinge",
            "logistic",
            "squared",
            "exponential",
        )
        assert "sigmoid" in classifier_parameters()["link"].words
        assert classifier_parameters()["C"].words == ()


class TestOnlineParameters:
    SIGNATURE = inspect.signature(OnlineLabelTreeClassifier)

    def test_all_parameters_and_defaults_are_those_of_the_estimator(self) -> None:
        defaults = {name: parameter.default for name, parameter in self.SIGNATURE.parameters.items()}
        found = classifier_parameters("OnlineLabelTreeClassifier")
        assert {name: p.default for name, p in found.items()} == defaults

    def test_every_parameter_of_learning_from_a_stream_is_on_the_page(self) -> None:
        kind = kind_named("OnlineLabelTreeClassifier")
        assert kind is not None
        placed = [name for names in kind.panels.values() for name in names]
        assert sorted([*placed, "epochs", "verbose"]) == sorted(self.SIGNATURE.parameters)  # of `fit` only
        for name in placed:
            text = classifier_parameters("OnlineLabelTreeClassifier")[name].help
            (line,) = re.findall(rf"^│ +--{name.replace('_', '-')} .*", wide_page("learn"), re.MULTILINE)
            assert text
            assert text.replace("``", "`") in " ".join(line.split())


def page_of_a_terminal(*arguments: str) -> list[str]:
    """The lines of a help page on a terminal of 100 columns."""
    result = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}).invoke(
        app, arguments
    )
    assert result.exit_code == 0
    return result.stdout.splitlines()


class TestLongCommands:
    @pytest.mark.parametrize("command", ["train", "tune", "learn", "serve"])
    def test_the_short_page_fits_a_screen_and_the_other_has_all_options(self, command: str) -> None:
        short, full = page_of_a_terminal(command, "--help"), page_of_a_terminal(command, "--help-all")
        assert len(short) <= 44  # of 45 lines, one has the prompt
        assert len(full) > 80
        assert any(line.startswith(f"     labeltree {command}") for line in short)  # indented
        listed, all_options = option_names(short), option_names(full)
        assert listed < all_options
        assert {"--help", "--help-all"} <= listed
        found = get_command(app).commands[command]  # type: ignore[attr-defined] # it is a group
        names = {name for option in found.params for name in option.opts if name.startswith("--")}
        assert names | {"--help", "--help-all"} == all_options
        (line,) = [line for line in short if "--help-all" in line]
        assert f"Show all {len(found.params)} options" in line

    def test_an_option_without_a_default_shows_what_it_takes(self) -> None:
        page = "\n".join(page_of_a_terminal("learn", "--help"))
        assert re.search(r"--learning-rate +NUMBER +Step size\.", page)
        assert re.search(r"--new-stream +All examples of STREAM are new\.", page)

    @pytest.mark.parametrize("command", ["train", "tune", "learn", "serve"])
    def test_options_of_the_short_page_exist(self, command: str) -> None:
        found = get_command(app).commands[command]  # type: ignore[attr-defined] # it is a group
        assert set(found.basic) <= {option.name for option in found.params}

    def test_other_methods_show_their_own_options(self) -> None:
        assert {"--max-leaf", "--leaf-labels", "--model"} <= option_names(
            page_of_a_terminal("train", "--method", "fastxml", "--help")
        )
        full = page_of_a_terminal("train", "--method", "fastxml", "--help-all")
        assert "--ngram-range" in option_names(full)
        assert "--arity" not in option_names(full)

    def test_the_other_commands_have_one_page(self) -> None:
        assert "No such option: --help-all" in run("decide", "--help-all", exit_code=2).stderr


@pytest.mark.parametrize("command", [(), ("tree",), ("tree", "show"), ("evaluate",), ("train",)])
def test_flags_have_no_type(command: tuple[str, ...]) -> None:
    page = page_of_a_terminal(*command, "--help-all" if command == ("train",) else "--help")
    assert "--help" in "".join(page)
    assert "bool" not in "".join(page).lower()


@pytest.mark.parametrize(
    ("command", "usage"),
    [("tag", "[TEXT]"), ("decide", "[VALID]"), ("serve", "[NAME=]DIR")],
)
def test_arguments_have_one_pair_of_brackets(command: str, usage: str) -> None:
    (line,) = [line for line in page_of_a_terminal(command, "--help") if "Usage:" in line]
    assert usage in line
    assert "[[" not in line
    assert "…" not in line


def test_predict_shows_the_characters_that_it_writes() -> None:
    words = " ".join(page_of_a_terminal("predict", "--help")).split()
    assert r"written as \t, a newline as \n, a backslash as \\, and" in " ".join(words)


def option_names(page: list[str]) -> set[str]:
    """The long names of options at the beginning of the lines of panels."""
    found = (re.match(r"│ [* ]{0,5}(--[\w-]+)", line) for line in page)
    return {match[1] for match in found if match}


def test_the_overview_speaks_of_texts_first() -> None:
    page = run("--help").stdout
    assert page.index("labeltree train texts.jsonl") < page.index("labeltree train train.txt")
    assert page.index("labeltree tag ") < page.index("labeltree predict ")


def test_version() -> None:
    assert run("--version").stdout == f"labeltree {metadata.version('labeltree')}\n"


def test_help_and_version_do_not_wait_for_slow_imports() -> None:
    commands = [
        ["--help"],
        ["--version"],
        ["train", "--help"],
        ["train", "--method", "pfastrexml", "--help"],
        ["learn", "--help"],
        ["tune", "--help"],
        ["train", "--help-all"],
        ["demo", "--help"],
        ["tree", "build", "-h"],
        ["data", "fetch", "-h"],
    ]
    source = (
        "import sys\n"
        "from labeltree.cli.application import app\n"
        f"for arguments in {commands}:\n"
        "    app(arguments, standalone_mode=False)\n"
        "    slow = {'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "    assert not slow, f'{arguments} imports {slow} for a help page'\n"
        "print('all')"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all\n")


@pytest.mark.parametrize("command", ["train", "tune", "serve"])
def test_extras_are_named_with_their_brackets(command: str) -> None:
    """A name in brackets would be markup of the page, and vanish."""
    wanted = "[serve]" if command == "serve" else "[ray]"
    page = wide_page(command)
    assert f"pip install 'labeltree{wanted}'" in page
    assert "``" not in page
