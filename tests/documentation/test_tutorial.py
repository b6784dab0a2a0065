"""docs/tutorial.md: its code runs from top to bottom, on a part of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pages import DOCS, blocks_in

import labeltree.datasets
from labeltree.datasets import load_tate


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
    monkeypatch.setattr(labeltree.datasets, "load_tate", lambda: part)
    names: dict[str, Any] = {}
    for code in blocks_in(DOCS / "tutorial.md", "python"):
        exec(compile(code, "tutorial.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith(blocks_in(DOCS / "tutorial.md", "text")[0].partition("\n")[0])
    precision = [float(line.partition(": ")[2]) for line in printed.splitlines() if line.startswith("P@")]
    assert len(precision) == 6
    assert min(precision) > 0.5
    assert len(names["tagger"].trees_) == 3
