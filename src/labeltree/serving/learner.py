"""One thread that lets a model learn what requests bring, and keeps it safe."""

from __future__ import annotations

import logging
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labeltree.serving import rows
from labeltree.serving.errors import Refusal
from labeltree.serving.journal import Journal
from labeltree.serving.logs import log_event
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Example, Row

#: More lessons than these do not wait; those who bring them are told to come again.
MOST_WAITING = 256

_Examples = list[dict[str, Any]]


@dataclass
class _Lesson:
    """The examples of one request, as features and labels, and who waits."""

    X: Any
    y: list[list[Any]]
    written: _Examples
    learned: Future[int] = field(default_factory=Future)


class Learner:
    """Learns examples in the order in which they come, each once, and none that is not on disk.

    What waits is written to the journal together and synced once; then it is learned, and then acknowledged. After
    every `snapshot_every` examples the model is saved, in a thread of its own, while others are learned.

    Parameters
    ----------
    model : OnlineLabelTreeClassifier
        As it was saved. What the journal has beyond it is learned now.
    path : path of a directory
        Where it is saved; the journal is beside it.
    snapshot_every : int
    journal : Journal
        Opened before the model was loaded, so that no other server could save it since.
    """

    def __init__(self, model: Any, path: Path, snapshot_every: int, journal: Journal) -> None:
        if model.label_kind_ != "lists":
            raise ValueError(
                f"{path}: this model learned from a matrix of labels, and cannot learn lists of them from requests"
            )
        self._model = model
        self._path = path
        self._snapshot_every = snapshot_every
        self._label_type = type(model.classes_.tolist()[0])
        self._journal = journal
        self._saved_at = int(model.n_examples_)
        self._failure: Exception | None = None
        self._replay()
        self._lessons: queue.Queue[_Lesson | None] = queue.Queue(MOST_WAITING)
        self._saving: threading.Thread | None = None
        self._thread = threading.Thread(target=self._work, name="learner", daemon=True)
        self._thread.start()

    def learn(self, served: ServedModel, examples: list[Example]) -> Future[int]:
        """Learn examples; the result comes when all are learned and on disk: how many the model has learned in all."""
        X = _features(served, examples)
        lesson = _Lesson(
            X, [self._labels(i, example) for i, example in enumerate(examples)], _written(examples)
        )
        if self._failure is not None:
            raise Refusal(503, "learning has stopped; the log of the server says why", "learning_stopped")
        try:
            self._lessons.put_nowait(lesson)
        except queue.Full:
            raise Refusal(
                503, "too many wait to be learned: come again", headers={"Retry-After": "1"}
            ) from None
        return lesson.learned

    def close(self) -> None:
        """Learn what waits, and save the model if it is not as it was saved."""
        self._lessons.put(None)
        self._thread.join()
        if self._saving is not None:
            self._saving.join()
        if self._failure is None and self._model.n_examples_ > self._saved_at:
            self._journal.begin_part(int(self._model.n_examples_))
            self._save()
        self._journal.close()

    # -- at the start ----------------------------------------------------------------------------------------------

    def _replay(self) -> None:
        """Learn what was acknowledged after the model was saved; what is in it already is passed over."""
        n_before = self._model.n_examples_
        self._check_begin(self._journal.first)
        for record in self._journal.records():
            begin = self._model.n_examples_ - record.first
            self._check_begin(record.first)
            examples = [Example.model_validate(example) for example in record.examples[begin:]]
            if not examples:
                continue
            served = ServedModel(self._path.name, self._model, "", learns=True)
            try:
                self._model.partial_fit(_features(served, examples), [example.labels for example in examples])
            except ValueError as error:
                if not record.is_last:
                    raise
                # It was refused when it came, too, and the server was killed before it could be taken back.
                n_learned = self._model.n_examples_ - record.first
                self._journal.take_back(record, n_learned)
                log_event("took back", model=str(self._path), reason=str(error))
        n_replayed = self._model.n_examples_ - n_before
        if n_replayed:
            log_event("replayed", model=str(self._path), examples=n_replayed)
        else:
            self._journal.begin_anew(int(n_before))

    def _check_begin(self, first: int) -> None:
        if first > self._model.n_examples_:
            raise ValueError(
                f"{self._journal.path}: the journal goes on after {first} examples, but the model has only "
                f"{self._model.n_examples_}: it is an older one, or another; put the right one back, or move the "
                "journal away"
            )

    # -- the thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        waiting: list[_Lesson] = []
        is_open = True
        while is_open or waiting:
            if not waiting:
                lesson = self._lessons.get()
                is_open = lesson is not None
                waiting = [] if lesson is None else [lesson]
            while is_open and not self._lessons.empty():  # what has come meanwhile is synced together
                lesson = self._lessons.get()
                is_open = lesson is not None
                waiting += [] if lesson is None else [lesson]
            if not waiting:
                continue
            if self._failure is not None:  # they came before it was known
                self._refuse(waiting)
                waiting = []
                continue
            try:
                waiting = self._learn(waiting)
                if self._model.n_examples_ - self._saved_at >= self._snapshot_every:
                    self._start_saving()
            except Exception as error:  # the disk is full, or the kernel has a fault
                self._stop(error, waiting)
                waiting = []

    def _learn(self, lessons: list[_Lesson]) -> list[_Lesson]:
        """Write, sync, learn, acknowledge; those after one that is refused are given back, and go with the next."""
        model = self._model
        first = int(model.n_examples_)
        record = self._journal.append(first, [example for lesson in lessons for example in lesson.written])
        done: list[tuple[_Lesson, int]] = []
        refused: tuple[_Lesson, ValueError] | None = None
        for lesson in lessons:
            try:
                model.partial_fit(lesson.X, lesson.y)
            except ValueError as error:
                refused = lesson, error
                break
            done.append((lesson, int(model.n_examples_)))
        if refused is not None:
            n_kept = int(model.n_examples_) - first
            self._journal.take_back(record, n_kept)
            n_before = n_kept - sum(len(lesson.y) for lesson, _ in done)
            before = f"; the {n_before} before it are learned" if n_before else ""
            refused[0].learned.set_exception(
                Refusal(409, f"examples[{n_before}] cannot be learned: {refused[1]}{before}", "cannot_learn")
            )
        for lesson, n_examples in done:
            lesson.learned.set_result(n_examples)
        return lessons[len(done) + 1 :]

    def _stop(self, error: Exception, lessons: list[_Lesson]) -> None:
        """What is in the model may not be in the journal any more: nothing else is learned."""
        self._failure = error
        log_event("learning stopped", level=logging.ERROR, error=error, model=str(self._path))
        self._refuse(lessons)

    @staticmethod
    def _refuse(lessons: list[_Lesson]) -> None:
        for lesson in lessons:
            if not lesson.learned.done():
                lesson.learned.set_exception(
                    Refusal(503, "learning has stopped; the log of the server says why", "learning_stopped")
                )

    # -- snapshots -------------------------------------------------------------------------------------------------

    def _start_saving(self) -> None:
        if self._saving is None or not self._saving.is_alive():
            self._journal.begin_part(int(self._model.n_examples_))
            self._saved_at = int(self._model.n_examples_)
            self._saving = threading.Thread(target=self._save, name="snapshot")
            self._saving.start()

    def _save(self) -> None:
        """Save the model; the parts of the journal that it then has are removed."""
        n_examples = int(self._model.n_examples_)  # at least so many will be in it
        try:
            self._model.save(self._path)
        except Exception as error:  # all is in the journal still
            log_event("snapshot failed", level=logging.ERROR, error=error, model=str(self._path))
            return
        self._journal.remove_parts_before(n_examples)
        self._saved_at = max(self._saved_at, n_examples)
        log_event("snapshot", model=str(self._path), examples=n_examples)

    # -- examples --------------------------------------------------------------------------------------------------

    def _labels(self, number: int, example: Example) -> list[Any]:
        for label in example.labels:
            if type(label) is not self._label_type:
                raise Refusal(
                    422,
                    f"examples[{number}].labels: the labels of this model are of the type "
                    f"{self._label_type.__name__}, got {type(label).__name__}",
                )
        return list(example.labels)


def _written(examples: list[Example]) -> _Examples:
    return [example.model_dump(exclude_none=True) for example in examples]


def _features(served: ServedModel, examples: list[Example]) -> Any:
    """X; all examples must be of one kind."""
    texts = [example.text for example in examples if example.text is not None]
    numbered = [example.row for example in examples if example.row is not None]
    named = [example.features for example in examples if example.features is not None]
    if numbered and (texts or named):
        raise Refusal(422, "examples: expected all of one kind, got rows of numbers and others")
    if numbered:
        _check_places(served.model, numbered)
        return rows.of_rows(served, numbered, "rows")
    by_name = iter(rows.of_texts(served, texts) if texts else [])
    given = iter(rows.of_features(served, named) if named else [])
    return [next(by_name if example.text is not None else given) for example in examples]


def _check_places(model: Any, numbered: list[Row]) -> None:
    """Where every feature up to the largest number has a place, one large number would take all memory."""
    known = int(model.n_features_in_)
    for i, row in enumerate(numbered):
        if model.weights == "dense" and row.indices and row.indices[-1] >= known:
            raise Refusal(
                422,
                f"examples[{i}].row: a model with dense weights learns no new features from requests: expected indices "
                f"from 0 to {known - 1}, got {row.indices[-1]}",
            )
