"""The types that users of the library see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import labeltree

USER_CODE = Path(__file__).parents[1] / "user_code.py"


SOURCE = Path(labeltree.__file__).parents[1]


def check_with_mypy(script: Path) -> str:
    """Return what mypy says about a script, checked strictly."""
    # An installed package is found without a path, and mypy refuses a path to it.
    path = {} if SOURCE.name == "site-packages" else {"MYPYPATH": str(SOURCE)}
    options = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={script.parent}/cache"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, **path},
        cwd=script.parent,
        check=False,
    )
    return checked.stdout + checked.stderr


def check_with_pyright(script: Path) -> str:
    """Return what pyright says about a script."""
    settings = {"include": [script.name], "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard"}
    script.with_name("pyrightconfig.json").write_text(json.dumps(settings))
    checked = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        cwd=script.parent,
        check=False,
    )
    return checked.stdout + checked.stderr


@pytest.mark.timeout(600)  # they read NumPy's types first
@pytest.mark.parametrize(
    ("check", "approval", "complaint"),
    [
        (check_with_mypy, "Success: no issues found in 1 source file", "Expression is of type"),
        (check_with_pyright, "0 errors, 0 warnings", "reportAssertTypeFailure"),
    ],
)
def test_answers_have_types(
    check: Callable[[Path], str], approval: str, complaint: str, tmp_path: Path
) -> None:
    script = tmp_path / "user_code.py"
    script.write_text(USER_CODE.read_text())
    assert check(script).startswith(approval)
    # The check is worth something: a wrong type is found.
    script.write_text(
        USER_CODE.read_text().replace("assert_type(tagger.tag(texts), list[", "assert_type(texts, list[")
    )
    assert complaint in check(script)
