"""Which mutants are run: a sample spread over the folders."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable

from mutation.mutant import Mutant


def choose_sample(
    mutants: Iterable[Mutant], size: int | None, seed: int, left_out: Collection[str] = ()
) -> list[Mutant]:
    """Choose the same number from each folder, as far as it has them; `size` None for all.

    The order of choice is that of a hash of the identities and the seed: a sample stays nearly the same when
    the code changes, and a larger sample contains a smaller one.
    """
    folders: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        if mutant.id not in left_out:
            folders[mutant.folder].append(mutant)
    rounds: list[list[Mutant]] = []
    for folder in sorted(folders):
        for turn, mutant in enumerate(sorted(folders[folder], key=lambda m: _order(m, seed))):
            if turn == len(rounds):
                rounds.append([])
            rounds[turn].append(mutant)
    return [mutant for turn in rounds for mutant in turn][:size]


def _order(mutant: Mutant, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {mutant.id}".encode()).digest()
