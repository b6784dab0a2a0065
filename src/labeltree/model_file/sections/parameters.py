"""The section of the parameters: single values, and trees that the model has anyway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeSource
from labeltree.validation import parameter_names
from labeltree.wording import count_text

#: The meaning of the link "auto" for each loss in models that did not save the link by name.
_FIRST_LINKS = {"squared_hinge": "exp3", "logistic": "sigmoid"}


def encode(parameters: Mapping[str, Any], n_trees: int) -> dict[str, Any]:
    """Return parameters as they stand in ``model.json``; raises `ValueError` for one that cannot be saved."""
    return {
        name: _encode_tree(value, n_trees) if name == "tree" else encode_parameter(name, value)
        for name, value in parameters.items()
    }


def encode_parameter(name: str, value: Any) -> Any:
    """Return one parameter as it stands in ``model.json``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    if name == "tree_weight" or (name == "C" and isinstance(value, list | tuple | np.ndarray)):
        return [float(number) for number in value]
    if name == "label_weight":
        return "given"  # an array or a dictionary, which only training reads
    if name in ("random_state", "label_vectors"):
        # The state of a generator says nothing about the model; a matrix of label vectors may be larger than the model,
        # which does not need it once the tree is built.
        return None
    raise ValueError(
        f"the parameter {name!r} is {value!r}, which a model file cannot hold; set it to another value"
    )


def _encode_tree(tree: Any, n_trees: int) -> Any:
    """Trees that were given are in the model anyway; words are written as they are."""
    if isinstance(tree, LabelTree):
        return {"stored": "tree"}
    if isinstance(tree, TreeSource):
        return {"stored": "tree" if n_trees == 1 else "trees"}
    if not isinstance(tree, list | tuple):
        return encode_parameter("tree", tree)
    if all(isinstance(entry, LabelTree) for entry in tree):
        return {"stored": "trees"}
    if len(tree) != n_trees:
        raise ValueError(
            f"the parameter 'tree' has {len(tree)} entries, but the model has {count_text(n_trees, 'tree')}; "
            f"set it to what the model was trained with"
        )
    return [entry if isinstance(entry, str) else {"stored": "tree"} for entry in tree]


def decode(cls: type[Any], stored: Mapping[str, Any], trees: list[LabelTree]) -> dict[str, Any]:
    """Return the parameters of an estimator; raises `ValueError` for one that its class does not have."""
    names = parameter_names(cls)
    check_names(cls, stored)
    decoded: dict[str, Any] = {}
    for name, value in stored.items():
        if value == {"stored": "tree"} and trees:
            decoded[name] = trees[0]
        elif value == {"stored": "trees"}:
            decoded[name] = list(trees)
        elif name == "tree" and isinstance(value, list):
            decoded[name] = _decode_trees(value, trees)
        elif isinstance(value, dict | list) and not (
            name in ("tree_weight", "C") and _is_list_of_numbers(value)
        ):
            raise ValueError(f"the parameter {name!r} must be a single value, got {str(value)[:100]}")
        else:
            decoded[name] = value
    # The first models: all labels were clustered, and the link was not saved by name.
    if "frequent_share" in names:
        decoded.setdefault("frequent_share", 0.0)
    if decoded.get("link") == "auto":
        decoded["link"] = _FIRST_LINKS.get(decoded.get("loss", ""), "auto")
    return decoded


def estimator_of(cls: type[Any], stored: Mapping[str, Any], trees: list[LabelTree]) -> Any:
    """Return the untrained estimator; raises `ValueError` for a parameter that `fit` would not accept."""
    estimator = cls(**decode(cls, stored, trees))
    estimator.check_parameters(training=False)
    return estimator


def check_names(cls: type[Any], stored: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a parameter that the class does not have."""
    unknown = stored.keys() - parameter_names(cls)
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameter {min(unknown)[:100]!r}")


def _decode_trees(entries: list[Any], trees: list[LabelTree]) -> list[Any]:
    """The parameter `tree` as a list: words, and trees that are those of the model in the same place."""
    if len(entries) != len(trees):
        raise ValueError(
            f"the parameter 'tree' has {len(entries)} entries, but the model has {count_text(len(trees), 'tree')}"
        )
    return [
        tree if entry == {"stored": "tree"} else entry for entry, tree in zip(entries, trees, strict=True)
    ]


def _is_list_of_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) in (int, float) for number in value)
