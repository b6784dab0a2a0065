"""What a page was made of: hashes of the code that models depend on, and of what a script defines."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent

#: Folders and files of the package that no figure here depends on.
_NO_PART = ("cli", "serving", "report", "exchange", "deep", "questions.py", "__main__.py")

#: Folders that only some classes depend on.
_OWN = {
    "online": {"OnlineLabelTreeClassifier"},
    "embedding": {"ExtremeTextClassifier", "FastTextClassifier"},
    "rivals": {
        "HierarchicalSoftmaxClassifier",
        "OneVsRestClassifier",
        "FastXMLClassifier",
        "PfastreXMLClassifier",
    },
}

#: What measures a run: a change of it is a change of all tables.
_MEASURE = ("trial.py", "features.py", "judgement.py", "stream.py", "sample_weights.py", "hierarchies.py")


@cache
def code_hash(system: str | None = None) -> str:
    """A hash of the sources, without comments, docstrings and spaces, that a class depends on; None is all of them."""
    left_out = [folder for folder, classes in _OWN.items() if system is not None and system not in classes]
    digest = hashlib.sha256()
    for path in _model_files():
        if not any(folder in path.parts for folder in left_out):
            digest.update(f"{path.relative_to(ROOT)}\n{_essence(path)}\n".encode())
    return digest.hexdigest()[:12]


def _model_files() -> list[Path]:
    package = ROOT / "src" / "labeltree"
    python = (path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in _NO_PART)
    native = (path for path in (ROOT / "native").rglob("*") if path.suffix in (".cpp", ".h", ".hpp"))
    return sorted([*python, *native])


def script_hash(paths: Iterable[Path]) -> str:
    """A hash of scripts, without comments, docstrings and texts that are given a name."""
    return _short("\n".join(_essence(path) for path in paths))


def definition_hash(facts: Any) -> str:
    """A hash of what a table runs, and of the code that measures it."""
    measured = [_essence(Path(__file__).parent / name) for name in _MEASURE]
    return _short(json.dumps([facts, measured], sort_keys=True, default=str))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _essence(path: Path) -> str:
    text = path.read_text()
    if path.suffix != ".py":
        return re.sub(r"\s+", "", re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL))
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    """A docstring, or a name for a text."""
    return isinstance(node, ast.Expr | ast.Assign) and isinstance(getattr(node.value, "value", None), str)
