"""A disk that may lose power: what a trace of calls leaves on it, if only what was synced is sure to be there."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Call(NamedTuple):
    """A call that changed something: its name, the paths, an offset or a size, and the bytes written."""

    name: str
    path: str
    other: str
    number: int
    content: bytes


def read_trace(path: Path) -> list[Call]:
    """Return the calls that the preloaded library has noted."""
    text, at, calls = path.read_bytes(), 0, []
    while at < len(text):
        end = text.index(b"\n", at)
        name, one, other, number, size = text[at:end].decode().split("\t")
        at = end + 1 + int(size)
        calls.append(Call(name, one, other, int(number), text[end + 1 : at]))
    return calls


@dataclass
class Node:
    """A file: its content now, and what of it is sure to be on disk. A directory has None."""

    content: bytearray | None
    synced: bytes | None


@dataclass
class Disk:
    """The files below a folder: names now, names that are sure to be on disk, and changes of names since."""

    names: dict[str, Node]
    synced: dict[str, Node]
    pending: list[tuple[str, Node | None]] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path) -> Disk:
        """Return the disk with what is in a folder, all of it synced."""
        names = {}
        for path in [folder, *folder.rglob("*")]:
            content = None if path.is_dir() else path.read_bytes()
            names[str(path)] = Node(None if content is None else bytearray(content), content)
        return cls(dict(names), dict(names))

    def apply(self, call: Call) -> None:
        """Do what a call does."""
        match call.name:
            case "create" | "truncate":
                node = self.names.get(call.path)
                if node is None:
                    self._name(call.path, Node(bytearray(), b""))
                elif call.name == "truncate":
                    node.content = bytearray()
            case "mkdir":
                self._name(call.path, Node(None, None))
            case "write":
                content = self.names[call.path].content
                assert content is not None
                content[call.number : call.number + len(call.content)] = call.content
            case "resize":
                content = self.names[call.path].content
                assert content is not None
                del content[call.number :]
            case "rename":
                node = self.names[call.path]
                self._name(call.other, node)
                self._name(call.path, None)
            case "unlink":
                self._name(call.path, None)
            case "sync":
                self._sync(call.path)
            case _:
                raise AssertionError(call.name)

    def _name(self, path: str, node: Node | None) -> None:
        self.pending.append((path, node))
        if node is None:
            del self.names[path]
        else:
            self.names[path] = node

    def _sync(self, path: str) -> None:
        """Sync the content of a file, or the names in a directory, but not the name of the file itself."""
        node = self.names.get(path)
        if node is None:
            return  # a file that was removed
        if node.content is not None:
            node.synced = bytes(node.content)
            return
        for name, changed in self.pending:
            if os.path.dirname(name) == path:
                _put(self.synced, name, changed)
        self.pending = [change for change in self.pending if os.path.dirname(change[0]) != path]

    def after_power_loss(self, rng: random.Random) -> Iterator[dict[str, bytes | None]]:
        """Yield states that the disk may be in: contents of files by name, None for directories.

        Changes of names that were not synced are there or not: none, all, the first ones, or any. Bytes that were not
        synced are there or not.
        """
        n = len(self.pending)
        subsets = [range(i) for i in range(n + 1)]
        subsets += [sorted(rng.sample(range(n), rng.randrange(n + 1))) for _ in range(3)]
        for subset in subsets:
            for keeps_content in (False, True):
                names = dict(self.synced)
                for i in subset:
                    _put(names, *self.pending[i])
                yield {
                    name: _content(node, keeps_content)
                    for name, node in names.items()
                    if all(str(parent) in names for parent in _parents(name, self.synced))
                }


def _put(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _content(node: Node, is_kept: bool) -> bytes | None:
    if node.content is None:
        return None
    return bytes(node.content) if is_kept else node.synced


def _parents(name: str, known: dict[str, Node]) -> list[Path]:
    """The directories above a name, up to the folder of the disk."""
    root = min(known, key=len)
    return [parent for parent in Path(name).parents if str(parent).startswith(root)]


def restore(state: dict[str, bytes | None], folder: Path, to: Path) -> None:
    """Write a state of the disk of `folder` to another folder."""
    for name, content in sorted(state.items()):
        path = to / Path(name).relative_to(folder)
        if content is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)
