"""docs/tutorial.md: its code runs from top to bottom, and prints the words and the figures that the page shows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pages import DOCS, code_blocks

from labeltree.datasets import load_tate

BLOCKS = code_blocks(DOCS / "tutorial.md")
#: The section that trains three more models does so on a part of the catalogue.
LONG = "n_trees=2"
NUMBER = re.compile(r"\d+\.\d+")
#: Numbers of another processor or C library may differ in their last digits.
TOLERANCE = 0.02


def shown_after(place: int) -> list[str]:
    """Return the lines of output that the page shows after a block of code."""
    language, text = BLOCKS[place + 1] if place + 1 < len(BLOCKS) else ("", "")
    return text.splitlines() if language == "text" else []


def differs(shown: str, printed: str) -> bool:
    """Whether a line of output is another one. On the page, "…" stands for the rest of a line."""
    if shown.endswith("…]"):
        shown = shown.partition("…")[0]
    words, numbers = NUMBER.sub("#", shown), [float(number) for number in NUMBER.findall(shown)]
    got = [float(number) for number in NUMBER.findall(printed)][: len(numbers)]
    return not NUMBER.sub("#", printed).startswith(words) or got != pytest.approx(numbers, abs=TOLERANCE)


def test_the_page_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tate = load_tate()
    part = replace(
        tate,
        texts_train=tate.texts_train[:2000],
        labels_train=tate.labels_train[:2000],
        texts_test=tate.texts_test[:300],
        labels_test=tate.labels_test[:300],
    )
    names: dict[str, Any] = {}
    wrong, n_shown = [], 0
    for place, (language, code) in enumerate(BLOCKS):
        if language != "python":
            continue
        if LONG in code:
            names |= {"tate": part}
            names["tagger"].fit(part.texts_train, part.labels_train)
        exec(compile(code, "tutorial.md", "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        shown = shown_after(place)
        if LONG in code:
            precision = [float(line.partition(": ")[2]) for line in printed]
            assert len(precision) == len(shown) == 3
            assert min(precision) > 0.5
        else:
            lines = [line for line in shown if line != "…"]
            n_shown += len(lines)
            assert len(printed) >= len(lines)
            wrong += [pair for pair in zip(lines, printed, strict=False) if differs(*pair)]
    assert not wrong
    assert n_shown > 20
    assert len(names["tagger"].trees_) == 3


def test_other_figures_and_words_are_noticed() -> None:
    assert not differs("0.91 boat, fishing", "0.90 boat, fishing")
    assert not differs("['a', 'b', …, 'c', …]", "['a', 'b', 'x', 'c', 'd']")
    assert differs("P@1: 0.937", "P@1: 0.887")
    assert differs("0.91 boat", "0.91 goat")
    assert differs("0.53 of 14.1 labels", "0.53 of 14.1 nodes")
