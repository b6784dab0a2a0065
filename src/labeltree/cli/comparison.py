"""Two models on the rows of a file, as `compare` measures and prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from labeltree.cli.console import printable
from labeltree.cli.data_file import DataFile
from labeltree.cli.decided_labels import decided_lists
from labeltree.cli.evaluation import CUTOFFS, propensity_weights
from labeltree.cli.filtered_pairs import FilteredPairs, filtered_pairs
from labeltree.cli.label_names import LabelNames
from labeltree.cli.labelled_rows import label_lists, read_labelled_rows
from labeltree.metrics import Comparison, compare
from labeltree.metrics.comparison import FEWEST_ROWS
from labeltree.report.evidence import joined
from labeltree.wording import shortened

#: Maximum number of characters of a text on the terminal.
LONGEST_TEXT = 300


@dataclass(frozen=True)
class DifferentRow:
    """A row that the models answer differently; `gained` and `lost` are true labels among the best 5 of B or A only."""

    row: int
    id: Any
    text: Any
    difference: float
    true: list[Any]
    gained: list[Any]
    lost: list[Any]
    best_a: list[Any]
    best_b: list[Any]


@dataclass(frozen=True)
class ModelComparison:
    """The metrics of two models on the rows of a file, and how the models answer each row."""

    paths: Sequence[Path]
    data: str
    comparison: Comparison
    true: Sequence[tuple[Any, ...]]
    best: Sequence[list[list[Any]]]
    texts: Sequence[Any] | None
    ids: Sequence[Any] | None

    def different_rows(self, n: int) -> list[DifferentRow]:
        """Return the n rows where nDCG differs most, without rows where it does not differ."""
        by_row = self.comparison.row_differences
        order = np.argsort(-np.abs(by_row), kind="stable")[:n]
        return [self._row(row) for row in order.tolist() if by_row[row] != 0]

    def _row(self, row: int) -> DifferentRow:
        true, (best_a, best_b) = self.true[row], (best[row] for best in self.best)
        return DifferentRow(
            row=row,
            id=None if self.ids is None else self.ids[row],
            text=None if self.texts is None else self.texts[row],
            difference=float(self.comparison.row_differences[row]),
            true=list(true),
            gained=[label for label in best_b if label in true and label not in best_a],
            lost=[label for label in best_a if label in true and label not in best_b],
            best_a=best_a,
            best_b=best_b,
        )

    def to_json(self, n_rows: int) -> dict[str, Any]:
        metrics = {
            name: {**asdict(found), "difference": found.difference}
            for name, found in self.comparison.metrics.items()
        }
        return {
            "a": str(self.paths[0]),
            "b": str(self.paths[1]),
            "data": self.data,
            "rows": self.comparison.n_rows,
            "level": self.comparison.level,
            "resamples": self.comparison.n_resamples,
            "metrics": metrics,
            "different_rows": [asdict(row) for row in self.different_rows(n_rows)],
        }

    def print(self, console: Console, n_rows: int, names: LabelNames) -> None:
        """Print the metrics, and the rows where the models differ most."""
        found = self.comparison
        console.print(Text.assemble(("A ", "bold"), str(self.paths[0])), soft_wrap=True)
        console.print(Text.assemble(("B ", "bold"), str(self.paths[1])), soft_wrap=True)
        console.print(f"on {self.data}: {found.n_rows:,} rows\n", soft_wrap=True)
        console.print(Padding(self._table(), (0, 0, 1, 2)))
        if found.n_rows < FEWEST_ROWS:
            console.print(f"Fewer than {FEWEST_ROWS} rows: no difference is called significant.")
        different = self.different_rows(n_rows)
        if n_rows and not different:
            console.print("Both models answer every row equally well.")
        if different:
            title = f"The rows where they differ most, by nDCG@{max(CUTOFFS)}: + only B finds it, - only A"
            console.print(Text(title, "bold"))
        for row in different:
            console.print()
            _print_row(console, row, names)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
        table.add_column("%")
        for title in ("A", "B", "B - A", f"{100 * self.comparison.level:g} % interval"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("")
        for name, found in self.comparison.metrics.items():
            better = (
                ("B is better" if found.difference > 0 else "A is better") if found.is_significant else ""
            )
            table.add_row(
                name,
                f"{100 * found.a:.2f}",
                f"{100 * found.b:.2f}",
                f"{100 * found.difference:+.2f}",
                f"{100 * found.low:+.2f} to {100 * found.high:+.2f}",
                Text(better, "green" if found.difference > 0 else "red"),
            )
        return table


def measure(
    models: Sequence[Any],
    paths: Sequence[Path],
    data: DataFile,
    propensity: tuple[float, float],
    filter_labels: Path | None = None,
    **settings: Any,
) -> ModelComparison:
    """Let each model read and answer the rows of a file, and compare the answers."""
    filtered = filtered_pairs(filter_labels, data) or FilteredPairs({})
    first, second = (read_labelled_rows(model, path, data) for model, path in zip(models, paths, strict=True))
    true, other = label_lists(first.y), label_lists(second.y)
    if list(map(set, true)) != list(map(set, other)):
        raise ValueError(
            f"{data.path}: the models read different labels in its rows: compare two models of texts, or two models of "
            "numbers"
        )
    for model in models:
        filtered.check(len(true), model.classes_)
    true = list(map(tuple, filtered.without(true)))
    best, decided = [], []
    for model, rows in ((models[0], first), (models[1], second)):
        k = max(CUTOFFS)
        best.append(filtered.ranking(model.predict_topk(rows.X, k + filtered.most).labels.tolist(), k))
        decided.append(filtered.without(decided_lists(model, rows.X)))
    compared = compare(
        true,
        *best,
        decided_a=decided[0],
        decided_b=decided[1],
        ks=CUTOFFS,
        inverse_propensity=propensity_weights(true, models[0], *propensity),
        **settings,
    )
    texts = second.texts if first.texts is None else first.texts
    ids = second.ids if first.ids is None else first.ids
    return ModelComparison(paths, data.path, compared, true, best, texts, ids)


def _print_row(console: Console, row: DifferentRow, names: LabelNames) -> None:
    def shown(labels: Sequence[Any]) -> str:
        return ", ".join(printable(names[label]) for label in labels) or "none"

    identity = "" if row.id is None else f" · {printable(row.id)}"
    console.print(Text.assemble((f"row {row.row:,}{identity}", "bold"), f"  {row.difference:+.2f}"))
    if row.text is not None:
        short = shortened(joined(row.text)[0], LONGEST_TEXT)
        console.print(Padding(Text(printable(short), "dim"), (0, 0, 0, 2)))
    console.print(Padding(Text(f"true: {shown(row.true)}"), (0, 0, 0, 2)))
    for sign, labels, style in (("+", row.gained, "green"), ("-", row.lost, "red")):
        if labels:
            console.print(Padding(Text(f"{sign} {shown(labels)}", style), (0, 0, 0, 2)))
    if not row.gained and not row.lost:
        console.print(Padding(Text("the same true labels, in another order"), (0, 0, 0, 2)))
