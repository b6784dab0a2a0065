"""Annif's command line, in a folder with projects. These tests run where Annif is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import annif.cli
import pytest
from annif.registry import AnnifRegistry
from click.testing import CliRunner, Result
from things import lines, skos

PROJECTS = """
[tree]
language=en
backend=labeltree
analyzer=snowball(english)
vocab=things
allow_learn=true

[online]
language=en
backend=labeltree
analyzer=snowball(english)
vocab=things
online=true
allow_learn=true
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs commands of Annif in a folder with projects, documents and a vocabulary that is loaded."""
    monkeypatch.chdir(tmp_path)
    Path("projects.cfg").write_text(PROJECTS)
    Path("things.ttl").write_text(skos())
    Path("train.tsv").write_text(lines(seed=0, per_subject=6))
    Path("more.tsv").write_text(lines(seed=100, per_subject=2))
    runner = CliRunner(env={"ANNIF_CONFIG": "labeltree_annif.Config"})

    def run(*arguments: str, fails: bool = False, text: str | None = None) -> Result:
        # Annif keeps projects by the address of their registry, which a later registry may get again.
        AnnifRegistry._projects.clear()
        AnnifRegistry._vocabs.clear()
        result = runner.invoke(annif.cli.cli, arguments, input=text)
        assert (result.exit_code != 0) == fails, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return result

    run("load-vocab", "things", "things.ttl")
    return run
