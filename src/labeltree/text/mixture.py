"""The training of a mixture: a classifier and a linear model over the same labels, weighed on held-out texts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labeltree.labels.reading import read_labels
from labeltree.mixing import MixedModel, mix
from labeltree.model.model import TrainingRecord
from labeltree.text.text_learner import TextLearner
from labeltree.training.hold_out import set_aside
from labeltree.validation import check_same_rows, check_sample_weight

#: More held-out texts do not tell the weights better.
MOST_HELD_OUT = 5_000
#: Weights make this metric largest. It counts the whole ranking of the first labels, and needs no thresholds.
METRIC = "ndcg@5"


@dataclass(frozen=True)
class Mixture:
    """A mixture that is not trained yet.

    Attributes
    ----------
    linear : TextLearner
        Trained twice: without the held-out texts to choose weights, and then on all texts.
    main : TextLearner
        Trained once, without the held-out texts, because its training takes most of the time.
    holdout : float
        Share of the texts that are held out.
    refit : bool
        Train `main` again on all texts too.
    random_state : int, RandomState or None
        Draws the held-out texts.
    """

    linear: TextLearner
    main: TextLearner
    holdout: float
    refit: bool
    random_state: Any

    def fit(
        self,
        texts: list[Any],
        labels: Any,
        sample_weight: Any = None,
        *,
        label_names: Mapping[Any, str] | None = None,
    ) -> MixedModel:
        """Train on texts; return the mix. The linear model is its first member, and knows all texts."""
        started = time.perf_counter()
        rows = read_labels(labels)
        check_same_rows(len(texts), rows.n_rows)
        sample_weight = check_sample_weight(sample_weight, rows.n_rows)
        share = min(self.holdout, MOST_HELD_OUT / max(rows.n_rows, 1))
        rest, aside = set_aside(texts, rows, sample_weight, share, self.random_state)
        linear = self.linear.fit(*rest, label_names=label_names)
        main = self.main.fit(*rest, label_names=label_names)
        weights = mix([linear, main]).weigh_for(METRIC, aside.X, aside.y).weights_
        # The checkpoint of the first training does not belong to the second one.
        again = [learner.with_checkpoint_in("all-texts") for learner in (self.linear, self.main)]
        linear = again[0].fit(texts, rows, sample_weight, label_names=label_names)
        if self.refit:
            main = again[1].fit(texts, rows, sample_weight, label_names=label_names)
        mixed = mix([linear, main], weights)
        reports = [*linear.training_report_, *main.training_report_]
        seconds = {"training": time.perf_counter() - started}
        return mixed.adopt(replace(mixed.model_, training=TrainingRecord(reports, {}, seconds)))
