"""Annif's command line, in a folder with projects. These tests run where Annif is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import annif.cli
import nltk.data
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


@pytest.fixture(scope="session", autouse=True)
def _sentence_data(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Empty sentence data for NLTK, used where the real data, which Annif would download, are missing."""
    folder = tmp_path_factory.mktemp("nltk")
    language = folder / "tokenizers" / "punkt_tab" / "english"
    language.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (language / name).touch()
    nltk.data.path.append(str(folder))


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
