"""Getting a data set of the repository onto this machine."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from labeltree.data.atomic_file import sync_folder
from labeltree.errors import ChecksumError, DownloadError
from labeltree.progress import Phases, phases

from .cache_folder import cache_folder, only_writer
from .catalogue import RepositorySet, find
from .checksums import Checksum, Checksums
from .download import download
from .unpacking import TEST, TRAIN, unpack

_PAGE = "http://manikvarma.org/downloads/XC/XMLRepository.html"

_NO_SPACE = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_ACCESS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR}


class RepositoryFiles(NamedTuple):
    """The files of a data set, in the text format of the repository."""

    train: Path
    test: Path


def fetch(
    name: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    mirror: str | None = None,
    redownload: bool = False,
    verify: bool = True,
    timeout: float = 60.0,
    verbose: int = 0,
) -> RepositoryFiles:
    """Fetch a data set of the Extreme Classification Repository, once, and return where its files are.

    The checksums of what comes the first time are written beside the files and compared ever after. A download that was
    cut off goes on where it was; two processes that want the same set fetch it once.

    Parameters
    ----------
    name : str
        One of :func:`names`, in upper or lower case.
    cache : str or path-like, optional
        The folder of all data sets; each has its own in there. By default what the environment variable
        ``LABELTREE_DATA_HOME`` says, else ``labeltree`` in ``XDG_CACHE_HOME`` or in ``~/.cache``.
    mirror : str, optional
        An address under which the archives lie as ``NAME.zip``; nowhere else is looked then. By default what the
        environment variable ``LABELTREE_DATA_MIRROR`` says, else the addresses of the repository.
    redownload : bool, default=False
        Whether to fetch it even if it is there, for instance because it is damaged. What comes must be what came the
        first time.
    verify : bool, default=True
        Whether to compare the checksums of files that are there already; else only their sizes.
    timeout : float, default=60
        Seconds without a byte after which a connection is given up, and tried again.
    verbose : int, default=0
        Above 0 progress is shown, at 0 if standard error is a terminal, below 0 never.

    Returns
    -------
    RepositoryFiles
        The paths ``train`` and ``test``.

    Raises
    ------
    ValueError
        When there is no such data set; the message lists all.
    DownloadError
        When it cannot be had: no network, a server that refuses, a web page or something else instead of the data set,
        no room or no right to write.
    ChecksumError
        When a file is not what it was when it was fetched.

    Examples
    --------
    >>> from labeltree import datasets
    >>> datasets.fetch("eurlex")
    Traceback (most recent call last):
        ...
    ValueError: expected one of the data sets eurlex-4k, ..., got 'eurlex'; did you mean 'eurlex-4k'?
    """
    data_set = find(name)
    if not timeout > 0:
        raise ValueError(f"expected timeout to be above 0, got {timeout!r}")
    addresses = _addresses(data_set, mirror)
    folder = cache_folder(cache) / data_set.name
    if not redownload and (files := fetched(name, cache=cache, verify=verify)):
        return files
    with _told_clearly(folder), only_writer(folder), phases(verbose) as shown:
        # Somebody else may have fetched it while this process waited.
        if redownload or not fetched(name, cache=cache, verify=verify):
            _fetch(data_set, folder, addresses, timeout, shown)
    return RepositoryFiles(folder / TRAIN, folder / TEST)


def fetched(
    name: str, *, cache: str | os.PathLike[str] | None = None, verify: bool = True
) -> RepositoryFiles | None:
    """Return where the files of a data set are, or None if it has not been fetched; never asks the network.

    Parameters
    ----------
    name, cache, verify
        As of :func:`fetch`.

    Returns
    -------
    RepositoryFiles or None

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(datasets.fetched("eurlex-4k", cache=folder))
    None
    """
    folder = cache_folder(cache) / find(name).name
    known = Checksums.read(folder)
    if known is None or not known.are_right(folder, verify=verify):
        return None
    return RepositoryFiles(folder / TRAIN, folder / TEST)


def _addresses(data_set: RepositorySet, mirror: str | None) -> tuple[str, ...]:
    base = os.environ.get("LABELTREE_DATA_MIRROR", "") if mirror is None else mirror
    if not base:
        return data_set.addresses
    if urlsplit(base).scheme not in ("http", "https"):
        raise ValueError(
            f"expected mirror to be an address that begins with http:// or https://, got {base!r}"
        )
    return (f"{base.rstrip('/')}/{data_set.name}.zip",)


def _fetch(
    data_set: RepositorySet, folder: Path, addresses: tuple[str, ...], timeout: float, shown: Phases
) -> None:
    """Fetch the archive from the first address that has it, and unpack it."""
    known = Checksums.read(folder)
    unpacked = folder / ".unpacked"
    if known is not None and known.address in addresses:
        # First, as others may have another edition.
        addresses = (known.address, *(address for address in addresses if address != known.address))
    failures = []
    for address in addresses:
        # One for each address, so that what has come from one is not lost by trying another first.
        archive = folder / f".archive-{hashlib.sha256(address.encode()).hexdigest()[:12]}"
        try:
            if not archive.exists():  # else it came, but could not be unpacked for want of room
                report = shown.follow(f"fetching {data_set.title}")
                download(address, archive, timeout=timeout, report=report)
            shutil.rmtree(unpacked, ignore_errors=True)
            unpacked.mkdir()
            unpack(archive, data_set, unpacked)
            new = Checksums(
                address,
                Checksum.of(archive),
                {name: Checksum.of(unpacked / name) for name in (TRAIN, TEST)},
            )
            if known is not None:
                known.compare(new, folder)
            for name in (TEST, TRAIN):
                _move(unpacked / name, folder / name)
            sync_folder(folder)
            if known is None:  # what came the first time stays the measure
                new.write(folder)
            for remainder in folder.glob(".archive-*"):
                remainder.unlink()
            return
        except ChecksumError:
            archive.unlink()
            raise
        except DownloadError as error:
            archive.unlink(missing_ok=True)
            failures.append(str(error))
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
    raise DownloadError(
        f"{data_set.title} cannot be fetched: {'; '.join(failures)}. Try again later, or fetch it from {_PAGE} by "
        f"hand and name a mirror that has it as {data_set.name}.zip"
    )


def _move(source: Path, target: Path) -> None:
    """Give a file its name, once it is safely on disk."""
    with open(source, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(source, target)


@contextmanager
def _told_clearly(folder: Path) -> Iterator[None]:
    """What the system says of the cache, with what can be done about it."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            advice = "make room and try again, it will go on from here, or"
        elif error.errno in _NO_ACCESS:
            advice = "be allowed to write there, or"
        else:
            raise
        raise DownloadError(
            f"{folder}: {error.strerror}: {advice} name another folder as cache or in the environment variable "
            f"LABELTREE_DATA_HOME"
        ) from error
