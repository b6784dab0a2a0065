"""The models that are served, by name. A new version is loaded and warmed up beside the old one, then replaces it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO

from labeltree.cached import cached_property
from labeltree.errors import ModelFileError
from labeltree.model_file import load
from labeltree.model_file.directory import DOCUMENT_NAME, blaming, read_document, version_of
from labeltree.model_file.document import verify_files
from labeltree.serving.errors import Refusal
from labeltree.serving.label_search import LabelSearch
from labeltree.serving.schemas import ModelAnswer
from labeltree.serving.warming import warm_up

#: A model that answers small questions in less time is fast.
SMALL_SECONDS = 0.002


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _saved_at(path: Path) -> str:
    with blaming(path / DOCUMENT_NAME):
        seconds = (path / DOCUMENT_NAME).stat().st_mtime
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")


@dataclass(eq=False)
class ServedModel:
    """One loaded version of a model. A request keeps it until it is answered, even if another version is loaded.

    The model does not change, unless `learns` is set: then it has a lock of its own.
    """

    name: str
    model: Any
    saved_version: str
    learns: bool = False
    is_intact: bool = False  # its files were compared with their checksums
    is_damaged: bool = False  # they were, and differ: it answers nothing
    loaded_at: str = field(default_factory=_now)
    saved_at: str = field(default_factory=_now)
    small_seconds: float | None = None  # moving average of the time that a small question takes

    @property
    def is_fast(self) -> bool:
        """Whether a small question takes so little time that a thread for it would take longer."""
        return (
            not (self.learns or self.is_damaged)
            and self.small_seconds is not None
            and self.small_seconds < SMALL_SECONDS
        )

    def took(self, seconds: float) -> None:
        """Remember the time of a small question that was answered."""
        average = seconds if self.small_seconds is None else self.small_seconds
        # Capped: a slow answer while others had the processor means little.
        self.small_seconds = average + 0.2 * (min(seconds, 2 * SMALL_SECONDS) - average)

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

    @cached_property
    def prefers_batches(self) -> bool:
        """Whether the texts of several requests are read faster together."""
        return bool(self.model.model_.prefers_batches)

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
            has_label_names=self.model.model_.label_names is not None,
            takes_text=self.takes_text,
            takes_features=self.takes_features,
            learns=self.learns,
            loaded_at=self.loaded_at,
            modification_time=self.saved_at,
        )


class Registry:
    """The models that are served, by name.

    Parameters
    ----------
    paths : mapping from names to directories
    verify : bool
        Whether to compare all files with their checksums before a version is served.

    Raises
    ------
    ModelFileError
        If a directory is missing or damaged.
    """

    def __init__(self, paths: Mapping[str, Path], verify: bool = False) -> None:
        self._paths = dict(paths)
        self._verify = verify
        self._models = {name: _load(name, path, verify) for name, path in paths.items()}
        self._loading = {name: threading.Lock() for name in paths}
        # The last version of each model whose files are intact; a damaged one is replaced by it.
        self._intact = {served.name: served for served in self if served.is_intact}
        self._damaged: dict[str, str] = {}  # versions whose files were damaged

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
            # A version that was damaged may be repaired by now.
            verify = self._verify or _version(self._paths[name]) == self._damaged.get(name)
            loaded = self._models[name] = _load(name, self._paths[name], verify)
            if loaded.is_intact:
                self._intact[name] = loaded
        return loaded

    def verify(self, served: ServedModel, sha256_of: Callable[[BinaryIO], str]) -> bool | None:
        """Compare the files of a version with their checksums, and go back to another version if they are damaged.

        Parameters
        ----------
        served : ServedModel
        sha256_of : callable
            Returns the SHA-256 of an open file.

        Returns
        -------
        bool or None
            Whether the files are intact; None if another version has replaced them.

        Raises
        ------
        ModelFileError
            If a file is damaged. From now on the last intact version is served, if there is one.
        """
        path, version = self._paths[served.name], served.saved_version
        try:
            document = _document(path)
            if _version_of(document) != version:
                return None
            verify_files(path, document, sha256_of)
        except ModelFileError:
            with self._loading[served.name]:
                if self._models[served.name] is not served or not _is_on_disk(version, path):
                    return None
                self._damaged[served.name] = version
                served.is_damaged = True
                self._models[served.name] = self._intact.get(served.name, served)
            raise
        served.is_intact = True
        self._intact[served.name] = served
        return True

    def is_damaged(self, name: str, version: str) -> bool:
        """Return whether the files of a version were damaged."""
        return self._damaged.get(name) == version

    def replace(self, served: ServedModel) -> None:
        """Serve this model from now on."""
        self._models[served.name] = served

    def version_on_disk(self, name: str) -> str:
        """Return the version in the model's directory, which may be newer than the one that is served."""
        return _version(self._paths[name])


def _load(name: str, path: Path, verify: bool) -> ServedModel:
    version = _version(path)
    while True:
        model: Any = load(path, verify)
        version, before = _version(path), version
        if version == before:  # else the directory was replaced while it was read
            warm_up(model, path)
            return ServedModel(name, model, version, is_intact=verify, saved_at=_saved_at(path))


def _version(path: Path) -> str:
    return _version_of(_document(path))


def _version_of(document: bytes) -> str:
    """Return the version as answers and logs have it."""
    return version_of(document)[:12]


def _document(path: Path) -> bytes:
    with blaming(path / DOCUMENT_NAME):
        return read_document(path)


def _is_on_disk(version: str, path: Path) -> bool:
    """Return whether a directory has this version, as far as its ``model.json`` can be read."""
    try:
        return _version(path) == version
    except ModelFileError:
        return True
