"""Hierarchies on the command line: trees, taxonomies, the trees of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import typer

from labeltree.labels.name_file import NameFile, names_in
from labeltree.trees import TREE_WORDS, LabelTree, Taxonomy
from labeltree.trees.concept_table import is_table
from labeltree.trees.skos import is_skos
from labeltree.wording import count_text


def is_taxonomy(path: Path) -> bool:
    """Whether a file is a taxonomy, by its name."""
    return not path.is_dir() and (is_table(path) or is_skos(path))


def read_taxonomy(path: Path, root: str | None = None, language: str = "en") -> Any:
    """Read a taxonomy from a file. `root` is for tables, `language` for SKOS vocabularies."""
    if is_skos(path):
        return Taxonomy.from_skos(path, language=language)
    return Taxonomy.from_csv(path, root=root)


def read_tree(path: Path) -> Any:
    """Read a tree from a JSON file."""
    try:
        return LabelTree.from_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def tree_parameter(text: str) -> Any:
    """Return the value of ``--tree``: a word, the tree or the taxonomy in a file, or a list of these."""
    if "," in text and not Path(text).is_file():
        return [tree_parameter(part.strip()) for part in text.split(",")]
    return (
        text if text in TREE_WORDS else given_tree(text, f"neither a file nor one of {', '.join(TREE_WORDS)}")
    )


def given_tree(text: str, otherwise: str = "not a file") -> Any:
    """Return the tree or the taxonomy in a file; without such a file, the error says what the text is `otherwise`."""
    path = Path(text)
    if not path.is_file():
        raise typer.BadParameter(f"{path} is {otherwise}", param_hint="--tree")
    return read_taxonomy(path) if is_taxonomy(path) else read_tree(path)


def given_trees(text: str) -> Any:
    """Return the trees of a model, the tree or the taxonomy in a file, or a list of those in files with commas."""
    if "," in text and not Path(text).is_file():
        return [given_tree(part.strip()) for part in text.split(",")]
    return (
        trees_of_model(Path(text)) if Path(text).is_dir() else given_tree(text, "neither a file nor a model")
    )


def trees_of_model(path: Path) -> Any:
    """Return the tree of a trained model with its labels, or a list of its trees."""
    from labeltree.cli.trained_model import check_has_label_tree
    from labeltree.model_file import load
    from labeltree.online.given_tree import NamedTree

    model: Any = load(path)
    check_has_label_tree(model)
    trees = [NamedTree(tree, model.classes_.tolist()) for tree in model.trees_]
    return trees if len(trees) > 1 else trees[0]


def check_names_are_used(tree: Any, label_names: Path | None) -> None:
    """Refuse label names if the value of ``--tree`` has no taxonomy, because only a taxonomy uses them."""
    if label_names is not None and not _taxonomies(tree):
        raise typer.BadParameter("only a taxonomy as --tree uses label names", param_hint="--label-names")


def fit_for_columns(tree: Any, label_names: Path | None, n_labels: int, first_label: int) -> Any:
    """Return the value of ``--tree`` with taxonomies that know the name of each column of a data file.

    The names are those of a file or, without it, the numbers in the data file.
    """
    if isinstance(tree, list):
        return [fit_for_columns(one, label_names, n_labels, first_label) for one in tree]
    return tree.for_columns(column_names(label_names, n_labels, first_label)) if _taxonomies(tree) else tree


def describe_matching(tree: Any, labels: Sequence[Any]) -> list[str]:
    """Return a line for each taxonomy in the value of ``--tree``: how many labels are in it."""
    return [matching_text(_matching(taxonomy, labels), len(labels)) for taxonomy in _taxonomies(tree)]


def label_names_in(tree: Any, labels: Sequence[Any]) -> dict[Any, str] | None:
    """Return the names of labels in the first taxonomy in the value of ``--tree``, if there is one."""
    return next((names_in(taxonomy, list(labels)) for taxonomy in _taxonomies(tree)), None)


def _taxonomies(tree: Any) -> list[Any]:
    return [one for one in (tree if isinstance(tree, list) else [tree]) if isinstance(one, Taxonomy)]


def column_names(label_names: Path | None, n_labels: int = 0, first_label: int = 0) -> list[str]:
    """Return the names of labels: those of a file (all of them if `n_labels` is 0), or numbers."""
    if label_names is None:
        return [str(first_label + label) for label in range(n_labels)]
    file = NameFile.read(label_names)
    labels = range(n_labels or len(file.concepts))
    names = file.names_of(labels)
    return [names.get(label, str(first_label + label)) for label in labels]


def lowest_concepts(taxonomy: Any) -> list[str]:
    """Return the ids of the concepts that have no concept below them."""
    upper = set(taxonomy.parent.tolist())
    return [identifier for concept, identifier in enumerate(taxonomy.ids) if concept not in upper]


@dataclass(frozen=True)
class Hierarchy:
    """A tree to show, and the names of its labels and nodes.

    `model` is the model that the tree is from. `matching` says how the labels were found in a taxonomy.
    """

    kind: Literal["model", "tree", "taxonomy"]
    tree: Any
    names: list[str]
    node_names: list[str | None] | None = None
    matching: dict[str, Any] | None = None
    model: Any = None


def open_hierarchy(path: Path, labels: Path | None) -> Hierarchy:
    """Return the first tree of a model, or the tree in a JSON file."""
    if not path.is_dir():
        tree = read_tree(path)
        return Hierarchy("tree", tree, column_names(labels, tree.n_labels))
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.trained_model import check_has_label_tree
    from labeltree.model_file import load

    model: Any = load(path)
    check_has_label_tree(model)
    known = LabelNames(model, labels)
    names = [known[label] for label in model.classes_.tolist()]
    return Hierarchy("model", model.tree_, names, model=model)


def named_by(taxonomy: Any, shown: Hierarchy) -> Hierarchy:
    """Return the same tree with nodes named after concepts. Labels are looked up by their names."""
    return replace(
        shown,
        names=taxonomy.names_of(shown.names),
        node_names=taxonomy.node_names(shown.tree, shown.names),
        matching=_matching(taxonomy, shown.names),
    )


def hierarchy_of_taxonomy(taxonomy: Any, labels: list[str]) -> Hierarchy:
    """Return the tree of a taxonomy over labels."""
    return named_by(taxonomy, Hierarchy("taxonomy", taxonomy.label_tree(labels), labels))


def matching_text(found: dict[str, Any], n_labels: int) -> str:
    """Return how many labels are in a taxonomy, for people."""
    return (
        f"{found['labels_found']:,} of {count_text(n_labels, 'label')} {'is' if n_labels == 1 else 'are'} among "
        f"{count_text(found['concepts'], 'concept')}, "
        f"by {found['found_by']}"
    )


def _matching(taxonomy: Any, labels: Any) -> dict[str, Any]:
    return {
        "concepts": len(taxonomy),
        "labels_found": int((taxonomy.concepts_of(labels) >= 0).sum()),
        "found_by": taxonomy.matched_by(labels),
    }
