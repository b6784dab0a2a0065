"""`RayPlace`: a directory of the program, or its copy on the node of a task."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from labeltree.engines.fingerprint import FileStamp, has_files
from labeltree.engines.protocol import changed_file
from labeltree.errors import ChecksumError

#: Bytes that travel at once, and the number of such chunks that a node asks for ahead.
CHUNK_BYTES = 1 << 26
_AHEAD = 2

#: The namespace of the actors that read files for other nodes.
NAMESPACE = "labeltree"


@dataclass(frozen=True)
class RayPlace:
    """A directory that nodes of a cluster use where it is, if they see it, or else copy.

    Attributes
    ----------
    directory : str
        Where nodes look for the files.
    source : str
        The directory on the machine of the program.
    files : tuple of FileStamp
    publisher : str
        The name of the actor that reads the files.
    cache_directory : str or None
        Where copies lie on other nodes; None for the directory of temporary files.
    """

    directory: str
    source: str
    files: tuple[FileStamp, ...]
    publisher: str
    cache_directory: str | None = None

    def path(self) -> Path:
        if has_files(self.directory, self.files):
            return Path(self.directory)
        return self._copy()

    def _copy(self) -> Path:
        from filelock import FileLock  # Ray needs it too

        name = hashlib.sha256(repr((self.source, self.files)).encode()).hexdigest()[:16]
        target = node_cache(self.publisher, self.cache_directory) / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One worker of the node copies, the others wait. The lock of a process that is killed is released.
        with FileLock(f"{target}.lock"):
            if not has_files(target, self.files):
                self._fetch(target)
        return target

    def _fetch(self, target: Path) -> None:
        import ray

        partial = target.with_name(f"{target.name}.partial")
        for unfinished in (partial, target):
            shutil.rmtree(unfinished, ignore_errors=True)
        publisher = ray.get_actor(self.publisher, namespace=NAMESPACE)
        try:
            partial.mkdir()
            for stamp in self.files:
                path = partial / stamp.name
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "wb") as file:
                    _copy_file(publisher, self.source, stamp, file)
                os.utime(path, ns=(stamp.mtime_ns, stamp.mtime_ns))
            partial.rename(target)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)  # it may have filled the disk
            n_bytes = sum(stamp.n_bytes for stamp in self.files)
            message = (
                f"cannot copy {self.source} ({n_bytes:,} bytes) to this node ({error.strerror or error}): choose "
                "a cache_directory with more room, or a directory that all machines see"
            )
            raise OSError(error.errno, message, str(partial)) from error


def _copy_file(publisher: Any, source: str, stamp: FileStamp, file: BinaryIO) -> None:
    import ray

    waiting: deque[Any] = deque()
    begins = deque(range(0, stamp.n_bytes, CHUNK_BYTES))
    while begins or waiting:
        while begins and len(waiting) < _AHEAD:
            waiting.append(publisher.chunk.remote(source, stamp, begins.popleft()))
        try:
            checksum, data = ray.get(waiting.popleft())
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error  # what the publisher has found wrong
        if zlib.crc32(data) != checksum:
            raise ChecksumError(f"{stamp.name} of {source} was damaged on its way to this node: try again")
        file.write(data)


def read_chunk(source: str, stamp: FileStamp, begin: int) -> tuple[int, Any]:
    """Return a part of a file as an array of bytes, after its checksum."""
    import numpy as np

    if not stamp.is_of(source):
        raise changed_file(source, stamp)
    n_bytes = min(CHUNK_BYTES, stamp.n_bytes - begin)
    data = np.fromfile(Path(source, stamp.name), dtype=np.uint8, count=n_bytes, offset=begin)
    return zlib.crc32(data.data), data


class Publisher:
    """The actor that reads files on the machine of the program, for nodes that do not see them."""

    def chunk(self, source: str, stamp: FileStamp, begin: int) -> tuple[int, Any]:
        return read_chunk(source, stamp, begin)


def node_cache(publisher: str, cache_directory: str | None) -> Path:
    """Return the directory of the copies of an engine on this node."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    return Path(cache_directory or tempfile.gettempdir(), publisher, node[:16])


def remove_node_cache(publisher: str, cache_directory: str | None) -> None:
    """Remove the copies of an engine on this machine, also those of nodes that have died."""
    shutil.rmtree(node_cache(publisher, cache_directory).parent, ignore_errors=True)
