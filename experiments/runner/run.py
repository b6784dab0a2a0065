"""One run: a configuration on a data set with a seed, and what it is known by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from benchmarks.peers import PEERS

from experiments.runner.data import files_of
from experiments.runner.sources import code_hash
from experiments.runner.table import ONLINE, Row, Table


@dataclass(frozen=True)
class Run:
    """What is trained on what; `n_rows` is the number of training rows if not all are used.

    `part` "dev" tests on every tenth training row, which is then not trained on: parameters are chosen so.
    """

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
    part: Literal["test", "dev"] = "test"

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
            "code": code_of(self.system, self.parameters.get("tree") == "stream"),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


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
            n_rows,
            row.features,
            {**row.all_parameters(), **(chosen or {})},
            tuple(table.batch_sizes),
            seed,
            threads,
            None if row.decide is None else dict(row.decide),
            row.sample_weight,
        )


@cache
def _contents(data: str, n_rows: int | None) -> list[str]:
    if data.startswith(
        "extreme-"
    ):  # made by the package, which the key knows; large files are not read for it
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
