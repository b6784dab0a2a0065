"""Files of texts: what there is to learn from them first, and their rows."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from labeltree import scikit_learn
from labeltree.data.columns import Columns
from labeltree.data.formats import DataFormat
from labeltree.data.stream import ExampleStream
from labeltree.errors import DataFormatError
from labeltree.text.settings import TextSettings
from labeltree.text.tokenizers import allow_import
from labeltree.text.vectorizer import TextVectorizer

from .imported_rows import ImportedRows
from .source_files import SourceFile
from .writer import StoreWriter

#: Bytes of a file whose texts are in memory at once.
BLOCK_BYTES = 1 << 23


@dataclass(frozen=True)
class TextFiles:
    """Reads texts with labels.

    The vectorizer learns from the texts, unless it has learned in another store: `learned_in` is the fingerprint of it.
    """

    columns: Columns
    label_prefix: str
    vectorizer: TextVectorizer
    learned_in: str | None = None

    def __post_init__(self) -> None:
        if self._settings.tokenizer is not None:  # whoever names it wants it to be imported
            allow_import(self._settings.tokenizer)

    @property
    def _settings(self) -> TextSettings:
        return TextSettings.checked(type(self.vectorizer).__name__, self.vectorizer.get_params())

    def prepare(
        self, writer: StoreWriter, files: Sequence[SourceFile], progress: Callable[[int], None]
    ) -> None:
        """Read all texts once, and give the store their words and labels, unless it has them. No text is kept."""
        if writer.is_defined:
            return
        labels: set[Any] = set()
        texts = self._texts(files, labels, progress)
        learned = self.vectorizer
        if self.learned_in is None:
            learned = scikit_learn.clone(learned).fit(texts)
        else:
            collections.deque(texts, maxlen=0)  # only for their labels
        writer.define(labels, learned)

    def job(self) -> dict[str, Any]:
        """Return the parameters that the rows depend on."""
        return {
            "columns": asdict(self.columns),
            "label_prefix": self.label_prefix,
            "text": self._settings.as_json(),
            "learned_in": self.learned_in,
        }

    def blocks(
        self, writer: StoreWriter, file: SourceFile, start: Mapping[str, Any]
    ) -> Iterator[ImportedRows]:
        """Yield the rows of a file that come after the place `start`; from its beginning, if that is empty."""
        assert writer.vectorizer is not None
        transform, n_skipped, n_rows = writer.vectorizer.transform, start.get("rows", 0), 0
        stream = self._stream(file)
        for batch in stream:
            texts, labels = cast(list[Any], batch.X), batch.y
            n_rows += len(texts)
            if n_rows > n_skipped:
                first = max(len(texts) - (n_rows - n_skipped), 0)
                rows = transform(texts[first:]), labels[first:]
                yield ImportedRows(*rows, {"rows": n_rows}, stream.n_bytes)

    def _texts(
        self, files: Sequence[SourceFile], seen: set[Any], progress: Callable[[int], None]
    ) -> Iterator[Any]:
        """Yield all texts, and collect the labels that were seen."""
        n_texts, n_bytes = 0, 0
        missing = set(self.columns.text if self.columns.are_fields else ())
        for file in files:
            stream = self._stream(file)
            for texts, labels in stream:
                n_texts += len(texts)
                seen.update(*labels)
                for text in texts:
                    if missing and not isinstance(text, str):
                        missing -= {name for name in missing if text[name]}
                    yield text
                progress(n_bytes + stream.n_bytes)
            n_bytes += file.n_bytes
        if n_texts == 0:
            raise DataFormatError("expected at least one text, got none", files[0].path)
        if missing:  # JSON objects may lack a key, but a column that all lack is a mistake
            raise DataFormatError(f"expected texts as {min(missing)!r} (--text), got none", files[0].path)

    def _stream(self, file: SourceFile) -> ExampleStream:
        return ExampleStream(
            file.path,
            cast(DataFormat, file.format),
            columns=self.columns,
            label_prefix=self.label_prefix,
            whole_texts=True,
            block_bytes=BLOCK_BYTES,
        )
