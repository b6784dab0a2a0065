"""The history of a git repository: the message of a commit as text, the files that it changes as labels."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data_sets.features import Example, keep_frequent

#: A commit that changes more files than this is about none of them.
_MOST_FILES = 20

#: Lines such as "Signed-off-by: …" name people, not files.
_TRAILER = re.compile(r"^[A-Z][\w-]+-by: .*$|^Cc: .*$", re.MULTILINE)


def changed_files(repository: Path) -> Iterator[Example]:
    """Commits other than merges, and the files that they and at least one other commit change."""
    yield from keep_frequent(_commits(repository), 2)


def _commits(repository: Path) -> Iterator[Example]:
    command = [
        "git",
        "-C",
        str(repository),
        "-c",
        "core.quotePath=false",
        "log",
        "--no-merges",
        "--no-renames",
    ]
    log = subprocess.run(
        [*command, "--name-only", "--format=%x00%B%x01"],
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ).stdout
    for commit in log.split("\0")[1:]:
        message, _, files = commit.partition("\1")
        names = files.split("\n")
        labels = sorted({name.strip() for name in names if name.strip()})
        if 0 < len(labels) <= _MOST_FILES:
            yield labels, _TRAILER.sub("", message)
