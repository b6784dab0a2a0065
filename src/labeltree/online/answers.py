"""What an online classifier can be asked, also while it learns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labeltree import _native
from labeltree.decisions.decision import HALF, Decision
from labeltree.labels.names import LabelNames
from labeltree.labels.reading import LabelKind
from labeltree.model.explanation import Contribution, Step
from labeltree.online.freezing import shape_of
from labeltree.online.growing_forest import GrowingForest
from labeltree.online.growing_model import GrowingModel
from labeltree.prediction import LabelTreePredictor
from labeltree.trees import LabelTree

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _reading(method: _Method) -> _Method:
    """A question that sees the model as it is between two examples, whoever learns meanwhile."""

    @functools.wraps(method)
    def locked(self: OnlinePredictor, *arguments: Any, **options: Any) -> Any:
        self._check_trained()
        with self._model.lock.reading():
            return method(self, *arguments, **options)

    return locked  # type: ignore[return-value]


class OnlinePredictor(LabelTreePredictor):
    """The questions, answered from a tree that may grow meanwhile."""

    missing_estimates = "path"  # there is one tree, which misses nothing
    _model: GrowingModel

    predict_topk = _reading(LabelTreePredictor.predict_topk)
    predict_proba = _reading(LabelTreePredictor.predict_proba)
    predict = _reading(LabelTreePredictor.predict)
    predict_pairs = _reading(LabelTreePredictor.predict_pairs)
    iter_labels = _reading(LabelTreePredictor.iter_labels)
    explain = _reading(LabelTreePredictor.explain)
    _scored_pairs = _reading(LabelTreePredictor._scored_pairs)

    @property
    def decision_(self) -> Decision:
        """What `predict` gives; labels that came later than the decision have the median of the thresholds."""
        decision, labels = self.__dict__.get("_decided_for", (HALF, None))
        if labels is not None and labels is not self.classes_:
            self.decision_ = decision = decision.for_labels(labels, self.classes_)
        return cast("Decision", decision)

    @decision_.setter
    def decision_(self, decision: Decision) -> None:
        self._decided_for = decision, self.classes_

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The labels so far."""
        return self._learned().labels.classes

    @property
    def label_kind_(self) -> LabelKind:  # type: ignore[override]
        """The form of y."""
        kind = self._learned().labels.kind
        assert kind is not None
        return kind

    @property
    def label_counts_(self) -> NDArray[np.int64]:  # type: ignore[override]
        """How many examples had each label."""
        model = self._learned()
        counts = np.zeros(len(model.labels.classes), dtype=np.int64)
        counts[model.labels.position] = model.tree.label_counts
        return counts

    @property
    def n_examples_(self) -> int:
        """How many examples were learned."""
        return int(self._learned().tree.n_examples)

    @property
    def n_labels_(self) -> int:
        """How many labels the examples had."""
        return len(self._learned().labels)

    @property
    def named_features_(self) -> bool:
        """Whether features have names: rows are dictionaries."""
        return self._learned().features.has_names

    @property
    def stream_start_(self) -> int:
        """How many of the examples were learned before the stream at hand began."""
        return self._learned().stream_start

    @stream_start_.setter
    def stream_start_(self, n_examples: int) -> None:
        self._learned().stream_start = n_examples

    @property
    def n_samples_fit_(self) -> int:  # type: ignore[override]
        """The same, by the name that other classifiers have for it."""
        return self.n_examples_

    @property
    def counts_(self) -> dict[str, int]:
        """What was done so far."""
        return dict(self._learned().tree.counts)

    @property
    def memory_(self) -> dict[str, int]:
        """Bytes in use."""
        return self._learned().memory()

    @property
    def tree_(self) -> LabelTree:
        """The tree as it is now."""
        model = self._learned()
        with model.lock.reading():
            return shape_of(model)

    @property
    def trees_(self) -> list[LabelTree]:
        """The tree as it is now, as a list of one."""
        return [self.tree_]

    def _learned(self) -> GrowingModel:
        model: GrowingModel | None = self.__dict__.get("_model")
        if model is None:  # so that hasattr says no
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _check_trained(self) -> None:
        check_is_fitted(self)

    @property
    def _is_one_tree(self) -> bool:
        return True

    @property
    def _has_node_estimators(self) -> bool:
        return False

    def _weights_of_trees(self) -> list[float]:
        return [1.0]

    def _features(self, X: Any) -> _native.FeatureMatrix:
        if isinstance(X, _native.FeatureMatrix):  # whoever made it knows what this model takes
            return X
        self._check_trained()
        model = self._model
        return model.features.read(self, X, normalize=model.settings.normalize, learning=False).matrix

    def _label_names(self) -> LabelNames:
        return self._learned().labels.names

    def _forest(self) -> Any:
        model = self._learned()
        return GrowingForest(model.tree, model.labels.position, len(model.labels.classes))

    def _enumeration(self, features: _native.FeatureMatrix, allowed: NDArray[np.uint8] | None) -> Any:
        return self._forest().enumerate(features, self._search(1, allowed=allowed))

    def _paths(
        self,
        features: _native.FeatureMatrix,
        index: int,
        n_features: int,
        feature_names: Sequence[str] | None,
    ) -> list[list[Step]]:
        model = self._learned()
        number = self._forest().number_of(index)
        if number < 0:
            raise ValueError(
                f"no example so far had the label {self.classes_[index]!r}: there is nothing to explain"
            )
        names = feature_names if feature_names is not None else model.features.names or None
        indices, values = (array.tolist() for array in features.row(0))
        steps, so_far = [], 1.0
        for node, n_labels, score, probability, bias, weights in model.tree.explain(
            features, 0, number, self._normalizes_siblings
        ):
            so_far *= probability
            known = [
                Contribution(feature if names is None else names[feature], value, weight)
                for feature, value, weight in zip(indices, values, weights.tolist(), strict=True)
                if weight != 0
            ]
            known.sort(key=lambda contribution: -abs(contribution.amount))
            steps.append(Step(node, n_labels, score, probability, so_far, bias, tuple(known[:n_features])))
        return [steps]
