"""A thread in which a model learns the examples of requests, and saves them."""

from __future__ import annotations

import errno
import logging
import queue
import threading
import time

from labeltree.model_file.journal_lines import Receipt
from labeltree.online.examples import features_of, labels_of
from labeltree.online.journaled_model import JournaledModel
from labeltree.serving.errors import Refusal, overloaded
from labeltree.serving.lessons import PartlyLearned, PendingLesson, body_hash
from labeltree.serving.logs import log_event
from labeltree.serving.schemas import Example

#: Maximum number of requests that wait to be learned; further requests are refused.
MAX_WAITING = 256
#: A snapshot that failed is tried again after this time.
RETRY_SECONDS = 10.0

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Learner:
    """Learns examples in the order in which they come, each once, after they are on disk.

    All requests that wait are written to the journal and synced together. Then they are learned, and then acknowledged.
    After every `snapshot_every` examples another thread saves the model, while this one continues to learn.

    While the journal cannot be written, requests are refused, and nothing of them is learned. Every request tries to
    write it again.

    Parameters
    ----------
    journaled : JournaledModel
        An online model that is open to learn. It is closed by `close`.
    snapshot_every : int
    """

    def __init__(self, journaled: JournaledModel, snapshot_every: int) -> None:
        self._journaled = journaled
        self._model = journaled.model
        self._snapshot_every = snapshot_every
        self._saved_at = journaled.n_examples - journaled.n_replayed
        self._label_type = type(self._model.classes_.tolist()[0])
        self._failure: str | None = None  # why nothing is learned until the server is started again
        self._trouble: str | None = None  # why the last examples could not be written
        self._lessons: queue.Queue[PendingLesson | None] = queue.Queue(MAX_WAITING)
        self._keys = threading.Lock()  # guards the receipts, too
        self._pending: dict[str, PendingLesson] = {}
        self._saving: threading.Thread | None = None
        self._retry_at = 0.0
        self._thread = threading.Thread(target=self._work, name="learner", daemon=True)
        self._thread.start()

    @property
    def why_not(self) -> str | None:
        """Why the model does not learn at the moment; None if it does."""
        return self._failure or self._trouble

    def prepare(self, examples: list[Example], key: str | None) -> PendingLesson:
        """Check examples, and return them as the model takes them."""
        written = [example.model_dump(exclude_none=True) for example in examples]
        try:
            X = features_of(self._model, written)
        except ValueError as error:
            raise Refusal(422, str(error), "wrong_input") from None
        for i, example in enumerate(examples):
            self._check_labels(i, example)
        body = body_hash(written) if key is not None else ""
        return PendingLesson(X, labels_of(written), written, key, body)

    def submit(self, lesson: PendingLesson) -> PendingLesson:
        """Let examples be learned; return the lesson to wait for, an earlier one with the same key if there is one."""
        with self._keys:
            if lesson.key is not None and (known := self._known(lesson, lesson.key)) is not None:
                return known
            if self._failure is not None:
                raise self._learning_stopped()
            try:
                self._lessons.put_nowait(lesson)
            except queue.Full:
                raise overloaded("too many requests wait to be learned: retry later") from None
            if lesson.key is not None:
                self._pending[lesson.key] = lesson
        return lesson

    def withdraw(self, lesson: PendingLesson, refusal: Refusal) -> None:
        """Stop waiting for a lesson. Refuse it if nobody else waits and it is not too late; then nothing is learned."""
        with self._keys:
            lesson.n_clients -= 1
            if lesson.n_clients == 0 and lesson.learned.cancel():
                self._forget(lesson)
                lesson.written.set_result(refusal)  # others with the same key wait for this, too

    def close(self) -> None:
        """Learn the examples that wait, and save the model if it has changed."""
        self._lessons.put(None)
        self._thread.join()
        if self._saving is not None:
            self._saving.join()
        if not self._journaled.is_saved and self._failure is None:
            self._save()
        self._journaled.close()

    def _known(self, lesson: PendingLesson, key: str) -> PendingLesson | None:
        """Return the lesson of an earlier request with the same key, and refuse other examples."""
        receipt, known = self._journaled.receipts.get(key), self._pending.get(key)
        earlier = receipt if known is None else known
        if earlier is None:
            return None
        if earlier.body != lesson.body:
            message = (
                "Idempotency-Key: this key came with other examples before; use a new key for each request"
            )
            raise Refusal(422, message, "key_reused")
        if known is None:
            lesson.written.set_result(None)
            lesson.learned.set_result(receipt)  # type: ignore[arg-type]
            return lesson
        known.n_clients += 1
        return known

    def _forget(self, lesson: PendingLesson) -> None:
        if lesson.key is not None and self._pending.get(lesson.key) is lesson:
            del self._pending[lesson.key]

    def _check_labels(self, number: int, example: Example) -> None:
        for label in example.labels:
            if type(label) is not self._label_type:
                types = f"expected type {self._label_type.__name__}, got {type(label).__name__}"
                raise Refusal(422, f"examples[{number}].labels: {types}")

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        is_open = True
        while is_open:
            lessons: list[PendingLesson] = []
            while is_open and not (lessons and self._lessons.empty()):  # all that wait are synced together
                lesson = self._lessons.get()
                is_open = lesson is not None
                # From here on nobody can withdraw it.
                if lesson is not None and lesson.learned.set_running_or_notify_cancel():
                    lessons.append(lesson)
            try:
                if lessons and self._failure is None:
                    self._learn(lessons)
                    self._save_if_due()
            except Exception as error:  # a fault of the kernel
                self._stop(error)
            for lesson in lessons:
                lesson.refuse(self._learning_stopped())  # unless it has been answered
                with self._keys:
                    self._forget(lesson)

    def _learn(self, lessons: list[PendingLesson]) -> None:
        """Write and sync lessons together; then learn and acknowledge each."""
        journaled = self._journaled
        with journaled.turn:
            examples = [example for lesson in lessons for example in lesson.examples]
            try:
                record = journaled.append(examples, [lesson.entry() for lesson in lessons])
            except OSError as error:
                refusal = self._cannot_write(error)
                for lesson in lessons:
                    lesson.refuse(refusal)
                return
            self._trouble = None
            begin = 0
            for lesson in lessons:
                lesson.written.set_result(None)
                end = begin + len(lesson.examples)
                n_before = journaled.n_examples
                try:
                    self._model.partial_fit(lesson.X, lesson.y)
                except Exception as error:
                    is_refused = isinstance(error, ValueError)
                    n_learned = journaled.n_examples - n_before
                    rest = f"the {n_learned} before it are learned" if n_learned else "nothing was learned"
                    number = n_learned or self._unreadable(lesson)
                    reason = str(error) or type(error).__name__
                    message = f"examples[{number}] cannot be learned: {reason}; {rest}"
                    # After a fault of the kernel none of the following lessons is learned.
                    until = end if is_refused else len(examples)
                    journaled.refuse(record, begin + n_learned, until, message)
                    receipt = self._receipt(lesson, n_learned, message)
                    lesson.refuse(PartlyLearned(409 if is_refused else 503, receipt))
                    if not is_refused:
                        raise
                else:
                    lesson.learned.set_result(self._receipt(lesson, len(lesson.examples)))
                begin = end

    def _unreadable(self, lesson: PendingLesson) -> int:
        """Return the number of the first example that the model cannot even read; 0 if it can read all."""
        model = self._model.growing_model()
        for i in range(len(lesson.y)):
            try:
                model.read(lesson.X[i : i + 1])
            except ValueError:
                return i
        return 0

    def _receipt(self, lesson: PendingLesson, n_learned: int, refusal: str | None = None) -> Receipt:
        """Return the receipt of a request. It is kept if the request has a key, unless nothing was learned."""
        receipt = Receipt(lesson.key or "", lesson.body, n_learned, self._journaled.n_examples, refusal)
        with self._keys:
            if lesson.key is not None and n_learned:
                self._journaled.remember(receipt)
            self._forget(lesson)
        return receipt

    def _cannot_write(self, error: OSError) -> Refusal:
        self._trouble = f"the journal cannot be written: {error.strerror or error}"
        log_event(
            "journal failed", level=logging.ERROR, model=str(self._journaled.path), reason=self._trouble
        )
        is_full = error.errno in _DISK_FULL
        message = f"{self._trouble}; nothing was learned: retry later"
        code = "disk_full" if is_full else "cannot_write"
        return Refusal(507 if is_full else 503, message, code, {"Retry-After": "10"})

    def _stop(self, error: Exception) -> None:
        self._failure = f"learning has stopped until the server is started again: {type(error).__name__}"
        log_event("learning stopped", level=logging.ERROR, error=error, model=str(self._journaled.path))

    def _learning_stopped(self) -> Refusal:
        return Refusal(503, f"{self._failure}; the server's log has the reason", "learning_stopped")

    def _save_if_due(self) -> None:
        n_new = self._journaled.n_examples - self._saved_at
        is_free = self._saving is None or not self._saving.is_alive()
        if n_new >= self._snapshot_every and is_free and time.monotonic() >= self._retry_at:
            self._saving = threading.Thread(target=self._save, name="snapshot")
            self._saving.start()

    def _save(self) -> None:
        """Save the model; if that fails, the journal still has all examples."""
        path = str(self._journaled.path)
        try:
            self._saved_at = self._journaled.save()
        except Exception as error:
            self._retry_at = time.monotonic() + RETRY_SECONDS
            log_event("snapshot failed", level=logging.ERROR, error=error, model=path)
            return
        log_event("snapshot", model=path, examples=self._saved_at)
