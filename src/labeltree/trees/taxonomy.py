"""A hierarchy of concepts, and the label tree that it gives."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property
from labeltree.errors import DataFormatError
from labeltree.trees.checks import Int32Array
from labeltree.trees.concept_forest import ConceptError, nested_concepts, positions_of_parents, text_of
from labeltree.trees.concept_tree import common_concepts, tree_over_concepts
from labeltree.trees.tree import LabelTree
from labeltree.trees.wide_nodes import split_wide_nodes
from labeltree.wording import count_text

#: The name of the node above the labels that are not concepts.
NOT_A_CONCEPT = "not in the taxonomy"


class Taxonomy:
    """Concepts in a hierarchy: a thesaurus, a classification, the categories of a shop.

    ``LabelTreeClassifier(tree=taxonomy)`` makes a `LabelTree` of it in ``fit``, when the labels are known. `label_tree`
    does so directly. A taxonomy is immutable.

    Parameters
    ----------
    ids : sequence
        The id of each concept. Ids are compared as text: 13 and "13" are the same.
    parents : sequence
        The id of the concept above each concept. One or several concepts at the top have None or an empty text.
    names : sequence of str, optional
        The name of each concept, by default its id. Names need not be unique.
    root : optional
        The parent of the concepts at the top, if it is not a concept itself.

    Raises
    ------
    ValueError
        If an id is empty or not unique, a parent is unknown, or concepts are below each other in a circle.

    Examples
    --------
    >>> from labeltree.trees import Taxonomy
    >>> taxonomy = Taxonomy([1, 2, 3, 4], [None, 1, 1, None], ["animals", "cat", "dog", "tools"])
    >>> taxonomy
    Taxonomy(n_concepts=4, n_roots=2, depth=2)
    >>> taxonomy.label_tree(["cat", "dog", "tools"]).to_nested()
    [[0, 1], 2]
    """

    def __init__(
        self,
        ids: Iterable[Any],
        parents: Iterable[Any],
        names: Iterable[Any] | None = None,
        *,
        root: Any = None,
    ) -> None:
        self.ids = [text_of(identifier) for identifier in ids]
        parent_ids = [text_of(parent) for parent in parents]
        self.names = list(self.ids) if names is None else [text_of(name) for name in names]
        for what, values in (("parents", parent_ids), ("names", self.names)):
            if len(values) != len(self.ids):
                raise ValueError(
                    f"expected one of {what} per concept, that is {len(self.ids)}, got {len(values)}"
                )
        self.parent = positions_of_parents(self.ids, parent_ids, text_of(root))
        #: The texts that labels are looked up by: for each kind of text, the text of each concept.
        self._keys: dict[str, Sequence[str]] = {"id": self.ids, "name": self.names}
        self._columns: list[str] | None = None

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], *, root: Any = None) -> Taxonomy:
        """Read a table with a row per concept and the columns ``id``, ``parent`` and ``name``.

        The first line names the columns, in any order. Other columns are ignored. Without ``name``, the id is the name.
        Fields are separated by commas and may be quoted. In a ``.tsv`` file they are separated by tabs and not quoted.
        ``.gz``, ``.xz`` and ``.zst`` files are decompressed.

        Parameters
        ----------
        path : path of a file
        root : optional
            The parent of the concepts at the top, if it has no row. By default their parent is empty.

        Raises
        ------
        DataFormatError
            If a row is not valid. The message names the line.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "animals.csv")
        ...     _ = path.write_text("id,parent,name\\n1,,animals\\n2,1,cat\\n3,1,dog\\n")
        ...     Taxonomy.from_csv(path).names
        ['animals', 'cat', 'dog']
        """
        from labeltree.trees.concept_table import read_concept_table

        ids, parents, names, lines = zip(*read_concept_table(path), strict=True)
        try:
            return cls(ids, parents, names, root=root)
        except ConceptError as error:
            raise DataFormatError(error.reason, os.fspath(path), lines[error.concept]) from None

    @classmethod
    def from_dict(cls, nested: Mapping[Any, Any]) -> Taxonomy:
        """Make a taxonomy of nested dictionaries; the lowest concepts have None or ``{}`` as value, or are in a list.

        Examples
        --------
        >>> Taxonomy.from_dict({"animals": {"cat": {}, "dog": None}, "plants": ["oak", "elm"]})
        Taxonomy(n_concepts=6, n_roots=2, depth=2)
        """
        return cls(*nested_concepts(nested))

    @classmethod
    def from_skos(
        cls, path: str | os.PathLike[str], *, language: str = "en", format: str | None = None
    ) -> Taxonomy:
        """Read a SKOS vocabulary from an RDF file; this needs ``rdflib`` (the extra ``skos``).

        Concepts are the resources of type ``skos:Concept`` and the resources that ``skos:broader`` and
        ``skos:narrower`` connect. Their URIs are their ids and set their order. If a concept has several broader
        concepts, the first URI is kept. Labels may be URIs, their last parts, notations (``skos:notation``) or names.

        Parameters
        ----------
        path : path of a file
        language : str
            The language of the ``skos:prefLabel`` that is the name. A concept without a name in this language takes
            the name without a language, else the first language in the alphabet, else the last part of the URI.
        format : str, optional
            rdflib's name of the format (``turtle``, ``xml``, ``json-ld``, ``nt``, …). By default the ending of the
            file name sets it.
        """
        from labeltree.trees.skos import read_skos

        texts = read_skos(path, language, format)
        parents = texts.pop("parent")
        try:
            taxonomy = cls(texts["id"], parents, texts["name"])
        except ConceptError as error:
            raise DataFormatError(error.reason, os.fspath(path)) from None
        taxonomy._keys |= texts
        return taxonomy

    def __len__(self) -> int:
        """The number of concepts."""
        return len(self.ids)

    @cached_property
    def depth_of_concept(self) -> Int32Array:
        """The number of concepts from the top to each concept, both included."""
        depth = np.zeros(len(self), dtype=np.int32)
        above = np.arange(len(self), dtype=np.int32)
        while (below_top := above >= 0).any():
            depth += below_top
            above[below_top] = self.parent[above[below_top]]
        depth.flags.writeable = False
        return depth

    def for_columns(self, labels: Iterable[Any]) -> Taxonomy:
        """Return the taxonomy for a label matrix, whose labels are the numbers of its columns.

        Parameters
        ----------
        labels : sequence
            The label of each column: the id or the name of a concept.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_dict({"animals": ["cat", "dog"], "plants": ["oak"]})
        >>> taxonomy.for_columns(["oak", "dog", "cat"]).label_tree(range(3)).to_nested()
        [[2, 1], 0]
        """
        same = copy(self)
        same._columns = [text_of(label) for label in labels]
        return same

    def concepts_of(self, labels: Sequence[Any] | NDArray[Any]) -> Int32Array:
        """Return the position of each label's concept, -1 for a label that is not a concept.

        Labels are looked up by id or by name, in a SKOS vocabulary also by notation and by the last part of the URI.
        All labels are looked up in the same way, the one that finds most of them. If concepts share a name, the first
        one is found.

        Examples
        --------
        >>> taxonomy = Taxonomy([10, 11, 12], [None, 10, 10], ["animals", "cat", "dog"])
        >>> taxonomy.concepts_of(["dog", "bird", "animals"]), taxonomy.concepts_of([11, 12])
        (array([ 2, -1,  0], dtype=int32), array([1, 2], dtype=int32))
        """
        return self._look_up(labels)[1]

    def labels_like(self, labels: Sequence[Any] | NDArray[Any]) -> list[Any]:
        """Return a label for each concept, of the kind that these labels are: ids, names and so on.

        If all labels are integers, so are the returned ones, and concepts with other texts are left out. Of concepts
        that share a text, the first one has the label.

        Raises
        ------
        ValueError
            If none of the labels is a concept.

        Examples
        --------
        >>> taxonomy = Taxonomy([10, 11, 12], [None, 10, 10], ["animals", "cat", "dog"])
        >>> taxonomy.labels_like(["dog", "bird"]), taxonomy.labels_like([11])
        (['animals', 'cat', 'dog'], [10, 11, 12])
        """
        if self._columns is not None:
            return list(range(len(self._columns)))
        kind, concept = self._look_up(labels)
        if concept.size == 0 or concept.max() < 0:
            raise ValueError(self._describe_mismatch(labels))
        texts = list(dict.fromkeys(text for text in self._keys[kind] if text))
        if not all(type(label) is int for label in labels):
            return texts
        return [int(text) for text in texts if text.isdecimal() and str(int(text)) == text]

    def matched_by(self, labels: Sequence[Any] | NDArray[Any]) -> str:
        """Return the kind of text by which `concepts_of` finds these labels: ``"id"``, ``"name"`` and so on."""
        return self._look_up(labels)[0]

    def label_tree(
        self,
        labels: Sequence[Any] | NDArray[Any],
        *,
        max_arity: int | None = None,
        vectors: Any = None,
        seed: int = 0,
        n_threads: int = 1,
    ) -> LabelTree:
        """Return the tree over exactly these labels.

        A concept that is a label and has labels below it becomes an inner node, whose first child is the leaf of the
        label. Concepts without labels and nodes with a single child are left out. Labels that are not concepts are put
        under one node, the last child of the root. Several concepts at the top share a root.

        Parameters
        ----------
        labels : sequence
            The labels, as in the ``classes_`` of a classifier: label ``i`` of the tree is ``labels[i]``.
        max_arity : int, optional
            Maximum number of children. A node with more children gets new nodes in between.
        vectors : sparse matrix or array of shape (n_labels, d), optional
            The vectors by which the children of such a node are clustered: a child has the sum of the vectors of its
            labels. By default children are split evenly in their order.
        seed, n_threads : int
            The seed and the number of threads of the clustering. The tree does not depend on the number of threads.

        Raises
        ------
        ValueError
            If none of the labels is a concept.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_dict({"animals": ["cat", "dog"], "plants": {"trees": ["oak"]}})
        >>> labels = ["animals", "cat", "dog", "oak", "stone", "sand"]
        >>> tree = taxonomy.label_tree(labels)
        >>> print(tree.draw(names=labels, node_names=taxonomy.node_names(tree, labels)))
        root (6 labels)
        ├── animals (3 labels): animals, cat, dog
        ├── oak
        └── not in the taxonomy (2 labels): stone, sand
        """
        kind, concept = self._look_up(labels)
        if concept.size == 0 or concept.max() < 0:
            raise ValueError(self._describe_mismatch(labels))
        self._warn_of_ambiguous(labels, kind)
        tree = LabelTree.from_parents(*tree_over_concepts(self.parent, concept))
        if max_arity is None:
            return tree
        return split_wide_nodes(tree, max_arity, vectors, seed=seed, n_threads=n_threads)

    def names_of(self, labels: Sequence[Any] | NDArray[Any]) -> list[str]:
        """Return the name of each label's concept; a label that is not a concept is its own name.

        Examples
        --------
        >>> Taxonomy([10, 11], [None, 10], ["animals", "cat"]).names_of([11, 12])
        ['cat', '12']
        """
        concepts = self.concepts_of(labels).tolist()
        return [
            text if concept < 0 else self.names[concept]
            for text, concept in zip(self._texts_of(labels), concepts, strict=True)
        ]

    def node_names(self, tree: LabelTree, labels: Sequence[Any] | NDArray[Any]) -> list[str | None]:
        """Return the name of each node of a tree over these labels, for `LabelTree.draw` and `LabelTree.plot`.

        The name of a node is the lowest concept above all of its labels. It is None if there is no such concept, or if
        the node above has the same name. The tree need not be made from the taxonomy: the names of a clustered tree
        show what the labels of a cluster have in common.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_dict({"animals": ["cat", "dog"], "plants": ["oak", "elm"]})
        >>> taxonomy.node_names(LabelTree.from_nested([[0, 1], 2]), ["oak", "elm", "cat"])
        [None, 'plants', 'cat', 'oak', 'elm']
        """
        labels = list(labels)
        if len(labels) != tree.n_labels:
            raise ValueError(
                f"labels must have one entry per label of the tree, that is {tree.n_labels}, but has {len(labels)}"
            )
        common = common_concepts(tree, self.concepts_of(labels), self.parent, self.depth_of_concept)
        # The last two names are at the positions NO_CONCEPTS and NONE_IN_COMMON.
        names_by_concept = [*self.names, NOT_A_CONCEPT, None]
        names = [names_by_concept[concept] for concept in common.tolist()]
        for node in np.flatnonzero(common[1:] == common[tree.parent[1:]]) + 1:
            names[node] = None
        for leaf, name in zip(tree.leaf_of_label.tolist(), self.names_of(labels), strict=True):
            names[leaf] = name
        return names

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return (self._keys, self._columns) == (other._keys, other._columns) and np.array_equal(
            self.parent, other.parent
        )

    def __repr__(self) -> str:
        n_roots = int((self.parent < 0).sum())
        depth = int(self.depth_of_concept.max(initial=0))
        return f"Taxonomy(n_concepts={len(self)}, n_roots={n_roots}, depth={depth})"

    def _texts_of(self, labels: Sequence[Any] | NDArray[Any]) -> list[str]:
        if self._columns is None:
            return [text_of(label) for label in labels]
        columns, n_columns = np.asarray(labels), len(self._columns)
        if columns.dtype.kind not in "iu" or not ((columns >= 0) & (columns < n_columns)).all():
            raise ValueError(
                f"the taxonomy knows the names of {count_text(n_columns, 'column')}, so labels must be "
                "numbers from 0 to "
                f"{n_columns - 1}, got {labels!r}"
            )
        return [self._columns[column] for column in columns.tolist()]

    def _look_up(self, labels: Sequence[Any] | NDArray[Any]) -> tuple[str, Int32Array]:
        texts = self._texts_of(labels)
        found = []
        for kind, keys in self._keys.items():
            position: dict[str, int] = {}
            for i, key in enumerate(keys):
                position.setdefault(key, i)
            position.pop("", None)
            concept = np.fromiter((position.get(text, -1) for text in texts), np.int32, count=len(texts))
            found.append((kind, concept))
        return max(found, key=lambda match: int((match[1] >= 0).sum()))  # of equals, the first

    def _warn_of_ambiguous(self, labels: Sequence[Any] | NDArray[Any], kind: str) -> None:
        """Warn if several concepts share the text of a label, because its place in the tree may be wrong."""
        counts = Counter(self._keys[kind])
        ambiguous = [text for text in self._texts_of(labels) if counts[text] > 1]
        if ambiguous:
            warnings.warn(
                f"several concepts have the {kind} of {count_text(len(ambiguous), 'label')} ({ambiguous[0]!r}, …), and "
                "the first concept is used; give ids as labels",
                UserWarning,
                stacklevel=3,
            )

    def _describe_mismatch(self, labels: Sequence[Any] | NDArray[Any]) -> str:
        def some(texts: Sequence[str]) -> str:
            return ", ".join(repr(text) for text in texts[:3])

        return (
            f"none of the labels ({some(self._texts_of(labels))}, …) is a concept of the taxonomy, neither by id "
            f"({some(self.ids)}, …) nor by name ({some(self.names)}, …); if labels are the columns of a matrix, "
            "name them: taxonomy.for_columns([...])"
        )
