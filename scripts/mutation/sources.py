"""The source files that are mutated, and their mutants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mutation import cpp_source, python_source
from mutation.mutant import Mutant, identify

ROOT = Path(__file__).resolve().parents[2]
KERNEL_FOLDERS = [
    f"native/{name}"
    for name in (
        "search",
        "online",
        "training",
        "model",
        "text",
        "formats",
        "core",
        "lanes",
        "clustering",
        "rivals",
    )
]
PYTHON_FOLDERS = [
    f"src/labeltree/{name}" for name in ("model_file", "serving", "online", "metrics", "decisions")
]


def find_files(folders: Iterable[str] = (*KERNEL_FOLDERS, *PYTHON_FOLDERS)) -> list[str]:
    """The files with code in these folders."""
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    return [p.relative_to(ROOT).as_posix() for p in files if p.suffix in {".h", ".cpp", ".py"}]


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, whether they compile or not."""
    finder = python_source if file.endswith(".py") else cpp_source
    return identify(file, source, finder.find_places(source))


def fingerprint(file: str) -> str:
    """Tells whether the content of a file changed."""
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]
