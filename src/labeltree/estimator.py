"""`Estimator`: a classifier of scikit-learn's kind, which holds parameters and makes a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from labeltree import scikit_learn
from labeltree.decisions.decision import Tuning
from labeltree.decisions.online_f_measure import OFO
from labeltree.labels.reading import read_labels
from labeltree.mapped_rows import labels_given
from labeltree.metrics.names import Metric, get_metric
from labeltree.questions import Questions
from labeltree.training.hold_out import set_aside
from labeltree.training.workplace import Workplace, workplace
from labeltree.validation import Number, check_arguments

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from labeltree.progress import Phases
    from labeltree.text.vectorizer import TextVectorizer
    from labeltree.training.examples import Examples

_Self = TypeVar("_Self", bound="Estimator")


class Estimator(Questions, scikit_learn.ClassifierMixin, scikit_learn.BaseEstimator, ABC):
    """The base class of all classifiers: it has parameters and, after training, a model."""

    #: Whether answers are probabilities, which can be averaged with those of other models.
    can_be_mixed: ClassVar[bool] = True

    normalize: bool
    random_state: Any
    verbose: int

    @abstractmethod
    def check_parameters(self, training: bool = True) -> None:
        """Raise `ValueError` for an invalid parameter; ``training=False`` skips checks that only training needs."""

    @abstractmethod
    def fit(self: _Self, X: Any, y: Any, sample_weight: Any = None) -> _Self:
        """Train on the examples X with labels y, which may be left out if X is a store."""

    def open_workplace(self, examples: Examples, shown: Phases) -> AbstractContextManager[Workplace]:
        """Open the place where a training runs its tasks and keeps their results."""
        return workplace()

    def fit_arguments(self, vectorizer: Any) -> dict[str, Any]:
        """Return further arguments of `fit` for X that a vectorizer made of texts: most estimators need none."""
        return {}

    def fit_for(
        self: _Self,
        metric: str | Metric,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        holdout: float = 0.3,
        method: str | OFO = "auto",
        floor: float = 0.01,
    ) -> _Self:
        """Train on all examples, with thresholds for a metric that are tuned on held-out rows.

        A random part of the rows is held out. A first model is trained on the other rows, and its `decide_for` tunes
        thresholds on the held-out rows. The final model is trained on all rows and gets these thresholds. If the metric
        needs no tuning, no rows are held out.

        Parameters
        ----------
        metric : str or object of `labeltree.metrics`
            As for `decide_for`.
        X, y, sample_weight
            As for `fit`.
        holdout : float
            Share of the rows that is held out.
        method, floor
            As for `decide_for`.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 20, [["cat", "pet"], ["dog"]] * 20
        >>> model = LabelTreeClassifier(random_state=0).fit_for("micro_f1", X, y)
        >>> model.predict([[0.9, 0.1]]), model.decision_.metric
        ([['cat', 'pet']], 'micro_f1')
        """
        self.check_parameters()
        check_arguments("fit_for", {"holdout": holdout}, {"holdout": Number(0, 1)})
        tuning, chosen, labels = Tuning(method, floor), get_metric(metric), read_labels(labels_given(X, y))
        if tuning.method_for(chosen) == "fixed":
            return self.fit(X, labels, sample_weight).decide_for(chosen, method=method)
        rest, aside = set_aside(X, labels, sample_weight, holdout, self.random_state)
        first = self._for_some_rows().fit(*rest)
        first.decide_for(chosen, aside.X, aside.y, method=method, floor=floor)
        self.fit(X, labels, sample_weight)
        self.decision_ = first.decision_.for_labels(first.classes_, self.classes_)
        return self

    def _for_some_rows(self: _Self) -> _Self:
        """Return an untrained copy for the first training of `fit_for`, which has only some of the rows."""
        copied: _Self = scikit_learn.clone(self)
        return copied

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def normalize_(self) -> bool:
        """Whether the model scales every row to unit length."""
        return bool(self.model_.training.parameters["normalize"])

    @property
    def training_report_(self) -> list[dict[str, int]]:
        """What training counted, for each tree."""
        return self.model_.training.reports

    @property
    def n_iter_(self) -> int:
        """The maximum number of passes over the rows of a problem."""
        return max([1, *(report.get("n_passes", 1) for report in self.training_report_)])

    @property
    def fit_seconds_(self) -> dict[str, float]:
        """How long each phase of training took."""
        seconds = self.model_.training.seconds
        if seconds is None:
            raise AttributeError("a model that was loaded does not know how long its training took")
        return dict(seconds)

    @property
    def vectorizer_(self) -> TextVectorizer:
        """Turns texts into X, if the model was trained on texts."""
        vectorizer = self.model_.vectorizer
        if vectorizer is None:
            how = "reads texts without a vectorizer" if self.model_.takes_text else "was not trained on texts"
            raise AttributeError(f"this {type(self).__name__} {how}")
        return vectorizer

    @vectorizer_.setter
    def vectorizer_(self, vectorizer: TextVectorizer) -> None:
        self._model = self.model_.reading_texts(vectorizer)

    def _fact(self, name: str) -> Any:
        """Return a fitted attribute that only some trainings have."""
        facts = self.model_.training.facts
        if name not in facts:
            raise AttributeError(
                f"this {type(self).__name__} has no attribute {name!r}: see its documentation"
            )
        return facts[name]

    def stored_parameters(self) -> dict[str, Any]:
        """Return the parameters to save; those that the trained weights depend on as they were in training."""
        return {**self.get_params(deep=False), **self.model_.training.parameters}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
