"""Prepare a model before it is served, so that the first requests take no longer than others."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from labeltree.serving.logs import log_event

#: Maximum time to read the files of a model into memory. What is left of a larger model is read when it is used.
READ_SECONDS = 3.0

#: Maximum time to ask questions, and their number.
ASK_SECONDS = 1.0
N_QUESTIONS = 200

_CHUNK_BYTES = 4 << 20
_FEATURES_PER_ROW = 50
_LABELS_PER_TEXT = 5
#: For the first letter that is not ASCII, a table of all characters is made. This takes 0.1 s and more.
_LETTER = "é"


def warm_up(model: Any, path: Path) -> None:
    """Read the files of a model and ask it some questions.

    A model is mapped: its files are read, its blocks checked and indexed when they are first used. The questions are
    random rows. A model of texts is also asked about the names of its own labels, which are in its language.

    Parameters
    ----------
    model : a trained model of this library
    path : Path
        Its directory.
    """
    try:
        _read_ahead(path)
        until = time.monotonic() + ASK_SECONDS
        for question in _questions(model):
            model.predict_topk(question, 5)
            if time.monotonic() > until:
                break
    except Exception as error:  # the model may still answer others
        log_event("warm-up failed", level=logging.WARNING, error=error, directory=str(path))


def _read_ahead(path: Path) -> None:
    until = time.monotonic() + READ_SECONDS
    for file in sorted(path.glob("*.safetensors")):
        with file.open("rb", buffering=0) as opened:
            while opened.read(_CHUNK_BYTES):
                if time.monotonic() > until:
                    return


def _questions(model: Any) -> Iterator[Any]:
    trained = model.model_
    rng = np.random.default_rng(0)
    labels = model.classes_
    for _ in range(N_QUESTIONS if len(labels) > 0 else 0):
        if trained.takes_text:
            chosen = labels[rng.integers(len(labels), size=_LABELS_PER_TEXT)].tolist()
            yield trained.read_texts([" ".join([*map(str, chosen), _LETTER])])
        width = int(trained.n_features)
        columns = np.unique(rng.integers(max(1, width), size=min(width, _FEATURES_PER_ROW)))
        values = rng.random(len(columns), dtype=np.float32)
        try:
            yield trained.read_csr(np.array([0, len(columns)]), columns, values, width)
        except ValueError:  # a mix of models with different features
            continue
