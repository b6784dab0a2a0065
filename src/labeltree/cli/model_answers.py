"""The answers of a model to many rows: found in this process, or by the workers of an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from labeltree.cli.engine_options import refuse_threads
from labeltree.cli.predicted_labels import PredictedLabels
from labeltree.engines import InProcess, current_engine
from labeltree.engines.prediction import SavedModel
from labeltree.validation import n_threads


@dataclass(frozen=True)
class ModelAnswers:
    """A model, and where it answers.

    Attributes
    ----------
    model : estimator
        The model in this process.
    saved : SavedModel, optional
        The same model for the workers of an engine. None if this process answers.
    workers, threads : int
        Number of workers, and of the threads of all of them.
    """

    model: Any
    saved: SavedModel | None
    workers: int
    threads: int

    @classmethod
    def of(cls, model: Any, path: Path, parameters: dict[str, Any] | None = None) -> ModelAnswers:
        """Let the current engine answer for the model that was saved in `path`, with these parameters set."""
        engine = current_engine()
        if isinstance(engine, InProcess):
            return cls(model, None, 1, n_threads(model.n_jobs))
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        workers = engine.n_workers
        return cls(model, SavedModel(path, given), workers, workers * engine.n_threads)

    def ask(self, question: Callable[[Any, Any], Any], X: Any) -> Any:
        """Return ``question(model, X)``: lists of rows, `PredictedLabels`, or a tuple of arrays."""
        return question(self.model, X) if self.saved is None else _joined(self.saved.ask(question, X))


def about_texts(model: Any, texts: list[Any], question: Callable[[Any, Any], Any]) -> Any:
    """Make rows of texts, and ask about them."""
    return question(model, model.model_.text_rows(texts))


def refuse_engine(option: str | None, model: Any, parameters: dict[str, Any]) -> None:
    """Raise `BadParameter` if an engine is chosen that cannot answer for a model with these parameters."""
    if option is not None and model.model_.learns:
        raise typer.BadParameter(
            f"an online model answers in one process, because it may still learn: leave out {option}",
            param_hint=option,
        )
    refuse_threads(option, parameters)


def _joined(answers: list[Any]) -> Any:
    """Return the answers to batches as one answer."""
    first = answers[0]
    if isinstance(first, PredictedLabels):
        return PredictedLabels.joined(answers)
    if isinstance(first, list):
        return [row for answer in answers for row in answer]
    return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))
