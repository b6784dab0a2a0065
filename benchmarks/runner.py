"""One measurement of one system: a fresh process in an environment that has that system and nothing of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import CACHE

#: What to install for each system, in steps; labeltree itself is taken from the environment that runs this.
SYSTEMS: dict[str, list[list[str]]] = {
    "labeltree": [],
    "napkinxc": [["numpy", "scipy"], ["napkinxc"]],
    "omikuji": [["numpy", "scipy"], ["omikuji"]],
    # PECOS wants torch for parts that are not measured: the CPU build is enough.
    "pecos": [["torch==2.13.0"], ["numpy", "scipy", "setuptools<81"], ["libpecos"]],
}


@dataclass
class Run:
    """What one process measured."""

    version: str
    figures: dict[str, float]
    predictions: Path


def environment(system: str) -> str:
    """The Python that has the system, installed on first use."""
    if not SYSTEMS[system]:
        return sys.executable
    folder = CACHE / "environments" / system
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        for packages in SYSTEMS[system]:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / "ready").touch()
    return str(python)


def run_system(system: str, train: Path, test: Path, folder: Path, n_trees: int, threads: int) -> Run:
    """Train, save and predict; see `benchmarks/systems/measure.py` for what each script reports."""
    script = Path(__file__).parent / "systems" / f"{system}_system.py"
    output = folder / f"{system}-{n_trees}.npy"
    arguments = [train.resolve(), test.resolve(), folder / f"{system}-{n_trees}", output, n_trees, threads]
    log = folder / f"{system}-{n_trees}.log"
    with open(log, "w") as messages:  # peers tell much; it is of interest only if they fail
        done = subprocess.run(
            [environment(system), script, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
        )
    if done.returncode != 0:
        raise SystemExit(f"{system} failed with exit code {done.returncode}:\n{log.read_text()[-2000:]}")
    report = json.loads(done.stdout.splitlines()[-1])
    return Run(report.pop("version"), report, output)
