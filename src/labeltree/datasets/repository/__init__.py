"""The data sets of the Extreme Classification Repository, by name."""

from .catalogue import CATALOGUE, RepositorySet, names
from .data_set import LabelledRows, RepositoryData, load
from .fetching import RepositoryFiles, fetch, fetched

__all__ = [
    "CATALOGUE",
    "LabelledRows",
    "RepositoryData",
    "RepositoryFiles",
    "RepositorySet",
    "fetch",
    "fetched",
    "load",
    "names",
]
