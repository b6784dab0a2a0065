"""Where the leaf of a label that was never seen before goes."""

from __future__ import annotations

import weakref
from typing import Any, Protocol, TypeAlias

from labeltree import _native

#: What a policy in Python sees: the tree, and the example that brought a new label.
PolicyView: TypeAlias = _native.PolicyView

POLICIES = ("complete", "random", "best_fit")


class TreePolicy(Protocol):
    """A policy of your own: a callable, with a method `closes` if some nodes are full one day.

    Examples
    --------
    A tree that is one level deep: all labels below the root, the first one being split off.

    >>> from labeltree import OnlineLabelTreeClassifier
    >>> def flat(tree, label):
    ...     return tree.root, tree.is_leaf(tree.root)
    >>> model = OnlineLabelTreeClassifier(policy=flat)
    >>> model.partial_fit([[1.0], [2.0], [3.0]], [["a"], ["b"], ["c"]]).tree_.depth
    1
    """

    def __call__(self, tree: PolicyView, label: int) -> tuple[int, bool]:
        """Choose where the leaf of the new label, which has this number, goes.

        Returns ``(node, insert)``. The leaf becomes a child of `node`; with `insert`, a new node first takes over all
        children of `node`, or its label if it is a leaf, and becomes its only child. A leaf can only be chosen with
        `insert`. `tree` is of no use once the choice is made.
        """
        ...


def make_policy(policy: Any, arity: int, alpha: float, seed: int) -> _native.TreePolicy:
    """The kernel's policy for the parameter `policy`."""
    if policy == "complete":
        return _native.CompletePolicy(arity)
    if policy == "random":
        return _native.RandomPolicy(arity, seed)
    if policy == "best_fit":
        return _native.BestFitPolicy(arity, alpha)
    return _callable_policy(policy)


def _callable_policy(policy: Any) -> _native.TreePolicy:
    # The kernel must not keep a policy alive: a function knows its module, and with it the model that it serves, and
    # Python could not see that it goes round in a circle. The model's settings have it.
    try:
        alive = weakref.ref(policy)
    except TypeError:  # a built-in function, which knows nothing
        return _native.CallablePolicy(policy, None)

    def choose(tree: PolicyView, label: int) -> Any:
        return alive()(tree, label)  # type: ignore[misc]

    def closes(tree: PolicyView, node: int, n_children: int) -> Any:
        return alive().closes(tree, node, n_children)  # type: ignore[union-attr]

    return _native.CallablePolicy(choose, closes if hasattr(policy, "closes") else None)
