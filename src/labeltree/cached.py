"""`cached_property` without a lock.

The one of Python before 3.12 holds a lock while it computes. A process that forks meanwhile has a child in which nobody
releases the lock.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """If two threads compute the value at once, both get the first one."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property"]
