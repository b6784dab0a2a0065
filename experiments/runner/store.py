"""Finished runs, one line of JSON each, in one file for every data set; they are committed with the pages."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

import labeltree
from experiments.runner.identity import key_of
from experiments.runner.stamp import machine

RUNS = Path(__file__).parent.parent / "results" / "runs"


class Kept(Protocol):
    """A run that can be told from all others."""

    @property
    def file(self) -> str:
        """The file that it is kept in, without its ending."""

    def as_json(self) -> dict[str, Any]:
        """What is run."""

    def code(self) -> str:
        """A hash of the code that its figures depend on."""

    def contents(self) -> str:
        """A hash of its data."""


@dataclass(frozen=True)
class Record:
    """A line of a file.

    Attributes
    ----------
    run : dict
        What was run.
    figures : dict
        What was measured; nothing if the run was stopped.
    stopped_after : float, optional
        The limit in seconds that stopped the run.
    seconds, cpu_seconds : float
        What the run took, with reading its data.
    date, machine, version, command : str
        When, where, by which version and by which command it was run.
    code, contents : str
        Hashes of the code and of the data.
    """

    run: dict[str, Any]
    seconds: float
    cpu_seconds: float
    date: str
    machine: str
    version: str
    command: str
    code: str
    contents: str
    figures: Mapping[str, Any] | None = None
    stopped_after: float | None = None


class Store:
    """The records of a folder; of several of the same run the last counts.

    `fresh` leaves out runs of older code. `command` is what runs that are kept were made by.
    """

    def __init__(self, folder: Path = RUNS, *, fresh: bool = False, command: str = "") -> None:
        self.folder, self.fresh, self.command = folder, fresh, command
        self._read: dict[Path, tuple[int, dict[str, Record]]] = {}

    def record(self, run: Kept) -> Record | None:
        """The record of a run, whatever its code unless only fresh ones count."""
        found = self._records(self._path(run)).get(key_of(run.as_json()))
        return None if found is None or (self.fresh and found.code != run.code()) else found

    def find(self, run: Kept) -> dict[str, Any] | None:
        """The figures of a run, or None if it has not been finished."""
        found = self.record(run)
        return None if found is None or found.figures is None else dict(found.figures)

    def all(self) -> Iterator[Record]:
        """All records."""
        for path in sorted(self.folder.glob("*.jsonl")):
            yield from self._records(path).values()

    def keep(self, run: Kept, figures: Mapping[str, Any], seconds: float, cpu_seconds: float) -> None:
        """Keep the figures of a run, in six digits."""
        self._append(
            run, seconds, cpu_seconds, {"figures": {name: _short(figures[name]) for name in figures}}
        )

    def keep_stopped(self, run: Kept, limit_s: float, cpu_seconds: float) -> None:
        """Keep that a run was stopped by its limit, so that it is not tried again and again."""
        self._append(run, limit_s, cpu_seconds, {"stopped_after": limit_s})

    def _append(self, run: Kept, seconds: float, cpu_seconds: float, found: dict[str, Any]) -> None:
        facts = {
            "run": run.as_json(),
            **found,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu_seconds, 2),
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "machine": machine(),
            "version": labeltree.__version__,
            "command": self.command,
            "code": run.code(),
            "contents": run.contents(),
        }
        path = self._path(run)
        path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(facts, ensure_ascii=False, separators=(",", ":")) + "\n"
        with open(path, "ab+") as file:  # one write, so that other processes may append to it too
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else "\n" + line
            file.write(line.encode())

    def _records(self, path: Path) -> dict[str, Record]:
        """The records of a file by the key of their run; it is read again when it has grown."""
        size = path.stat().st_size if path.exists() else 0
        known, records = self._read.get(path, (0, {}))
        if size != known:
            found = sorted(_lines(path), key=lambda record: record.date)
            records = {key_of(record.run): record for record in found}
            self._read[path] = size, records
        return records

    def _path(self, run: Kept) -> Path:
        return self.folder / f"{run.file}.jsonl"


def _lines(path: Path) -> Iterator[Record]:
    """The records of a file; a line that was cut short, by a full disk, is left out."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            facts = json.loads(line)
        except json.JSONDecodeError:
            print(f"{path}, line {number} is cut short and left out; delete it", file=sys.stderr)
            continue
        yield Record(**facts)


def _short(figure: Any) -> Any:
    return float(f"{figure:.6g}") if isinstance(figure, float) else figure
