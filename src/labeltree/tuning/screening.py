"""Leaves out n-grams of characters where they do not help: they make a trial about ten times as slow."""

from __future__ import annotations

from typing import Any

from labeltree.tuning.result import Trial


class Screening:
    """Tells which candidates are worth a trial, judging by those that only add n-grams of characters to the start."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._first: Trial | None = None
        self._left_out: set[Any] = set()

    def record(self, candidate: dict[str, Any], trial: Trial) -> bool:
        """Take a trial on the smallest sample into account; return whether its n-grams of characters do not help."""
        if self._first is None:
            self._first = trial
        changed = [name for name, value in candidate.items() if value != self._start[name]]
        if changed != ["char_ngram_range"] or candidate["char_ngram_range"] is None:
            return False
        if not self._first.is_as_good_as(trial):
            return False
        self._left_out.add(candidate["char_ngram_range"])
        return True

    def is_worth_a_trial(self, candidate: dict[str, Any]) -> bool:
        """Return whether a candidate has no n-grams of characters that do not help."""
        return candidate.get("char_ngram_range") not in self._left_out
