"""Texts as numbers of words or parts of words, by a tokenizer that is stored as its JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.extras import import_extra
from labeltree.errors import ModelFileError
from labeltree.model.texts import Text
from labeltree.wording import with_article

#: Texts that are tokenized together: enough for all threads, and few enough for the memory.
CHUNK = 4096
#: The words of a tokenizer that `learn_words` makes: padding has the number 0, an unknown word the number 1.
PADDING, UNKNOWN = "[PAD]", "[UNK]"


@dataclass(frozen=True, eq=False)
class TokenRows:
    """The tokens of each text, one text after another.

    Attributes
    ----------
    indptr : array of shape (n_rows + 1,)
    tokens : array of int32
        Row i has ``tokens[indptr[i]:indptr[i + 1]]``.
    kept : dict
        What was computed from these rows, by its owner, so that several questions compute it once.
    """

    indptr: NDArray[np.int64]
    tokens: NDArray[np.int32]
    kept: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> TokenRows:
        """Return lists of tokens as rows."""
        sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        tokens = np.fromiter((token for row in rows for token in row), dtype=np.int32, count=int(sizes.sum()))
        return cls(np.concatenate([[0], np.cumsum(sizes)]), tokens)

    @classmethod
    def joined(cls, parts: Sequence[TokenRows]) -> TokenRows:
        """Return the rows of all parts, one part after another."""
        sizes = np.concatenate([np.empty(0, dtype=np.int64), *(part.sizes for part in parts)])
        tokens = np.concatenate([np.empty(0, dtype=np.int32), *(part.tokens for part in parts)])
        return cls(np.concatenate([[0], np.cumsum(sizes)]), tokens)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int]:
        """The number of rows, as arrays have it."""
        return (self.n_rows,)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of tokens of each row."""
        return np.diff(self.indptr)

    def take(self, rows: NDArray[Any]) -> TokenRows:
        """Return some of the rows, in this order."""
        rows = np.asarray(rows)
        sizes = self.sizes[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        at = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        return TokenRows(indptr, self.tokens[at])

    def __getitem__(self, rows: slice) -> TokenRows:
        chosen = np.arange(self.n_rows)[rows]
        # All rows are these rows, with what was kept for them.
        return self if len(chosen) == self.n_rows else self.take(chosen)

    def padded(self, padding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tokens as a matrix with a row for each text, filled up with `padding`, and their numbers."""
        sizes = self.sizes
        matrix = np.full((self.n_rows, max(int(sizes.max(initial=0)), 1)), padding, dtype=np.int64)
        matrix[np.arange(matrix.shape[1]) < sizes[:, np.newaxis]] = self.tokens
        return matrix, sizes


class TextTokenizer:
    """Splits texts into tokens.

    Parameters
    ----------
    state : str
        The JSON of a tokenizer of the package ``tokenizers``.
    max_tokens : int
        Further tokens of a text are left out.
    n_known : int, optional
        The number of tokens that the network has vectors for, if the tokenizer is not to be trusted.
    """

    def __init__(self, state: str, max_tokens: int, n_known: int | None = None) -> None:
        tokenizers = import_extra("tokenizers", "a neural network over texts")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(state)
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(max_tokens)
        except Exception as error:  # the package raises nothing more precise
            raise ValueError(f"the tokenizer cannot be read: {error}") from None
        self.state = state
        self.max_tokens = max_tokens
        self.n_known = n_known
        padding = {"[PAD]", "<pad>", "<PAD>"} & self._tokenizer.get_vocab().keys()
        self.padding = int(self._tokenizer.token_to_id(min(padding))) if padding else 0
        if n_known is not None and self.padding >= n_known:
            raise ValueError(f"the padding is token {self.padding}, but the network has {n_known} tokens")

    @property
    def n_tokens(self) -> int:
        """The number of different tokens."""
        return int(self._tokenizer.get_vocab_size())

    def read(self, texts: Iterable[Text]) -> TokenRows:
        """Return the tokens of texts; raise `ValueError` for anything that is not a text."""
        parts: list[TokenRows] = []
        chunk: list[str] = []
        for number, text in enumerate(texts):
            chunk.append(as_string(text, number))
            if len(chunk) == CHUNK:
                parts.append(self._read(chunk))
                chunk = []
        return TokenRows.joined([*parts, self._read(chunk)])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return begin and end of each word of a text, as far as the tokenizer reads."""
        found = self._tokenizer.encode(text)
        words: dict[Any, tuple[int, int]] = {}
        for word, (begin, end) in zip(found.word_ids, found.offsets, strict=True):
            if word is not None and end > begin:
                first = words.get(word, (begin, end))
                words[word] = (min(first[0], begin), max(first[1], end))
        return sorted(words.values())

    def vocabulary(self) -> dict[str, int]:
        """Return the number of each token."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        return vocabulary

    def _read(self, texts: list[str]) -> TokenRows:
        if not texts:
            return TokenRows.of([])
        # A tokenizer may add more tokens than it leaves out.
        rows = TokenRows.of([row.ids[: self.max_tokens] for row in self._tokenizer.encode_batch_fast(texts)])
        if self.n_known is not None and rows.tokens.max(initial=0) >= self.n_known:
            raise ModelFileError(
                f"the tokenizer makes a token of the number {rows.tokens.max()}, but the network has {self.n_known}"
            )
        return rows

    def __reduce__(self) -> tuple[Any, ...]:
        return TextTokenizer, (self.state, self.max_tokens, self.n_known)


def as_string(text: Any, number: int = 0) -> str:
    """Return a text as one string: the fields of a mapping are joined; raise `ValueError` for anything else."""
    if isinstance(text, str):
        return _readable(text, number)
    if isinstance(text, Mapping) and all(value is None or isinstance(value, str) for value in text.values()):
        return _readable("\n".join(value for value in text.values() if value), number)
    raise ValueError(f"text {number} must be a string, got {with_article(type(text).__name__)}")


def _readable(text: str, number: int) -> str:
    """Return a text; raise `ValueError` if it has half of a character, which no tokenizer reads."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"text {number} has half of a character (a lone surrogate) at position {error.start}: was a file read as "
            "the wrong encoding?"
        ) from None
    return text


def learn_words(texts: Iterable[Text], max_words: int, min_count: int) -> str:
    """Return the JSON of a tokenizer of words: the most frequent of these texts, in lower case.

    Parameters
    ----------
    texts : iterable of str
    max_words : int
        The maximum number of words.
    min_count : int
        The least number of times that a word occurs.
    """
    tokenizers = import_extra("tokenizers", "a neural network over texts")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token=UNKNOWN))
    words.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.NFKC(), tokenizers.normalizers.Lowercase()]
    )
    # Words and numbers; punctuation says little about a subject.
    words.pre_tokenizer = tokenizers.pre_tokenizers.Split(
        tokenizers.Regex(r"\w+"), behavior="removed", invert=True
    )
    trainer = tokenizers.trainers.WordLevelTrainer(
        vocab_size=max_words + 2,
        min_frequency=min_count,
        show_progress=False,
        special_tokens=[PADDING, UNKNOWN],
    )
    words.train_from_iterator((as_string(text, number) for number, text in enumerate(texts)), trainer)
    state: str = words.to_str()
    return state
