"""The data sets of the Extreme Classification Repository: names, sizes, URLs, and the files in their archives.

The sizes come from the paper or, for data sets that the paper does not use, from the repository's page. The
repository keeps its archives on Google Drive. Many of its old links may no longer work, so the copies made by one of
the paper's authors serve as a second source.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import NamedTuple

_DRIVE = "https://drive.google.com/uc?export=download&id="


class Halves(NamedTuple):
    """The files of an archive that has training rows and test rows in separate files."""

    train: str
    test: str


class SplitRows(NamedTuple):
    """The files of an archive that has all rows in one file and the row numbers of each part in two others."""

    rows: str
    train_numbers: str
    test_numbers: str


@dataclass(frozen=True)
class RepositorySet:
    """A data set of the repository.

    Attributes
    ----------
    title : str
        Name of the data set as the paper writes it.
    n_train, n_test, n_features, n_labels : int
        Numbers of training rows, test rows, features and labels.
    layouts : tuple of Halves or SplitRows
        Files that the archive may contain. Files are found by name, in any folder of the archive.
    addresses : tuple of str
        URLs of the archive, in the order in which they are tried.
    """

    title: str
    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    layouts: tuple[Halves | SplitRows, ...]
    addresses: tuple[str, ...]

    @property
    def name(self) -> str:
        """The title in lower case, the form that people type."""
        return self.title.lower()


def _halves(*prefixes: str) -> tuple[Halves, ...]:
    return tuple(Halves(f"{prefix}train.txt", f"{prefix}test.txt") for prefix in prefixes)


def _split(title: str) -> tuple[SplitRows]:
    prefix = title.lower()
    return (SplitRows(f"{title}_data.txt", f"{prefix}_trSplit.txt", f"{prefix}_tstSplit.txt"),)


#: Training rows, test rows, features, labels, and layouts. The paper's data sets come first, in its order.
_CONTENTS: dict[str, tuple[int, int, int, int, tuple[Halves | SplitRows, ...]]] = {
    "EURLex-4K": (15_539, 3_809, 5_000, 3_993, _halves("eurlex_")),
    "AmazonCat-13K": (1_186_239, 306_782, 203_882, 13_330, _halves("amazonCat_", "")),
    "Wiki10-31K": (14_146, 6_616, 101_938, 30_938, _halves("wiki10_", "")),
    "Delicious-200K": (196_606, 100_095, 782_585, 205_443, _halves("deliciousLarge_")),
    "WikiLSHTC-325K": (1_778_351, 587_084, 1_617_899, 325_056, _halves("wikiLSHTC_")),
    "Wikipedia-500K": (1_813_391, 783_743, 2_381_304, 501_070, _halves("WikipediaLarge-500K_")),
    "Amazon-670K": (490_449, 153_025, 135_909, 670_091, _halves("amazon_", "")),
    "Amazon-3M": (1_717_899, 742_507, 337_067, 2_812_281, _halves("amazon-3M_", "")),
    "AmazonCat-14K": (4_398_050, 1_099_725, 597_540, 14_588, _halves("amazonCat-14K_", "")),
    "Mediamill": (30_993, 12_914, 120, 101, _split("Mediamill") + _halves("mediamill_")),
    "Bibtex": (4_880, 2_515, 1_836, 159, _split("Bibtex")),
    "Delicious": (12_920, 3_185, 500, 983, _split("Delicious")),
    "RCV1-X": (623_847, 155_962, 47_236, 2_456, _halves("rcv1x_")),
}

#: Google Drive ids of each archive: the repository's own, then the copy of one of the paper's authors.
_DRIVE_IDS = {
    "EURLex-4K": (
        "0B3lPMIHmG6vGU0VTR1pCejFpWjg&resourcekey=0-SurjZ4z_5Tr38jENzf2Iwg",
        "1xWW1UykQBTD2IorVn7V8XubJatQDScol",
    ),
    "AmazonCat-13K": ("0B3lPMIHmG6vGa2tMbVJGdDNSMGc", "1WvBWF9hH5ZlFcpCRhp8wLVGwdeGZXKD2"),
    "Wiki10-31K": ("0B3lPMIHmG6vGaDdOeGliWF9EOTA", "1uV-p682ggXQQTiKZyK5M6B0xJJk8_lJx"),
    "Delicious-200K": ("0B3lPMIHmG6vGR3lBWWYyVlhDLWM", "18Tb595TuGyFW--nEYGfduwS5WvSbX-sX"),
    "WikiLSHTC-325K": ("0B3lPMIHmG6vGSHE1SWx4TVRva3c", "1Y5xEJu-j3M7voyFV5Ouq9Wl3vyd9fus2"),
    "Wikipedia-500K": ("0B3lPMIHmG6vGRmEzVDVkNjBMR3c", "1LkGdINF5coOfkm6J2xys3V1NMW7zz8U1"),
    "Amazon-670K": ("0B3lPMIHmG6vGdUJwRzltS1dvUVk", "1PV-wbKVv6Ng1K1XM1USqNxFhaQo2qfk6"),
    "Amazon-3M": ("0B3lPMIHmG6vGUEd4eTRxaWl3YkE", "1ork7yeAcliD9JQiRdEx4QknhMFHjVrku"),
    "AmazonCat-14K": ("0B3lPMIHmG6vGaDFqU2E5U0dxS00", "19IhTX1_a4U5I2Q56VUkzq2jFBpwm2-n-"),
    "Mediamill": ("0B3lPMIHmG6vGY3B4TXRmZnZBTkk", "1YDlU9GTYSoydU1UYTNT8BpPkRw1BCnFw"),
    "Bibtex": ("0B3lPMIHmG6vGcy1xM2pJZ09MMGM",),
    "Delicious": ("0B3lPMIHmG6vGdG1jZ19VS2NWRVU",),
    "RCV1-X": ("0B3lPMIHmG6vGdnEzRWZWQWJMRnc", "1pdken_Di3PLcLlRbhHF4XIWp-CEiv9oQ"),
}

#: All data sets by name.
CATALOGUE: dict[str, RepositorySet] = {
    title.lower(): RepositorySet(title, *contents, tuple(_DRIVE + id for id in _DRIVE_IDS[title]))
    for title, contents in _CONTENTS.items()
}

#: Other names that the repository or other packages use.
_ALIASES = {
    "deliciouslarge-200k": "delicious-200k",
    "wikipedialarge-500k": "wikipedia-500k",
    "wiki-500k": "wikipedia-500k",
    "rcv1-2k": "rcv1-x",
}


def names() -> list[str]:
    """Return the names of the repository's data sets that `load` knows.

    Examples
    --------
    >>> from labeltree import datasets
    >>> datasets.names()[:3]
    ['eurlex-4k', 'amazoncat-13k', 'wiki10-31k']
    """
    return list(CATALOGUE)


def find(name: str) -> RepositorySet:
    """Return the data set called `name`, in upper or lower case; raise `ValueError` with similar names otherwise."""
    if not isinstance(name, str):
        raise TypeError(f"expected the name of a data set, got {type(name).__name__}")
    wanted = name.strip().lower().replace("_", "-")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in CATALOGUE:
        return CATALOGUE[wanted]
    similar = difflib.get_close_matches(wanted, CATALOGUE, n=3, cutoff=0.6)
    guess = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
    raise ValueError(f"expected one of the data sets {', '.join(CATALOGUE)}, got {name!r}{guess}")
