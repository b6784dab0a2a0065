"""Packages that cannot be imported, as if they were not installed."""

from __future__ import annotations

import sys
from typing import Any


class _Absent:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def hide(*names: str) -> None:
    """Let every import of these packages fail, from now on in this process."""
    sys.meta_path.insert(0, _Absent(names))
