"""The sections that all models have that were trained on batches: labels, features, decision, texts."""

from __future__ import annotations

from typing import Any, get_args

from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import LabelKind
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.forest import Forest
from labeltree.model.model import Model, Reader, TrainingRecord
from labeltree.model_file import label_tensors
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import LARGEST_COUNT
from labeltree.model_file.sections import decision, label_names, parameters, text
from labeltree.model_file.tensors import Tensor


def write(draft: Draft, estimator: Any, model: Model) -> None:
    """Add everything but the forest."""
    labels, tensors = label_tensors.encode_labels(model.label_index.classes)
    tensors["count"] = Tensor.of(model.label_counts)
    encoded = parameters.encode(estimator.stored_parameters(), model.forest.n_trees)
    # What was set after training may be wrong: the file could not be opened.
    trees = list(model.forest.trees) if model.forest.has_label_trees else []
    parameters.estimator_of(type(estimator), encoded, trees)
    draft.add(
        parameters=encoded,
        n_features=int(model.n_features),
        n_labels=len(model.label_index),
        n_samples_fit=model.n_samples_fit,
        label_kind=model.label_kind,
        labels=labels,
        training_report=model.training.reports,
    )
    draft.files["labels"] = TensorPart("labels", tensors)
    names = model.feature_names
    draft.files["feature_names"] = (
        None if names is None else TensorPart("feature-names", label_tensors.encode_texts(names.tolist()))
    )
    decision.write(draft, model.decision)
    text.write(draft, model.vectorizer)
    label_names.write(draft, model.label_names, model.label_index.classes.tolist())


class Batch:
    """The same sections as they are read: fields are checked at once, tensors when `model` is called."""

    def __init__(self, stored: Stored) -> None:
        fields, files = stored.fields, stored.files
        self._stored = stored
        self.parameters = fields.take("parameters", dict)
        self.n_features = fields.count("n_features", 1, LARGEST_COUNT)
        self.n_labels = fields.count("n_labels", 1, LARGEST_COUNT)
        self.n_samples_fit = fields.count("n_samples_fit")
        self.label_kind: LabelKind = fields.choose("label_kind", get_args(LabelKind))
        self._labels = fields.take("labels", str)
        self.reports = fields.reports()
        self._label_file = files.file("labels", "labels")
        self.name_file = files.optional_file("feature_names", "feature-names")
        self._decision = decision.take(stored)
        self._text = text.take(stored)
        self.label_names = label_names.take(stored)

    def estimator(self, cls: type[Any], trees: list[Any]) -> Any:
        """Return the untrained estimator."""
        return parameters.estimator_of(cls, self.parameters, trees)

    def check_reads_texts(self) -> None:
        """Raise `ValueError` if there is what only rows of features need."""
        if self.name_file is not None or self._text.file is not None:
            raise ValueError("a model that reads texts has neither feature names nor a vectorizer")

    def model(
        self,
        estimator: Any,
        forest: Forest,
        dense_features: tuple[int, int] = (0, 0),
        reader: Reader | None = None,
    ) -> Model:
        """Return the model with this forest; it reads texts if there is a reader of texts."""
        tensors = self._stored.tensors(self._label_file)
        with blaming(self._label_file.name):
            counts = label_tensors.decode_counts(
                tensors.pop("count", None), self.n_labels, self.n_samples_fit
            )
            classes = label_tensors.decode_labels(self._labels, tensors, self.n_labels)
        names = None
        if self.name_file is not None:
            tensors = self._stored.tensors(self.name_file)
            with blaming(self.name_file.name):
                names = label_tensors.decode_texts(tensors, self.n_features)
        kept = estimator.kept_parameters()
        owner = type(estimator).__name__
        cls: type[Model] = Model
        if reader is None:
            reader = FeatureReader(owner, kept["normalize"], self.n_features, names, dense_features)
        else:
            from labeltree.deep.text_model import TextModel

            cls = TextModel
        return cls(
            forest,
            reader,
            LabelIndex(classes),
            self.label_kind,
            counts,
            self.n_samples_fit,
            TrainingRecord(self.reports, kept),
            self._decision.read(self.n_labels),
            self._text.read(self.n_features),
            self.label_names.read(classes.tolist()),
        )

    def describe(self) -> dict[str, Any]:
        """Return the entries of `ModelInfo` about these sections."""
        return {
            "parameters": self.parameters,
            "n_features": self.n_features,
            "n_labels": self.n_labels,
            "label_kind": self.label_kind,
            "has_feature_names": self.name_file is not None,
            "has_label_names": self.label_names.file is not None,
            "training_report": self.reports,
        }
