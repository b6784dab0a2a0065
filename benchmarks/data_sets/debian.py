"""Debian's package index: a package's description as text, its tags or the packages it needs as labels."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data_sets.features import Example

#: Programs of apt that are not on the path.
_APT_HELPER = "/usr/lib/apt/apt-helper"

_RELATIONS = ("Pre-Depends", "Depends", "Recommends", "Suggests")
_PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]+")

Stanza = dict[str, str]


def tags() -> Iterator[Example]:
    """Packages and what their debtags say of them; hundreds of tags, many rows each."""
    for package, text in _described_packages():
        labels = re.findall(r"[^\s,{}]+::[^\s,{}]+", package.get("Tag", ""))
        if labels:
            yield labels, text


def dependencies() -> Iterator[Example]:
    """Packages and the packages that they depend on, recommend or suggest; tens of thousands, most with few rows."""
    for package, text in _described_packages():
        relations = ",".join(package.get(field, "") for field in _RELATIONS)
        names = (_PACKAGE_NAME.match(part.strip()) for part in re.split(r"[,|]", relations))
        labels = sorted({name[0] for name in names if name})
        if labels:
            yield labels, text


def _described_packages() -> Iterator[tuple[Stanza, str]]:
    """The packages in apt's sources and their long descriptions, in the order of their names."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "partial").mkdir()
        options = ["-o", f"Dir::State::Lists={folder}", "-o", "Acquire::Languages=en"]
        subprocess.run(["apt-get", "--quiet=2", *options, "update"], check=True)
        targets = _output("apt-get", *options, "indextargets", "--format", "$(CREATED_BY) $(FILENAME)")
        files: dict[str, list[str]] = {"Packages": [], "Translations": []}
        for target in targets.splitlines():
            kind, path = target.split(" ", 1)
            files.setdefault(kind, []).append(path)
        packages = {stanza["Package"]: stanza for path in files["Packages"] for stanza in _stanzas(path)}
        texts = {
            stanza["Description-md5"]: stanza["Description-en"]
            for path in files["Translations"]
            for stanza in _stanzas(path)
        }
    for _, package in sorted(packages.items()):
        yield package, texts.get(package.get("Description-md5", ""), package.get("Description", ""))


def _stanzas(path: str) -> Iterator[Stanza]:
    """The stanzas of an index; the lines of a field that continues are joined."""
    for stanza in _output(_APT_HELPER, "cat-file", path).split("\n\n"):
        joined = re.sub(r"\n[ \t]+", " ", stanza.strip())
        if joined:
            yield dict(line.split(": ", 1) for line in joined.splitlines() if ": " in line)


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
