"""One run: a configuration on a data set with a seed, and what it is known by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS

import labeltree
from experiments.runner.data import files_of
from experiments.runner.table import Row, Table
from labeltree import _native


@dataclass(frozen=True)
class Run:
    """What is trained on what; `n_rows` is the number of training rows if not all are used."""

    system: str
    data: str
    n_rows: int | None
    features: str
    parameters: dict[str, Any]
    batch_sizes: tuple[int, ...]
    seed: int
    threads: int
    decide: dict[str, Any] | None = None
    sample_weight: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether the system is a class of `labeltree`, not another package."""
        return self.system not in PEERS

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def key(self) -> str:
        """A hash of all that the figures depend on: the run, the contents of the data, and the code that is run."""
        facts = {
            **self.as_json(),
            "contents": _contents(self.data, self.n_rows),
            "code": code_of(self.system),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


def runs_of(
    table: Table, data: str, row: Row, *, seeds: int, threads: int, n_rows: int | None
) -> Iterator[Run]:
    """The runs of a row, one per seed."""
    for seed in range(min(seeds, row.seeds or seeds, table.seeds.get(data, seeds))):
        yield Run(
            row.system,
            data,
            n_rows,
            row.features,
            row.all_parameters(),
            tuple(table.batch_sizes),
            seed,
            threads,
            None if row.decide is None else dict(row.decide),
            row.sample_weight,
        )


@cache
def _contents(data: str, n_rows: int | None) -> list[str]:
    return [_digest(path) for path in files_of(data, n_rows)]


@cache
def code_of(system: str) -> str:
    """What tells one build of a system from another."""
    if system in PEERS:
        return repr(PEERS[system].packages)
    return f"{labeltree.__version__} {_digest(Path(str(_native.__file__)))}"


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
