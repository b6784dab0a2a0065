"""`Tagger`: labels for texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from labeltree import scikit_learn
from labeltree.calibration.level_maps import Calibration
from labeltree.classifier import LabelTreeClassifier
from labeltree.embedding.streaming import check_stream
from labeltree.estimator import Estimator
from labeltree.kinds import METHODS
from labeltree.model.block_weights import BlockWeights
from labeltree.model.forest import Search
from labeltree.model.model import Model
from labeltree.model.texts import Text, as_texts
from labeltree.text.mixture import Mixture
from labeltree.text.tagger_checks import ENCODER, check_classifier, check_mix, check_vectorizer
from labeltree.text.text_explanation import TextExplanation, explain_text
from labeltree.text.text_learner import TextLearner, reads_texts
from labeltree.text.vectorizer import TextVectorizer
from labeltree.trees import LabelTree
from labeltree.wording import with_article

if TYPE_CHECKING:
    from sklearn.utils import Tags

_Tagger = TypeVar("_Tagger", bound="Tagger")

#: The parameters that both models of a mix have in common.
_OF_EVERY_RUN = ("n_jobs", "random_state", "verbose")


class Tag(NamedTuple):
    """A label of a text, and its probability."""

    label: Any
    probability: float


class Tagger(Estimator):
    """Tags texts with a few labels out of very many.

    A vectorizer and a classifier in one, which are trained together and saved together. All methods of the classifier
    take texts as X: a list or tuple of strings, an array, or a column of pandas, polars or Arrow. A neural network,
    such as that of ``Tagger(encoder=…)``, reads texts without a vectorizer.

    Parameters
    ----------
    classifier : classifier of this library, optional
        Any classifier of this library except online ones. By default `LabelTreeClassifier()`.
    vectorizer : TextVectorizer, optional
        By default `TextVectorizer()`: words, weighted by tf-idf; with `method`, what suits the method. A classifier
        that reads texts by itself has none: with `mix`, it is then the vectorizer of the linear model.
    method : str, optional
        The name of a method of ``labeltree train --method``, such as "extremetext", instead of a classifier. Its
        classifier has the default parameters.
    encoder : str or path, optional
        Fine-tune this pretrained encoder: a directory, or a name on the hub. The classifier is then an
        `EncoderTreeClassifier`.
    mix : {"linear"} or Tagger, optional
        Train a second model on the same labels, and answer with the weighted mean of both, which is often better than
        either. "linear" is a `LabelTreeClassifier` of 3 trees over the same words, weighted by tf-idf. Pass another
        tagger for other parameters. The weights with the largest nDCG@5 on held-out texts are chosen.
    holdout : float
        With `mix`: share of the texts that are held out to choose the weights, at most 5,000 texts. The second model is
        then trained again on all texts.
    refit : bool
        With `mix`: train the classifier again on all texts too. It takes twice the time.

    Attributes
    ----------
    classifier_, vectorizer_
        The trained classifier and vectorizer. With `mix`, the classifier is a `labeltree.MixedModel`, whose `members_`
        are the second model and the classifier, in this order.
    classes_ : array of shape (n_labels,)
        The labels.
    decision_, label_counts_, trees_, calibration_, fit_seconds_ and others
        The fitted attributes of the classifier.

    Examples
    --------
    >>> from labeltree.text import Tagger
    >>> texts = ["a boat on the sea", "boats and the sea", "a cat on a mat", "the cat sat"]
    >>> tagger = Tagger().fit(texts, [["sea", "boat"], ["sea"], ["cat"], ["cat"]])
    >>> [tag.label for tag in tagger.tag("the sea, the sea", k=1)]
    ['sea']
    """

    classifier_: Any

    # Fitted attributes that only some classifiers have: see __getattr__.
    tree_: LabelTree
    trees_: list[LabelTree]
    weights_: list[BlockWeights]
    dense_features_: tuple[int, int]
    loss_: str
    C_: float | list[float]
    C_scores_: dict[float, Any] | None

    def __init__(
        self,
        classifier: Any = None,
        vectorizer: TextVectorizer | None = None,
        *,
        method: str | None = None,
        encoder: str | os.PathLike[str] | None = None,
        mix: str | Tagger | None = None,
        holdout: float = 0.1,
        refit: bool = False,
    ) -> None:
        kind = METHODS.get(method or ("label-tree" if encoder is None else ENCODER))
        self.method = method
        self.encoder = encoder
        self.mix = mix
        self.holdout = holdout
        self.refit = refit
        # Not None: a grid search sets parameters of both, such as classifier__C. An unknown method is refused later.
        if classifier is None:
            classifier = LabelTreeClassifier() if kind is None else kind.load()()
        self.classifier = classifier
        if vectorizer is None and not reads_texts(classifier):
            vectorizer = TextVectorizer(**({} if kind is None else kind.text))
        self.vectorizer = vectorizer

    def check_parameters(self, training: bool = True) -> None:
        check_classifier(self)
        self._main_learner().classifier.check_parameters(training)
        check_vectorizer(self)
        check_mix(self)
        if isinstance(self.mix, Tagger):
            self.mix.check_parameters(training)

    def _main_learner(self) -> TextLearner:
        """Return the classifier with its encoder and its vectorizer, untrained."""
        classifier = self.classifier
        if self.encoder is not None:
            classifier = scikit_learn.clone(classifier).set_params(encoder=self.encoder)
        return TextLearner(classifier, None if reads_texts(classifier) else self.vectorizer)

    def _linear_learner(self) -> TextLearner:
        """Return the second model of the mix, untrained."""
        if isinstance(self.mix, Tagger):
            return self.mix._main_learner()
        linear = LabelTreeClassifier(n_trees=3)
        linear.set_params(**{name: getattr(self.classifier, name) for name in _OF_EVERY_RUN})
        vectorizer = TextVectorizer() if self.vectorizer is None else scikit_learn.clone(self.vectorizer)
        return TextLearner(linear, vectorizer.set_params(use_idf=True, norm="l2"))

    def _learner(self) -> TextLearner | Mixture:
        if self.mix is None:
            return self._main_learner()
        return Mixture(
            self._linear_learner(), self._main_learner(), self.holdout, self.refit, self.random_state
        )

    def fit(
        self: _Tagger,
        texts: Iterable[Text],
        labels: Any,
        sample_weight: Any = None,
        *,
        label_names: Mapping[Any, str] | None = None,
    ) -> _Tagger:
        """Train on texts with their labels.

        Parameters
        ----------
        texts : sequence of str, or a column of a frame
        labels : sequence of collections of labels
            One collection for each text; labels are strings, or anything hashable. A matrix, or one label for each
            text, is also accepted, as in `LabelTreeClassifier.fit`.
        sample_weight : array of shape (n_texts,), optional
            The weight of each text, 1 by default.
        label_names : mapping from label to str, optional
            Readable names of labels: `label_names_` of the trained tagger, and what the `name_vectors` of an encoder
            are made of.
        """
        self.check_parameters()
        given = list(as_texts(texts))
        classifier = self._learner().fit(given, labels, sample_weight, label_names=label_names)
        if label_names is not None:
            classifier.label_names_ = label_names
        self.classifier_ = classifier
        return self

    def fit_stream(
        self: _Tagger, open_texts: Callable[[], Iterable[tuple[Any, Any]]], *, buffer_rows: int = 100_000
    ) -> _Tagger:
        """Train on a stream of texts that need not fit in memory; for `method` "extremetext" and "fasttext".

        The stream is read twice to learn words and labels, and then once for each epoch, shuffled in a buffer.

        Parameters
        ----------
        open_texts : callable without arguments
            Returns an iterable of batches of texts and their labels, from the beginning each time.
        buffer_rows : int
            Maximum number of texts in the buffer. More texts are shuffled better.

        Examples
        --------
        >>> from labeltree.text import Tagger
        >>> def texts():
        ...     yield ["a boat at sea", "a cat"] * 10, [["sea"], ["cat"]] * 10
        >>> tagger = Tagger(method="extremetext").fit_stream(texts)
        >>> tagger.predict(["the sea"])
        [['sea']]
        """
        self.check_parameters()
        if not hasattr(self.classifier, "fit_stream"):
            raise ValueError(
                f"{type(self.classifier).__name__} cannot be trained on a stream: use Tagger(method='extremetext')"
            )
        if self.mix is not None:
            raise ValueError("a mix needs held-out texts, and cannot be trained on a stream: leave out mix")
        check_stream(open_texts, buffer_rows)
        classifier, vectorizer = scikit_learn.clone(self.classifier), scikit_learn.clone(self.vectorizer)
        vectorizer.fit(text for texts, _ in open_texts() for text in as_texts(texts))

        def rows() -> Iterator[tuple[Any, Any]]:
            return ((vectorizer.transform(texts), labels) for texts, labels in open_texts())

        classifier.fit_stream(rows, buffer_rows=buffer_rows, **classifier.fit_arguments(vectorizer))
        classifier.vectorizer_ = vectorizer
        self.classifier_ = classifier
        return self

    # -- questions: those of the classifier, whose model reads texts -----------------------------------------------

    @overload  # a string is also an iterable of strings, and the first signature fits
    def tag(  # type: ignore[overload-overlap]
        self, text: Text, k: int = 5, threshold: float = 0.0
    ) -> list[Tag]: ...

    @overload
    def tag(self, text: Iterable[Text], k: int = 5, threshold: float = 0.0) -> list[list[Tag]]: ...

    def tag(
        self, text: Text | Iterable[Text], k: int = 5, threshold: float = 0.0
    ) -> list[Tag] | list[list[Tag]]:
        """Return the most probable labels of a text, best first; for several texts, a list for each.

        Parameters
        ----------
        text : str or sequence of str
        k : int
            The maximum number of labels.
        threshold : float
            The minimum probability of a label.
        """
        is_one = isinstance(text, str | Mapping)
        top = self.predict_topk([text] if is_one else text, k, threshold=threshold)
        tags = [
            [Tag(*pair) for pair in zip(*row, strict=True) if pair[1] > 0]
            for row in zip(top.labels.tolist(), top.probabilities.tolist(), strict=True)
        ]
        return tags[0] if is_one else tags

    def explain(  # type: ignore[override] # words are their own names
        self, text: Text, label: Any, *, n_features: int = 10
    ) -> TextExplanation:
        """Explain a label of a text: its path through the tree, and the words with the most weight at every node.

        Examples
        --------
        >>> from labeltree.text import Tagger
        >>> tagger = Tagger().fit(["a boat at sea", "a cat", "the sea", "cats"], [["sea"], ["cat"], ["sea"], ["cat"]])
        >>> text = "At the SEA"
        >>> best = max(tagger.explain(text, "sea").highlights, key=lambda highlight: highlight.amount)
        >>> text[best.begin : best.end]
        'SEA'
        """
        if not isinstance(text, str | Mapping):
            raise ValueError(
                f"text must be a string, got {with_article(type(text).__name__)}: explain one at a time"
            )
        self.model_  # noqa: B018 # raises NotFittedError
        return explain_text(self.classifier_, text, label, n_features)

    # -- the trained classifier, which has the model ---------------------------------------------------------------

    @property
    def model_(self) -> Model:
        """The trained model: its forest, labels, features, vectorizer and decision."""
        trained: Model = self._trained().model_
        return trained

    @property
    def _model(self) -> Any:
        return self._trained()._model

    @_model.setter
    def _model(self, model: Any) -> None:
        self._trained()._model = model

    def _trained(self) -> Any:
        if "classifier_" not in vars(self):
            raise scikit_learn.NotFittedError(
                f"this {type(self).__name__} is not fitted yet: call 'fit' before asking it, or load a saved tagger"
            )
        return self.classifier_

    def make_search(self, k: int = 1, **wanted: Any) -> Search:
        search: Search = self._trained().make_search(k, **wanted)
        return search

    def calibrate(
        self: _Tagger, texts: Iterable[Text], labels: Any, *, method: str = "isotonic", random_state: int = 0
    ) -> _Tagger:
        """Calibrate the probabilities on texts that the tagger was not trained on: see `LabelTreeClassifier`."""
        self._having("calibrate")(as_texts(texts), labels, method=method, random_state=random_state)
        return self

    @property
    def calibration_(self) -> Calibration:
        """The maps that replace the link, made by `fit` or by `calibrate`."""
        calibration: Calibration = self._trained().calibration_
        return calibration

    @calibration_.deleter
    def calibration_(self) -> None:
        del self._trained().calibration_

    def add_trees(
        self: _Tagger,
        texts: Iterable[Text],
        labels: Any,
        n_trees: int = 1,
        *,
        tree: Any = None,
        sample_weight: Any = None,
    ) -> _Tagger:
        """Train more trees and add them: see `LabelTreeClassifier`."""
        self._having("add_trees")(as_texts(texts), labels, n_trees, tree=tree, sample_weight=sample_weight)
        return self

    def _having(self, method: str) -> Any:
        """Return a method that only some classifiers have."""
        found = getattr(self._trained(), method, None)
        if found is None:
            name = with_article(type(self.classifier_).__name__)
            hint = ": ask its members_ before you mix them" if hasattr(self.classifier_, "members_") else ""
            raise AttributeError(f"{name} has no method {method!r}{hint}")
        return found

    if not TYPE_CHECKING:  # a type checker then finds misspelt names

        def __getattr__(self, name: str) -> Any:
            if not name.endswith("_") or name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if name == "vectorizer_" and hasattr(self._trained(), "members_"):
                raise AttributeError("this tagger is a mix: its members_ have vectorizers, if they need them")
            return getattr(self._trained(), name)

    # -- parameters and files --------------------------------------------------------------------------------------

    @property
    def random_state(self) -> Any:
        """The seed of the classifier; `fit_for` draws held-out texts by it."""
        return self.classifier.random_state

    def _for_some_rows(self: _Tagger) -> _Tagger:
        copied: _Tagger = scikit_learn.clone(self)
        copied.classifier = self.classifier._for_some_rows()
        if isinstance(self.mix, Tagger):
            copied.mix = self.mix._for_some_rows()
        return copied

    def __sklearn_is_fitted__(self) -> bool:
        return "classifier_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # For a classifier, cross-validation would look for classes in y and refuse lists of labels.
        tags.estimator_type = None
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def save(self, path: str | os.PathLike[str], *, weights: str | None = None) -> None:
        """Write the tagger to a directory, atomically: a reader sees the old one or the new one.

        Parameters
        ----------
        path : path of a directory
            Made if it does not exist. A directory that holds anything but a model is refused.
        weights : {"float32", "bfloat16", "int8"}, optional
            The type of the stored weights of label trees, as in `LabelTreeClassifier.save`. A mix keeps the types that
            its members have.
        """
        if weights is not None and hasattr(self._trained(), "members_"):
            raise ValueError(
                "weights: the members of a mix are stored with the types of weights that they have"
            )
        self._trained().save(path, **({} if weights is None else {"weights": weights}))

    @classmethod
    def load(cls: type[_Tagger], path: str | os.PathLike[str], *, verify: bool = False) -> _Tagger:
        """Open a saved tagger, or a mix of models that read texts.

        Raises
        ------
        ModelFileError
            If there is no model, or one that was trained on numbers and not on texts.
        """
        from labeltree.errors import ModelFileError
        from labeltree.model_file import load

        classifier: Any = load(path, verify)
        if not classifier.model_.takes_text or classifier.model_.learns:
            fault = "goes on learning" if classifier.model_.learns else "was trained on numbers, not on texts"
            name = type(classifier).__name__
            raise ModelFileError(f"{path}: this model {fault}; open it with {name}.load")
        tagger = cls._untrained_like(classifier)
        tagger.classifier_ = classifier
        return tagger

    @classmethod
    def _untrained_like(cls: type[_Tagger], classifier: Any) -> _Tagger:
        """Return a tagger with the parameters of a trained classifier."""
        members = getattr(classifier, "members_", None)
        if members is None:
            return cls(
                scikit_learn.clone(classifier), scikit_learn.clone(classifier.model_.vectorizer, safe=False)
            )
        if len(members) == 2:
            second, tagger = (cls._untrained_like(member) for member in members)
            tagger.mix = second
            return tagger
        return cls(classifier, None)  # it can be asked, but `fit` refuses it
