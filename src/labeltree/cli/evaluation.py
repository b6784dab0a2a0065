"""The quality, speed and size of a model, as `evaluate` and `demo` measure and print them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from labeltree.cli.data_file import Rows
from labeltree.cli.decided_labels import DecidedLabels, decided_lists
from labeltree.cli.figures import bytes_text, directory_bytes, peak_memory_bytes
from labeltree.cli.filtered_pairs import FilteredPairs
from labeltree.cli.hints import Hint, find_hints
from labeltree.cli.model_answers import ModelAnswers, about_texts
from labeltree.metrics import evaluate, inverse_propensity_of_counts
from labeltree.metrics.judgement import judge
from labeltree.metrics.propensity import FEWEST_ROWS, LabelWeights
from labeltree.model_file import read_info
from labeltree.wording import count_text

CUTOFFS = (1, 3, 5)
SINGLE_ROWS = 1000
#: Hints look at this number of labels per row at most.
MOST_LIKELY = 100


@dataclass(frozen=True)
class Evaluation:
    """The figures of one model on one set of test rows, named as in JSON; metrics are from 0 to 1.

    `timed` tells whether times are of texts, their words included, or of rows of numbers.
    """

    rows: int
    labels: int
    nodes: int
    metrics: dict[str, float]
    decision: dict[str, Any]
    decided: DecidedLabels
    unknown: UnknownLabels
    timed: str
    batch_ms_per_row: float
    batch_rows_per_second: float
    threads: int
    single_row_ms: dict[str, float]
    single_rows: int
    node_evaluations_per_row: float
    model_bytes: int
    peak_memory_bytes: int | None
    hints: list[Hint]

    @classmethod
    def measure(
        cls,
        model: Any,
        path: Path,
        rows: Rows,
        *,
        A: float = 0.55,
        B: float = 1.5,
        label_weight: NDArray[np.float64] | None = None,
        filtered: FilteredPairs | None = None,
        answers: ModelAnswers | None = None,
        data_options: str = "",
    ) -> Evaluation:
        """Predict rows, one by one and together, and compare with their labels.

        If the rows were made from texts, times are of texts: their features are made again. `filtered` pairs do not
        count. `answers` tells where the model answers all rows together; rows one by one are answered here.
        The commands of hints repeat `data_options`, the options of the data's columns.
        """
        k, n_rows = max(CUTOFFS), rows.n_rows
        X, y, texts = rows.X, rows.y, rows.texts
        answers = answers or ModelAnswers.of(model, path)
        question: Any = partial(_top_labels, k=k, label_weight=label_weight)
        asked, about = (X, question) if texts is None else (texts, partial(about_texts, question=question))
        # Row by row first: this also brings the model into memory, so that the batch does not wait for the disk. The
        # labels that the model decides for bring it into the memory of workers.
        single = _single_row_ms(partial(about, model), asked[:SINGLE_ROWS])
        if answers.saved is not None and rows.store is not None:
            asked = X = rows.store  # workers open it: its rows do not travel
        decided_labels = answers.ask(decided_lists, X)
        started = time.perf_counter()
        labels, _, evaluations = answers.ask(about, asked)
        seconds = time.perf_counter() - started
        best = labels.tolist()
        if filtered is not None:
            y, decided_labels = filtered.truth(y), filtered.without(decided_labels)
            more = partial(_top_labels, k=k + filtered.most, label_weight=label_weight)
            best = filtered.ranking(answers.ask(more, X)[0].tolist(), k)
        ranking = _ranking(y, best)
        decided = DecidedLabels.measure(y, decided_labels)
        hints: list[Hint] = []
        if label_weight is None and filtered is None:
            likely = _likely_labels(answers, X, y, decided.true_per_row)
            hints = find_hints(model, path, decided, n_rows, *likely, data_options)
        return cls(
            rows=n_rows,
            labels=len(model.classes_),
            nodes=sum(tree.n_nodes for tree in read_info(path).trees),
            metrics=evaluate(y, ranking, CUTOFFS, inverse_propensity=propensity_weights(y, model, A, B)),
            decision={**model.decision_.summary(), "description": model.decision_.describe()},
            decided=decided,
            unknown=UnknownLabels.count(model, y),
            timed="rows" if texts is None else "texts",
            batch_ms_per_row=1000 * seconds / n_rows,
            batch_rows_per_second=n_rows / seconds,
            threads=answers.threads,
            single_row_ms={f"p{percent}": float(np.percentile(single, percent)) for percent in (50, 99)},
            single_rows=len(single),
            node_evaluations_per_row=float(evaluations.mean()),
            model_bytes=directory_bytes(path),
            peak_memory_bytes=peak_memory_bytes()
            if answers.saved is None
            else None,  # that of workers is not known
            hints=hints,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __rich__(self) -> Group:
        quality = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 4, 0, 0))
        quality.add_column("%")
        for k in CUTOFFS:
            quality.add_column(f"@{k}", justify="right", min_width=6)
        for name in dict.fromkeys(key.partition("@")[0] for key in self.metrics):
            quality.add_row(name, *(f"{100 * self.metrics[f'{name}@{k}']:.2f}" for k in CUTOFFS))
        threads, noun = count_text(self.threads, "thread"), self.timed.removesuffix("s")
        cost = Table(box=None, pad_edge=False, show_header=False, padding=(0, 4, 0, 0))
        speed = f"{self.batch_rows_per_second:,.0f} {self.timed} per second"
        cost.add_row("batch", f"{self.batch_ms_per_row:.3f} ms per {noun}", f"{speed}, {threads}")
        cost.add_row(
            f"single {noun}", f"{self.single_row_ms['p50']:.3f} ms median", f"{self.single_rows:,} calls"
        )
        cost.add_row("", f"{self.single_row_ms['p99']:.3f} ms 99th percentile")
        cost.add_row("search", f"{self.node_evaluations_per_row:,.0f} nodes per row", f"of {self.nodes:,}")
        cost.add_row("model", bytes_text(self.model_bytes), "on disk")
        if self.peak_memory_bytes is not None:
            cost.add_row("memory", bytes_text(self.peak_memory_bytes), "peak, data included")
        parts: list[Padding | Text] = [
            Padding(quality, (0, 0, 1, 2)),
            Padding(self._decision_table(), (0, 0, 1, 2)),
        ]
        parts.append(Padding(cost, (0, 0, 0, 2)))
        for hint in self.hints:
            parts.append(Padding(Text.assemble(("Hint: ", "bold"), hint.finding), (1, 0, 0, 2)))
            # Without Padding, which would cut a long command.
            parts.append(Text(f"{'':8}{hint.command}", "cyan", no_wrap=True, overflow="ignore"))
        return Group(*parts)

    def _decision_table(self) -> Table:
        decided, unknown = self.decided, self.unknown
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 4, 0, 0))
        table.add_row("decision", Text(self.decision["description"]))
        per_row = f"{decided.predicted_per_row:.1f} labels per row predicted, {decided.true_per_row:.1f} true"
        table.add_row("micro F1", f"{100 * decided.micro_f1:.2f} %", per_row)
        occur = f"mean over the {count_text(decided.labels_that_occur, 'label')} that occur"
        table.add_row("macro F1", f"{100 * decided.macro_f1:.2f} %", occur)
        if unknown.occurrences:
            share = f"{unknown.occurrences / unknown.of_occurrences:.1%} of all"
            times = f"{unknown.distinct:,} of {unknown.of_distinct:,}"
            table.add_row("unknown", f"{times} labels", f"{count_text(unknown.occurrences, 'time')}, {share}")
        return table


@dataclass(frozen=True)
class UnknownLabels:
    """True labels that no training row has: distinct ones, and how often they occur, of all true labels."""

    distinct: int
    of_distinct: int
    occurrences: int
    of_occurrences: int

    @classmethod
    def count(cls, model: Any, y: Any) -> UnknownLabels:
        """Count the labels of y, a matrix or lists, that the model does not know."""
        classes = model.classes_.tolist()
        known = {label for label, count in zip(classes, model.label_counts_.tolist(), strict=True) if count}
        if isinstance(y, list):
            counts = Counter(label for row in y for label in set(row))
        else:
            counts = Counter(y.indices[y.data != 0].tolist())
        unknown = {label: count for label, count in counts.items() if label not in known}
        return cls(len(unknown), len(counts), sum(unknown.values()), sum(counts.values()))


def _ranking(y: Any, best: list[list[Any]]) -> Any:
    """Return the best labels in the form that metrics compare with y, filled up where there are few."""
    nothing = None if isinstance(y, list) else -1
    filled = [row + [nothing] * (max(CUTOFFS) - len(row)) for row in best]
    return filled if isinstance(y, list) else np.array(filled, dtype=np.int64)


def _top_labels(model: Any, X: Any, k: int, label_weight: Any = None) -> Any:
    """Return the k best labels of rows, their probabilities, and how many nodes were evaluated."""
    return model.predict_topk(X, k, label_weight=label_weight, return_evaluations=True)


def _likely_labels(
    answers: ModelAnswers, X: Any, y: Any, true_per_row: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the probabilities of about twice as many labels as are true, best first, and whether each is true."""
    k = min(max(*CUTOFFS, round(2 * true_per_row)), MOST_LIKELY)
    labels, probabilities, _ = answers.ask(partial(_top_labels, k=k), X)
    ranking = labels.tolist() if isinstance(y, list) else labels.astype(np.int64)
    return probabilities, judge(y, ranking, labels.shape[1]).hits


def propensity_weights(y: Any, model: Any, A: float, B: float) -> Any:
    """Return inverse propensities for the labels of y; None if the model had too few rows to estimate them."""
    if model.n_samples_fit_ < FEWEST_ROWS:
        return None
    classes = model.classes_
    if not isinstance(y, list):
        counts = np.zeros(int(classes.max()) + 1)
        counts[classes] = model.label_counts_
        return inverse_propensity_of_counts(counts, model.n_samples_fit_, A, B)
    counts = np.append(model.label_counts_, 0)  # the last is for labels that the model does not know
    *known, unseen = inverse_propensity_of_counts(counts, model.n_samples_fit_, A, B).tolist()
    return LabelWeights(dict(zip(classes.tolist(), known, strict=True)), unseen)


def _single_row_ms(ask: Callable[[Any], Any], asked: Any) -> list[float]:
    rows = [asked[i : i + 1] for i in range(len(asked) if isinstance(asked, list) else asked.shape[0])]
    taken = []
    for row in [rows[0], *rows]:  # the first call also builds what later calls share: it does not count
        started = time.perf_counter()
        ask(row)
        taken.append(1000 * (time.perf_counter() - started))
    return taken[1:]
