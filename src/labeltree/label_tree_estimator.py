"""`LabelTreeEstimator`: the base class of estimators that train label trees on batches."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from labeltree import scikit_learn
from labeltree.calibration.level_maps import Calibration
from labeltree.estimator import Estimator
from labeltree.mapped_rows import labels_given
from labeltree.model.block_weights import BlockWeights
from labeltree.model.forest import Search
from labeltree.model.model import Model
from labeltree.training.fit import fit
from labeltree.training.plan import Plan
from labeltree.trees import LabelTree
from labeltree.validation import check_tree_weight, n_threads, parameter_names

_Self = TypeVar("_Self", bound="LabelTreeEstimator")


class LabelTreeEstimator(Estimator):
    """An estimator of label trees. The class attributes are defaults for estimators without these parameters."""

    fit = fit

    search: str = "exact"
    beam: int = 1
    tree_weight: Sequence[float] | None = None
    missing_estimates: str = "path"
    normalize_siblings: bool = False

    @property
    def model_(self) -> Model:
        """The trained model: its forest, labels, features and decision. It uses the current parameters."""
        model = super().model_
        forest: Any = model.forest
        answering = forest.answering(self._link_of(model), self.weight_of_trees(forest.n_trees))
        maps, record = getattr(answering, "calibration", None), model.training
        link_is_set = getattr(self, "link", "auto") != "auto"
        # A link that is set takes the place of the maps of `fit`, until it is "auto" again.
        if link_is_set and maps is not None and maps.source == "training":
            answering, record = answering.calibrated(None), replace(record, maps=maps)
        elif not link_is_set and record.maps is not None:
            answering, record = answering.calibrated(record.maps), replace(record, maps=None)
        if answering is not forest:
            model = self._model = replace(model, forest=answering, training=record)
        return model

    def make_search(self, k: int = 1, **wanted: Any) -> Search:
        return Search(
            k,
            n_threads=n_threads(self.n_jobs),
            beam=int(self.beam) if self.search == "beam" else 0,
            missing_as_zero=self.missing_estimates == "zero",
            normalize_siblings=bool(self.normalize_siblings),
            **wanted,
        )

    def trained_link(self) -> str:
        """Return the link of the trained node classifiers: "auto" stays what it meant in training."""
        return self._link_of(super().model_)

    def _link_of(self, model: Model) -> str:
        kept = model.training.parameters
        link: str | None = kept.get("link") if getattr(self, "link", "") == "auto" else None
        return link or self.link_of(kept.get("loss", ""))

    @abstractmethod
    def link_of(self, loss: str) -> str:
        """Return the link for a loss; raise `ValueError` if the parameter `link` does not fit the loss."""

    @abstractmethod
    def make_plan(self) -> Plan:
        """Return the plan of the training."""

    def weight_of_trees(self, n_trees: int) -> list[float]:
        """Return the weight of each tree in the mean."""
        return [1.0] * n_trees if self.tree_weight is None else check_tree_weight(self.tree_weight, n_trees)

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def tree_(self) -> LabelTree:
        """The first tree."""
        return self.trees_[0]

    @property
    def trees_(self) -> list[LabelTree]:
        """All trees."""
        return list(self.model_.forest.trees)

    @property
    def weights_(self) -> list[BlockWeights]:
        """The trained weights of each tree."""
        forest: Any = self.model_.forest
        weights: list[BlockWeights] = forest.weights
        return weights

    @property
    def dense_features_(self) -> tuple[int, int]:
        """The range of dense features: the first of them and the one after the last."""
        return self.weights_[0].dense_features

    @property
    def calibration_(self) -> Calibration:
        """The maps that replace the link, made by `fit` or by `calibrate`."""
        forest: Any = self.model_.forest
        calibration: Calibration | None = getattr(forest, "calibration", None)
        if calibration is None:
            raise AttributeError(f"this {type(self).__name__} is not calibrated")
        return calibration

    @calibration_.setter
    def calibration_(self, calibration: Calibration | None) -> None:
        model = self.model_
        forest: Any = model.forest
        record = replace(model.training, maps=None)
        self._model = replace(model, forest=forest.calibrated(calibration), training=record)

    @calibration_.deleter
    def calibration_(self) -> None:
        self.calibration_ = None

    # -- calibrating, saving ---------------------------------------------------------------------------------------

    def calibrate(
        self: _Self, X: Any, y: Any = None, *, method: str = "isotonic", random_state: int = 0
    ) -> _Self:
        """Calibrate the probabilities on rows that the model was not trained on.

        For each level of each tree, a map from scores of nodes to probabilities is fitted. It replaces the link from
        then on, and is saved with the model. The maps are monotone: siblings keep their order. Calibrating a model
        again replaces its maps. A decision of `decide_for` is dropped, as its thresholds were made for other
        probabilities. `labeltree.calibration` has measures.

        Parameters
        ----------
        X, y
            Held-out examples, in any form that `fit` takes. Labels that the model does not know are ignored; a row
            with such labels only counts as a row without labels.
        method : {"isotonic", "platt"}
            "isotonic" fits any map that does not decrease, and fits best. "platt" fits a sigmoid, which needs fewer
            rows.
        random_state : int
            Seed of the sample of negative nodes, which is drawn if there are more than a million of them.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> model.calibrate(X, y, method="platt").calibration_.method
        'platt'
        """
        from labeltree.calibration.fitting import fit_calibration

        labels = labels_given(X, y)
        fitted = fit_calibration(self.model_, X, labels, method, random_state, self.make_search())
        self.calibration_ = fitted
        del self.decision_
        return self

    def save(self, path: str | os.PathLike[str], *, weights: str | None = None) -> None:
        """Write the model to a directory, atomically: a reader sees the old model or the new one.

        Parameters
        ----------
        path : path of a directory
            Made if it does not exist. A directory that holds anything but a model is refused.
        weights : {"float32", "bfloat16", "int8"}, optional
            The type of the stored weights. By default the type that they have: the saved model answers the same.
        """
        from labeltree.model_file import save

        save(self, path, weights=weights)

    def stored_parameters(self) -> dict[str, Any]:
        stored = {
            **super().stored_parameters(),
            "link": self.trained_link(),
            "n_trees": self.model_.forest.n_trees,
        }
        # A file says which type its weights have, and that is what a loaded model has as a parameter.
        names = parameter_names(type(self)) - {"weights"}
        return {name: value for name, value in stored.items() if name in names}

    def kept_parameters(self) -> Mapping[str, Any]:
        """Return the parameters that the trained weights depend on, the link by name; `fit` alone changes them."""
        loss = getattr(self, "loss", None)  # not every estimator has one
        learned = {} if loss is None else {"loss": loss, "link": self.link_of(loss)}
        return {"normalize": bool(self.normalize), **learned}

    def seeds(self, n_trees: int, n_before: int = 0) -> list[int]:
        """Return the seeds of trees. With an integer `random_state`, `n_before` seeds of earlier trees are skipped."""
        n_skipped = n_before if isinstance(self.random_state, Integral) else 0
        random = scikit_learn.check_random_state(self.random_state)
        seeds: list[int] = random.randint(np.iinfo(np.int32).max, size=n_skipped + n_trees).tolist()
        return seeds[n_skipped:]
