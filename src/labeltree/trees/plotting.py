"""Pictures of label trees by matplotlib: the nodes of a small tree, charts of a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree.trees.drawing import Names, NodeNames, check_names, inner_title, leaf_title
from labeltree.trees.parameters import check_counts
from labeltree.wording import count_text, shortened

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

FloatArray: TypeAlias = NDArray[np.float64]

# The names of larger trees would be too small to read.
_MOST_LABELS = 80
_MOST_LEVELS = 12

# In points.
_ROW = 15.0
_GAP = 36.0
_SPACE = 5.0
_MARGIN = 10.0
_FONT_SIZE = 9.0
_LONGEST_NAME = 48

# Colours that people with colour blindness can tell apart.
_INK, _PALE, _LABELS, _NODES = "#222222", "#8A8A8A", "#0072B2", "#E69F00"


def plot(
    tree: LabelTree,
    names: Names | None = None,
    counts: ArrayLike | None = None,
    ax: Any = None,
    node_names: NodeNames | None = None,
) -> Any:
    """Draw the tree with matplotlib (the extra ``plot``) and return the axes.

    A tree of up to 80 labels is drawn completely. Charts summarise a larger tree: the number of nodes and labels at
    each depth, the number of children of a node and, with ``counts``, the frequency of labels at each depth.

    Parameters
    ----------
    names : sequence of str, optional
        The name of each label. By default labels are drawn as numbers.
    counts : array of shape (n_labels,), optional
        The number of rows with each label, such as the ``label_counts_`` of a classifier. Edges to frequent labels
        are thicker.
    ax : matplotlib.axes.Axes, optional
        The axes to draw in, by default those of a new figure of the right size.
    node_names : sequence, optional
        The name of each node or None, as `Taxonomy.node_names` returns.
    """
    check_names(tree, names, node_names)
    if counts is not None:
        counts = check_counts(counts)
        if counts.size != tree.n_labels:
            raise ValueError(
                f"counts must have one entry per label, that is {tree.n_labels}, but has {counts.size}"
            )
    try:
        import matplotlib.pyplot  # noqa: F401 - the functions below import parts of it
    except ImportError as error:
        raise ImportError(
            "trees are plotted by matplotlib, which is not installed: pip install matplotlib"
        ) from error
    if tree.n_labels <= _MOST_LABELS and tree.depth <= _MOST_LEVELS:
        return _draw_all(tree, names, counts, node_names, ax)
    return _draw_profile(tree, counts, ax)


def _draw_all(
    tree: LabelTree, names: Names | None, counts: FloatArray | None, node_names: NodeNames | None, ax: Any
) -> Any:
    """Draw a small tree from left to right: a row per label, a column per level as wide as its names."""
    nodes = range(tree.n_nodes)
    titles = [
        _short_name(leaf_title(tree, v, names) if tree.is_leaf[v] else inner_title(node_names, v) or "")
        for v in nodes
    ]
    occurrences = [0.0 if counts is None else float(counts[tree.labels_under(v)].sum()) for v in nodes]
    count_texts = [f"{occurrences[v]:,.6g}" if counts is not None and tree.is_leaf[v] else "" for v in nodes]
    widths = np.array([_text_width(title) for title in titles])
    x, y = _places(tree, widths)
    # On screens letters are placed on whole pixels, so a long name may be wider than on paper.
    right = x + 1.1 * widths + [_SPACE + _text_width(text) for text in count_texts]
    ax, scale = _blank_axes(ax, right.max() + _MARGIN, y.max() + _ROW / 2 + _MARGIN)
    for child in nodes[1:]:
        node = tree.parent[child]
        begin = (x[node] + widths[node] + (_SPACE if titles[node] else 0), y[node])
        end = (x[child] - (_SPACE if titles[child] else 0), y[child])
        share = occurrences[child] / occurrences[0] if occurrences[0] > 0 else 0.0
        _draw_edge(ax, begin, end, (0.8 + 5 * np.sqrt(share)) * scale)
    style = {"va": "center_baseline", "fontsize": _FONT_SIZE * scale, "parse_math": False, "zorder": 3}
    for v in nodes:
        if not titles[v]:
            ax.plot([x[v]], [y[v]], "o", ms=4.5 * scale, color=_INK, zorder=2)
            continue
        name = ax.text(x[v], y[v], titles[v], color=_LABELS if tree.is_leaf[v] else _INK, **style)
        if count_texts[v]:
            # Beside the name as it is drawn, which may be wider than computed.
            place = {"xy": (1, 0.5), "xycoords": name, "xytext": (_SPACE * scale, 0)}
            style_of_count = {**style, "va": "center", "color": _PALE, "textcoords": "offset points"}
            ax.annotate(count_texts[v], **place, **style_of_count)
    return ax


def _places(tree: LabelTree, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return x and y of each node."""
    # The name of a leaf may be wider than its column, because the rest of its row is empty.
    columns, depth = [_MARGIN], tree.depth_of_node
    for d in range(tree.depth):
        columns.append(columns[-1] + widths[(depth == d) & ~tree.is_leaf].max() + _GAP)
    leaves = tree.leaf_of_label[tree.labels_under(0)]
    # Half a row between the children of one node and those of the next.
    rows = np.full(leaves.size, _ROW)
    rows[1:][np.diff(tree.parent[leaves]) != 0] *= 1.5
    y = np.empty(tree.n_nodes)
    y[leaves] = _MARGIN - _ROW / 2 + np.cumsum(rows)
    for node in tree.inner_nodes[::-1].tolist():
        children = tree.children(node)
        y[node] = (y[children.start] + y[children.stop - 1]) / 2
    return np.array(columns)[depth], y


def _blank_axes(ax: Any, width: float, height: float) -> tuple[Any, float]:
    """Return axes that measure points, new ones if `ax` is None, and the scale that fits the drawing into them."""
    import matplotlib.pyplot as plt

    scale = 1.0
    if ax is None:
        # A figure must be wide enough for the tools of a window.
        width, height = max(width, 216), max(height, 72)
        ax = plt.figure(figsize=(width / 72, height / 72)).add_axes((0, 0, 1, 1))
    else:
        box = ax.get_window_extent()
        points = 72 / ax.figure.dpi
        scale = min(1.0, box.width * points / width, box.height * points / height)
    ax.set(xlim=(0, width), ylim=(height, 0))
    ax.set_axis_off()
    return ax, scale


def _draw_edge(ax: Any, begin: tuple[float, float], end: tuple[float, float], line_width: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = (begin[0] + end[0]) / 2
    corners = [begin, (middle, begin[1]), (middle, end[1]), end]
    curve = Path(corners, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    ax.add_patch(PathPatch(curve, fill=False, lw=line_width, ec="#C4C4C4", capstyle="round", zorder=1))


def _draw_profile(tree: LabelTree, counts: FloatArray | None, ax: Any) -> Any:
    """Draw charts side by side in ``ax``: nodes by depth, nodes by number of children, labels by frequency."""
    import matplotlib.pyplot as plt

    n_panels = 2 if counts is None else 3
    if ax is None:
        height = min(max(3.2, 1.2 + 0.3 * tree.depth), 8)
        figure = plt.figure(figsize=(4 * n_panels, height))
        ax = figure.add_axes((0.01, 0.02, 0.98, 0.96))
    ax.set_axis_off()
    sizes = f"{count_text(tree.n_labels, 'label')}, {count_text(tree.n_nodes, 'node')}"
    title = f"{sizes}, depth {tree.depth:,}, at most {tree.arity:,} children"
    ax.text(0, 1, title, transform=ax.transAxes, va="top", weight="bold", fontsize=10)
    width = 1 / n_panels
    panels = [ax.inset_axes(((i + 0.22) * width, 0.1, 0.7 * width, 0.68)) for i in range(n_panels)]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
        panel.title.set_fontsize(9)
    _draw_levels(panels[0], tree)
    _draw_arities(panels[1], tree)
    if counts is not None:
        _draw_frequencies(panels[2], tree, counts)
    return ax


def _draw_levels(panel: Any, tree: LabelTree) -> None:
    n_nodes = np.array([len(level) for level in tree.levels()])
    n_leaves = np.bincount(tree.depth_of_node[tree.is_leaf], minlength=n_nodes.size)
    depth = np.arange(n_nodes.size)
    both = ((-0.2, n_nodes - n_leaves, _NODES, "inner nodes"), (0.2, n_leaves, _LABELS, "labels"))
    for shift, values, colour, name in both:
        bars = panel.barh(depth + shift, values, height=0.4, color=colour, label=name)
        if depth.size <= 12:
            texts = [f"{value:,}" if value else "" for value in values]
            panel.bar_label(bars, texts, padding=2, fontsize=7, color=_INK)
    # From 1/2, so that a bar for one node is visible.
    panel.set_xscale("log")
    panel.set_xlim(0.5, 12 * n_nodes.max())
    _name_depths(panel, tree)
    panel.set_title("nodes by depth", loc="left", fontsize=9)
    panel.legend(fontsize=7, frameon=False, loc="upper right")


def _draw_arities(panel: Any, tree: LabelTree) -> None:
    arity = np.diff(tree.child_begin)[tree.inner_nodes]
    # 1, 2, 3–4, 5–8, …: the number of doublings.
    doublings = np.ceil(np.log2(arity)).astype(int)
    n_nodes = np.bincount(doublings)
    bars = panel.barh(np.arange(n_nodes.size), n_nodes, color=_NODES)
    panel.bar_label(bars, [f"{n:,}" if n else "" for n in n_nodes], padding=2, fontsize=7, color=_INK)
    names = [str(2**d) if d < 2 else f"{2 ** (d - 1) + 1:,}–{2**d:,}" for d in range(n_nodes.size)]
    panel.set_yticks(np.arange(n_nodes.size), names)
    panel.set_ylim(n_nodes.size - 0.4, -0.6)
    panel.margins(x=0.15)
    panel.set_title("nodes by number of children", loc="left", fontsize=9)


def _draw_frequencies(panel: Any, tree: LabelTree, counts: FloatArray) -> None:
    depth = tree.depth_of_node[tree.leaf_of_label]
    at = np.unique(depth)
    panel.boxplot(
        [counts[depth == d] for d in at],
        positions=at,
        widths=0.5,
        orientation="horizontal",
        whis=(0, 100),  # codespell:ignore whis
        patch_artist=True,
        boxprops={"facecolor": "#9CC9E6", "edgecolor": _LABELS},
        medianprops={"color": _INK, "linewidth": 1.5},
        whiskerprops={"color": _LABELS},
        capprops={"color": _LABELS},
        manage_ticks=False,
    )
    panel.set_xscale("symlog", linthresh=1)
    panel.set_xlim(0, max(2 * counts.max(), 2))
    _name_depths(panel, tree)
    panel.set_title("frequency of labels by depth", loc="left", fontsize=9)


def _name_depths(panel: Any, tree: LabelTree) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.set_ylim(tree.depth + 0.6, -0.6)
    panel.yaxis.set_major_locator(MaxNLocator(15, integer=True))
    panel.set_ylabel("edges from the root", fontsize=8)


def _short_name(text: str) -> str:
    return shortened(" ".join(text.split()), _LONGEST_NAME)


def _text_width(text: str) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    if not text:
        return 0.0
    font = FontProperties(size=_FONT_SIZE)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return 1.02 * float(width)
