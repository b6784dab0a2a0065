"""What estimators need of scikit-learn, imported when first used: that takes a second and 100 MB of memory.

Questions to a saved model need none of it but the base classes. A process that only asks, such as `labeltree predict`,
therefore calls `leave_out` first, and its estimators have base classes with parameters only. In every other process
they have the base classes of scikit-learn.
"""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import check_array, check_random_state
    from sklearn.utils.validation import check_is_fitted

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "NotFittedError",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "leave_out",
]

_BASES = ("BaseEstimator", "ClassifierMixin", "TransformerMixin")
_HOMES = {
    **dict.fromkeys((*_BASES, "clone"), "sklearn.base"),
    "NotFittedError": "sklearn.exceptions",
    "check_array": "sklearn.utils",
    "check_is_fitted": "sklearn.utils.validation",
    "check_random_state": "sklearn.utils",
}
_is_left_out = False


def leave_out() -> None:
    """Let estimators do without scikit-learn's base classes, unless it is imported already.

    Call it first in a program that only asks models: such estimators have no `set_params`, and scikit-learn's tools do
    not recognise them.
    """
    global _is_left_out
    _is_left_out = "sklearn" not in sys.modules


class _WithParameters:
    """What a trained estimator needs of `BaseEstimator`."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._get_param_names()}

    def __sklearn_tags__(self) -> Any:
        return import_module("sklearn.base").BaseEstimator.__sklearn_tags__(self)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _is_left_out and name in _BASES:
        value = _WithParameters if name == "BaseEstimator" else type(name, (), {})
    else:
        value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
