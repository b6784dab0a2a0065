"""The sections of the page about the tree and its search: lost labels, costly nodes, slow queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeltree.report.charts import Axis, bar_chart
from labeltree.report.markup import beside, figure, name_text, number, percent, table
from labeltree.report.measures import Report, TreeMeasures
from labeltree.report.quality_sections import LISTED, Section

#: Maximum number of labels that stand for a node.
NAMED_LABELS = 3

NO_NODES = (
    "<p>Left out: trees that divide examples have no nodes with labels below them, and the nodes of an online tree "
    "cannot be asked one by one; of that, <code>model.freeze(prune=0.0)</code> gives the same model with nodes that "
    "can.</p>\n"
)


def lost_labels_section(report: Report) -> Section:
    """Return the section about the levels of the tree where true labels are lost."""
    measured = report.first_tree
    if measured is None:
        return "Where true labels are lost", NO_NODES
    lost, levels = measured.lost, measured.tree.levels()
    title = f"True labels that fall behind the best {lost.k}"
    picture = _level_chart(title, "lost", lost.n_lost / lost.n_true, "all true labels")
    numbers = table(
        "By level, from the root down",
        {
            "level": map(str, range(len(levels))),
            "nodes": [number(len(nodes)) for nodes in levels],
            "labels lost": map(number, lost.n_lost),
            "% of the lost": map(percent, lost.n_lost / max(lost.n_true - lost.n_found, 1)),
            "mean P(node | parent)": map(number, lost.mean_probability),
        },
    )
    left_out = ""
    if lost.n_left_out:
        n = number(lost.n_left_out)
        left_out = f" Another {n} were probable enough, but the beam was too narrow to see them."
    return (
        "Where true labels are lost",
        f"<p>{number(lost.n_found)} of {number(lost.n_true)} true labels are among the best {lost.k} of their row"
        f"{_of_first_tree(report)}. The others are counted at the first level where their path is less probable than "
        f"the label in place {lost.k}: from there on they cannot come back. Rows with more than {lost.k} labels lose "
        f"some whatever the model does.{left_out}</p>\n",
        beside(picture, numbers),
    )


def node_costs_section(report: Report) -> Section:
    """Return the section about the nodes that contribute most to the bound on the error."""
    measured = report.first_tree
    if measured is None:
        return "Where the loss is", NO_NODES
    costs, tree = measured.costs, measured.tree
    by_level = costs.by_level(tree) / max(costs.total, 1e-300)
    nodes = costs.costliest(LISTED)
    columns = {
        "node": map(number, nodes),
        "level": map(number, tree.depth_of_node[nodes]),
        "some labels below": [_labels_below(report, measured, int(node)) for node in nodes],
        "labels": map(number, costs.n_labels[nodes]),
        "rows at parent %": map(percent, costs.at_parent[nodes]),
        "loss": map(number, costs.loss[nodes]),
        "% of bound": [percent(cost / costs.total) for cost in costs.cost[nodes]],
    }
    return (
        "Where the loss is",
        f"<p>An <strong>upper bound</strong>, not the loss itself: the mean error of the probability of a label is at "
        f"most the sum over nodes of the share of rows at the parent × the share of labels below × the held-out log "
        f"loss of the node. Here that sum is {number(costs.total)}{_of_first_tree(report)}. It is far from tight, and "
        f"part of the loss is noise that no classifier can avoid; but it says where better classifiers, or another "
        f"tree, could help most.</p>\n",
        _level_chart("The upper bound, level by level", "share", by_level, "the bound"),
        table("The costliest nodes", columns, text_column=2),
    )


def queries_section(report: Report) -> Section:
    """Return the section about the rows that take longest."""
    queries = report.queries
    median = float(np.median(queries.milliseconds))
    rows = queries.slowest(LISTED)
    columns = {
        "row (from 0)": map(number, rows),
        "ms": [f"{milliseconds:.3f}" for milliseconds in queries.milliseconds[rows]],
        "× median": map(number, queries.milliseconds[rows] / median),
        "nodes asked": map(number, queries.evaluations[rows]),
        "features": map(number, queries.n_features[rows]),
    }
    return (
        "Slowest queries",
        f"<p>The first {number(len(queries.milliseconds))} rows, one at a time, for their best {queries.k} labels; the "
        f"least of several times, as others were busy with something else. The median is {median:.3f}&nbsp;ms with "
        f"{number(float(np.median(queries.evaluations)))} nodes asked.</p>\n",
        table("Slowest queries", columns, text_column=None),
    )


def _level_chart(title: str, name: str, shares: NDArray[np.float64], whole: str) -> str:
    """Return bars of the share of each level in the whole."""
    groups, values = [str(level) for level in range(len(shares))], 100 * shares
    x_title = f"level of the tree (the root's is 0); in % of {whole}"
    return figure(bar_chart(title, groups, Axis.upwards("", values), {name: values}, x_title))


def _labels_below(report: Report, measured: TreeMeasures, node: int) -> str:
    """Return the names of the most frequent labels below a node."""
    labels = measured.tree.labels_under(node)
    frequent = labels[np.argsort(-report.label_counts[labels], kind="stable")[:NAMED_LABELS]]
    more = ", …" if len(labels) > NAMED_LABELS else ""
    return ", ".join(name_text(report.name_of(label)) for label in report.classes[frequent]) + more


def _of_first_tree(report: Report) -> str:
    return f" (of the first of {report.n_trees} trees, asked alone)" if report.n_trees > 1 else ""
