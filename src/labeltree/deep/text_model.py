"""`TextModel`: a model that reads texts by itself, without a vectorizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from labeltree.model.forest import Features
from labeltree.model.model import Model
from labeltree.model.texts import are_texts, as_texts


@dataclass(frozen=True, eq=False)
class TextModel(Model):
    """A trained model whose reader turns texts into features."""

    joins_fields: ClassVar[bool] = True

    @property
    def takes_text(self) -> bool:
        return True

    @property
    def prefers_batches(self) -> bool:
        return bool(getattr(self.reader, "prefers_batches", False))

    def text_rows(self, texts: Any) -> Any:
        """Return the texts, which are X."""
        return list(texts)

    def read_texts(self, texts: Any) -> Features:
        return self.reader.read(list(texts))


@dataclass(frozen=True, eq=False)
class AbsentReader:
    """Stands for the reader of a model that was opened to be described, without its network.

    Attributes
    ----------
    n_features : int
    """

    n_features: int
    names: ClassVar[None] = None

    def read(self, X: Any) -> NoReturn:
        raise ValueError("this model was opened without its network: it can be described, but not asked")

    def read_csr(self, *_: Any) -> NoReturn:
        self.read(None)


def check_texts(X: Any, owner: str) -> list[Any]:
    """Return the texts of X; raise `ValueError` if it has rows of numbers."""
    if not are_texts(X):
        raise ValueError(
            f"{owner} reads texts: pass a list of strings or one column of a frame, got {type(X).__name__}"
        )
    return list(as_texts(X))
