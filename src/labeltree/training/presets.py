"""The settings of published systems."""

from __future__ import annotations

from typing import Any, TypeVar

from labeltree.training.solvers import SOLVER_PARAMETERS, SOLVERS

_Estimator = TypeVar("_Estimator", bound="PublishedSettings")


class PublishedSettings:
    """What other systems do, in our parameters; each may be overridden."""

    @classmethod
    def parabel(cls: type[_Estimator], **parameters: Any) -> _Estimator:
        """The settings of Parabel: three balanced binary trees, squared hinge, beam search of width 10."""
        preset = {
            "n_trees": 3, "arity": 2, "max_leaves": 100, "frequent_share": 0.0, "label_vector_prune": 0.0,
            "loss": "squared_hinge", "link": "exp2", "C": 1.0, "tol": 0.1, "max_iter": 20, "prune": 0.1,
            "search": "beam", "beam": 10,
        }  # fmt: skip
        return cls(**_with(preset, parameters))

    @classmethod
    def bonsai(cls: type[_Estimator], **parameters: Any) -> _Estimator:
        """The settings of Bonsai: three shallow trees of 100 unbalanced clusters per node, beam search of width 10."""
        preset = {
            "n_trees": 3, "tree": "unbalanced_kmeans", "arity": 100, "max_leaves": 100, "max_depth": 3,
            "frequent_share": 0.0, "label_vector_prune": 0.0, "loss": "squared_hinge", "link": "exp2", "C": 1.0,
            "tol": 0.1, "max_iter": 20, "prune": 0.1, "search": "beam", "beam": 10,
        }  # fmt: skip
        return cls(**_with(preset, parameters))

    @classmethod
    def napkinxc(cls: type[_Estimator], **parameters: Any) -> _Estimator:
        """The settings of napkinXC: one balanced binary tree, logistic loss, exact search.

        C is the middle of the values the paper tunes over: 1, 8, 12, 16 and 32.
        """
        preset = {
            "n_trees": 1, "arity": 2, "max_leaves": 100, "frequent_share": 0.0, "label_vector_prune": 0.0,
            "loss": "logistic", "C": 12.0, "tol": 0.1, "max_iter": 1000, "prune": 0.1, "search": "exact",
        }  # fmt: skip
        return cls(**_with(preset, parameters))


def _with(preset: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The settings with others in their place, and without those that mean nothing to another solver or loss."""
    solver = SOLVERS.get(parameters.get("solver", "descent"))  # a wrong one is told later
    dropped = {name for name in SOLVER_PARAMETERS if solver is not None and name not in solver}
    if parameters.get("loss", preset["loss"]) != preset["loss"]:
        dropped |= {"C", "link"}
    return {**{name: value for name, value in preset.items() if name not in dropped}, **parameters}
