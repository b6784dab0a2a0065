"""The section of a tokenizer: its JSON, and the number of tokens that it keeps of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import StoredFile
from labeltree.model_file.tensors import Tensor

if TYPE_CHECKING:
    from labeltree.deep.tokens import TextTokenizer

#: Tokenizers came with this version of the format.
VERSION = 11
#: The largest number of tokens of a text.
MOST_TOKENS = 100_000


def write(draft: Draft, tokenizer: TextTokenizer) -> None:
    """Add a tokenizer."""
    state = np.frombuffer(tokenizer.state.encode(), dtype=np.uint8)
    draft.add(VERSION, max_tokens=int(tokenizer.max_tokens))
    draft.files["tokenizer"] = TensorPart("tokenizer", {"json": Tensor.of(state)})


@dataclass(frozen=True)
class StoredTokenizer:
    """A tokenizer as ``model.json`` has it."""

    stored: Stored
    max_tokens: int
    file: StoredFile

    def read(self, n_known: int | None) -> TextTokenizer:
        """Return the tokenizer of a network that has vectors for this number of tokens."""
        from labeltree.deep.tokens import TextTokenizer

        tensors = self.stored.tensors(self.file)
        with blaming(self.file.name):
            if (
                tensors.keys() != {"json"}
                or tensors["json"].dtype != "U8"
                or tensors["json"].values.ndim != 1
            ):
                raise ValueError("expected one tensor 'json' of bytes")
            return TextTokenizer(tensors["json"].values.tobytes().decode(), self.max_tokens, n_known)


def take(stored: Stored) -> StoredTokenizer:
    """Take the fields of a tokenizer."""
    stored.needs(VERSION)
    longest = stored.fields.count("max_tokens", 1, MOST_TOKENS)
    return StoredTokenizer(stored, longest, stored.files.file("tokenizer", "tokenizer"))
