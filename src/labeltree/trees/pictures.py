"""The methods of a label tree that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from labeltree.trees import drawing
from labeltree.trees.drawing import Names, NodeNames

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree


class Pictures:
    """What `LabelTree` can draw of itself."""

    def draw(
        self,
        names: Names | None = None,
        max_nodes: int = 60,
        max_labels_per_node: int = 8,
        node_names: NodeNames | None = None,
    ) -> str:
        """Return a drawing of the tree in text.

        Labels that hang from the same node share a line. A large tree is drawn from the root down as far
        as ``max_nodes`` reach, and an ellipsis stands for the rest.

        Parameters
        ----------
        names : sequence of str, optional
            The name of each label; without, labels are drawn as numbers.
        max_nodes : int
            How many nodes to draw; leaves that share a line count as one.
        max_labels_per_node : int
            How many labels to name in a line.
        node_names : sequence, optional
            The name of each node, None for one without: what `Taxonomy.node_names` returns.

        Examples
        --------
        >>> from labeltree.trees import LabelTree
        >>> tree = LabelTree.from_nested([[0, 1, 2], [3, [4, 5]]])
        >>> print(tree.draw(names=["apple", "pear", "plum", "bread", "milk", "cheese"]))
        root (6 labels)
        ├── node 1 (3 labels): apple, pear, plum
        └── node 2 (3 labels)
            ├── bread
            └── node 7 (2 labels): milk, cheese
        """
        return drawing.draw_text(cast("LabelTree", self), names, node_names, max_nodes, max_labels_per_node)

    def to_graphviz(
        self, names: Names | None = None, max_nodes: int = 200, node_names: NodeNames | None = None
    ) -> str:
        """Return a drawing of the tree as the source text of a Graphviz graph.

        Parameters
        ----------
        names : sequence of str, optional
            The name of each label; without, labels are drawn as numbers.
        max_nodes : int
            How many nodes to draw, counted from the root down; ellipses stand for the rest.
        node_names : sequence, optional
            The name of each node, None for one without.

        Examples
        --------
        >>> from labeltree.trees import LabelTree
        >>> print(LabelTree.flat(2).to_graphviz(names=["cat", "dog"]))
        digraph label_tree {
          rankdir=LR;
          node [shape=box, style=rounded, fontname="sans-serif"];
          0 [label="2 labels"];
          1 [label="cat", shape=plain];
          2 [label="dog", shape=plain];
          0 -> 1;
          0 -> 2;
        }
        <BLANKLINE>
        """
        return drawing.to_dot(cast("LabelTree", self), names, node_names, max_nodes)

    def plot(
        self,
        names: Names | None = None,
        counts: ArrayLike | None = None,
        ax: Any = None,
        node_names: NodeNames | None = None,
    ) -> Any:
        """Draw the tree with matplotlib (the extra ``plot``) and return the axes.

        A tree of up to 80 labels is drawn as it is. Of a larger one the profile is: how many nodes and labels there
        are at each depth, how many children nodes have and, with ``counts``, how frequent the labels are by depth.

        Parameters
        ----------
        names : sequence of str, optional
            The name of each label; without, labels are drawn as numbers.
        counts : array of shape (n_labels,), optional
            How often each label occurs, as in the ``label_counts_`` of a classifier: edges are as thick as what
            is below them is frequent.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure of the right size.
        node_names : sequence, optional
            The name of each node, None for one without: what `Taxonomy.node_names` returns.
        """
        from labeltree.trees.plotting import plot_tree

        return plot_tree(cast("LabelTree", self), names, counts, node_names, ax)
