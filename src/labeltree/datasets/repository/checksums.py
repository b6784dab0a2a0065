"""What came the first time: the checksums of a data set, in a file beside it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from labeltree.data.atomic_file import open_atomic
from labeltree.errors import ChecksumError

from .unpacking import TEST, TRAIN

FILE_NAME = "checksums.json"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class Checksum:
    """The size and the SHA-256 of a file."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Checksum:
        digest = hashlib.sha256()
        size = 0
        with open(path, "rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
                size += len(block)
        return cls(size, digest.hexdigest())


@dataclass(frozen=True)
class Checksums:
    """What is known of a data set since it was fetched.

    Attributes
    ----------
    address : str
        Where it came from.
    archive : Checksum
        Of what came.
    files : dict of str to Checksum
        Of ``train.txt`` and ``test.txt``, which were made of it.
    """

    address: str
    archive: Checksum
    files: dict[str, Checksum]

    @classmethod
    def read(cls, folder: Path) -> Checksums | None:
        """Those of a folder, or None if nothing has been fetched into it."""
        path = folder / FILE_NAME
        try:
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError:
            text = ""
        try:
            record = json.loads(text)
            files = {name: _checksum(record["files"][name]) for name in (TRAIN, TEST)}
            return cls(_text(record["address"]), _checksum(record["archive"]), files)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ChecksumError(
                f"{path} is damaged, so nobody can tell whether the files beside it are what they were: remove the "
                f"folder and fetch the data set again"
            ) from None

    def write(self, folder: Path) -> None:
        with open_atomic(folder / FILE_NAME) as file:
            file.write(f"{json.dumps(asdict(self), indent=2)}\n".encode())

    def are_right(self, folder: Path, *, verify: bool) -> bool:
        """Whether all files are there; an error if one is not what it was. Without `verify` only sizes are compared."""
        for name, known in self.files.items():
            path = folder / name
            if not path.exists():
                return False
            size = path.stat().st_size
            found = Checksum.of(path) if verify and size == known.bytes else Checksum(size, known.sha256)
            if found != known:
                raise ChecksumError(
                    f"{path} is not what was fetched: {_difference(known, found)}. To fetch it again say "
                    f"redownload=True, or 'labeltree data fetch {folder.name} --redownload'"
                )
        return True

    def compare(self, new: Checksums, folder: Path) -> None:
        """Raise an error if something else came than the first time."""
        for name, known in self.files.items():
            found = new.files[name]
            if found != known:
                raise ChecksumError(
                    f"{name} from {new.address} is not what came the first time, from {self.address}: "
                    f"{_difference(known, found)}. Nothing was replaced; if you trust the new one, remove {folder} "
                    f"and fetch the data set again"
                )


def _difference(known: Checksum, found: Checksum) -> str:
    if known.bytes != found.bytes:
        return f"it has {found.bytes:,} bytes and had {known.bytes:,}"
    return f"its SHA-256 is {found.sha256[:12]}… and was {known.sha256[:12]}…"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a text")
    return value


def _checksum(record: dict[str, object]) -> Checksum:
    size, digest = record["bytes"], _text(record["sha256"])
    if not isinstance(size, int) or re.fullmatch("[0-9a-f]{64}", digest) is None:
        raise ValueError("expected a size and a SHA-256")
    return Checksum(size, digest)
