"""Pictures of trees: what is on them, and that nothing is on top of anything else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from labeltree.trees import LabelTree, Taxonomy

mpl.use("Agg")
from matplotlib import pyplot as plt

TREE = LabelTree.from_nested([[0, 1, 2], 3, [4, [5, 6]]])
NAMES = ["apple", "pear", "plum", "bread", "milk", "a $very$ long name of a cheese", "x" * 100]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


class TestPicture:
    def test_names_counts_and_nodes(self) -> None:
        node_names = [None, "fruit", None, "dairy", *[None] * (TREE.n_nodes - 4)]
        ax = TREE.plot(NAMES, [1, 20, 3000, 4, 0, 6, 7], node_names=node_names)
        shown = texts(ax)
        assert {*NAMES[:6], "fruit", "dairy", "3,000", "0"} <= set(shown)
        assert "x" * 47 + "…" in shown
        assert len(shown) == 7 + 7 + 2
        # The root and the node of cheeses have no name: they are dots. Every node but the root has an edge.
        assert len(ax.lines) == 2
        assert len(ax.patches) == TREE.n_nodes - 1
        widths = [edge.get_linewidth() for edge in ax.patches]
        assert max(widths) == widths[0]  # to the fruits, which are most frequent

    def test_without_names(self) -> None:
        assert sorted(texts(TREE.plot())) == [str(label) for label in range(7)]

    @pytest.mark.parametrize("nested", [TREE.to_nested(), [0], list(range(80)), [[[[0, 1], 2], 3], [[4]]]])
    def test_nothing_overlaps_or_sticks_out(self, nested: list[Any]) -> None:
        tree = LabelTree.from_nested(nested)
        names = [f"name {'w' * (label % 40)}" for label in range(tree.n_labels)]
        ax = tree.plot(names, range(tree.n_labels), node_names=["inner"] * tree.n_nodes)
        figure = ax.figure
        figure.canvas.draw()
        boxes = np.array([text.get_window_extent().extents for text in ax.texts])
        page = figure.bbox.extents
        assert (boxes[:, :2] >= page[:2]).all()
        assert (boxes[:, 2:] <= page[2:]).all()
        for i, (left, bottom, right, top) in enumerate(boxes):
            others = np.delete(boxes, i, axis=0)
            apart = (
                (others[:, 0] >= right)
                | (others[:, 2] <= left)
                | (others[:, 1] >= top)
                | (others[:, 3] <= bottom)
            )
            assert apart.all()

    def test_in_given_axes(self) -> None:
        figure, (left, right) = plt.subplots(1, 2, figsize=(3, 1))
        assert TREE.plot(ax=right) is right
        assert len(right.texts) == 7
        assert not left.texts
        assert right.texts[0].get_fontsize() < 9  # smaller, as there is little room
        assert figure.axes == [left, right]


class TestProfile:
    TREE = Taxonomy(
        [*range(1000, 1010), *range(300)], [None] * 10 + [1000 + i % 10 for i in range(300)]
    ).label_tree([*range(300), 1000])

    def test_levels_and_arities(self) -> None:
        ax = self.TREE.plot()
        levels, arities = ax.child_axes
        widths = [[bar.get_width() for bar in bars] for bars in levels.containers]
        assert widths == [[1, 10, 0], [0, 0, 301]]
        # Eleven inner nodes: the root has 10 children, nine have 30 and one has 31.
        assert [bar.get_width() for bar in arities.containers[0]] == [0, 0, 0, 0, 1, 10]
        assert [tick.get_text() for tick in arities.get_yticklabels()] == [
            "1",
            "2",
            "3–4",
            "5–8",
            "9–16",
            "17–32",
        ]
        assert texts(ax) == ["301 labels, 312 nodes, depth 2, at most 31 children"]

    def test_frequencies(self) -> None:
        tree = LabelTree.from_nested([*range(100), list(range(100, 300))])
        counts = np.arange(300.0)
        frequencies = tree.plot(counts=counts).child_axes[2]
        medians = [line.get_xdata()[0] for line in frequencies.lines if line.get_linewidth() == 1.5]
        assert medians == [np.median(counts[:100]), np.median(counts[100:])]

    def test_deep_trees(self) -> None:
        nested: list[Any] = [0]
        for label in range(1, 40):
            nested = [label, nested]
        assert len(LabelTree.from_nested(nested).plot().child_axes) == 2

    def test_in_given_axes(self) -> None:
        _, ax = plt.subplots()
        assert self.TREE.plot(ax=ax) is ax
        assert len(ax.child_axes) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["a"]}, "one name per label, that is 7, but has 1"),
        ({"node_names": ["a"]}, r"one name \(or None\) per node, that is 11, but has 1"),
        ({"counts": [1]}, r"one entry per label, that is 7, but has 1"),
        ({"counts": [-1] * 7}, "counts must be finite and at least 0"),
        ({"counts": [np.nan] * 7}, "counts must be finite and at least 0"),
    ],
)
def test_mistakes(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TREE.plot(**arguments)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        TREE.plot()
