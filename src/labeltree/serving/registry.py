"""The models that are served, by name. A new version is loaded beside the old one and replaces it in one step."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from labeltree.model_file import load
from labeltree.model_file.directory import DOCUMENT_NAME, blaming, read_document, version_of
from labeltree.serving.errors import Refusal
from labeltree.serving.label_search import LabelSearch
from labeltree.serving.schemas import ModelAnswer


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


@dataclass(eq=False)
class ServedModel:
    """One loaded version of a model. A request keeps it until it is answered, even if another version is loaded.

    The model does not change, unless `learns` is set: then it has a lock of its own.
    """

    name: str
    model: Any
    saved_version: str
    learns: bool = False
    loaded_at: str = field(default_factory=_now)
    small_seconds: float | None = None  # moving average of the time that a small question takes

    @property
    def version(self) -> str:
        """The version of the files, or of a model that learns the number of its examples."""
        return f"examples-{self.model.n_examples_}" if self.learns else self.saved_version

    @cached_property
    def is_online(self) -> bool:
        """Whether the model can learn."""
        return bool(self.model.model_.learns)

    @cached_property
    def takes_features(self) -> bool:
        """Whether the features have names."""
        return self.is_online and bool(self.model.named_features_)

    @cached_property
    def takes_text(self) -> bool:
        return bool(self.model.model_.takes_text)

    @property
    def labels(self) -> LabelSearch:
        """The labels, for search; those of a model that learns may change."""
        return LabelSearch.of(self.model) if self.learns else self._labels

    @cached_property
    def _labels(self) -> LabelSearch:
        return LabelSearch.of(self.model)

    @cached_property
    def tree_views(self) -> dict[int, Any]:
        """The cache of `TreeView.of`; empty for a model that learns."""
        return {}

    @property
    def has_label_trees(self) -> bool:
        """Whether the trees divide labels rather than examples."""
        return bool(self.model.model_.forest.has_label_trees)

    def describe(self) -> ModelAnswer:
        """Return the description of the model."""
        return ModelAnswer(
            name=self.name,
            version=self.version,
            estimator=type(self.model).__name__,
            n_labels=len(self.model.classes_),
            n_features=int(self.model.n_features_in_),
            n_trees=self.model.model_.forest.n_trees,
            has_label_trees=self.has_label_trees,
            takes_text=self.takes_text,
            takes_features=self.takes_features,
            learns=self.learns,
            loaded_at=self.loaded_at,
        )


class Registry:
    """The models that are served, by name.

    Parameters
    ----------
    paths : mapping from names to directories

    Raises
    ------
    ModelFileError
        If a directory is missing or damaged.
    """

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = dict(paths)
        self._models = {name: _load(name, path) for name, path in paths.items()}
        self._loading = {name: threading.Lock() for name in paths}

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    def __getitem__(self, name: str) -> ServedModel:
        try:
            return self._models[name]
        except KeyError:
            message = f"there is no model of this name; there are: {', '.join(sorted(self._models))}"
            raise Refusal(404, message, "no_such_model") from None

    def reload(self, name: str) -> ServedModel:
        """Load a model from disk and serve it from now on. If that fails, nothing changes."""
        with self._loading[name]:
            loaded = self._models[name] = _load(name, self._paths[name])
        return loaded

    def replace(self, served: ServedModel) -> None:
        """Serve this model from now on."""
        self._models[served.name] = served

    def version_on_disk(self, name: str) -> str:
        """Return the version in the model's directory, which may be newer than the one that is served."""
        return _version(self._paths[name])


def _load(name: str, path: Path) -> ServedModel:
    version = _version(path)
    while True:
        model: Any = load(path)
        version, before = _version(path), version
        if version == before:  # else the directory was replaced while it was read
            return ServedModel(name, model, version)


def _version(path: Path) -> str:
    """Return a hash of ``model.json``, which has the checksums of all other files."""
    with blaming(path / DOCUMENT_NAME):
        return version_of(read_document(path))[:12]
