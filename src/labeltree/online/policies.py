"""Policies: where the leaf of a new label goes."""

from __future__ import annotations

import weakref
from typing import Any, Protocol, TypeAlias

from labeltree import _native

#: The view of a policy in Python: the tree, and the example with the new label.
PolicyView: TypeAlias = _native.PolicyView

POLICIES = ("complete", "random", "best_fit", "fixed")


class TreePolicy(Protocol):
    """The interface of a user's policy: a callable, with a method `closes` if nodes can become full.

    Examples
    --------
    A tree of depth 1, with all labels below the root. `insert` splits off the first label:

    >>> from labeltree import OnlineLabelTreeClassifier
    >>> def flat(tree, label):
    ...     return tree.root, tree.is_leaf(tree.root)
    >>> model = OnlineLabelTreeClassifier(policy=flat)
    >>> model.partial_fit([[1.0], [2.0], [3.0]], [["a"], ["b"], ["c"]]).tree_.depth
    1
    """

    def __call__(self, tree: PolicyView, label: int) -> tuple[int, bool]:
        """Choose the place of the leaf of a new label; `label` is its number.

        Return ``(node, insert)``. The leaf becomes a child of `node`. With `insert`, a new node first becomes the only
        child of `node` and takes over its other children, or its label if it is a leaf. A leaf can only be chosen with
        `insert`. `tree` is valid only during the call.
        """
        ...


def make_policy(policy: Any, arity: int, alpha: float, seed: int) -> _native.TreePolicy:
    """Return the kernel's policy for the parameter `policy`."""
    if policy == "fixed":
        return _native.FixedPolicy()
    if policy == "complete":
        return _native.CompletePolicy(arity)
    if policy == "random":
        return _native.RandomPolicy(arity, seed)
    if policy == "best_fit":
        return _native.BestFitPolicy(arity, alpha)
    return _callable_policy(policy)


def _callable_policy(policy: Any) -> _native.TreePolicy:
    # The kernel must not keep a policy alive: a function references its module and thereby its model, and Python's
    # garbage collector cannot see such a cycle through the kernel. The model's settings keep the policy alive.
    try:
        alive = weakref.ref(policy)
    except TypeError:  # a built-in function, which references no model
        return _native.CallablePolicy(policy, None)

    def choose(tree: PolicyView, label: int) -> Any:
        return alive()(tree, label)  # type: ignore[misc]

    def closes(tree: PolicyView, node: int, n_children: int) -> Any:
        return alive().closes(tree, node, n_children)  # type: ignore[union-attr]

    return _native.CallablePolicy(choose, closes if hasattr(policy, "closes") else None)
