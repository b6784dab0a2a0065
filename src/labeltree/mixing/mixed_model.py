"""`MixedModel`: several models over the same labels that answer as one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree import scikit_learn
from labeltree.metrics.names import Metric
from labeltree.mixing.mixed_forest import Member, MixedForest
from labeltree.mixing.mixed_reader import MixedReader
from labeltree.model.forest import Features
from labeltree.model.model import Model, TrainingRecord
from labeltree.questions import Questions
from labeltree.wording import with_article

#: The maximum number of members. It bounds the time that a small model file can demand of `load`.
MAX_MEMBERS = 100


def mix(models: Sequence[Any], weights: Sequence[float] | None = None) -> MixedModel:
    """Return a model that answers with the weighted mean of the probabilities of trained models.

    Parameters
    ----------
    models : sequence of trained models of this library
        Two or more, at most 100, over the same set of labels: label trees, also with scikit-learn in their nodes,
        hierarchical softmax, one-vs-rest, FastXML, frozen online trees. Calibrated models stay calibrated. PfastreXML
        is refused, because its scores are not probabilities, and so are online models that are not frozen.
    weights : sequence of float, optional
        How much each model counts, 1 by default. `MixedModel.weigh_for` chooses weights.

    Examples
    --------
    >>> import labeltree
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
    >>> tree = labeltree.LabelTreeClassifier(random_state=0).fit(X, y)
    >>> flat = labeltree.OneVsRestClassifier(random_state=0).fit(X, y)
    >>> labeltree.mix([tree, flat]).predict_topk([[1.0, 0.0]], k=2).labels.tolist()
    [['cat', 'pet']]
    """
    return MixedModel(models, weights)


class MixedModel(Questions):
    """A mix of trained models, as `labeltree.mix` makes it. It has all questions, and no `fit`.

    Labels are in the order of the first model, and so are counts of labels.

    Parameters
    ----------
    models, weights
        As for `labeltree.mix`.
    n_jobs : int, optional
        The number of threads, as in scikit-learn: None is one, -1 is one per processor.

    Attributes
    ----------
    members_ : list
        The models, as they were when they were mixed: copies, which share their trained weights with the originals.
    weights_ : list of float
        How much each of them counts.
    classes_, label_counts_, n_samples_fit_, n_features_in_, feature_names_in_
        Those of the first model.
    label_names_ : mapping from label to str, or None
        Readable names of labels; those of the first model that has names.
    decision_ : Decision
        Which labels `predict` returns: labels of probability 0.5 or more, unless `decide_for` says otherwise.
    """

    def __init__(
        self, models: Sequence[Any], weights: Sequence[float] | None = None, n_jobs: int | None = None
    ) -> None:
        # Copies: whoever trains a member again, or sets its parameters, does not change what the mix says or saves.
        self._members = [copy(model) for model in check_members(models)]
        names = [model.model_.label_names for model in self._members]
        for model in self._members:
            model.adopt(model.model_.naming(None))  # the mix has the names
        self.n_jobs = n_jobs
        first = self._members[0].model_
        members = [_member(number, model, first) for number, model in enumerate(self._members, 1)]
        forest = MixedForest(members, check_weights(weights, len(members)))
        self._model = _MixedModel(
            forest,
            MixedReader(members),
            first.label_index,
            first.label_kind,
            first.label_counts,
            first.n_samples_fit,
            TrainingRecord(),
            label_names=next(filter(None, names), None),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {
            "models": self._members,
            "weights": self.weights_,
            "n_jobs": self.n_jobs,
            "decision": self.decision_,
            "label_names": self.model_.label_names,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        decision, label_names = state.pop("decision"), state.pop("label_names")
        MixedModel.__init__(self, **state)
        self.decision_ = decision
        self.label_names_ = label_names

    @property
    def members_(self) -> list[Any]:
        """The models, as they were when they were mixed."""
        return [copy(model) for model in self._members]

    @property
    def weights_(self) -> list[float]:
        """How much each model counts."""
        forest = self.model_.forest
        assert isinstance(forest, MixedForest)
        return list(forest.weights)

    def __repr__(self) -> str:
        names = ", ".join(type(model).__name__ for model in self._members)
        return f"MixedModel([{names}], weights={[round(weight, 4) for weight in self.weights_]})"

    def weigh_for(self, metric: str | Metric, X_valid: Any, y_valid: Any) -> MixedModel:
        """Choose the weights of the models so that a metric is largest on validation rows.

        The decision of `decide_for` is dropped, as its thresholds were made for other probabilities.

        Parameters
        ----------
        metric : str or object of `labeltree.metrics`
            As for `labeltree.metrics.get_metric`: "precision@5", "psprecision@3", "micro_f1" and others. For a metric
            that needs thresholds, the best threshold for each choice of weights counts.
        X_valid, y_valid
            Rows that no model was trained on, and their labels.

        Examples
        --------
        >>> import labeltree
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> tree = labeltree.LabelTreeClassifier(random_state=0).fit(X, y)
        >>> flat = labeltree.OneVsRestClassifier(random_state=0).fit(X, y)
        >>> labeltree.mix([tree, flat]).weigh_for("precision@1", X, y).weights_
        [1.0, 1.0]
        """
        from labeltree.mixing.weighing import best_weights

        chosen = best_weights(self.model_, metric, X_valid, y_valid, self.make_search())
        model = self.model_
        assert isinstance(model, _MixedModel)
        return self.adopt(model.weighed(chosen))


@dataclass(frozen=True, eq=False)
class _MixedModel(Model):
    """The model of a mix, which reads texts by its members."""

    @property
    def prefers_batches(self) -> bool:
        assert isinstance(self.reader, MixedReader)
        return self.reader.prefers_batches

    @property
    def takes_text(self) -> bool:
        assert isinstance(self.reader, MixedReader)
        return self.reader.takes_text

    @property
    def text_fields(self) -> tuple[str, ...]:
        assert isinstance(self.reader, MixedReader)
        return self.reader.text_fields

    def text_rows(self, texts: Any) -> Any:
        """Return the texts, which each member reads by itself."""
        return list(texts)

    def read_texts(self, texts: Any) -> Features:
        return self.read(list(texts))

    def weighed(self, weights: Sequence[float]) -> _MixedModel:
        """Return the mix with other weights, and without a decision."""
        assert isinstance(self.forest, MixedForest)
        return _MixedModel(
            MixedForest(self.forest.members, weights),
            self.reader,
            self.label_index,
            self.label_kind,
            self.label_counts,
            self.n_samples_fit,
            self.training,
            label_names=self.label_names,
        )


def check_number(n_members: int) -> None:
    """Raise `ValueError` unless a mix may have this number of members."""
    if n_members < 2:
        raise ValueError(f"a mix needs two models or more, got {n_members}")
    if n_members > MAX_MEMBERS:
        raise ValueError(f"a mix has at most {MAX_MEMBERS} models, got {n_members}")


def check_members(models: Sequence[Any]) -> list[Any]:
    """Return the models; raises `ValueError` unless they can be mixed."""
    members = [getattr(model, "classifier_", model) for model in models]  # a Tagger is its classifier
    check_number(len(members))
    for number, member in enumerate(members, 1):
        name = f"model {number}, {with_article(type(member).__name__)}"
        if not isinstance(member, Questions):
            raise ValueError(f"{name}, is not a model of this library: pass trained classifiers")
        if isinstance(member, MixedModel):
            raise ValueError(f"{name}, is a mix itself: mix its members_ instead")
        if not member.__sklearn_is_fitted__():
            raise scikit_learn.NotFittedError(
                f"{name}, is not fitted yet: call its 'fit' before mixing, or load a saved model"
            )
        if member.model_.learns:
            raise ValueError(f"{name}, goes on learning, and a mix does not: pass model.freeze()")
        if not member.model_.forest.gives_probabilities:
            raise ValueError(f"{name}, gives scores that are no probabilities: they cannot be averaged")
        if any(label != label for label in member.classes_.tolist()):
            raise ValueError(f"{name}, has the label nan, which is equal to no label of another model")
    first = set(members[0].classes_.tolist())
    for number, member in enumerate(members[1:], 2):
        other = set(member.classes_.tolist())
        if other != first:
            missing = next(iter(first - other), None)
            odd = missing if missing is not None else next(iter(other - first))
            raise ValueError(
                f"all models of a mix need the same labels, but model {number}, {with_article(type(member).__name__)}, "
                f"{'does not know' if missing is not None else 'also knows'} the label {odd!r}"
            )
    return members


def check_weights(weights: Sequence[float] | None, n_members: int) -> list[float]:
    """Return a finite weight of at least 0 for each member, not all 0."""
    if weights is None:
        return [1.0] * n_members
    given = np.asarray(weights, dtype=np.float64) if np.ndim(weights) == 1 else np.empty(0)
    if given.shape != (n_members,) or not (given >= 0).all() or not 0 < sum(given.tolist()) < np.inf:
        raise ValueError(
            f"weights must be {n_members} finite numbers of at least 0, one for each model and not all 0, "
            f"with a finite sum, got {weights!r}"
        )
    return [float(weight) for weight in given]


def _member(number: int, model: Any, first: Model) -> Member:
    position = model.model_.label_index.positions(first.label_index.classes.tolist())
    name = f"model {number}, {with_article(type(model).__name__)}"
    return Member(name, model.model_, model.make_search(), position)
