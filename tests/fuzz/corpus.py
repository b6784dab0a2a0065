"""Input that made the library do something new, to be mutated further."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

from tests.fuzz.target import Case

MOST_CASES = 1000


class Corpus:
    """The seeds, and cases whose outcome no case had before; with a folder, also those of earlier runs."""

    def __init__(self, seeds: list[Case], folder: Path | None = None) -> None:
        self.cases = list(seeds)
        self._folder = folder
        self._outcomes: set[str] = set()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.iterdir())[:MOST_CASES]:
                outcome, case = pickle.loads(path.read_bytes())
                self._outcomes.add(outcome)
                self.cases.append(case)

    def add(self, case: Case, outcome: str) -> None:
        """Keep a case if its outcome is new."""
        if outcome in self._outcomes or len(self._outcomes) >= MOST_CASES:
            return
        self._outcomes.add(outcome)
        self.cases.append(case)
        if self._folder is not None:
            name = hashlib.sha256(outcome.encode(errors="replace")).hexdigest()[:16]
            (self._folder / name).write_bytes(pickle.dumps((outcome, case)))
