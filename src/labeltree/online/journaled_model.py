"""`JournaledModel`: an online model that is open to learn into its directory."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

from labeltree.errors import ModelFileError
from labeltree.model_file.journal import Journal, journal_of
from labeltree.model_file.journal_lines import Contents, Lesson, Mark, Receipt, Record, Refused, records
from labeltree.model_file.lock import ModelLock
from labeltree.model_file.saving import check_readable, draft_of
from labeltree.model_file.waiting import Waiting, check_nothing_waits, stored_mark
from labeltree.online.examples import features_of, labels_of
from labeltree.online.streaming import n_learned, n_learned_of_stream
from labeltree.wording import count_text

#: How many requests with a key are remembered, the latest ones.
MAX_RECEIPTS = 10_000


class JournaledModel:
    """An online model, its directory and its journal, open to learn.

    First the model learns the examples of the journal that it lacks. `save` writes to the journal which version of the
    model comes, then saves that version, and then removes the parts of the journal that it contains.

    Parameters
    ----------
    model : OnlineLabelTreeClassifier
        The model that is in the directory, or a new one if there is none.
    path : path of a directory
    lock : ModelLock
        The lock of the directory, taken before the model was loaded.
    keeps_stream : bool
        Whether examples that are learned do not count as examples of the model's current stream.

    Attributes
    ----------
    n_replayed : int
        Number of examples that only the journal had.
    receipts : dict
        What became of the latest requests with a key, oldest first.
    turn : threading.Lock
        Held from the writing of a record until all of its examples are learned or refused.

    Raises
    ------
    ModelFileError
        If the journal has examples for another version of the model.
    """

    def __init__(self, model: Any, path: Path, lock: ModelLock, keeps_stream: bool = False) -> None:
        self.model = model
        self.path = path
        self.turn = threading.Lock()
        self._lock = lock
        self._stored = stored_mark(path)
        self._expected = {self._stored}  # on disk: a save may fail after it has replaced the model
        _check_no_old_journal(path)
        journal = journal_of(path)
        contents = Contents.read(journal)
        self._check_belongs(Waiting.between(journal, contents, self._stored), contents)
        if self._stored not in contents.marks and contents.marks:
            contents.receipts.clear()  # of another version, all of whose examples were saved
        self.receipts = contents.receipts
        self._journal = Journal(journal, contents, self._stored or Mark("", 0))
        n_of_stream = n_learned_of_stream(model)
        self.n_replayed = self._replay(contents.n_records)
        if self.n_replayed:
            model.stream_start_ = n_learned(model) - n_of_stream
        self._n_of_stream = n_of_stream if keeps_stream else None

    @property
    def n_examples(self) -> int:
        """The number of examples that the model has learned."""
        return n_learned(self.model)

    @property
    def is_saved(self) -> bool:
        """Whether the saved model has all examples."""
        return self._stored is not None and self._stored.n_examples == self.n_examples

    def append(self, examples: list[dict[str, Any]], lessons: list[Lesson]) -> Record:
        """Write examples of requests to the journal; when this returns, they are safe on disk."""
        return self._journal.append(self.n_examples, examples, lessons)

    def refuse(self, record: Record, begin: int, end: int, message: str) -> None:
        """Write that examples of the last record are not learned."""
        self._journal.refuse(record, Refused(begin, end, message))

    def remember(self, receipt: Receipt) -> None:
        """Keep a receipt, and forget the oldest if there are too many."""
        self.receipts[receipt.key] = receipt
        while len(self.receipts) > MAX_RECEIPTS:
            del self.receipts[next(iter(self.receipts))]

    def save(self) -> int:
        """Save the model, and return the number of its examples. It may learn meanwhile."""
        with self.turn:
            if self._journal.exists:
                self._journal.begin_part(self.n_examples, list(self.receipts.values()))
        draft = draft_of(self.model)
        n_examples: int = draft.fields["n_examples"]
        if self._n_of_stream is not None:
            draft.fields["stream_start"] = n_examples - self._n_of_stream
        saved = Mark("", n_examples)

        def mark(version: str) -> None:
            nonlocal saved
            saved = Mark(version, n_examples)
            found = stored_mark(self.path)
            if found not in self._expected:
                raise ModelFileError(
                    f"{self.path}: another model was put here while this one learned; nothing was written: move it "
                    "away and put the one before it back"
                )
            with self.turn:
                self._journal.mark(saved)
            self._expected = {found, saved}

        draft.write(
            self.path, self._lock, before_commit=mark, check=partial(check_readable, type(self.model))
        )
        with self.turn:
            self._stored = saved
            self._journal.note_saved(saved)
            if self._journal.exists:
                self._journal.remove_parts_before(n_examples)
        return n_examples

    def close(self) -> None:
        """Close the journal; remove it, if the saved model has all of its examples and it has no receipts."""
        if self.is_saved and not self.receipts and self._journal.exists:
            self._journal.remove()
        self._journal.close()
        self._lock.release()

    @classmethod
    def start_over(cls, model: Any, path: Path, lock: ModelLock) -> JournaledModel:
        """Let a new model take the place of the one in the directory; raise if examples wait in the journal of that."""
        check_nothing_waits(path)
        Journal(journal_of(path), Contents(), Mark("", 0)).remove()
        return cls(model, path, lock)

    def __enter__(self) -> JournaledModel:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _replay(self, n_records: int) -> int:
        """Learn the examples of the journal that the model lacks, and return their number."""
        n_before = self.n_examples
        for number, record in enumerate(records(self._journal.path), 1):
            n_known = self.n_examples - record.first
            if n_known < 0:
                raise ModelFileError(
                    f"{self._journal.path}: examples are missing: the model has {self.n_examples}, and the journal "
                    f"goes on after {record.first}"
                )
            for lesson, begin, end, _ in list(record.spans()):
                n_skipped = min(n_known, end - begin)
                n_known -= n_skipped
                examples = record.examples[begin + n_skipped : end]
                n_learned_before = self.n_examples
                try:
                    if examples:
                        self.model.partial_fit(features_of(self.model, examples), labels_of(examples))
                except ValueError as error:
                    if number < n_records:
                        raise ModelFileError(f"{self._journal.path}: cannot be learned: {error}") from error
                    # The request was refused too, but the server was killed before it could write that.
                    refused = begin + n_skipped + self.n_examples - n_learned_before
                    self.refuse(record, refused, end, str(error))
                    if lesson.key is not None:
                        self.receipts.pop(lesson.key, None)
            for receipt in record.receipts():
                self.remember(receipt)
        return self.n_examples - n_before

    def _check_belongs(self, waiting: Waiting, contents: Contents) -> None:
        if waiting.belongs:
            return
        versions = ", ".join(
            f"{mark.version[:12]} ({count_text(mark.n_examples, 'example')})" for mark in contents.marks
        )
        found = "there is none" if self._stored is None else f"it is version {self._stored.version[:12]}"
        n_found = "" if self._stored is None else f" ({count_text(self._stored.n_examples, 'example')})"
        raise ModelFileError(
            f"{waiting.journal}: this journal has {count_text(waiting.n_examples, 'example')} for another "
            "version of the model in "
            f"{self.path}: expected {versions or f'one of {contents.first} to {contents.end} examples'}, but {found}"
            f"{n_found}; put the right version back, or move the journal away to lose its examples"
        )


def _check_no_old_journal(path: Path) -> None:
    """Refuse a journal beside a symbolic link, where earlier versions had put it."""
    old, journal = path.absolute().with_name(f"{path.absolute().name}.journal"), journal_of(path)
    if old.exists() and old.resolve() != journal.resolve() and Contents.read(old).n_records:
        raise ModelFileError(
            f"{old}: an earlier version of labeltree wrote this journal; move it to {journal}"
        )
