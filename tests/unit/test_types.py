"""The types that users of the library see."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import labeltree

USER_CODE = Path(__file__).parents[1] / "user_code.py"


SOURCE = Path(labeltree.__file__).parents[1]


def check_with_mypy(folder: Path) -> str:
    """Return what mypy says about the scripts in a folder, checked strictly."""
    # An installed package is found without a path, and mypy refuses a path to it.
    path = {} if SOURCE.name == "site-packages" else {"MYPYPATH": str(SOURCE)}
    options = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={folder}/cache"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *folder.glob("*.py")],
        capture_output=True,
        text=True,
        env={**os.environ, **path},
        cwd=folder,
        check=False,
    )
    return checked.stdout + checked.stderr


def check_with_pyright(folder: Path) -> str:
    """Return what pyright says about the scripts in a folder."""
    settings = {"include": ["*.py"], "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    checked = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    return checked.stdout + checked.stderr


@pytest.mark.timeout(600)  # they read NumPy's types first
@pytest.mark.parametrize(
    ("check", "complaint", "summary"),
    [
        (check_with_mypy, "Expression is of type", "Found 1 error in 1 file (checked 2 source files)"),
        (check_with_pyright, "reportAssertTypeFailure", "1 error, 0 warnings"),
    ],
)
def test_answers_have_types(
    check: Callable[[Path], str], complaint: str, summary: str, tmp_path: Path
) -> None:
    """Beside a script with one wrong type, which shows that the check is worth something."""
    right = USER_CODE.read_text()
    (tmp_path / "right.py").write_text(right)
    (tmp_path / "wrong.py").write_text(
        right.replace("assert_type(tagger.tag(texts), list[", "assert_type(texts, list[")
    )
    found = check(tmp_path)
    assert re.search(rf"wrong\.py:.*{complaint}", found), found
    assert summary in found
