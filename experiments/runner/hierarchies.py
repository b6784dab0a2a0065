"""The hierarchies that come with the data sets: the subjects of the Tate and the concepts of EuroVoc."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from benchmarks.data import prepare

from labeltree.trees import Taxonomy


def hierarchy_of(data: str) -> Any:
    """The taxonomy of a set, for the columns of its label matrix."""
    folder = Path(os.environ.get("LABELTREE_DATA", "../shared/data")) / data
    labels = (prepare(data)[0].parent / "labels.txt").read_text().splitlines()
    return {"tate": _subjects, "eurlex57k": _concepts}[data](folder).for_columns(labels)


def _subjects(folder: Path) -> Taxonomy:
    return Taxonomy.from_csv(folder / "subjects.tsv", root=1)


def _concepts(folder: Path) -> Taxonomy:
    """Of several parents of a concept the first is taken."""
    concepts: dict[str, dict[str, Any]] = json.loads((folder / "concepts.json").read_text())
    parents = [next((p for p in c["parents"] if p in concepts), None) for c in concepts.values()]
    return Taxonomy(concepts, parents, [c["label"] for c in concepts.values()])
