"""Trees of many shapes: what they should cost, what they do cost, and how good they are. The table in docs/trees.md.

python -m benchmarks.tree_costs eurlex57k tate
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.data import prepare
from labeltree import LabelTree, LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate
from labeltree.trees import complete_tree, huffman_tree, kmeans_tree, random_tree


def trees_of(X: Any, y: Any) -> dict[str, LabelTree]:
    counts = np.asarray(y.sum(axis=0)).ravel()
    balanced = partial(kmeans_tree, X, y, arity=32, max_leaves=100, balanced=True, random_state=0)
    binary = balanced(arity=2, frequent_share=0.0)
    return {
        "unbalanced k-means": kmeans_tree(X, y, random_state=0),
        "k-means": balanced(),
        "k-means, `frequent_share=0`": balanced(frequent_share=0.0),
        "k-means, binary": binary,
        "k-means, binary, `collapse=5`": binary.collapse(5),
        "Huffman": huffman_tree(counts),
        "complete": complete_tree(counts),
        "random": random_tree(y.shape[1], random_state=0),
        "Huffman, binary": huffman_tree(counts, arity=2),
        "complete, binary": complete_tree(counts, arity=2),
    }


def timed(compute: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[Any, float]:
    """What a call returns, and the processor's seconds it takes, which a busy machine disturbs least."""
    started = time.process_time()
    return compute(*arguments, **named), time.process_time() - started


def main(names: list[str]) -> None:
    print("| data | tree | depth | nodes | passes | training s | ms/row | nodes asked | P@1 | P@5 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names or ["eurlex57k", "tate"]:
        train, test = prepare(name)
        X, y = read_xmlc(train)
        X_test, y_test = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1])
        figures = []
        for kind, tree in trees_of(X, y).items():
            cost = tree.expected_cost(y, X)
            model, training = timed(LabelTreeClassifier(tree=tree, random_state=0).fit, X, y)
            top, search = timed(model.predict_topk, X_test, 5, return_evaluations=True)
            labels, _, asked = top
            figures.append((cost.multiplications, cost.feature_visits, training, search))
            found = evaluate(y_test, labels)
            print(
                f"| {name} | {kind} | {tree.depth} | {cost.nodes:.0f} | {cost.passes:.1f} | {training:.1f} | "
                f"{1000 * search / X_test.shape[0]:.3f} | {asked.mean():.0f} | "
                f"{100 * found['P@1']:.2f} | {100 * found['P@5']:.2f} |",
                flush=True,
            )
        rank = spearmanr(np.array(figures)).statistic
        print(
            f"{name}: rank correlation with training and search: multiplications {rank[0, 2]:.2f}, {rank[0, 3]:.2f}; "
            f"feature visits {rank[1, 2]:.2f}, {rank[1, 3]:.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
