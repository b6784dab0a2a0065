"""What became of each mutant: a file of JSON lines that grows, and the list of equivalent mutants."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mutation.mutant import Mutant

CAUGHT = ("killed", "timeout")


class Results:
    """The outcomes by identity; the last line about a mutant counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._outcomes: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                outcome = json.loads(line)
                self._outcomes[outcome["id"]] = outcome

    def get(self, mutant: Mutant) -> dict[str, Any] | None:
        return self._outcomes.get(mutant.id)

    def add(self, mutant: Mutant, outcome: dict[str, Any]) -> None:
        entry = {"id": mutant.id, "file": mutant.file, "function": mutant.place.function, **outcome}
        self._outcomes[mutant.id] = entry
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def read_equivalent(path: Path) -> dict[str, str]:
    """Read the reasons why mutants cannot be noticed: lines `identity file function: reason`."""
    reasons = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            reasons[line.split()[0]] = line.partition(": ")[2]
    return reasons


def summarise(mutants: Iterable[Mutant], results: Results, equivalent: dict[str, str]) -> tuple[str, float]:
    """A table with a line per folder, and the share of mutants that tests catch, without equivalent ones."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in mutants:
        outcome = (results.get(mutant) or {"outcome": "not run"})["outcome"]
        if outcome == "survived" and mutant.id in equivalent:
            outcome = "equivalent"
        counts[mutant.folder][outcome] += 1
        counts["all"][outcome] += 1
    columns = ("killed", "timeout", "survived", "equivalent", "not run")
    lines = [f"{'folder':26}{'mutants':>9}" + "".join(f"{name:>12}" for name in columns) + f"{'caught':>9}"]
    share = 1.0
    for folder in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[folder]
        caught = sum(count[name] for name in CAUGHT)
        share = caught / max(1, caught + count["survived"])
        figures = "".join(f"{count[name]:12}" for name in columns)
        lines.append(f"{folder:26}{sum(count.values()):9}{figures}{share:9.1%}")
    return "\n".join(lines), share
