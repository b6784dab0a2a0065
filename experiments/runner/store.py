"""Finished runs, one JSON file each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from experiments.runner.data import FOLDER


class Keyed(Protocol):
    """A run that can be told from all others."""

    def as_json(self) -> dict[str, Any]:
        """What is run."""

    def key(self) -> str:
        """A hash of all that the figures depend on."""


class Store:
    """The figures of finished runs in a folder; nothing is ever there by half."""

    def __init__(self, folder: Path = FOLDER / "runs") -> None:
        self.folder = folder

    def find(self, run: Keyed) -> dict[str, Any] | None:
        """The figures of a run, or None if it has not been finished."""
        path = self._path(run)
        if not path.exists():
            return None
        figures: dict[str, Any] = json.loads(path.read_text())["figures"]
        return figures

    def all(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """What was run and its figures, of all runs, whatever the code."""
        for path in sorted(self.folder.glob("*.json")):
            document = json.loads(path.read_text())
            yield document["run"], document["figures"]

    def keep(self, run: Keyed, figures: dict[str, Any]) -> None:
        """Keep the figures of a run, with what was run for those who look into the file."""
        path = self._path(run)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".unfinished-{os.getpid()}")
        unfinished.write_text(json.dumps({"run": run.as_json(), "figures": figures}, indent=2) + "\n")
        unfinished.rename(path)

    def _path(self, run: Keyed) -> Path:
        return self.folder / f"{run.key()}.json"
