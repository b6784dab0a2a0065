"""docs/moving.md: what its functions make of the models and the data of other libraries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import scipy.sparse as sp
from tests.pages import DOCS, blocks_in


@pytest.fixture
def functions() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for code in blocks_in(DOCS / "moving.md", "python"):
        if "def " in code:
            exec(compile(code, "moving.md", "exec"), names)
    return names


def test_a_chain_of_clusters_becomes_their_tree(functions: dict[str, Any]) -> None:
    clusters = sp.csc_matrix([[1], [1]])
    labels = sp.csc_matrix([[1, 0], [0, 1], [1, 0], [0, 1], [0, 1]])
    assert functions["tree_of"]([clusters, labels]).to_nested() == [[0, 2], [1, 3, 4]]
    deep = sp.csc_matrix([[0, 1], [1, 0], [0, 1]])
    above = functions["tree_of"]([clusters, deep, sp.csc_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 1]])])
    assert above.to_nested() == [[[0]], [[1], [2]]]


def test_a_corpus_of_annif_becomes_json_lines(functions: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "corpus.tsv").write_text(
        "Wein und Brot\t<http://example.org/1> <http://example.org/2>\nnichts\t\n", encoding="utf-8"
    )
    functions["json_lines"](tmp_path / "corpus.tsv", tmp_path / "corpus.jsonl")
    lines = [
        json.loads(line) for line in (tmp_path / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert lines == [
        {"text": "Wein und Brot", "labels": ["http://example.org/1", "http://example.org/2"]},
        {"text": "nichts", "labels": []},
    ]
