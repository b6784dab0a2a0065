"""The sections of the page about the tree and its search: lost labels, costly nodes, slow queries."""

from __future__ import annotations

import numpy as np

from labeltree.report.charts import Axis, Series, bar_chart
from labeltree.report.markup import beside, figure, name_text, number, percent, section, table
from labeltree.report.measures import Report, TreeMeasures
from labeltree.report.quality_sections import LISTED, Names

#: So many of the labels below a node are named.
NAMED_LABELS = 3

NO_NODES = (
    "<p>Left out: trees that divide examples have no nodes with labels below them, and the nodes of an online tree "
    "cannot be asked one by one; of that, <code>model.freeze(prune=0.0)</code> gives the same model with nodes that "
    "can.</p>\n"
)


def lost_labels_section(report: Report) -> str:
    """Where on the path true labels are lost."""
    title = "Where true labels are lost"
    measured = report.first_tree
    if measured is None:
        return section("levels", title, NO_NODES)
    lost, levels = measured.lost, measured.tree.levels()
    picture = bar_chart(
        f"True labels that fall behind the best {lost.k}",
        [str(level) for level in range(len(levels))],
        Axis.upwards("share of true labels, %", (100 * lost.n_lost / lost.n_true).tolist()),
        [Series("lost", list(range(len(levels))), (100 * lost.n_lost / lost.n_true).tolist())],
        "level of the tree (the root's is 0); in % of all true labels",
    )
    numbers = table(
        "By level, from the root down",
        ["level", "nodes", "labels lost", "% of the lost", "mean P(node | parent)"],
        [
            [
                str(level),
                number(len(nodes)),
                number(int(lost.n_lost[level])),
                percent(lost.n_lost[level] / max(lost.n_true - lost.n_found, 1)),
                number(float(lost.mean_probability[level])),
            ]
            for level, nodes in enumerate(levels)
        ],
    )
    left_out = (
        f" Another {number(lost.n_left_out)} were probable enough, but the beam was too narrow to see them."
        if lost.n_left_out
        else ""
    )
    return section(
        "levels",
        title,
        f"<p>{number(lost.n_found)} of {number(lost.n_true)} true labels are among the best {lost.k} of their row"
        f"{_of_first_tree(report)}. The others are counted at the first level where their path is less probable than "
        f"the label in place {lost.k}: from there on they cannot come back. Rows with more than {lost.k} labels lose "
        f"some whatever the model does.{left_out}</p>\n",
        beside(figure(picture), numbers),
    )


def node_costs_section(report: Report, names: Names) -> str:
    """Which nodes can cost most."""
    title = "Where the loss is"
    measured = report.first_tree
    if measured is None:
        return section("nodes", title, NO_NODES)
    costs, tree = measured.costs, measured.tree
    by_level = costs.by_level(tree) / max(costs.total, 1e-300)
    picture = bar_chart(
        "The upper bound, level by level",
        [str(level) for level in range(tree.depth + 1)],
        Axis.upwards("% of the bound", (100 * by_level).tolist()),
        [Series("share", list(range(tree.depth + 1)), (100 * by_level).tolist())],
        "level of the tree (the root's is 0); in % of the bound",
    )
    rows = [
        [
            number(int(node)),
            number(int(tree.depth_of_node[node])),
            _labels_below(report, measured, int(node), names),
            number(int(costs.n_labels[node])),
            percent(float(costs.at_parent[node])),
            number(float(costs.loss[node])),
            percent(float(costs.cost[node] / costs.total)),
        ]
        for node in costs.costliest(LISTED)
    ]
    head = ["node", "level", "some labels below", "labels", "rows at parent %", "loss", "% of bound"]
    return section(
        "nodes",
        title,
        f"<p>An <strong>upper bound</strong>, not the loss itself: the mean error of the probability of a label is at "
        f"most the sum over nodes of the share of rows at the parent × the share of labels below × the held-out log "
        f"loss of the node. Here that sum is {number(costs.total)}{_of_first_tree(report)}. It is far from tight, and "
        f"part of the loss is noise that no classifier can avoid; but it says where better classifiers, or another "
        f"tree, could help most.</p>\n",
        figure(picture),
        table("The costliest nodes", head, rows, words=(2,)),
    )


def queries_section(report: Report) -> str:
    """The slowest rows."""
    queries = report.queries
    median = float(np.median(queries.milliseconds))
    rows = [
        [
            number(int(row)),
            f"{queries.milliseconds[row]:.3f}",
            number(float(queries.milliseconds[row] / median)),
            number(int(queries.evaluations[row])),
            number(int(queries.n_features[row])),
        ]
        for row in queries.slowest(LISTED)
    ]
    return section(
        "queries",
        "Slowest queries",
        f"<p>The first {number(len(queries.milliseconds))} rows, one at a time, for their best {queries.k} labels; the "
        f"least of several times, as others were busy with something else. The median is {median:.3f}&nbsp;ms with "
        f"{number(float(np.median(queries.evaluations)))} nodes asked.</p>\n",
        table(
            "Slowest queries", ["row (from 0)", "ms", "× median", "nodes asked", "features"], rows, words=()
        ),
    )


def _labels_below(report: Report, measured: TreeMeasures, node: int, names: Names) -> str:
    """Names of the most frequent labels below a node."""
    labels = measured.tree.labels_under(node)
    frequent = labels[np.argsort(-report.label_counts[labels], kind="stable")[:NAMED_LABELS]]
    more = ", …" if len(labels) > NAMED_LABELS else ""
    return ", ".join(name_text(names(report.classes[label])) for label in frequent) + more


def _of_first_tree(report: Report) -> str:
    return f" (of the first of {report.n_trees} trees, asked alone)" if report.n_trees > 1 else ""
