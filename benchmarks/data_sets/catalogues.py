"""The text sets in the folder that LABELTREE_DATA names: laws of the EU, and works of art."""

from __future__ import annotations

import lzma
from pathlib import Path

from benchmarks.data_sets.features import Example, hold_out


def eurlex57k(source: Path) -> dict[str, list[Example]]:
    """Laws and their EuroVoc concepts, in the parts that the set comes in."""
    return {part: _read(source / f"{part}.tsv.xz") for part in ("train", "dev", "test")}


def tate(source: Path) -> dict[str, list[Example]]:
    """Works of art and the subjects in them; a work whose number ends in 0 is a test row."""
    rows: dict[bool, list[Example]] = {True: [], False: []}
    with lzma.open(source / "artworks.tsv.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            number, labels, text = line.rstrip("\n").split("\t", 2)
            rows[int(number) % 10 == 0].append((labels.split(), text))
    return {"test": rows[True], **hold_out(rows[False])}


def _read(path: Path) -> list[Example]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        split = (line.rstrip("\n").split("\t", 1) for line in lines)
        return [(labels.split(), text) for labels, text in split]
