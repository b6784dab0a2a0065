"""The versions that must agree between the program that makes tasks and the workers that run them."""

from __future__ import annotations

import platform

import numpy as np

import labeltree
from labeltree.errors import WorkerError

#: The names and versions of what a task depends on: plain strings, which any version can unpickle.
Versions = dict[str, str]


def own_versions() -> Versions:
    """Return the versions of this process: labeltree, Python without its patch number, and the major one of NumPy."""
    return {
        "labeltree": labeltree.__version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__.split(".")[0],
    }


def check_versions(expected: Versions, found: Versions, host: str) -> None:
    """Raise `WorkerError` if the versions of a worker are not those of the program.

    Examples
    --------
    >>> check_versions({"NumPy": "2"}, {"NumPy": "1"}, "node-7")
    Traceback (most recent call last):
        ...
    labeltree.errors.WorkerError: the worker on node-7 has NumPy 1, this program has NumPy 2: install the same
    versions on all machines
    """
    differing = [name for name in expected if found.get(name) != expected[name]]
    if differing:
        theirs = ", ".join(f"{name} {found.get(name, 'of no version')}" for name in differing)
        ours = ", ".join(f"{name} {expected[name]}" for name in differing)
        raise WorkerError(
            f"the worker on {host} has {theirs}, this program has {ours}: install the same versions on all machines"
        )
