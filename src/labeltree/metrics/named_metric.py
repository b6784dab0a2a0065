"""The base class of metrics that `get_metric` finds by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from labeltree.metrics.reading import Labels


class NamedMetric(ABC):
    """A metric that declares its names; a subclass with `names` is known to `get_metric` from then on."""

    #: Names in lower case. If a name has a parameter, such as a cut-off, an example of it.
    names: ClassVar[tuple[str, ...]] = ()
    #: The subclasses with names.
    known: ClassVar[list[type[NamedMetric]]] = []

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "names" in vars(cls):
            NamedMetric.known.append(cls)

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that `get_metric` takes."""

    @classmethod
    @abstractmethod
    def from_name(cls, name: str) -> NamedMetric | None:
        """Return the metric of a name in lower case, None if the class does not know it."""

    @abstractmethod
    def __call__(self, y_true: Labels, y_pred: Labels) -> float:
        """Return the value of the metric."""
