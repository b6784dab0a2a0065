"""What makes features of texts, as settings and tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labeltree.model_file.tensors import Tensor

if TYPE_CHECKING:
    from labeltree.text.vectorizer import TextVectorizer


def encode_text(vectorizer: TextVectorizer | None) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    """The settings and the tensors, if there is anything to store."""
    if vectorizer is None:
        return None
    settings, arrays = vectorizer.state()
    return settings, {name: Tensor.of(values) for name, values in arrays.items()}


def decode_text(
    settings: Mapping[str, Any], tensors: Mapping[str, Tensor], n_features: int
) -> TextVectorizer:
    """What they stand for; raises `ValueError` unless it makes so many features."""
    from labeltree.text.vectorizer import TextVectorizer

    arrays = {name: tensor.values for name, tensor in tensors.items()}
    vectorizer = TextVectorizer.from_state(settings, arrays)
    n_made = vectorizer.n_features_out
    if n_made != n_features:
        raise ValueError(f"model.json says {n_features} features, but texts have {n_made}")
    return vectorizer
