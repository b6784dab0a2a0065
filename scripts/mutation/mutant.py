"""A mutant: one small wrong change to one place of a source file."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Bytes `start` to `end` of a file, and the bytes that take their place."""

    function: str
    kind: str  # "change" of an expression, "negate" a condition, "remove" a statement
    start: int
    end: int
    replacement: bytes


@dataclass(frozen=True)
class Mutant:
    """A place with its identity, which stays the same when other lines of the file change."""

    id: str
    file: str
    line: int
    place: Place

    @property
    def folder(self) -> str:
        parts = Path(self.file).parts
        return "/".join(parts[: 3 if parts[0] == "src" else 2])

    def apply(self, source: bytes) -> bytes:
        replacement = self.place.replacement
        if self.place.kind == "change" and not self.file.endswith(".py"):
            replacement = b"(" + replacement + b")"  # as it is compiled
        return source[: self.place.start] + replacement + source[self.place.end :]

    def describe(self, source: bytes) -> str:
        old, new = source[self.place.start : self.place.end], self.place.replacement
        change = " → ".join(" ".join(text.decode().split()) or "nothing" for text in (old, new))
        return f"{self.id} {self.file}:{self.line} {self.place.function}: {change}"

    def diff(self, source: bytes) -> str:
        before, after = (text.decode().splitlines(keepends=True) for text in (source, self.apply(source)))
        return "".join(difflib.unified_diff(before, after, self.file, self.file, n=2))


def identify(file: str, source: bytes, places: Iterable[Place]) -> list[Mutant]:
    """Give each place an identity: the file, the function, its line of code, where in it, and the change.

    Equal lines of one function are told apart by their order.
    """
    seen: Counter[str] = Counter()
    mutants = []
    for place in sorted(places, key=lambda place: (place.start, -place.end, place.replacement)):
        begin = source.rfind(b"\n", 0, place.start) + 1
        line = source[begin : source.find(b"\n", begin)]
        column = place.start - begin - (len(line) - len(line.lstrip()))
        old = source[place.start : place.end]
        parts = [
            file.encode(),
            place.function.encode(),
            line.strip(),
            str(column).encode(),
            old,
            place.replacement,
        ]
        name = hashlib.sha256(b"\0".join(parts)).hexdigest()
        number, seen[name] = seen[name], seen[name] + 1
        identity = hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:16]
        mutants.append(Mutant(identity, file, source.count(b"\n", 0, place.start) + 1, place))
    return mutants


@dataclass(frozen=True)
class Wrapped:
    """Where a mutant lies in a rewritten source: from `start` to `end`, its own text up to `inner`."""

    mutant: Mutant
    start: int
    inner: int
    end: int


def rewrite(
    source: bytes, mutants: Iterable[Mutant], wrap: Callable[[Mutant], tuple[bytes, bytes]]
) -> tuple[bytes, list[Wrapped]]:
    """Put all mutants into one source: the text of each place, between the two texts that `wrap` returns."""
    out = bytearray()
    wrapped: list[Wrapped] = []
    open_: list[tuple[Mutant, int, int, bytes]] = []
    at = 0

    def copy_to(end: int) -> None:
        nonlocal at
        out.extend(source[at:end])
        at = end

    def close_until(position: int) -> None:
        while open_ and open_[-1][0].place.end <= position:
            mutant, start, inner, suffix = open_.pop()
            copy_to(mutant.place.end)
            out.extend(suffix)
            wrapped.append(Wrapped(mutant, start, inner, len(out)))

    for mutant in sorted(mutants, key=lambda m: (m.place.start, -m.place.end, m.id)):
        close_until(mutant.place.start)
        copy_to(mutant.place.start)
        prefix, suffix = wrap(mutant)
        start = len(out)
        out.extend(prefix)
        open_.append((mutant, start, len(out), suffix))
    close_until(len(source))
    copy_to(len(source))
    return bytes(out), wrapped
