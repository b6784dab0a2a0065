"""Python packages: a package's summary and description as text, its keywords and classifiers as labels.

The registry is asked for one package at a time, so the answers are kept in a file, and a run that is interrupted
resumes:

    python -m benchmarks.data_sets.pypi FILE [--packages 40000] [--minutes 15]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.data_sets.features import Example

_REGISTRY = "https://pypi.org"
_TIMEOUT_S = 30

#: Packages that are asked for between two looks at the clock.
_AT_ONCE = 240

#: Characters of a description that are read.
_LONGEST = 6_000

_LINK = re.compile(r"<a [^>]*>\s*([\w.-]+)\s*</a>")
_SEPARATOR = re.compile(r"[,;]")


def read_packages(path: Path) -> Iterator[Example]:
    """The packages in a file of answers that have a text and a label."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            info = json.loads(line)
            text = f"{info['summary'] or ''} {info['description'] or ''}"
            labels = [*_keywords(info["keywords"] or ""), *(info["classifiers"] or ())]
            if text.strip() and labels:
                yield labels, text


def _keywords(field: str) -> list[str]:
    """Keywords in lower case; they are parted by commas, or else by white space."""
    parts = _SEPARATOR.split(field) if _SEPARATOR.search(field) else field.split()
    return [word for part in parts if (word := " ".join(part.lower().split()))]


def download(path: Path, n_packages: int, minutes: float, threads: int = 12) -> None:
    """Ask for a random sample of all packages, the same each time, and append the answers to a file."""
    known = set()
    if path.exists():
        with open(path, encoding="utf-8") as lines:
            known = {json.loads(line)["name"] for line in lines}
    names = [name for name in _sample(n_packages) if name not in known]
    end = time.monotonic() + 60 * minutes
    with ThreadPoolExecutor(threads) as pool, open(path, "a", encoding="utf-8") as file:
        for start in range(0, len(names), _AT_ONCE):
            if time.monotonic() > end:
                break
            answers = pool.map(_metadata, names[start : start + _AT_ONCE])
            file.writelines(json.dumps(answer) + "\n" for answer in answers)
            file.flush()


def _sample(n_packages: int) -> list[str]:
    with urllib.request.urlopen(f"{_REGISTRY}/simple/", timeout=_TIMEOUT_S) as answer:
        names = sorted(_LINK.findall(answer.read().decode()))
    return random.Random(0).sample(names, n_packages)


def _metadata(name: str) -> dict[str, Any]:
    """The fields of a package; they are None where the registry knows nothing of it."""
    try:
        with urllib.request.urlopen(f"{_REGISTRY}/pypi/{name}/json", timeout=_TIMEOUT_S) as answer:
            info = json.load(answer)["info"]
    except (OSError, ValueError):
        info = {}
    fields = {key: info.get(key) for key in ("summary", "keywords", "classifiers")}
    return {"name": name, **fields, "description": (info.get("description") or "")[:_LONGEST]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.data_sets.pypi", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--packages", type=int, default=40_000)
    parser.add_argument("--minutes", type=float, default=15)
    arguments = parser.parse_args()
    download(arguments.file, arguments.packages, arguments.minutes)


if __name__ == "__main__":
    main()
