"""One run of `learn`: from the first report to the last checkpoint, whatever ends it."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import typer

from labeltree.cli.application import INTERRUPTED
from labeltree.cli.console import print_next, standard_output, titled
from labeltree.cli.figures import bytes_text, count_text, directory_bytes, seconds_text
from labeltree.cli.learning_display import JsonLines, LearningDisplay, LiveTable, PlainLines
from labeltree.cli.progressive_validation import ProgressiveValidation
from labeltree.cli.stop_signals import Stopped, StopSignals
from labeltree.data import ExampleStream
from labeltree.errors import DataFormatError
from labeltree.model.top_labels import TopLabels
from labeltree.online.streaming import learn, n_learned, n_learned_of_stream


class LearningRun:
    """Learns a stream, shows reports, and says at the end what has become of the model."""

    def __init__(
        self, classifier: Any, path: Path, cutoffs: tuple[int, ...], window: int, as_json: bool
    ) -> None:
        self._classifier = classifier
        self._path = path
        self._cutoffs = cutoffs
        self._window = window
        self._as_json = as_json
        self._display: LearningDisplay = (
            JsonLines()
            if as_json
            else LiveTable(console)
            if (console := standard_output()).is_terminal
            else PlainLines()
        )
        self._signals = StopSignals()
        self._failure: DataFormatError | None = None
        self._n_before = n_learned(classifier)
        self._n_passed_over = 0
        self._n_bad_lines = 0
        self._seconds = 0.0

    @contextmanager
    def open(self, source: str) -> Iterator[BinaryIO]:
        """Open a stream that ends early when SIGTERM or Ctrl-C comes."""
        with self._signals.heard(), self._signals.open(source) as file:
            yield file

    def learn(
        self, examples: ExampleStream, checkpoint_every: int, report_every: int, *, new_stream: bool
    ) -> None:
        """Predict and learn all examples; what a line at fault or a signal leaves is told by `end`."""
        validation = ProgressiveValidation(self._classifier, self._cutoffs, self._window)
        started = time.perf_counter()
        self._n_passed_over = 0 if new_stream else n_learned_of_stream(self._classifier)

        def watch(y: Any, predicted: TopLabels) -> None:
            validation.add(y, predicted)
            if n_learned(self._classifier) % report_every == 0:
                self._display.show(validation.report())
            else:
                self._display.glance(validation)

        with self._display.opened():
            try:
                learn(
                    self._classifier,
                    examples,
                    checkpoint=self._path,
                    checkpoint_every=checkpoint_every,
                    new_stream=new_stream,
                    watch=watch,
                    watch_every=report_every,
                    k=max(self._cutoffs),
                )
            except Stopped:
                pass
            except DataFormatError as error:
                self._failure = error
            if validation.n_seen and n_learned(self._classifier) % report_every:
                self._display.show(validation.report())
        self._seconds = time.perf_counter() - started
        self._n_bad_lines = examples.n_bad_lines

    def end(self) -> None:
        """Print what was learned and where it is, and exit as the stream ended."""
        n_examples = n_learned(self._classifier)
        if n_examples == 0 and self._failure is None and self._signals.received is None:
            raise ValueError("expected at least one example, got an empty stream")
        if self._as_json:
            self._print_json()
        else:
            self._print_text()
        if self._failure is not None:
            raise self._failure
        if self._signals.received == signal.SIGINT:
            raise typer.Exit(INTERRUPTED)

    def _print_json(self) -> None:
        received = self._signals.received
        is_saved = n_learned(self._classifier) > 0
        print(
            json.dumps(
                {
                    "event": "end",
                    "model": str(self._path),
                    "model_bytes": directory_bytes(self._path) if is_saved else 0,
                    "examples": n_learned(self._classifier),
                    "learned": n_learned(self._classifier) - self._n_before,
                    "passed_over": self._n_passed_over,
                    "bad_lines": self._n_bad_lines,
                    "labels": self._classifier.n_labels_ if is_saved else 0,
                    "seconds": self._seconds,
                    "stopped_by": None if received is None else received.name,
                    "error": None if self._failure is None else str(self._failure),
                }
            ),
            flush=True,
        )

    def _print_text(self) -> None:
        console = standard_output()
        n_examples = n_learned(self._classifier)
        if self._signals.received is not None:
            console.print(f"stopped by {self._signals.received.name}")
        bad = f", {count_text(self._n_bad_lines, 'bad line')} skipped" if self._n_bad_lines else ""
        passed_over = f", {self._n_passed_over:,} known ones passed over" if self._n_passed_over else ""
        console.print(
            f"{count_text(n_examples - self._n_before, 'example')} learned in {seconds_text(self._seconds)}"
            f"{passed_over}{bad}"
        )
        if n_examples:
            size, n_labels = bytes_text(directory_bytes(self._path)), self._classifier.n_labels_
            console.print(
                titled(self._path, f": {size}, {n_labels:,} labels of {n_examples:,} examples, saved")
            )
        if n_examples and self._failure is None:
            print_next(f"labeltree predict {self._path} NEW_DATA")
