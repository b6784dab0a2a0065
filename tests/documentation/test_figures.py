"""Every page that shows figures, or pictures of them, says which command makes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pages import DOCS, README, name_of, pages

COMMAND = re.compile(r"python -m (?:benchmarks|experiments)\b|make (?:bench|experiments|picture)\b")
#: Code, which makes the output that it shows.
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
#: A picture, or a row of a table with two numbers that have a decimal point.
FIGURE = re.compile(r"^!\[|^\|.*\d\.\d.*\|.*\d\.\d.*\|", re.MULTILINE)
#: Pages whose numbers are values of parameters.
NOT_MEASURED = {DOCS / "fasttext.md", DOCS / "moving.md"}


def shows_figures(page: Path) -> bool:
    found = FIGURE.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    return page not in NOT_MEASURED and (len(found) > 2 or "![" in found)


PAGES = [page for page in pages() if shows_figures(page)]


@pytest.mark.parametrize("page", [page for page in PAGES if page != README], ids=name_of)
def test_the_page_says_which_command_makes_its_figures(page: Path) -> None:
    assert COMMAND.search(page.read_text(encoding="utf-8"))


def test_the_figures_of_the_readme_are_those_of_a_page_with_the_command() -> None:
    text, performance = README.read_text(encoding="utf-8"), DOCS / "performance.md"
    assert "(docs/performance.md#beside-other-packages)" in text
    assert performance in PAGES
    shown = [line for line in text.splitlines() if re.match(r"\| `[\w-]+` \|", line)]
    assert len(shown) == 4
    source = performance.read_text(encoding="utf-8").partition("## Beside other packages")[2]
    for line in shown:
        name, *figures = [cell.strip() for cell in line.strip("| ").split(" | ")]
        row = next(other for other in source.splitlines() if other.startswith(f"| {name} |"))
        assert [figure for figure in figures if figure not in row] == []


def test_there_are_pages_with_figures() -> None:
    assert len(PAGES) > 40
