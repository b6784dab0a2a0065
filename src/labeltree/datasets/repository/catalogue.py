"""What the Extreme Classification Repository has: names, sizes, addresses, and the files in the archives.

The sizes are those that the paper lists and, of other sets, those of the repository's page. The repository keeps its
archives on Google Drive, where many of its old links are said to have stopped working: where one of the paper's
authors has put a copy, its address comes second.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

_DRIVE = "https://drive.google.com/uc?export=download&id="


@dataclass(frozen=True)
class Halves:
    """An archive with a file of training rows and one of test rows."""

    train: str
    test: str

    @property
    def members(self) -> tuple[str, ...]:
        return (self.train, self.test)


@dataclass(frozen=True)
class SplitRows:
    """An archive with all rows in one file, and the numbers of those to train and to test on in two others."""

    rows: str
    train_numbers: str
    test_numbers: str

    @property
    def members(self) -> tuple[str, ...]:
        return (self.rows, self.train_numbers, self.test_numbers)


@dataclass(frozen=True)
class RepositorySet:
    """A data set of the repository.

    Attributes
    ----------
    name : str
        In lower case, as people write it.
    title : str
        As the paper writes it.
    n_train, n_test, n_features, n_labels : int
        Its sizes.
    addresses : tuple of str
        Where it can be had, tried in this order.
    layouts : tuple of Halves or SplitRows
        What an archive may have in it. Folders do not matter: files are known by their names.
    """

    name: str
    title: str
    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    addresses: tuple[str, ...]
    layouts: tuple[Halves | SplitRows, ...]


def _halves(*prefixes: str) -> tuple[Halves, ...]:
    return tuple(Halves(f"{prefix}train.txt", f"{prefix}test.txt") for prefix in prefixes)


def _split(title: str) -> SplitRows:
    prefix = title.lower()
    return SplitRows(f"{title}_data.txt", f"{prefix}_trSplit.txt", f"{prefix}_tstSplit.txt")


def _drive(*identifiers: str) -> tuple[str, ...]:
    return tuple(_DRIVE + identifier for identifier in identifiers)


#: All sets; those of the paper in its order, then the small ones.
CATALOGUE: dict[str, RepositorySet] = {
    data_set.name: data_set
    for data_set in (
        RepositorySet(
            "eurlex-4k",
            "EURLex-4K",
            n_train=15_539,
            n_test=3_809,
            n_features=5_000,
            n_labels=3_993,
            addresses=_drive(
                "0B3lPMIHmG6vGU0VTR1pCejFpWjg&resourcekey=0-SurjZ4z_5Tr38jENzf2Iwg",
                "1xWW1UykQBTD2IorVn7V8XubJatQDScol",
            ),
            layouts=_halves("eurlex_"),
        ),
        RepositorySet(
            "amazoncat-13k",
            "AmazonCat-13K",
            n_train=1_186_239,
            n_test=306_782,
            n_features=203_882,
            n_labels=13_330,
            addresses=_drive("0B3lPMIHmG6vGa2tMbVJGdDNSMGc", "1WvBWF9hH5ZlFcpCRhp8wLVGwdeGZXKD2"),
            layouts=_halves("amazonCat_", ""),
        ),
        RepositorySet(
            "wiki10-31k",
            "Wiki10-31K",
            n_train=14_146,
            n_test=6_616,
            n_features=101_938,
            n_labels=30_938,
            addresses=_drive("0B3lPMIHmG6vGaDdOeGliWF9EOTA", "1uV-p682ggXQQTiKZyK5M6B0xJJk8_lJx"),
            layouts=_halves("wiki10_", ""),
        ),
        RepositorySet(
            "delicious-200k",
            "Delicious-200K",
            n_train=196_606,
            n_test=100_095,
            n_features=782_585,
            n_labels=205_443,
            addresses=_drive("0B3lPMIHmG6vGR3lBWWYyVlhDLWM", "18Tb595TuGyFW--nEYGfduwS5WvSbX-sX"),
            layouts=_halves("deliciousLarge_"),
        ),
        RepositorySet(
            "wikilshtc-325k",
            "WikiLSHTC-325K",
            n_train=1_778_351,
            n_test=587_084,
            n_features=1_617_899,
            n_labels=325_056,
            addresses=_drive("0B3lPMIHmG6vGSHE1SWx4TVRva3c", "1Y5xEJu-j3M7voyFV5Ouq9Wl3vyd9fus2"),
            layouts=_halves("wikiLSHTC_"),
        ),
        RepositorySet(
            "wikipedia-500k",
            "Wikipedia-500K",
            n_train=1_813_391,
            n_test=783_743,
            n_features=2_381_304,
            n_labels=501_070,
            addresses=_drive("0B3lPMIHmG6vGRmEzVDVkNjBMR3c", "1LkGdINF5coOfkm6J2xys3V1NMW7zz8U1"),
            layouts=_halves("WikipediaLarge-500K_"),
        ),
        RepositorySet(
            "amazon-670k",
            "Amazon-670K",
            n_train=490_449,
            n_test=153_025,
            n_features=135_909,
            n_labels=670_091,
            addresses=_drive("0B3lPMIHmG6vGdUJwRzltS1dvUVk", "1PV-wbKVv6Ng1K1XM1USqNxFhaQo2qfk6"),
            layouts=_halves("amazon_", ""),
        ),
        RepositorySet(
            "amazon-3m",
            "Amazon-3M",
            n_train=1_717_899,
            n_test=742_507,
            n_features=337_067,
            n_labels=2_812_281,
            addresses=_drive("0B3lPMIHmG6vGUEd4eTRxaWl3YkE", "1ork7yeAcliD9JQiRdEx4QknhMFHjVrku"),
            layouts=_halves("amazon-3M_", ""),
        ),
        RepositorySet(
            "amazoncat-14k",
            "AmazonCat-14K",
            n_train=4_398_050,
            n_test=1_099_725,
            n_features=597_540,
            n_labels=14_588,
            addresses=_drive("0B3lPMIHmG6vGaDFqU2E5U0dxS00", "19IhTX1_a4U5I2Q56VUkzq2jFBpwm2-n-"),
            layouts=_halves("amazonCat-14K_", ""),
        ),
        RepositorySet(
            "mediamill",
            "Mediamill",
            n_train=30_993,
            n_test=12_914,
            n_features=120,
            n_labels=101,
            addresses=_drive("0B3lPMIHmG6vGY3B4TXRmZnZBTkk", "1YDlU9GTYSoydU1UYTNT8BpPkRw1BCnFw"),
            layouts=(_split("Mediamill"), *_halves("mediamill_")),
        ),
        RepositorySet(
            "bibtex",
            "Bibtex",
            n_train=4_880,
            n_test=2_515,
            n_features=1_836,
            n_labels=159,
            addresses=_drive("0B3lPMIHmG6vGcy1xM2pJZ09MMGM"),
            layouts=(_split("Bibtex"),),
        ),
        RepositorySet(
            "delicious",
            "Delicious",
            n_train=12_920,
            n_test=3_185,
            n_features=500,
            n_labels=983,
            addresses=_drive("0B3lPMIHmG6vGdG1jZ19VS2NWRVU"),
            layouts=(_split("Delicious"),),
        ),
        RepositorySet(
            "rcv1-x",
            "RCV1-X",
            n_train=623_847,
            n_test=155_962,
            n_features=47_236,
            n_labels=2_456,
            addresses=_drive("0B3lPMIHmG6vGdnEzRWZWQWJMRnc", "1pdken_Di3PLcLlRbhHF4XIWp-CEiv9oQ"),
            layouts=_halves("rcv1x_"),
        ),
    )
}

#: Other names in use: what the repository or other packages have called a set.
_ALIASES = {
    "deliciouslarge-200k": "delicious-200k",
    "wikipedialarge-500k": "wikipedia-500k",
    "wiki-500k": "wikipedia-500k",
    "rcv1-2k": "rcv1-x",
}


def names() -> list[str]:
    """Return the names of the repository's data sets that :func:`load` knows.

    Examples
    --------
    >>> from labeltree import datasets
    >>> datasets.names()[:3]
    ['eurlex-4k', 'amazoncat-13k', 'wiki10-31k']
    """
    return list(CATALOGUE)


def find(name: str) -> RepositorySet:
    """The set of a name, in any case; an error with similar names when there is none."""
    if not isinstance(name, str):
        raise TypeError(f"expected the name of a data set, got {type(name).__name__}")
    wanted = name.strip().lower().replace("_", "-")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in CATALOGUE:
        return CATALOGUE[wanted]
    similar = difflib.get_close_matches(wanted, CATALOGUE, n=3, cutoff=0.6)
    guess = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
    raise ValueError(f"expected one of the data sets {', '.join(CATALOGUE)}, got {name!r}{guess}")
