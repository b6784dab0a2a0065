"""A trial: one setting of ours, or one peer, trained on a set once and measured on rows held out."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labeltree
from benchmarks.data import CACHE
from benchmarks.development import Parts
from benchmarks.inputs import Inputs
from benchmarks.peers import PEERS
from benchmarks.runner import measure
from labeltree import LabelTreeClassifier
from labeltree.calibration import label_pairs, reliability_curve
from labeltree.calibration.report import PROBABILITY_BINS, CalibrationMeasures
from labeltree.data import read_xmlc

#: Labels that are predicted for each row.
K = 5

#: The longest that a peer may train, or predict.
LIMIT_S = 3600


@dataclass(frozen=True)
class Setting:
    """Parameters of a class of `labeltree`, or a peer with its defaults."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    peer: str = ""
    estimator: str = LabelTreeClassifier.__name__


@dataclass(frozen=True)
class Outcome:
    """The five best labels of each row, and figures by name; `failure` says why there are none."""

    labels: NDArray[np.int64]
    figures: dict[str, Any]
    failure: str = ""


@dataclass(frozen=True)
class Trial:
    """A setting on a set with a seed; `part` names the rows that it is measured on."""

    parts: Parts
    part: str
    setting: Setting
    seed: int

    def stored(self) -> Outcome | None:
        """The outcome of an earlier run with the same files, parameters and code."""
        path = self._path()
        if not path.exists():
            return None
        with np.load(path) as file:
            return Outcome(file["labels"], json.loads(str(file["figures"])))

    def run(self) -> Outcome:
        """Train and measure, in one thread, and store the outcome."""
        outcome = self._run_peer() if self.setting.peer else self._run_ours()
        if not outcome.failure:
            path = self._path()
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial.npz")
            np.savez(partial, labels=outcome.labels, figures=np.array(json.dumps(outcome.figures)))
            partial.rename(path)
        return outcome

    def _run_ours(self) -> Outcome:
        X, y = read_rows(self.parts.train)
        X_held_out, y_held_out = read_rows(getattr(self.parts, self.part), X.shape[1], y.shape[1])
        estimator = getattr(labeltree, self.setting.estimator)
        model = estimator(random_state=self.seed, n_jobs=1, **self.setting.parameters)
        seconds = -time.process_time()
        model.fit(X, y)
        seconds += time.process_time()
        top = model.predict_topk(X_held_out, K)
        figures = {"train_cpu_s": seconds}
        if estimator is LabelTreeClassifier:
            figures |= self._figures_of_trees(model, top, X_held_out, y_held_out)
        return Outcome(top.labels.astype(np.int64), figures)

    @staticmethod
    def _figures_of_trees(
        model: LabelTreeClassifier, top: Any, X_held_out: Any, y_held_out: Any
    ) -> dict[str, Any]:
        """How good the probabilities are, and the values of C."""
        all_labels = CalibrationMeasures.of("labels", label_pairs(model, X_held_out, y_held_out))
        is_label = top.labels >= 0
        rows = np.nonzero(is_label)[0]
        is_true = np.asarray(y_held_out[rows, top.labels[is_label]]).ravel() > 0
        curve = reliability_curve(is_true, top.probabilities[is_label], bins=PROBABILITY_BINS)
        return {
            "log_loss": all_labels.log_loss_per_row,
            "error": all_labels.error_per_row,
            "error_of_best": curve.expected_calibration_error,
            "C": np.unique(np.asarray(getattr(model, "C_", np.nan), dtype=float)).tolist(),
        }

    def _run_peer(self) -> Outcome:
        inputs = Inputs(self.parts.train, getattr(self.parts, self.part))
        with tempfile.TemporaryDirectory() as folder:
            run, predictions = measure(
                self.setting.peer, inputs, Path(folder), n_trees=1, threads=1, seed=self.seed, limit_s=LIMIT_S
            )
            if not run.complete:
                return Outcome(np.empty((0, K), np.int64), {}, run.failure or f"stopped after {LIMIT_S} s")
            return Outcome(np.load(predictions), {"train_cpu_s": run.figures["train_cpu_s"]})

    def _path(self) -> Path:
        """The file of the outcome: its name changes with all that the outcome depends on."""
        files = [self.parts.train, getattr(self.parts, self.part)]
        facts = {
            "files": [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files],
            "code": PEERS[self.setting.peer].packages if self.setting.peer else digest_of_library(),
            "setting": self.setting.peer or [self.setting.estimator, dict(self.setting.parameters)],
            "seed": self.seed,
        }
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return CACHE / "trials" / self.parts.name / f"{digest[:24]}.npz"


def run(trial: Trial) -> Outcome:
    """Run a trial, in a process of a pool; an error of one trial does not end the others."""
    try:
        return trial.run()
    except Exception as error:
        return Outcome(np.empty((0, K), np.int64), {}, f"{type(error).__name__}: {error}")


@lru_cache(4)
def read_rows(path: Path, n_features: int | None = None, n_labels: int | None = None) -> Any:
    """The rows of a file. The last files stay in memory: trials of a set follow each other."""
    return read_xmlc(path, n_features=n_features, n_labels=n_labels)


@cache
def digest_of_library() -> str:
    """A digest of all files of the library: other code may train other models."""
    folder = Path(labeltree.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for kind in ("*.py", "*.so", "*.pyd") for path in folder.rglob(kind)):
        digest.update(path.read_bytes())
    return digest.hexdigest()
