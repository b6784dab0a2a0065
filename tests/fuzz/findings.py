"""Findings on disk: a folder for each, with the input, the report and the command to try it again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.fuzz.target import Case

INPUT, REPORT = "input", "report.txt"


class Findings:
    """The findings of a run: one folder for each signature, with the first input that had it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts: dict[str, int] = {}

    def add(self, target: str, number: int, seed: int, case: Case, finding: str, details: str) -> None:
        """Write a finding, unless there is one with the same signature."""
        line = f"{target}: {finding}"
        self.counts[line] = self.counts.get(line, 0) + 1
        if self.counts[line] > 1:
            return
        name = f"{target}-{hashlib.sha256(finding.encode(errors='replace')).hexdigest()[:8]}"
        folder = self.folder / name
        (folder / INPUT).mkdir(parents=True, exist_ok=True)
        for file, content in case.items():
            (folder / INPUT / file).write_bytes(content)
        replay = f'make fuzz ARGS="--replay {folder}"'
        (folder / REPORT).write_text(
            f"{finding}\ntarget {target}, seed {seed}, case {number}\nto try it again: {replay}\n\n{details}",
            errors="replace",
        )
        print(f"FINDING {line}\n  {replay}", flush=True)


def read_finding(folder: Path) -> tuple[str, Case]:
    """Return the target and the input of a finding."""
    lines = (folder / REPORT).read_text().splitlines()
    target = next(line for line in lines if line.startswith("target ")).split()[1].rstrip(",")
    return target, {path.name: path.read_bytes() for path in sorted((folder / INPUT).iterdir())}
