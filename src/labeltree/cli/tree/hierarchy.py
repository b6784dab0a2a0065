"""Hierarchies named on the command line: trees, taxonomies, the trees of models."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import typer

_TABLE = re.compile(r".*\.(csv|tsv)(\.(gz|xz|zst))?", re.IGNORECASE)
_SKOS = re.compile(r".*\.(ttl|rdf|jsonld|nt|skos)", re.IGNORECASE)


def is_taxonomy(path: Path) -> bool:
    """Whether a file is a taxonomy, by its name."""
    return bool(_TABLE.fullmatch(path.name) or _SKOS.fullmatch(path.name))


def read_taxonomy(path: Path, root: str | None = None, language: str = "en") -> Any:
    """The taxonomy in a file; `root` is of tables, `language` of SKOS vocabularies."""
    from labeltree.trees import Taxonomy

    if _SKOS.fullmatch(path.name):
        return Taxonomy.from_skos(path, language=language)
    return Taxonomy.from_csv(path, root=root)


def read_tree(path: Path) -> Any:
    """The tree that a JSON file has."""
    from labeltree import LabelTree

    try:
        return LabelTree.from_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def tree_parameter(text: str) -> Any:
    """What ``--tree`` says: a word, the tree or the taxonomy in a file, or a list of these."""
    parts = text.split(",")
    if len(parts) == 1 or Path(text).is_file():
        return _one_tree(text)
    return [_one_tree(part.strip()) for part in parts]


def _one_tree(word_or_path: str) -> Any:
    from labeltree.trees import TREE_WORDS

    if word_or_path in TREE_WORDS:
        return word_or_path
    path = Path(word_or_path)
    if not path.is_file():
        raise typer.BadParameter(
            f"{path} is neither a file nor one of {', '.join(TREE_WORDS)}", param_hint="--tree"
        )
    return read_taxonomy(path) if is_taxonomy(path) else read_tree(path)


def check_names_are_of_use(tree: Any, labels: Path | None) -> None:
    """Refuse names of labels where the value of ``--tree`` has no taxonomy to look them up in."""
    if labels is not None and not _taxonomies(tree):
        raise typer.BadParameter("only a taxonomy as --tree has use for names", param_hint="--labels")


def fit_for_columns(tree: Any, labels: Path | None, n_labels: int, first_label: int) -> Any:
    """The value of ``--tree`` with taxonomies that know what the columns of a data file are called.

    That is by the lines of the file `labels` or, without, by the numbers that the data file has.
    """
    if isinstance(tree, list):
        return [fit_for_columns(one, labels, n_labels, first_label) for one in tree]
    return tree.for_columns(column_names(labels, n_labels, first_label)) if _taxonomies(tree) else tree


def describe_matching(tree: Any, n_labels: int) -> list[str]:
    """Of each taxonomy in the value of ``--tree``, how many labels it has, in a line."""
    columns = range(n_labels)
    return [
        f"{int((taxonomy.concepts_of(columns) >= 0).sum()):,} of {n_labels:,} labels are among "
        f"{len(taxonomy):,} concepts, by {taxonomy.matched_by(columns)}"
        for taxonomy in _taxonomies(tree)
    ]


def _taxonomies(tree: Any) -> list[Any]:
    from labeltree.trees import Taxonomy

    return [one for one in (tree if isinstance(tree, list) else [tree]) if isinstance(one, Taxonomy)]


def column_names(labels: Path | None, n_labels: int = 0, first_label: int = 0) -> list[str]:
    """What labels are called: by the lines of a file (all of them if `n_labels` is 0), or by number."""
    from labeltree.cli.label_names import read_names

    if labels is None:
        return [str(first_label + label) for label in range(n_labels)]
    names = read_names(labels, "label", max(n_labels, 1))
    return names[: n_labels or len(names)]


def lowest_concepts(taxonomy: Any) -> list[str]:
    """The ids of the concepts that have none below them."""
    upper = set(taxonomy.parent.tolist())
    return [identifier for concept, identifier in enumerate(taxonomy.ids) if concept not in upper]


@dataclass(frozen=True)
class Hierarchy:
    """A tree to be looked at, and what its labels and nodes are called.

    A model is kept where the tree is of one; of a taxonomy, its size and how the labels were found in it.
    """

    kind: Literal["model", "tree", "taxonomy"]
    tree: Any
    names: list[str]
    node_names: list[str | None] | None = None
    matching: dict[str, Any] | None = None
    model: Any = None


def open_hierarchy(path: Path, labels: Path | None) -> Hierarchy:
    """The first tree of a model, or the tree in a JSON file."""
    from labeltree.cli.label_names import LabelNames

    if path.is_dir():
        from labeltree.cli.trained_model import check_has_label_tree
        from labeltree.model_file import load

        model: Any = load(path)
        check_has_label_tree(model)
        known = LabelNames(model, labels)
        names = [known[label] for label in model.classes_.tolist()]
        return Hierarchy("model", model.tree_, names, model=model)
    tree = read_tree(path)
    return Hierarchy("tree", tree, column_names(labels, tree.n_labels))


def named_by(taxonomy: Any, shown: Hierarchy) -> Hierarchy:
    """The same tree, its nodes called like the concepts of a taxonomy; labels are looked up by their names."""
    return replace(
        shown,
        names=taxonomy.names_of(shown.names),
        node_names=taxonomy.node_names(shown.tree, shown.names),
        matching=_matching(taxonomy, shown.names),
    )


def hierarchy_of_taxonomy(taxonomy: Any, labels: list[str]) -> Hierarchy:
    """The tree that a taxonomy gives over labels."""
    tree = taxonomy.label_tree(labels)
    return Hierarchy(
        "taxonomy",
        tree,
        taxonomy.names_of(labels),
        taxonomy.node_names(tree, labels),
        _matching(taxonomy, labels),
    )


def _matching(taxonomy: Any, labels: list[str]) -> dict[str, Any]:
    return {
        "concepts": len(taxonomy),
        "labels_found": int((taxonomy.concepts_of(labels) >= 0).sum()),
        "found_by": taxonomy.matched_by(labels),
    }
