"""One run: a configuration on a data set with a seed, and what it is known by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from benchmarks.peers import PEERS

from experiments.runner.data import files_of
from experiments.runner.identity import key_of, short_hash
from experiments.runner.sources import code_hash, definition_hash
from experiments.runner.table import ONLINE, Row, Table


@dataclass(frozen=True)
class Run:
    """What is trained on what; `n_rows` is the number of training rows if not all are used.

    `part` "dev" tests on every tenth training row, which is then not trained on: parameters are chosen so.
    """

    system: str
    data: str
    parameters: dict[str, Any]
    seed: int
    threads: int
    features: str = "words"
    n_rows: int | None = None
    batch_sizes: tuple[int, ...] = ()
    decide: dict[str, Any] | None = None
    sample_weight: str | None = None
    part: Literal["test", "dev"] = "test"

    @property
    def is_ours(self) -> bool:
        """Whether the system is a class of `labeltree`, not another package."""
        return self.system not in PEERS

    @property
    def file(self) -> str:
        """Runs are kept by data set."""
        return Path(self.data).name

    def as_json(self) -> dict[str, Any]:
        """What is run, without what is usual: a field that comes later changes no run that was kept before."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            field.name: list(facts[field.name]) if field.name == "batch_sizes" else facts[field.name]
            for field in fields(self)
            if field.default is MISSING or facts[field.name] != field.default
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Run:
        """The run that `as_json` wrote."""
        return cls(**{**facts, "batch_sizes": tuple(facts.get("batch_sizes", ()))})

    def key(self) -> str:
        """A hash of what is run, whatever the code."""
        return key_of(self.as_json())

    def code(self) -> str:
        """A hash of the code that the figures depend on: that of the system, and that which measures it."""
        return definition_hash(code_of(self.system, self.parameters.get("tree") == "stream"))

    def contents(self) -> str:
        """A hash of the files of the data set; one that is made by the package has its name only."""
        return short_hash(repr(_contents(self.data, self.n_rows)))


def runs_of(
    table: Table,
    data: str,
    row: Row,
    *,
    seeds: int,
    threads: int,
    n_rows: int | None,
    chosen: Mapping[str, Any] | None = None,
) -> Iterator[Run]:
    """The runs of a row, one per seed; `chosen` are its parameters that were tuned."""
    for seed in range(table.most_seeds(data, row, seeds)):
        yield Run(
            row.system,
            data,
            {**row.all_parameters(), **(chosen or {})},
            seed,
            threads,
            features=row.features,
            n_rows=n_rows,
            batch_sizes=tuple(table.batch_sizes),
            decide=None if row.decide is None else dict(row.decide),
            sample_weight=row.sample_weight,
        )


@cache
def _contents(data: str, n_rows: int | None) -> list[str]:
    if data.startswith("extreme-"):  # large files are not read for it
        return [data]
    return [_digest(path) for path in files_of(data, n_rows)]


def code_of(system: str, grows_a_tree: bool = False) -> str:
    """What tells one state of a system from another; a tree may be one that an online model grows."""
    if system in PEERS:
        return repr(PEERS[system].packages)
    return code_hash(system) + (code_hash(ONLINE) if grows_a_tree else "")


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
