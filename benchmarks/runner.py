"""One measurement of one system: two fresh processes in an environment that has that system and nothing of ours."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.peers import PEERS, InstallationError, Peer, python_of, script_of
from benchmarks.process import run_process
from labeltree.metrics import evaluate


@dataclass
class Run:
    """What was measured; where a stage came to no end, what was known until then.

    `stopped` is the stage ("train" or "predict") that ran into the limit of `limit_s` seconds, `failure` the reason
    of one that failed.
    """

    system: str
    n_trees: int
    limit_s: float
    version: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    stopped: str = ""
    failure: str = ""

    @property
    def complete(self) -> bool:
        return not self.stopped and not self.failure


def measure(
    system: str,
    inputs: Inputs,
    folder: Path,
    *,
    n_trees: int,
    threads: int,
    seed: int,
    limit_s: float,
    batch_sizes: Sequence[int] = (),
) -> tuple[Run, Path]:
    """Train, save, open and predict; returns the run and, if it is complete, the file of the predicted labels.

    Prediction is measured of single rows, of all at once and in batches of `batch_sizes`.
    """
    run = Run(system, n_trees, limit_s)
    told = {"n_trees": n_trees, "threads": threads, "seed": seed, "batch_sizes": list(batch_sizes)}
    return run, run_stages(run, PEERS[system], inputs, folder, told)


def run_stages(run: Run, peer: Peer, inputs: Inputs, folder: Path, told: dict[str, Any]) -> Path:
    """Let a peer train and predict, fill in what was measured, and return the path of the predicted labels.

    `told` is what its script is to know beside the files, `threads` among it; `benchmarks/systems/measure.py` says what
    each script reports.
    """
    run.figures["load_average"] = os.getloadavg()[0]
    predictions = folder / "predictions.npy"
    try:
        python = python_of(peer)
    except InstallationError as error:
        run.failure = f"it cannot be installed: {error}"
        return predictions
    job = {
        "batch_sizes": [],
        **told,
        "settings": dict(peer.settings),
        "train": str(inputs.train),
        "test": str(inputs.test_features()),
        "inputs": {form: str(inputs.path(form)) for form in peer.inputs},
        "n_labels": inputs.n_labels,
        "model": str(_emptied(folder / "model") / "model"),
        "predictions": str(predictions),
    }
    for stage in ("train", "predict"):
        ended = run_process(
            [python, str(script_of(peer)), stage, json.dumps(job)],
            folder,
            limit_s=run.limit_s,
            threads=told["threads"],
            between=peer.messages[1:] if peer.messages and stage == "train" else None,
        )
        run.version = str(ended.report.pop("version", run.version))
        run.figures |= ended.report
        if stage == "train" and "memory_mb" in run.figures:
            run.figures["memory_mb"] += ended.children_mb
        if peer.messages and ended.seconds_between is not None:
            run.figures[peer.messages[0]] = ended.seconds_between
        if ended.timed_out:
            run.stopped = stage
        elif ended.exit_code != 0:
            run.failure = f"{stage}: exit code {ended.exit_code}\n{ended.last_messages}"
        if not run.complete:
            break
    return predictions


def judge(
    run: Run, predictions: Path, y_test: Any, names: Sequence[str], inverse_propensity: Any = None
) -> None:
    """Add metrics of the predicted labels to a complete run; labels that cannot be judged make it a failure."""
    if not run.complete:
        return
    try:
        figures = evaluate(y_test, np.load(predictions), inverse_propensity=inverse_propensity)
        run.figures |= {name: figures[name] for name in names}
    except ValueError as error:
        run.failure = f"predict: {error}"


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
