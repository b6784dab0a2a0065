"""Labels in bands by their number of training rows: from head to tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.label_sets import IntArray, LabelSets


@dataclass(frozen=True)
class FrequencyBand:
    """Labels with a similar number of training rows, and how often they are found among the best k.

    Attributes
    ----------
    least, most : int
        The range of the number of training rows of these labels.
    n_labels : int
        The number of labels of the model in this band.
    n_true, n_predicted, n_hits : int
        The number of pairs of a held-out row and a label of the band that are true, among the best k, and both.
    """

    least: int
    most: int
    n_labels: int
    n_true: int
    n_predicted: int
    n_hits: int

    @property
    def name(self) -> str:
        return f"{self.least:,}–{self.most:,}" if self.most else "none"

    @property
    def short_name(self) -> str:
        """The lower end of the band, short: 3k for 3,000."""
        return f"{self.least}" if self.least < 1000 else f"{self.least // 1000:,}k"

    @property
    def precision(self) -> float:
        """The share of predictions of these labels that are right; NaN if there are none."""
        return self.n_hits / self.n_predicted if self.n_predicted else float("nan")

    @property
    def recall(self) -> float:
        """The share of true pairs with these labels that are found; NaN if there are none."""
        return self.n_hits / self.n_true if self.n_true else float("nan")


def frequency_bands(
    label_counts: NDArray[np.int64], truth: LabelSets, ranking: NDArray[np.int32]
) -> list[FrequencyBand]:
    """Count true and predicted pairs by band, from the most frequent labels to labels without training rows.

    Parameters
    ----------
    label_counts : array of shape (n_labels,)
        The number of training rows of each label.
    truth : LabelSets
    ranking : array of shape (n_rows, k)
        Positions of labels, -1 for none.

    Returns
    -------
    list of FrequencyBand
        Bands that have a label: 1 to 2 training rows, 3 to 9, 10 to 29, 30 to 99 and so on.

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
    hits = truth.contains(np.arange(truth.n_rows)[:, None], ranking.astype(np.int64))
    parts = (band, band[truth.labels], band[ranking[ranking >= 0]], band[ranking[hits]])
    counts = [np.bincount(part, minlength=len(edges) - 1) for part in parts]
    rows = np.column_stack([edges[:-1], edges[1:] - 1, *counts]).tolist()
    found = [FrequencyBand(*row) for row in reversed(rows)]
    return [one for one in found if one.n_labels > 0]


def _edges(most: int) -> IntArray:
    """Return 0, 1, 3, 10, 30, 100 and so on, up to the first number above `most`."""
    edges = [0, 1]
    while edges[-1] <= most:
        edges.append(edges[-1] * 3 if str(edges[-1])[0] == "1" else edges[-1] // 3 * 10)
    return np.array(edges, dtype=np.int64)
