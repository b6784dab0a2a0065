"""The types that users of the library see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import labeltree

USER_CODE = Path(__file__).parents[1] / "user_code.py"


def check(script: Path) -> str:
    """Return what mypy says about a script, checked strictly."""
    source = Path(labeltree.__file__).parents[1]
    # An installed package is found without a path, and mypy refuses a path to it.
    path = {} if source.name == "site-packages" else {"MYPYPATH": str(source)}
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


@pytest.mark.timeout(600)  # mypy reads NumPy's types first
def test_answers_have_types(tmp_path: Path) -> None:
    script = tmp_path / "user_code.py"
    script.write_text(USER_CODE.read_text())
    assert check(script) == "Success: no issues found in 1 source file\n"
    # The check is worth something: a wrong type is found.
    script.write_text(
        USER_CODE.read_text().replace("assert_type(tagger.tag(texts), list[", "assert_type(texts, list[")
    )
    assert "Expression is of type" in check(script)
