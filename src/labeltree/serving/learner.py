"""A thread in which a model learns the examples of requests, and saves them."""

from __future__ import annotations

import logging
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from labeltree.serving import rows
from labeltree.serving.errors import Refusal, overloaded
from labeltree.serving.journal import Journal
from labeltree.serving.logs import log_event
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Example

#: Maximum number of requests that wait to be learned; further requests are refused.
MAX_WAITING = 256


@dataclass
class _Lesson:
    """The examples of one request; `learned` becomes the total number of examples."""

    X: Any
    y: list[list[Any]]
    written: list[dict[str, Any]]
    learned: Future[int] = field(default_factory=Future)


class Learner:
    """Learns examples in the order in which they come, each once, after they are on disk.

    All requests that wait are written to the journal and synced together. Then they are learned, and then acknowledged.
    After every `snapshot_every` examples another thread saves the model, while this one continues to learn.

    Parameters
    ----------
    served : ServedModel
        An online model as it was saved. It first learns the examples that only the journal has.
    path : path of a directory
        The directory of the model; the journal is beside it.
    snapshot_every : int
    journal : Journal
        Opened before the model was loaded, so that no other server could save the model since.
    """

    def __init__(self, served: ServedModel, path: Path, snapshot_every: int, journal: Journal) -> None:
        if served.model.label_kind_ != "lists":
            raise ValueError(f"{path}: this model learned from a label matrix, not from lists of labels")
        self._served = served
        self._model = served.model
        self._path = path
        self._snapshot_every = snapshot_every
        self._label_type = type(served.model.classes_.tolist()[0])
        self._journal = journal
        self._saved_at = self._n_examples
        self._failure: Exception | None = None
        self._replay()
        self._lessons: queue.Queue[_Lesson | None] = queue.Queue(MAX_WAITING)
        self._saving: threading.Thread | None = None
        self._thread = threading.Thread(target=self._work, name="learner", daemon=True)
        self._thread.start()

    @property
    def _n_examples(self) -> int:
        return int(self._model.n_examples_)

    def learn(self, examples: list[Example]) -> Future[int]:
        """Learn examples. The result is the total number of examples, once these are learned and on disk."""
        X = _features(self._served, examples)
        for i, example in enumerate(examples):
            self._check_labels(i, example)
        written = [example.model_dump(exclude_none=True) for example in examples]
        lesson = _Lesson(X, [example.labels for example in examples], written)
        if self._failure is not None:
            raise _learning_stopped()
        try:
            self._lessons.put_nowait(lesson)
        except queue.Full:
            raise overloaded("too many requests wait to be learned: retry later") from None
        return lesson.learned

    def close(self) -> None:
        """Learn the examples that wait, and save the model if it has changed."""
        self._lessons.put(None)
        self._thread.join()
        if self._saving is not None:
            self._saving.join()
        if self._failure is None and self._n_examples > self._saved_at:
            self._journal.begin_part(self._n_examples)
            self._save()
        self._journal.close()

    def _check_labels(self, number: int, example: Example) -> None:
        for label in example.labels:
            if type(label) is not self._label_type:
                types = f"expected type {self._label_type.__name__}, got {type(label).__name__}"
                raise Refusal(422, f"examples[{number}].labels: {types}")

    # -- at the start ----------------------------------------------------------------------------------------------

    def _replay(self) -> None:
        """Learn the examples that were acknowledged after the model was saved."""
        n_saved = self._n_examples
        self._check_first(self._journal.first)
        for record in self._journal.records():
            self._check_first(record.first)
            n_known = self._n_examples - record.first
            examples = [Example.model_validate(example) for example in record.examples[n_known:]]
            if not examples:
                continue
            try:
                X = _features(self._served, examples)
                self._model.partial_fit(X, [example.labels for example in examples])
            except ValueError as error:
                if not record.is_last:
                    raise
                # The request was refused too, but the server was killed before it could take the record back.
                self._journal.take_back(record, self._n_examples - record.first)
                log_event("took back", model=str(self._path), reason=str(error))
        n_replayed = self._n_examples - n_saved
        if n_replayed:
            log_event("replayed", model=str(self._path), examples=n_replayed)
        else:
            self._journal.restart(n_saved)

    def _check_first(self, first: int) -> None:
        if first > self._n_examples:
            raise ValueError(
                f"{self._journal.path}: the journal continues after {first} examples, but the model has only "
                f"{self._n_examples}: it is an older or another model; put the right one back, or move the journal away"
            )

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        waiting: list[_Lesson] = []
        is_open = True
        while is_open or waiting:
            while is_open and not (waiting and self._lessons.empty()):  # all that wait are synced together
                lesson = self._lessons.get()
                is_open = lesson is not None
                if lesson is not None:
                    waiting.append(lesson)
            try:
                if waiting and self._failure is None:
                    waiting = self._learn(waiting)
                    if self._n_examples - self._saved_at >= self._snapshot_every:
                        self._start_saving()
            except Exception as error:  # a full disk, or a fault of the kernel
                # The model may have examples that the journal lacks: it learns nothing else.
                self._failure = error
                log_event("learning stopped", level=logging.ERROR, error=error, model=str(self._path))
            if self._failure is not None:
                for lesson in waiting:
                    if not lesson.learned.done():
                        lesson.learned.set_exception(_learning_stopped())
                waiting = []

    def _learn(self, lessons: list[_Lesson]) -> list[_Lesson]:
        """Write, sync, learn and acknowledge lessons up to the first that is refused; return those after it."""
        first = self._n_examples
        record = self._journal.append(first, [example for lesson in lessons for example in lesson.written])
        done: list[tuple[_Lesson, int]] = []
        for lesson in lessons:
            n_before = self._n_examples
            try:
                self._model.partial_fit(lesson.X, lesson.y)
            except ValueError as error:
                self._journal.take_back(record, self._n_examples - first)
                n_learned = self._n_examples - n_before
                rest = f"; the {n_learned} before it are learned" if n_learned else ""
                message = f"examples[{n_learned}] cannot be learned: {error}{rest}"
                lesson.learned.set_exception(Refusal(409, message, "cannot_learn"))
                break
            done.append((lesson, self._n_examples))
        for lesson, n_examples in done:
            lesson.learned.set_result(n_examples)
        return lessons[len(done) + 1 :]

    def _start_saving(self) -> None:
        if self._saving is None or not self._saving.is_alive():
            self._journal.begin_part(self._n_examples)
            self._saved_at = self._n_examples
            self._saving = threading.Thread(target=self._save, name="snapshot")
            self._saving.start()

    def _save(self) -> None:
        """Save the model, then remove the parts of the journal that it contains."""
        n_examples = self._n_examples  # the saved model has at least these
        try:
            self._model.save(self._path)
        except Exception as error:  # the journal still has all examples
            log_event("snapshot failed", level=logging.ERROR, error=error, model=str(self._path))
            return
        self._journal.remove_parts_before(n_examples)
        self._saved_at = max(self._saved_at, n_examples)
        log_event("snapshot", model=str(self._path), examples=n_examples)


def _learning_stopped() -> Refusal:
    return Refusal(503, "learning has stopped; the server's log has the reason", "learning_stopped")


def _features(served: ServedModel, examples: list[Example]) -> Any:
    """Return X. Rows of numbers cannot be mixed with texts and named features."""
    texts = [example.text for example in examples if example.text is not None]
    numbered = [example.row for example in examples if example.row is not None]
    named = [example.features for example in examples if example.features is not None]
    if numbered and (texts or named):
        raise Refusal(422, "examples: expected all of one kind, got rows of numbers and others")
    if numbered:
        _check_indices(served.model, [row.indices for row in numbered])
        indptr, indices, values = rows.csr_arrays(served, numbered)
        width = max(int(served.model.n_features_in_), int(indices.max(initial=0)) + 1)
        return csr_matrix((values, indices, indptr), shape=(len(numbered), width))
    if texts:
        rows.check_takes_text(served)
    of_texts = iter(served.model.model_.text_rows(texts))
    of_names = iter(rows.of_features(served, named) if named else [])
    return [next(of_names if example.text is None else of_texts) for example in examples]


def _check_indices(model: Any, rows: list[list[int]]) -> None:
    """Refuse new features for dense weights: one large index would take all memory."""
    largest = int(model.n_features_in_) - 1
    for i, indices in enumerate(rows):
        if model.weights == "dense" and indices and indices[-1] > largest:
            expected = f"expected indices from 0 to {largest}, got {indices[-1]}"
            raise Refusal(422, f"examples[{i}].row: dense weights learn no new features: {expected}")
