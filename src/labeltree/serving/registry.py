"""The models by name: loaded beside the old one, and swapped in one step."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from labeltree.model_file import load
from labeltree.model_file.directory import DOCUMENT_NAME, blaming, read_document
from labeltree.serving.errors import Refusal
from labeltree.serving.label_search import LabelSearch
from labeltree.text.text_input import takes_text


@dataclass(frozen=True)
class ServedModel:
    """A model as it was loaded. Who answers a request holds it until the answer is made, whatever is loaded meanwhile.

    `learns` says that it is the one exception: a model that learns changes, behind a lock of its own.
    """

    name: str
    model: Any
    saved_version: str
    learns: bool = False
    loaded_at: str = field(
        default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    )

    @property
    def version(self) -> str:
        """Of the files, or of a model that learns the number of examples."""
        return f"examples-{self.model.n_examples_}" if self.learns else self.saved_version

    @cached_property
    def is_online(self) -> bool:
        """Whether the model could learn."""
        return hasattr(self.model, "partial_fit")

    @cached_property
    def takes_features(self) -> bool:
        """Whether rows are features by name."""
        return self.is_online and bool(self.model.named_features_)

    @cached_property
    def takes_text(self) -> bool:
        return takes_text(self.model)

    @property
    def labels(self) -> LabelSearch:
        """The labels, to be searched. Those of a model that learns may be others the next time."""
        return LabelSearch.of(self.model) if self.learns else self._labels

    @cached_property
    def _labels(self) -> LabelSearch:
        return LabelSearch.of(self.model)

    @cached_property
    def tree_views(self) -> dict[int, Any]:
        """What `TreeView.of` keeps, by the number of the tree; nothing of a model that learns."""
        return {}

    @property
    def has_label_trees(self) -> bool:
        """Whether its trees divide labels, rather than examples."""
        return not hasattr(self.model, "example_trees_")

    @property
    def _n_trees(self) -> int:
        if not self.has_label_trees:
            return int(self.model.example_trees_.n_trees)
        return 1 if self.is_online else len(self.model.trees_)

    def describe(self) -> dict[str, Any]:
        """What `ModelAnswer` says."""
        model = self.model
        return {
            "name": self.name,
            "version": self.version,
            "estimator": type(model).__name__,
            "n_labels": len(model.classes_),
            "n_features": int(model.n_features_in_),
            "n_trees": self._n_trees,
            "has_label_trees": self.has_label_trees,
            "takes_text": self.takes_text,
            "takes_features": self.takes_features,
            "learns": self.learns,
            "loaded_at": self.loaded_at,
        }


class Registry:
    """The models that are served, by name.

    Parameters
    ----------
    paths : mapping from names to directories

    Raises
    ------
    ModelFileError
        If one of them is missing or damaged.
    """

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self.paths = dict(paths)
        self._models = {name: _load(name, path) for name, path in self.paths.items()}
        self._loading = {name: threading.Lock() for name in self.paths}

    def __iter__(self) -> Any:
        return iter(self._models.values())

    def __getitem__(self, name: str) -> ServedModel:
        try:
            return self._models[name]
        except KeyError:
            known = ", ".join(sorted(self._models))
            raise Refusal(
                404, f"there is no model of this name; there are: {known}", "no_such_model"
            ) from None

    def reload(self, name: str) -> ServedModel:
        """Load a model anew and answer from it from now on. If this fails, nothing has changed."""
        with self._loading[name]:
            loaded = self._models[name] = _load(name, self.paths[name])
        return loaded

    def replace(self, served: ServedModel) -> None:
        """Answer from this model from now on."""
        self._models[served.name] = served

    def version_on_disk(self, name: str) -> str:
        """The version of the model in the directory, which need not be the one that is served."""
        return _version(self.paths[name])


def _load(name: str, path: Path) -> ServedModel:
    version = _version(path)
    while True:
        model: Any = load(path)
        version, before = _version(path), version
        if version == before:  # else it was replaced meanwhile, and nobody knows which one this is
            return ServedModel(name, model, version)


def _version(path: Path) -> str:
    """A name for what ``model.json`` says, which has the checksums of all other files."""
    with blaming(path / DOCUMENT_NAME):
        return hashlib.sha256(read_document(path)).hexdigest()[:12]
