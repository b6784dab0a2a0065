"""The hierarchies that the labels of the data sets come from, as taxonomies."""

from __future__ import annotations

import json
import os
from pathlib import Path

from labeltree.trees import Taxonomy


def hierarchy(name: str, labels: Path) -> Taxonomy:
    """The taxonomy of a data set, ``eurlex57k`` or ``tate``, for the columns that the lines of a file name.

    `labels` is the ``labels.txt`` beside the ``train.txt`` that ``benchmarks.data.prepare`` makes. The hierarchies are
    in the folder that LABELTREE_DATA names.
    """
    source = Path(os.environ.get("LABELTREE_DATA", "../shared/data")).resolve() / name
    read = {"eurlex57k": eurovoc, "tate": tate_subjects}[name]
    return read(source).for_columns(labels.read_text(encoding="utf-8").splitlines())


def eurovoc(folder: Path) -> Taxonomy:
    """The concepts of EuroVoc; of several concepts above one, the first is kept."""
    concepts = json.loads((folder / "concepts.json").read_text(encoding="utf-8"))
    return Taxonomy(
        concepts,
        [concept["parents"][0] if concept["parents"] else None for concept in concepts.values()],
        [concept["label"] for concept in concepts.values()],
    )


def tate_subjects(folder: Path) -> Taxonomy:
    """The subjects of the Tate galleries; their root, 1, has no row of its own."""
    return Taxonomy.from_csv(folder / "subjects.tsv", root=1)
