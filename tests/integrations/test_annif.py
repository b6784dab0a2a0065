"""Annif with labeltree: its backend, in an environment of its own, because Annif needs an older scikit-learn."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from integrations.annif.environment import HERE, annif_environment, environment_variables
from integrations.annif.tests.things import WORDS, lines, uri
from tests.servers import serving

from labeltree.serving import Settings
from labeltree.text import Tagger

pytestmark = [
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="Annif 1.4 does not support Python 3.14"),
    pytest.mark.skipif(sys.platform == "win32", reason="makes symbolic links"),
    pytest.mark.timeout(1200),  # the first run installs Annif
]

PROJECTS = """
[tree]
language=en
backend=labeltree
analyzer=snowball(english)
vocab=things

[online]
language=en
backend=labeltree
analyzer=snowball(english)
vocab=things
online=true
allow_learn=true

[server]
language=en
backend=http
endpoint={server}/v1/models/things/suggest
vocab=things
"""

#: The script `annif-labeltree`, with the processes of macOS and Windows: they import it, and inherit nothing else.
SPAWNING = """
from labeltree_annif import main

if __name__ == "__main__":
    import multiprocessing

    multiprocessing.set_start_method("spawn")
    main()
"""

Annif = Callable[..., str]


@pytest.fixture(scope="module")
def programs() -> Path:
    return annif_environment()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.URL]:
    """A server with a tagger whose labels are URIs of the vocabulary."""
    rows = [row.split("\t") for row in lines(seed=0, per_subject=6).splitlines()]
    labels = [[label.strip("<>") for label in labels.split()] for _, labels in rows]
    path = tmp_path_factory.mktemp("server") / "things"
    Tagger().fit([text for text, _ in rows], labels).save(path)
    with serving(Settings({"things": path})) as (client, _):
        yield client.base_url


@pytest.fixture
def annif(programs: Path, server: httpx.URL, tmp_path: Path) -> Annif:
    """Runs the command `annif` in a folder with a vocabulary and documents, and returns what it prints."""
    variables = environment_variables(tmp_path)
    folder = tmp_path / "projects"
    folder.mkdir()
    (folder / "projects.cfg").write_text(PROJECTS.format(server=server))
    (folder / "things.tsv").write_text("".join(f"<{uri(subject)}>\t{subject}\n" for subject in WORDS))
    (folder / "train.tsv").write_text(lines(seed=0, per_subject=6))
    (folder / "more.tsv").write_text(lines(seed=100, per_subject=4))

    def annif(*arguments: str, text: str = "", script: str | None = None) -> str:
        command = [programs / "annif"]
        if script is not None:
            (folder / "script.py").write_text(script)
            command = [programs / "python", folder / "script.py"]
        told = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=variables,
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert told.returncode == 0, told.stdout + told.stderr
        return told.stdout

    annif("load-vocab", "things", "--language", "en", "things.tsv")
    return annif


def test_the_backend_passes_its_own_tests(programs: Path, tmp_path: Path) -> None:
    command = [programs / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--rootdir", HERE, "-c", HERE / "pyproject.toml", HERE / "tests"]
    told = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment_variables(tmp_path),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_command_annif_has_the_backend(annif: Annif) -> None:
    annif("train", "tree", "train.tsv")
    assert annif("suggest", "tree", "--limit", "1", text="The kitten purrs.").startswith(
        f"<{uri('cat')}>\tcat\t"
    )
    alone, parallel = (annif("eval", "tree", "more.tsv", "--jobs", jobs) for jobs in ("1", "2"))
    assert parallel == alone
    assert annif("eval", "tree", "more.tsv", "--jobs", "2", script=SPAWNING) == alone
    assert re.search(r"^Precision@1:\s+(1\.0000|0\.9\d+)$", alone, re.MULTILINE), alone
    assert "Got best NDCG score" in annif("hyperopt", "tree", "more.tsv", "--trials", "2", "--jobs", "2")
    annif("train", "online", "train.tsv")
    annif("learn", "online", "more.tsv")
    assert annif("suggest", "online", "--limit", "1", text="a locomotive").startswith(f"<{uri('train')}>")


def test_the_backend_http_asks_a_server(annif: Annif) -> None:
    shown = annif("show-project", "server")
    assert re.search(r"^Trained: +True$", shown, re.MULTILINE), shown
    assert re.search(r"^Modification time: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", shown, re.MULTILINE), shown
    told = annif(
        "suggest", "server", "--limit", "2", text="Ein Kätzchen: the kitten & its whiskers purr; 100 %."
    )
    assert told.startswith(f"<{uri('cat')}>\tcat\t")
    assert len(told.splitlines()) == 2
    evaluated = annif("eval", "server", "more.tsv", "--jobs", "2")
    assert re.search(r"^Precision@1:\s+(1\.0000|0\.9\d+)$", evaluated, re.MULTILINE), evaluated
