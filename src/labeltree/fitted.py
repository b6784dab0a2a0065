"""`Fitted`: the attributes of a trained model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree import scikit_learn
from labeltree.decisions.decision import HALF, Decision
from labeltree.model.forest import Search
from labeltree.model.model import Model
from labeltree.validation import n_threads

_Fitted = TypeVar("_Fitted", bound="Fitted")


class Fitted:
    """What a trained model knows. A subclass has the parameter `n_jobs`, and its trained model in `_model`."""

    n_jobs: int | None
    _model: Any

    @property
    def model_(self) -> Model:
        """The trained model: its forest, labels, features and decision."""
        model: Model | None = vars(self).get("_model")
        if model is None:
            raise scikit_learn.NotFittedError(
                f"this {type(self).__name__} is not fitted yet: call 'fit' before asking it, or load a saved model"
            )
        return model

    def adopt(self: _Fitted, model: Any) -> _Fitted:
        """Take over a trained model, as if `fit` had made it; return this object."""
        self._model = model
        return self

    def make_search(self, k: int = 1, **wanted: Any) -> Search:
        """Return a `Search` for k labels with the options that the parameters set; `wanted` has other options."""
        return Search(k, n_threads=n_threads(self.n_jobs), **wanted)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of their positions."""
        model = self.model_
        with model.reading():
            return model.label_index.classes

    @property
    def label_kind_(self) -> str:
        """The form of the y that the model was trained on."""
        return self.model_.label_kind

    @property
    def label_counts_(self) -> NDArray[np.int64]:
        """The number of training rows with each label."""
        model = self.model_
        with model.reading():
            return model.label_counts

    @property
    def n_samples_fit_(self) -> int:
        """The number of training rows."""
        return self.model_.n_samples_fit

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return self.model_.n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, if X was a frame."""
        names = self.model_.feature_names
        if names is None:
            raise AttributeError(f"the features of this {type(self).__name__} have no names")
        return names

    @property
    def label_names_(self) -> Mapping[Any, str] | None:
        """Readable names by label, for labels that are codes or URIs; None if there are none.

        Set it to a mapping from label to name, such as that of `labeltree.labels.read_label_names`. Names of labels
        that the model does not have are ignored. The names are saved with the model. Training drops them.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> model = LabelTreeClassifier().fit([[1.0, 0.0], [0.0, 1.0]], [["T1"], ["T2"]])
        >>> model.label_names_ = {"T1": "cats", "T2": "dogs", "T3": "birds"}
        >>> best = model.predict_topk([[1.0, 0.0]], k=1).labels[0, 0]
        >>> best, model.label_names_[best]
        ('T1', 'cats')
        """
        names: Any = self.model_.label_names
        return None if names is None else MappingProxyType(names)

    @label_names_.setter
    def label_names_(self, names: Mapping[Any, str] | None) -> None:
        self._model = self.model_.naming(names)

    @property
    def decision_(self) -> Decision:
        """Which labels `predict` returns."""
        model = self.model_
        with model.reading():
            return model.decision

    @decision_.setter
    def decision_(self, decision: Decision) -> None:
        self._model = self.model_.deciding(decision)

    @decision_.deleter
    def decision_(self) -> None:
        self.decision_ = HALF
