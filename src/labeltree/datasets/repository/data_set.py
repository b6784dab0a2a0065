"""A data set of the repository as matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy.sparse import csr_matrix

from labeltree.cached import cached_property
from labeltree.data import read_xmlc

from .catalogue import find
from .fetching import RepositoryFiles, fetch


class LabelledRows(NamedTuple):
    """Rows of features and their labels, both sparse matrices of float32."""

    X: csr_matrix
    y: csr_matrix


@dataclass(eq=False)
class RepositoryData:
    """A data set of the Extreme Classification Repository. Its files are read on first access.

    Attributes
    ----------
    name : str
        Name of the data set, one of `names`.
    title : str
        Name of the data set as the paper writes it.
    files : RepositoryFiles
        The paths of the files, ``files.train`` and ``files.test``.
    n_jobs : int or None
        Number of threads that read the files.
    """

    name: str
    title: str
    files: RepositoryFiles
    n_jobs: int | None = None

    @cached_property
    def train(self) -> LabelledRows:
        """Training rows."""
        return LabelledRows(*read_xmlc(self.files.train, header=True, n_jobs=self.n_jobs))

    @cached_property
    def test(self) -> LabelledRows:
        """Test rows."""
        return LabelledRows(*read_xmlc(self.files.test, header=True, n_jobs=self.n_jobs))


def load(name: str, *, n_jobs: int | None = None, **options: Any) -> RepositoryData:
    """Load a data set of the Extreme Classification Repository, and fetch it if it is not in the cache.

    Parameters
    ----------
    name : str
        Name of the data set, one of `names`, in upper or lower case.
    n_jobs : int, optional
        Number of threads that read the files, as in `labeltree.data.read_xmlc`.
    **options
        Options of `fetch`: `cache`, `mirror`, `redownload`, `verify`, `timeout` and `verbose`.

    Returns
    -------
    RepositoryData
        Its attributes ``train`` and ``test`` are pairs of X and y, read from the files on first access.

    Raises
    ------
    ValueError, DownloadError, ChecksumError
        As in `fetch`.

    Examples
    --------
    The first call downloads the data set::

        data = datasets.load("eurlex-4k")
        X, y = data.train  # 15,539 rows, 5,000 features, 3,993 labels

    An unknown name raises an error:

    >>> from labeltree import datasets
    >>> datasets.load("amazon-3k")
    Traceback (most recent call last):
        ...
    ValueError: expected one of the data sets eurlex-4k, ..., got 'amazon-3k'; did you mean 'amazon-3m' ...?
    """
    files = fetch(name, **options)
    data_set = find(name)
    return RepositoryData(data_set.name, data_set.title, files, n_jobs)
