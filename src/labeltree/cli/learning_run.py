"""One run of `learn`: from the first report to the last checkpoint, however it ends."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from typing import Any, BinaryIO

import typer

from labeltree.cli.application import INTERRUPTED
from labeltree.cli.console import print_next, standard_output, titled
from labeltree.cli.figures import bytes_text, directory_bytes, seconds_text
from labeltree.cli.learning_display import JsonLines, LearningDisplay, LiveTable, PlainLines
from labeltree.cli.progressive_validation import ProgressiveValidation
from labeltree.cli.stop_signals import Stopped, StreamSignals
from labeltree.data import ExampleStream
from labeltree.errors import DataFormatError
from labeltree.model.top_labels import TopLabels
from labeltree.online.journaled_model import JournaledModel
from labeltree.online.streaming import ShortStreamError, learn, n_learned, n_learned_of_stream
from labeltree.wording import count_text


def print_replayed(journaled: JournaledModel, as_json: bool) -> None:
    """Tell how many examples of the journal were learned."""
    if as_json:
        replayed = {"event": "replayed", "examples": journaled.n_examples, "learned": journaled.n_replayed}
        print(json.dumps({**replayed, "model": str(journaled.path)}), flush=True)
    else:
        learned = f"{count_text(journaled.n_replayed, 'example')} of the journal learned, saved"
        line = learned if journaled.n_replayed else "no examples wait in its journal"
        standard_output().print(titled(str(journaled.path), f": {line}"), soft_wrap=True)


def run_learning(
    journaled: JournaledModel,
    source: str,
    read: Callable[[BinaryIO], ExampleStream],
    validation: ProgressiveValidation,
    *,
    checkpoint_every: int,
    report_every: int,
    new_stream: bool,
    as_json: bool,
) -> None:
    """Predict and learn a stream, show reports, and print a summary.

    Raises the `DataFormatError` of a wrong line, and `typer.Exit` after Ctrl-C; the examples before are saved.
    """
    classifier, path = journaled.model, journaled.path
    display, signals = _display(as_json), StreamSignals()
    failure: DataFormatError | None = None
    n_before = n_learned(classifier)
    n_skipped = 0 if new_stream else n_learned_of_stream(classifier)
    started = time.perf_counter()

    def watch(y: Any, predicted: TopLabels) -> None:
        validation.add(y, predicted)
        if n_learned(classifier) % report_every == 0:
            display.show(validation.report())
        else:
            display.glance(validation)

    with signals.open(source) as file, display.opened():
        examples = read(file)
        try:
            learn(
                classifier,
                examples,
                checkpoint=journaled.save,
                checkpoint_every=checkpoint_every,
                new_stream=new_stream,
                watch=watch,
                watch_every=report_every,
                k=validation.k,
            )
        except Stopped:
            pass
        except ShortStreamError as error:
            raise ShortStreamError(error.n_learned, error.n_examples, "add --new-stream") from None
        except DataFormatError as error:
            failure = error
        if validation.n_seen and n_learned(classifier) % report_every:
            display.show(validation.report())
    n_examples = n_learned(classifier)
    if n_examples == 0 and failure is None and signals.received is None:
        raise ValueError("expected at least one example, got an empty stream")
    summary = {
        "event": "end",
        "model": str(path),
        "model_bytes": directory_bytes(path) if n_examples else 0,
        "examples": n_examples,
        "learned": n_examples - n_before,
        "passed_over": n_skipped,
        "bad_lines": examples.n_bad_lines,
        "labels": classifier.n_labels_ if n_examples else 0,
        "seconds": time.perf_counter() - started,
        "stopped_by": None if signals.received is None else signals.received.name,
        "error": None if failure is None else str(failure),
    }
    if as_json:
        print(json.dumps(summary), flush=True)
    else:
        _print_summary(summary)
    if failure is not None:
        raise failure
    if signals.received == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


def _display(as_json: bool) -> LearningDisplay:
    if as_json:
        return JsonLines()
    console = standard_output()
    return LiveTable(console) if console.is_terminal else PlainLines()


def _print_summary(summary: dict[str, Any]) -> None:
    console = standard_output()
    if summary["stopped_by"]:
        console.print(f"stopped by {summary['stopped_by']}")
    skipped = f", {summary['passed_over']:,} known ones skipped" if summary["passed_over"] else ""
    bad = f", {count_text(summary['bad_lines'], 'bad line')} skipped" if summary["bad_lines"] else ""
    learned = count_text(summary["learned"], "example")
    console.print(f"{learned} learned in {seconds_text(summary['seconds'])}{skipped}{bad}")
    if summary["examples"]:
        model, size = summary["model"], bytes_text(summary["model_bytes"])
        about = f"{summary['labels']:,} labels of {summary['examples']:,} examples"
        console.print(titled(model, f": {size}, {about}, saved"))
        if not summary["error"]:
            print_next(f"labeltree predict {model} NEW_DATA")
