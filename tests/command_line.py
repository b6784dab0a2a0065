"""Running `labeltree` in tests, and small data to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner, Result

from labeltree.cli.application import app

N_FEATURES, N_LABELS = 30, 12


def run(*arguments: object, input: str | bytes | None = None, exit_code: int = 0) -> Result:
    """Run a command in this process; an error that is not reported as one is raised here."""
    words = [str(argument) for argument in arguments]
    result = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, words, input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == exit_code, result.output
    return result


def run_json(*arguments: object, input: str | bytes | None = None) -> dict[str, Any]:
    """Run a command with ``--json`` and return the object it prints."""
    printed: dict[str, Any] = json.loads(run(*arguments, "--json", input=input).stdout)
    return printed


def start(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    command = [sys.executable, "-c", "from labeltree.cli import main; main()", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, env=environment, **streams)


def make_rows(n_rows: int, seed: int) -> list[tuple[list[int], dict[int, float]]]:
    """Rows whose labels can be told from their features: label l has the features 2l and 2l + 1."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_rows):
        labels = sorted(rng.choice(N_LABELS, size=rng.integers(1, 4), replace=False).tolist())
        features = {2 * label + int(rng.integers(2)): 1.0 for label in labels}
        features |= {int(f): 0.25 for f in rng.integers(2 * N_LABELS, N_FEATURES, size=2)}
        rows.append((labels, features))
    return rows


def write_rows(
    path: Path, rows: list[tuple[list[int], dict[int, float]]], *, header: bool = True, first_feature: int = 0
) -> Path:
    """Write rows as text."""
    lines = [f"{len(rows)} {N_FEATURES} {N_LABELS}"] if header else []
    for labels, features in rows:
        pairs = [f"{feature + first_feature}:{value:g}" for feature, value in sorted(features.items())]
        lines.append(" ".join([",".join(map(str, labels)), *pairs]))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_texts(path: Path, n_rows: int, seed: int) -> Path:
    """Write JSON lines of texts whose labels are two words of each, one after the other."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n_rows):
        left, right = f"left{rng.integers(3)}", f"right{rng.integers(3)}"
        text = f"{left} {right} and right{rng.integers(3)} left{rng.integers(3)}"
        lines.append(json.dumps({"text": text, "labels": [f"{left} {right}", left]}))
    path.write_text("\n".join(lines) + "\n")
    return path
