"""Data sets: the Tate catalogue, those of the Extreme Classification Repository, and synthetic ones."""

from labeltree.errors import ChecksumError, DownloadError

from .extreme import ExtremeMatrices, make_extreme, write_extreme
from .repository.catalogue import names
from .repository.data_set import RepositoryData, load
from .repository.fetching import RepositoryFiles, fetch, fetched
from .tate import TateCatalogue, TateMatrices, load_tate

__all__ = [
    "ChecksumError",
    "DownloadError",
    "ExtremeMatrices",
    "RepositoryData",
    "RepositoryFiles",
    "TateCatalogue",
    "TateMatrices",
    "fetch",
    "fetched",
    "load",
    "load_tate",
    "make_extreme",
    "names",
    "write_extreme",
]
