"""The checksums of a data set, saved beside its files when it is first fetched."""

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

    def __post_init__(self) -> None:
        if not isinstance(self.bytes, int) or re.fullmatch("[0-9a-f]{64}", self.sha256) is None:
            raise ValueError("expected a size and a SHA-256")

    @classmethod
    def of(cls, path: Path) -> Checksum:
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
            return cls(file.tell(), digest.hexdigest())

    def difference(self, found: Checksum) -> str:
        """Describe how `found` differs from this checksum."""
        if self.bytes != found.bytes:
            return f"it has {found.bytes:,} bytes, expected {self.bytes:,}"
        return f"its SHA-256 is {found.sha256[:12]}…, expected {self.sha256[:12]}…"


@dataclass(frozen=True)
class Checksums:
    """Checksums of a data set from its first download.

    Attributes
    ----------
    address : str
        URL of the archive.
    archive : Checksum
        Checksum of the archive.
    files : dict of str to Checksum
        Checksums of ``train.txt`` and ``test.txt``.
    """

    address: str
    archive: Checksum
    files: dict[str, Checksum]

    @classmethod
    def read(cls, folder: Path) -> Checksums | None:
        """Return the checksums saved in a folder, or None if no data set has been fetched into it."""
        path = folder / FILE_NAME
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            files = {name: Checksum(**record["files"][name]) for name in (TRAIN, TEST)}
            return cls(str(record["address"]), Checksum(**record["archive"]), files)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ChecksumError(
                f"{path} is damaged, so the files beside it cannot be verified: remove the folder and fetch the data "
                f"set again"
            ) from None

    def write(self, folder: Path) -> None:
        with open_atomic(folder / FILE_NAME) as file:
            file.write(f"{json.dumps(asdict(self), indent=2)}\n".encode())

    def check(self, folder: Path, *, verify: bool) -> bool:
        """Return whether all files exist; raise `ChecksumError` if one has changed.

        Only sizes are compared unless `verify` is True.
        """
        for name, known in self.files.items():
            path = folder / name
            if not path.exists():
                return False
            size = path.stat().st_size
            found = Checksum.of(path) if verify and size == known.bytes else Checksum(size, known.sha256)
            if found != known:
                raise ChecksumError(
                    f"{path} has changed since it was fetched: {known.difference(found)}. To fetch it again, use "
                    f"redownload=True or 'labeltree data fetch {folder.name} --redownload'"
                )
        return True

    def compare(self, new: Checksums, folder: Path) -> None:
        """Raise `ChecksumError` if a new download differs from the first one."""
        for name, known in self.files.items():
            if new.files[name] != known:
                raise ChecksumError(
                    f"{name} from {new.address} differs from the first download, from {self.address}: "
                    f"{known.difference(new.files[name])}. Nothing was replaced. If you trust the new file, remove "
                    f"{folder} and fetch the data set again"
                )
