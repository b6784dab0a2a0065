"""The settings of published systems."""

from __future__ import annotations

from typing import Any

from labeltree.training.solvers import SOLVER_PARAMETERS, SOLVERS

_CLUSTERS = {"frequent_share": 0.0, "label_vector_prune": 0.0, "max_leaves": 100}
_HINGE = {
    "loss": "squared_hinge",
    "link": "exp2",
    "C": 1.0,
    "tol": 0.1,
    "max_iter": 20,
    "prune": 0.1,
    "search": "beam",
    "beam": 10,
}

PRESETS: dict[str, dict[str, Any]] = {
    "parabel": {"n_trees": 3, "tree": "exact_kmeans", "arity": 2, **_CLUSTERS, **_HINGE},
    "bonsai": {
        "n_trees": 3,
        "tree": "unbalanced_kmeans",
        "arity": 100,
        "max_depth": 3,
        "label_vectors": "both",
        **_CLUSTERS,
        **_HINGE,
    },
    "napkinxc": {
        "n_trees": 1,
        "tree": "exact_kmeans",
        "arity": 2,
        **_CLUSTERS,
        "loss": "logistic",
        "link": "sigmoid",
        "C": 12.0,
        "tol": 0.1,
        "max_iter": 1000,
        "prune": 0.1,
        "search": "exact",
    },
    "xmlc_plt": {
        "n_trees": 1,
        "tree": "complete",
        "arity": 2,
        "loss": "logistic",
        "link": "sigmoid",
        "solver": "sgd",
        "prune": 0.0,
        "search": "exact",
    },
}


def preset(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a published system, overridden by `parameters`.

    If `parameters` choose another solver or loss, settings that do not work with it are left out.
    """
    settings = PRESETS[name]
    # an unknown solver is refused later
    solver = SOLVERS.get(parameters.get("solver", settings.get("solver", "descent")))
    dropped = {name for name in SOLVER_PARAMETERS if solver is not None and name not in solver}
    if parameters.get("loss", settings["loss"]) != settings["loss"]:
        dropped |= {"C", "link"}
    return {**{name: value for name, value in settings.items() if name not in dropped}, **parameters}
