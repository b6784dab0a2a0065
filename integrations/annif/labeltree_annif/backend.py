"""Annif backend using the probabilistic label trees of labeltree."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import annif.util
import numpy as np
from annif.backend import backend, hyperopt, mixins
from annif.exception import (
    ConfigurationException,
    NotInitializedException,
    NotSupportedException,
    OperationFailedException,
)
from annif.suggestion import SubjectSuggestion, SuggestionBatch
from scipy.sparse import csr_matrix

from labeltree import LabelTreeClassifier, LabelTreeError, OnlineLabelTreeClassifier
from labeltree.model_file import load, save
from labeltree.model_file.lock import ModelLock
from labeltree_annif.optimizer import LabelTreeOptimizer

if TYPE_CHECKING:
    from annif.corpus import Document, DocumentCorpus
    from annif.project import AnnifProject

Classifier = LabelTreeClassifier | OnlineLabelTreeClassifier

#: Reading the words of a document takes far longer than more trees do.
_TREES = 3
#: Parameters of the classifiers that Annif decides: `--jobs`, and no bars.
_OF_THE_RUN = {"n_jobs", "verbose"}
#: How long `learn` waits for another process that learns.
_WAIT_SECONDS = 60.0


class Trained(NamedTuple):
    """What suggestions need; the version is that of the model on disk."""

    vectorizer: Any
    model: Classifier
    version: tuple[int, int]


class LabelTreeBackend(
    mixins.TfidfVectorizerMixin, backend.AnnifLearningBackend, hyperopt.AnnifHyperoptBackend
):
    """Probabilistic label trees: trained at once, or (``online=true``) able to learn more documents later."""

    name = "labeltree"

    MODEL_FILE = "labeltree-model"
    TRAIN_FILE = "labeltree-train.npz"

    DEFAULT_PARAMETERS: ClassVar[dict[str, Any]] = {
        "min_df": 1,
        "ngram": 1,
        "online": False,
        "random_state": 0,
    }

    _trained: Trained | None = None

    def __init__(self, backend_id: str, config_params: Any, project: AnnifProject) -> None:
        super().__init__(backend_id, config_params, project)
        self._loading = threading.Lock()

    # -- models ------------------------------------------------------------------------------------------------------

    @property
    def _model_path(self) -> Path:
        return Path(self.datadir, self.MODEL_FILE)

    def _version(self) -> tuple[int, int]:
        """Return what changes when the model on disk is replaced."""
        try:
            status = os.stat(self._model_path / "model.json")
        except FileNotFoundError:
            raise NotInitializedException(
                f"model {self._model_path} not found", backend_id=self.backend_id
            ) from None
        return status.st_ino, status.st_mtime_ns

    def initialize(self, parallel: bool = False) -> None:
        """Load the model, or load it again if another process has trained it or has learned."""
        version = self._version()
        if self._has(version):
            return
        with self._loading:  # one thread loads, and the others wait
            if not self._has(version):
                self.debug(f"loading model from {self._model_path}")
                self.vectorizer = None
                self.initialize_vectorizer()
                self._keep(self.vectorizer, self._load(), version)

    def _has(self, version: tuple[int, int]) -> bool:
        return self._trained is not None and self._trained.version == version

    def _load(self) -> Classifier:
        try:
            model: Any = load(self._model_path)
        except LabelTreeError as error:
            raise OperationFailedException(str(error), backend_id=self.backend_id) from error
        model.set_params(n_jobs=1)  # Annif runs several processes where there are many documents
        loaded: Classifier = model
        return loaded

    def _keep(self, vectorizer: Any, model: Classifier, version: tuple[int, int]) -> None:
        n_words = len(vectorizer.vocabulary_)
        if model.n_features_in_ != n_words:
            raise NotInitializedException(
                f"the model has {model.n_features_in_} features and the vectorizer {n_words}: training was "
                "interrupted; train the project again",
                backend_id=self.backend_id,
            )
        self._trained = Trained(vectorizer, model, version)  # in one step: other threads may suggest

    def _ready(self) -> Trained:
        self.initialize()
        assert self._trained is not None
        return self._trained

    # -- training ----------------------------------------------------------------------------------------------------

    def classifier(self, params: dict[str, Any], jobs: int = 0) -> Classifier:
        """Return an untrained classifier with the project's parameters; 0 jobs are one thread per processor."""
        online = annif.util.boolean(params["online"])
        kind, other = LabelTreeClassifier, OnlineLabelTreeClassifier
        if online:
            kind, other = other, kind
        known = kind().get_params(deep=False)
        if wrong := [name for name in other().get_params(deep=False) if name in params and name not in known]:
            raise ConfigurationException(
                f"a project with online={str(online).lower()} has no parameter {wrong[0]}; remove it",
                project_id=self.project.project_id,
            )
        given = {
            name: _value(params[name], default)
            for name, default in known.items()
            if name in params and name not in _OF_THE_RUN
        }
        if not online:
            given.setdefault("n_trees", _TREES)
        try:
            classifier: Classifier = kind(**given, n_jobs=jobs or -1, verbose=-1)
            classifier.check_parameters()
        except (TypeError, ValueError) as error:
            raise ConfigurationException(str(error), project_id=self.project.project_id) from error
        return classifier

    def _train(self, corpus: DocumentCorpus, params: dict[str, Any], jobs: int = 0) -> None:
        classifier = self.classifier(params, jobs)
        if corpus != "cached":
            if corpus.is_empty():
                raise NotSupportedException(
                    "Cannot train labeltree project with no documents", backend_id=self.backend_id
                )
            self._create_train_data(corpus, params)
        else:
            self.info("Reusing cached training data from previous run.")
        X, y = self.load_train_data()
        self.info(f"training on {X.shape[0]} documents")
        classifier.fit(X, y)
        self.info("saving model")
        try:
            save(classifier, self._model_path)
        except LabelTreeError as error:
            raise OperationFailedException(str(error), backend_id=self.backend_id) from error
        self.initialize()

    def _create_train_data(self, corpus: DocumentCorpus, params: dict[str, Any]) -> None:
        """Write the vectorizer, and the features and subjects of the documents."""
        subjects: list[list[int]] = []

        def texts() -> Iterator[str]:
            for document in corpus.documents:
                subjects.append(list(document.subject_set))
                yield document.text

        settings = {
            "min_df": int(params["min_df"]),
            "tokenizer": self.project.analyzer.tokenize_words,
            "ngram_range": (1, int(params["ngram"])),
            "dtype": np.float32,
        }
        try:
            X = self.create_vectorizer(texts(), settings)
        except ValueError as error:  # no words
            raise OperationFailedException(str(error), backend_id=self.backend_id) from error
        X, subjects = self._with_subjects(X, subjects)
        self.info("creating train file")
        annif.util.atomic_save((X, subjects), self.datadir, self.TRAIN_FILE, method=_write_train_data)

    def load_train_data(self) -> tuple[csr_matrix, list[Any]]:
        """Return the features and the subjects of the documents that the project was trained on."""
        path = os.path.join(self.datadir, self.TRAIN_FILE)
        if not os.path.exists(path):
            raise NotInitializedException(f"train data file {path} not found", backend_id=self.backend_id)
        with np.load(path) as file:
            X = csr_matrix((file["data"], file["indices"], file["indptr"]), shape=file["shape"])
            return X, np.split(file["subjects"], np.cumsum(file["n_subjects"])[:-1])

    def vectors(self, corpus: DocumentCorpus) -> tuple[csr_matrix, list[list[int]]]:
        """Return the features and the subjects of documents, without those that lack either."""
        documents = list(corpus.documents)
        if not documents:
            raise NotSupportedException("expected documents, got none", backend_id=self.backend_id)
        X = self._ready().vectorizer.transform(document.text for document in documents)
        return self._with_subjects(X, [list(document.subject_set) for document in documents])

    def _with_subjects(self, X: csr_matrix, subjects: list[list[int]]) -> tuple[csr_matrix, list[list[int]]]:
        n_words = np.diff(X.indptr)
        rows = [row for row, found in enumerate(subjects) if found and n_words[row]]
        if not rows:
            raise NotSupportedException(
                f"none of the {len(subjects)} documents has both words and subjects of the vocabulary",
                backend_id=self.backend_id,
            )
        if n_left_out := len(subjects) - len(rows):
            self.warning(f"leaving out {n_left_out} documents without words or subjects of the vocabulary")
        return X[rows], [subjects[row] for row in rows]

    def _learn(self, corpus: DocumentCorpus, params: dict[str, Any]) -> None:
        if not isinstance(self._ready().model, OnlineLabelTreeClassifier):
            raise NotSupportedException(
                "the model was trained with online=false and cannot learn; set online=true and train the project",
                project_id=self.project.project_id,
            )
        X, y = self.vectors(corpus)
        try:
            # From the model on disk, not from that in memory: another process may have learned meanwhile.
            with ModelLock(
                self._model_path, "learns into this model (annif learn)", wait_seconds=_WAIT_SECONDS
            ) as lock:
                model = self._load()
                if model.n_features_in_ != X.shape[1]:
                    raise OperationFailedException(
                        "the project was trained meanwhile; learn again", project_id=self.project.project_id
                    )
                model.partial_fit(X, y)
                save(model, self._model_path, lock=lock)
        except LabelTreeError as error:
            raise OperationFailedException(str(error), backend_id=self.backend_id) from error
        self.initialize()

    # -- suggestions -------------------------------------------------------------------------------------------------

    def _suggest_batch(self, documents: list[Document], params: dict[str, Any]) -> SuggestionBatch:
        vectorizer, model, _ = self._ready()
        X = vectorizer.transform([document.text for document in documents])
        limit = int(params["limit"])
        found = model.predict_topk(X, limit)
        results = [
            [
                SubjectSuggestion(subject_id=int(label), score=float(score))
                for label, score in zip(*row, strict=True)
            ]
            if n_words
            else []
            for n_words, *row in zip(np.diff(X.indptr), found.labels, found.probabilities, strict=True)
        ]
        return SuggestionBatch.from_sequence(results, self.project.subjects)

    def get_hp_optimizer(self, corpus: DocumentCorpus, metric: str) -> LabelTreeOptimizer:
        return LabelTreeOptimizer(self, corpus, metric)


def _value(value: Any, default: Any) -> Any:
    """Return the value of a parameter from a configuration file, in which all values may be strings."""
    if not isinstance(value, str):
        return value
    if isinstance(default, bool):
        return annif.util.boolean(value)
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            continue
    return value


def _write_train_data(data: tuple[csr_matrix, list[list[int]]], path: str) -> None:
    X, subjects = data
    np.savez(
        path,
        data=X.data,
        indices=X.indices,
        indptr=X.indptr,
        shape=X.shape,
        subjects=np.concatenate(subjects),
        n_subjects=[len(found) for found in subjects],
    )
