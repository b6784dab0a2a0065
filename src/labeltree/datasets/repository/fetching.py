"""Fetches data sets of the repository into a cache folder."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from labeltree.data.atomic_file import sync_folder
from labeltree.errors import ChecksumError, DownloadError
from labeltree.progress import Phases, phases

from .cache_folder import cache_folder, locked
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
    """Fetch a data set of the Extreme Classification Repository, unless it is in the cache, and return its files.

    The checksums of the first download are saved beside the files, and all later reads and downloads are verified
    against them. An interrupted download is resumed. Processes that fetch the same data set at the same time download
    it once.

    Parameters
    ----------
    name : str
        Name of the data set, one of `names`, in upper or lower case.
    cache : str or path-like, optional
        Folder of all data sets; each data set has a folder in it. The default is the environment variable
        ``LABELTREE_DATA_HOME``, or else ``labeltree`` in ``XDG_CACHE_HOME`` or ``~/.cache``.
    mirror : str, optional
        Base URL of a mirror that has the archives as ``NAME.zip``. If set, no other URL is tried. The default is the
        environment variable ``LABELTREE_DATA_MIRROR``, or else the repository's own URLs.
    redownload : bool, default=False
        Whether to download the data set even if it is in the cache, for instance because its files are damaged. The
        new files must equal those of the first download.
    verify : bool, default=True
        Whether to verify the checksums of files in the cache. If False, only their sizes are verified.
    timeout : float, default=60
        Number of seconds without a byte after which a connection is closed and retried.
    verbose : int, default=0
        Whether to show progress: always if positive, never if negative, and if standard error is a terminal if 0.

    Returns
    -------
    RepositoryFiles
        The paths ``train`` and ``test``.

    Raises
    ------
    ValueError
        If there is no such data set; the message lists all names.
    DownloadError
        If the data set cannot be fetched: there is no network, the server refuses or sends something else, the disk
        is full or the folder cannot be written to.
    ChecksumError
        If a file differs from the first download.

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
    with _disk_errors_explained(folder), locked(folder), phases(verbose) as shown:
        # Another process may have fetched it in the meantime.
        if redownload or not fetched(name, cache=cache, verify=verify):
            _fetch(data_set, folder, addresses, timeout, shown)
    return RepositoryFiles(folder / TRAIN, folder / TEST)


def fetched(
    name: str, *, cache: str | os.PathLike[str] | None = None, verify: bool = True
) -> RepositoryFiles | None:
    """Return the files of a data set in the cache, or None if it has not been fetched. Never uses the network.

    Parameters
    ----------
    name, cache, verify
        As in `fetch`.

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
    if known is None or not known.check(folder, verify=verify):
        return None
    return RepositoryFiles(folder / TRAIN, folder / TEST)


def _addresses(data_set: RepositorySet, mirror: str | None) -> tuple[str, ...]:
    """Return the URLs to try: that of the mirror alone, if there is one."""
    base = os.environ.get("LABELTREE_DATA_MIRROR", "") if mirror is None else mirror
    if not base:
        return data_set.addresses
    if not base.lower().startswith(("http://", "https://")):
        raise ValueError(f"expected mirror to be a URL that begins with http:// or https://, got {base!r}")
    return (f"{base.rstrip('/')}/{data_set.name}.zip",)


def _fetch(
    data_set: RepositorySet, folder: Path, addresses: tuple[str, ...], timeout: float, shown: Phases
) -> None:
    """Download the archive from the first URL that works, and unpack it."""
    known = Checksums.read(folder)
    if known is not None:  # the first source comes first: others may have another version
        addresses = tuple(sorted(addresses, key=lambda address: address != known.address))
    failures = []
    for address in addresses:
        # One file per URL: trying another URL does not discard an incomplete download.
        archive = folder / f".archive-{hashlib.sha256(address.encode()).hexdigest()[:12]}"
        try:
            if not archive.exists():  # it exists if the disk was too full to unpack it
                report = shown.follow(f"fetching {data_set.title}")
                download(address, archive, timeout=timeout, report=report)
            _install(archive, data_set, folder, address, known)
            return
        except ChecksumError:
            archive.unlink()
            raise
        except DownloadError as error:
            archive.unlink(missing_ok=True)
            failures.append(str(error))
    raise DownloadError(
        f"{data_set.title} cannot be fetched: {'; '.join(failures)}. Try again later, or download it from {_PAGE} "
        f"and pass a mirror that has it as {data_set.name}.zip"
    )


def _install(
    archive: Path, data_set: RepositorySet, folder: Path, address: str, known: Checksums | None
) -> None:
    """Unpack an archive and move its files into place, if their checksums are the known ones."""
    unpacked = folder / ".unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)  # left by a process that was killed
    unpacked.mkdir()
    try:
        unpack(archive, data_set, unpacked)
        files = {name: Checksum.of(unpacked / name) for name in (TRAIN, TEST)}
        new = Checksums(address, Checksum.of(archive), files)
        if known is not None:
            known.compare(new, folder)
        for name in (TEST, TRAIN):
            with open(unpacked / name, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(unpacked / name, folder / name)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    sync_folder(folder)
    if known is None:  # the checksums of the first download remain
        new.write(folder)
    for remainder in folder.glob(".archive-*"):
        remainder.unlink()


@contextmanager
def _disk_errors_explained(folder: Path) -> Iterator[None]:
    """Turn a full disk or missing permissions into a `DownloadError` that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            advice = "free some space and try again to resume, or"
        elif error.errno in _NO_ACCESS:
            advice = "get permission to write there, or"
        else:
            raise
        raise DownloadError(
            f"{folder}: {error.strerror}: {advice} choose another folder with cache or the environment variable "
            f"LABELTREE_DATA_HOME"
        ) from error
