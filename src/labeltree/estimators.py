"""What classifiers of several kinds have in common beside training and answers."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

_Model = TypeVar("_Model", bound="StoredForest")


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """A classifier to scikit-learn: of sparse rows, and of several labels for each."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


class StoredForest:
    """`save` and `load`, for models of label trees that do not learn on."""

    def save(self, path: str | os.PathLike[str], *, weights: str | None = None) -> None:
        """Write the model to a directory, atomically: a reader sees the old model or the new one.

        Parameters
        ----------
        path : path of a directory
            Made if it is not there. A directory with anything but a model in it is refused.
        weights : {"float32", "bfloat16", "int8"}, optional
            How weights are stored; the smaller ones cost a little precision. By default as they are: float32 after
            training.
        """
        from labeltree.model_file import save_classifier

        model: Any = self
        save_classifier(model, path, weights=weights)

    @classmethod
    def load(cls: type[_Model], path: str | os.PathLike[str], *, verify: bool = False) -> _Model:
        """Open a saved model. Its weights are mapped, not read: opening takes milliseconds.

        Parameters
        ----------
        path : path of a directory
        verify : bool
            Read everything and compare it with the checksums.
        """
        from labeltree.model_file import load_classifier

        kind: Any = cls
        model: _Model = load_classifier(kind, path, verify=verify)
        return model
