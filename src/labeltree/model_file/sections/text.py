"""The section of texts: the vectorizer that turns them into features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import Fields, StoredFile
from labeltree.model_file.tensors import Tensor
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.text.vectorizer import TextVectorizer

#: Texts came with this version of the format.
VERSION = 6


def write(draft: Draft, vectorizer: TextVectorizer | None) -> None:
    """Add a vectorizer, if there is one."""
    if vectorizer is not None:
        settings, arrays = vectorizer.state()
        part = TensorPart("text", {name: Tensor.of(values) for name, values in arrays.items()})
        draft.add(_version(settings), text={"settings": settings, "file": part})


def _version(settings: Mapping[str, Any]) -> int:
    from labeltree.text.settings import LATER_ANALYZERS, LATER_SETTINGS

    later = [version for name, version in LATER_SETTINGS.items() if name in settings]
    later += [version for word, version in LATER_ANALYZERS.items() if word == settings.get("analyzer")]
    return max([VERSION, *later])


@dataclass(frozen=True)
class StoredText:
    """A vectorizer as ``model.json`` has it, if it has one."""

    stored: Stored
    settings: Mapping[str, Any]
    file: StoredFile | None

    def read(self, n_features: int) -> TextVectorizer | None:
        """Return the vectorizer; raises `ValueError` unless it makes this number of features."""
        if self.file is None:
            return None
        from labeltree.text.vectorizer import TextVectorizer

        arrays = {name: tensor.values for name, tensor in self.stored.tensors(self.file).items()}
        with blaming(self.file.name):
            vectorizer = TextVectorizer.from_state(self.settings, arrays)
            if vectorizer.n_features_out != n_features:
                raise ValueError(
                    f"model.json says {count_text(n_features, 'feature')}, but texts have {vectorizer.n_features_out}"
                )
        return vectorizer


def take(stored: Stored) -> StoredText:
    """Take the fields of a vectorizer."""
    if "text" not in stored.fields:
        return StoredText(stored, {}, None)
    fields = Fields(stored.fields.take("text", object), "text")
    found = StoredText(stored, fields.take("settings", dict), fields.file("file", "text"))
    fields.finish()
    stored.needs(_version(found.settings))
    return found
