"""Where the time goes in training and prediction: the calls of every phase timed where they are made."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

import labeltree.model.feature_reader
import labeltree.training.fit
import labeltree.training.tree_plan
from labeltree import LabelTreeClassifier, _native
from labeltree.data import read_xmlc
from labeltree.labels.label_index import LabelIndex
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.linear_forest import LinearForest

_POLL_SECONDS = 0.001


@dataclass
class Ledger:
    """Seconds by phase, in the order in which phases were entered first."""

    seconds: dict[str, float] = field(default_factory=dict)

    def enter(self, phase: str, seconds: float) -> None:
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds

    @contextmanager
    def time(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.enter(phase, time.perf_counter() - started)

    @contextmanager
    def time_rest(self, phase: str) -> Iterator[None]:
        """Enter under a phase what is not entered under another meanwhile."""
        before = sum(self.seconds.values())
        started = time.perf_counter()
        yield
        elapsed = time.perf_counter() - started
        self.enter(phase, elapsed - (sum(self.seconds.values()) - before))

    @contextmanager
    def timing(self, *places: tuple[Any, str, str]) -> Iterator[None]:
        """Time all calls of some functions: (what has it, its name, the phase)."""
        with ExitStack() as stack:
            for owner, name, phase in places:
                timed = self._timed(getattr(owner, name), phase)
                stack.enter_context(mock.patch.object(owner, name, timed))
            yield

    def _timed(self, function: Callable[..., Any], phase: str) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.time(phase):
                return function(*arguments, **named)

        return timed


class Milestones:
    """When a kernel's call began and ended the jobs that it announces to its `Progress`."""

    def __init__(self) -> None:
        self.begun: list[float] = []
        self.ended: list[float] = []
        self.started = self.finished = 0.0

    def watch(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, one of whose arguments is a `Progress`."""
        progress = next(a for a in arguments if isinstance(a, _native.Progress))
        over = threading.Event()
        watcher = threading.Thread(target=self._look, args=(progress, over))
        watcher.start()
        self.started = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.finished = time.perf_counter()
            over.set()
            watcher.join()

    def _look(self, progress: Any, over: threading.Event) -> None:
        last_done, last_total, running = 0, 0, False
        while not over.wait(_POLL_SECONDS):
            done, total = progress.done, progress.total
            now = time.perf_counter()
            if total != last_total or done < last_done:
                self.begun.append(now)
                self.ended.append(now)  # until a later end is seen
                running = True
            if running and total > 0:
                self.ended[-1] = now
                running = done < total
            last_done, last_total = done, total


@dataclass
class Training:
    """A trained model, how long that took, and how many features its rows had on average."""

    model: LabelTreeClassifier
    ledger: Ledger
    features_per_row: float


def profile_training(train: Path, model_path: Path, n_trees: int, threads: int) -> Training:
    """Read, train and save, with a ledger."""
    ledger = Ledger()
    with ledger.timing((_native, "read_text_format", "read: parse")), ledger.time_rest("read: the rest"):
        X, y = read_xmlc(train, n_jobs=threads)
    model = LabelTreeClassifier(n_trees, n_jobs=threads, random_state=0)
    with ExitStack() as stack:
        stack.enter_context(
            ledger.timing(
                (labeltree.model.feature_reader, "check_features", "check features"),
                (labeltree.training.fit, "read_labels", "check labels"),
                (_native, "label_vectors", "tree: label vectors"),
                (_native, "cluster_top", "tree: clustering"),
                (_native, "assign_rows", "nodes: assign rows"),
                (_native, "block_costs", "nodes: costs"),
                (labeltree.training.tree_plan, "LinearForest", "prepare to predict"),
            )
        )
        stack.enter_context(
            mock.patch.object(_native, "train_blocks", _solving(_native.train_blocks, ledger))
        )
        with ledger.time_rest("fit: the rest"):
            model.fit(X, y)
    with ledger.time("save"):
        model.save(model_path)
    return Training(model, ledger, X.nnz / X.shape[0])


def _solving(train_blocks: Callable[..., Any], ledger: Ledger) -> Callable[..., Any]:
    """The kernel announces the solving; it plans before, and assembles the weights after it."""

    def watched(*arguments: Any) -> Any:
        milestones = Milestones()
        result = milestones.watch(train_blocks, *arguments)
        begun = milestones.begun[0] if milestones.begun else milestones.started
        ended = milestones.ended[-1] if milestones.ended else milestones.finished
        ledger.enter("nodes: plan", begun - milestones.started)
        ledger.enter("nodes: solve", ended - begun)
        ledger.enter("nodes: assemble", milestones.finished - ended)
        return result

    return watched


def profile_prediction(model_path: Path, X: Any, k: int, threads: int) -> Ledger:
    """Open a model and predict for all rows of X at once, with a ledger."""
    ledger = Ledger()
    with ledger.time("open"):
        model = LabelTreeClassifier.load(model_path)
    model.set_params(n_jobs=threads)
    with (
        ledger.timing(
            (FeatureReader, "read", "check features"),
            (LinearForest, "top_k", "search"),
            (LabelIndex, "at", "name labels"),
        ),
        ledger.time_rest("the rest"),
    ):
        model.predict_topk(X, k)
    return ledger


def medians(ledgers: list[Ledger]) -> dict[str, float]:
    """The median seconds of every phase."""
    phases = dict.fromkeys(phase for ledger in ledgers for phase in ledger.seconds)
    return {
        phase: statistics.median(ledger.seconds.get(phase, 0.0) for ledger in ledgers) for phase in phases
    }
