"""Labels in bands of how many training rows they had: from head to tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.label_sets import IntArray, LabelSets


@dataclass(frozen=True)
class FrequencyBand:
    """The labels that had about so many training rows, and how well they are found among the best k.

    Attributes
    ----------
    least, most : int
        So many training rows they had.
    n_labels : int
        The labels of the model in this band.
    n_true, n_predicted, n_hits : int
        Pairs of a held-out row and a label of the band: the true ones, those among the best k, and both.
    """

    least: int
    most: int
    n_labels: int
    n_true: int
    n_predicted: int
    n_hits: int

    @property
    def name(self) -> str:
        if self.most == 0:
            return "none"
        return f"{self.least:,}–{self.most:,}"

    @property
    def short_name(self) -> str:
        """The least of the band, for a narrow place: 3k for 3,000."""
        return f"{self.least}" if self.least < 1000 else f"{self.least // 1000:,}k"

    @property
    def precision(self) -> float:
        """The share of predictions of these labels that are right; NaN without any."""
        return self.n_hits / self.n_predicted if self.n_predicted else float("nan")

    @property
    def recall(self) -> float:
        """The share of true pairs with these labels that are found; NaN without any."""
        return self.n_hits / self.n_true if self.n_true else float("nan")


def frequency_bands(
    label_counts: NDArray[np.int64], truth: LabelSets, ranking: NDArray[np.int32]
) -> list[FrequencyBand]:
    """Judge the best k labels of every row band by band, from the most frequent labels to those without any row.

    Parameters
    ----------
    label_counts : array of shape (n_labels,)
        The training rows of each label.
    truth : LabelSets
    ranking : array of shape (n_rows, k)
        Positions of labels, -1 for none.

    Returns
    -------
    list of FrequencyBand
        Those with any label: 3 to 9 training rows, 10 to 29, 30 to 99 and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree.metrics.label_sets import LabelSets
    >>> truth = LabelSets.from_pairs(np.array([0, 1, 1]), np.array([0, 0, 1]), n_rows=2, n_labels=2)
    >>> bands = frequency_bands(np.array([40, 1]), truth, np.array([[0], [0]]))
    >>> [(band.name, band.precision, band.recall) for band in bands]
    [('30–99', 1.0, 1.0), ('1–2', nan, 0.0)]
    """
    edges = _edges(int(label_counts.max(initial=0)))
    band = np.searchsorted(edges, label_counts, side="right") - 1
    n_bands = len(edges) - 1
    hits = truth.contains(np.arange(truth.n_rows)[:, None], ranking.astype(np.int64))
    n_labels = np.bincount(band, minlength=n_bands)
    n_true = np.bincount(band[truth.labels], minlength=n_bands)
    n_predicted = np.bincount(band[ranking[ranking >= 0]], minlength=n_bands)
    n_hits = np.bincount(band[ranking[hits]], minlength=n_bands)
    return [
        FrequencyBand(
            int(edges[i]),
            int(edges[i + 1]) - 1,
            int(n_labels[i]),
            int(n_true[i]),
            int(n_predicted[i]),
            int(n_hits[i]),
        )
        for i in reversed(range(n_bands))
        if n_labels[i] > 0
    ]


def _edges(most: int) -> IntArray:
    """0, 1, 3, 10, 30, 100 and so on, until the last is more than the most frequent label has."""
    edges = [0, 1]
    while edges[-1] <= most:
        edges.append(edges[-1] * 3 if str(edges[-1])[0] == "1" else edges[-1] // 3 * 10)
    return np.array(edges, dtype=np.int64)
