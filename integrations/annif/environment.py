"""An environment of its own for Annif, which needs other versions than labeltree's tests: for tests and benchmarks."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from importlib import import_module
from pathlib import Path

ANNIF = "1.4.3"
HERE = Path(__file__).parent
_BUILD = HERE.parents[1] / "build"


def annif_environment() -> Path:
    """Return the folder with Annif's programs. The first call installs them, 500 MB; later ones find them there."""
    folder = _BUILD / f"annif-{ANNIF}-python{sys.version_info.major}.{sys.version_info.minor}"
    stamp = folder / "installed"
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not stamp.exists():
        venv.create(folder, with_pip=True, clear=True)
        # labeltree itself is not installed there: it would be compiled again. It needs rich and typer.
        packages = [f"annif[omikuji]=={ANNIF}", "pytest>=9", "rich>=13", "typer>=0.19"]
        subprocess.run([programs / "python", "-m", "pip", "install", "-qq", *packages], check=True)
        stamp.touch()
    return programs


def environment_variables(folder: Path) -> dict[str, str]:
    """Return variables with which Annif finds this process's labeltree and the backend, by links in a folder.

    Only these two packages: the folder that labeltree is installed in may have other versions of what Annif needs.
    NLTK gets empty sentence data, used where the real data, which Annif would download, are missing.
    """
    package = folder / "packages" / "labeltree"
    package.mkdir(parents=True)
    source = Path(str(import_module("labeltree").__file__)).parent
    native = Path(str(import_module("labeltree._native").__file__))  # elsewhere, if installed in place
    for file in {*source.iterdir(), native}:
        if file.name != "__pycache__" and not (package / file.name).exists():
            (package / file.name).symlink_to(file)
    (package.parent / "labeltree_annif").symlink_to(HERE / "labeltree_annif")
    return {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "NLTK_DATA": str(write_sentence_data(folder / "nltk")),
        "ANNIF_CONFIG": "labeltree_annif.Config",
    }


def write_sentence_data(folder: Path) -> Path:
    """Write sentence data for NLTK that know no abbreviations, and return the folder."""
    language = folder / "tokenizers" / "punkt_tab" / "english"
    language.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (language / name).touch()
    return folder
