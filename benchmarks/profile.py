"""Where the time goes, phase by phase, and how many instructions the kernels take.

python -m benchmarks.profile eurlex57k
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.data import prepare
from benchmarks.instructions import show_instructions
from benchmarks.phases import Training, medians, profile_prediction, profile_training
from benchmarks.table import number
from labeltree import _native
from labeltree.data import read_xmlc

K = 5
_BAR = 40


def show_phases(seconds: dict[str, float], title: str, console: Console) -> None:
    """A table of phases with their shares."""
    total = sum(seconds.values())
    table = Table(title=f"{title}: {number(total)} s")
    for heading in ("phase", "s", "share", ""):
        table.add_column(heading, justify="right" if heading in ("s", "share") else "left")
    for phase, spent in seconds.items():
        share = spent / total if total > 0 else 0.0
        table.add_row(phase, number(spent), f"{share:.1%}", "█" * round(share * _BAR))
    console.print(table)


def solving_note(training: Training, seconds: dict[str, float]) -> str:
    """How much work solving was, and how fast it was done."""
    visits = sum(report["n_row_visits"] for report in training.model.training_report_)
    looked_up = visits * training.features_per_row
    return (
        f"solving: {visits:,} visits of a row, each for up to 32 nodes; at most {looked_up / 1e9:.3g} G features, "
        f"{looked_up / seconds['nodes: solve'] / 1e6:,.0f} M of them per second"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument("data", nargs="?", default="eurlex57k", help="a set in LABELTREE_DATA, or a folder")
    parser.add_argument("--n-trees", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="number of runs, whose medians are shown; 3")
    parser.add_argument("--only", choices=["phases", "instructions"], help="leave the other out")
    options = parser.parse_args(arguments)
    console = Console(width=max(Console().width, 100))
    if options.only != "instructions":
        show_all_phases(options, console)
    if options.only != "phases":
        show_instructions(console)
    return 0


def show_all_phases(options: argparse.Namespace, console: Console) -> None:
    train, test = prepare(options.data)
    where = f"{train.parent.name}, {options.threads} threads, {_native.vector_code()}"
    ledgers, predictions = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for _ in range(options.repeat):
            training = profile_training(train, path, options.n_trees, options.threads)
            ledgers.append(training.ledger)
            model = training.model
            X, _ = read_xmlc(test, n_features=model.n_features_in_, n_labels=len(model.classes_))
            predictions.append(profile_prediction(path, X, K, options.threads))
    seconds = medians(ledgers)
    show_phases(seconds, f"training {options.n_trees} tree(s), {where}", console)
    console.print(solving_note(training, seconds), highlight=False)
    show_phases(medians(predictions), f"predicting {X.shape[0]:,} rows, {where}", console)


if __name__ == "__main__":
    sys.exit(main())
