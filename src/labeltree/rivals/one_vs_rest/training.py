"""Training of one classifier per label, in chunks of labels."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

import labeltree
from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.rivals.one_vs_rest.negatives import Negatives, find_negatives
from labeltree.training import column_plan
from labeltree.training.checkpoint import Arrays, Checkpoint
from labeltree.training.column_plan import ColumnPlan
from labeltree.training.examples import Examples
from labeltree.training.identity import array_hash
from labeltree.training.linear_nodes import SolverSettings, weight_warnings
from labeltree.training.run import Run
from labeltree.training.tree_plan import NodeLearner
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: A block counts its weights in 32 bits.
MOST_WEIGHTS = 2**32 - 1

_REPORT = ("n_columns", "n_unconverged", "n_row_visits", "n_pruned", "n_passes")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OneVsRestLearner(NodeLearner):
    """Trains a linear classifier per label.

    Attributes
    ----------
    settings : SolverSettings
    n_negatives : int, optional
        Number of labels that a label tree proposes for each row. A label is then trained on its own rows, on rows that
        it is proposed for and on random rows. None trains every label on all rows.
    checkpoint : path, optional
        Directory of finished chunks, which a training resumes from.
    """

    settings: SolverSettings
    n_negatives: int | None = None
    checkpoint: str | os.PathLike[str] | None = None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run
    ) -> tuple[BlockWeights, dict[str, int]]:
        features, labels = examples.features, examples.labels
        counts = np.bincount(labels.indices, minlength=labels.n_labels)
        negatives = None
        if self.n_negatives is None:
            plan = ColumnPlan.by_frequency(counts, labels.n_rows)
        else:
            started = time.perf_counter()
            negatives = find_negatives(examples, self.n_negatives, seed, run)
            run.seconds["finding_negatives"] = time.perf_counter() - started
            plan = ColumnPlan.by_siblings(negatives.tree, counts, labels.n_rows)
        chunks = _Chunks(plan, self._open_checkpoint(examples, seed, plan, negatives, run))
        missing = chunks.missing()
        what = f"{sum(len(plan.labels_of(number)) for number in missing):,} labels"
        if len(missing) < plan.n_chunks:
            logger.info("%s holds %d of %d chunks", self.checkpoint, len(chunks.finished), plan.n_chunks)
            what += f", {len(plan.label):,} with those of the checkpoint"
        run.phase(
            f"training {what}",
            lambda progress: _native.train_columns(
                examples.native,
                plan.native(missing),
                None if negatives is None else negatives.native,
                self.settings.options(seed, run.n_threads),
                chunks.add,
                progress,
            ),
        )
        trained = [chunks.finished[number] for number in range(plan.n_chunks)]
        dense = features.dense_features
        always = np.flatnonzero(counts == labels.n_rows).tolist()
        arrays = run.phase(
            f"joining {count_text(labels.n_labels, 'label')}",
            lambda _: _native.merge_columns(
                trained, always, labels.n_labels, features.n_features, dense[1] - dense[0]
            ),
        )
        report = _report(trained)
        report["n_constant"] = tree.n_nodes - len(plan.label)
        weights = BlockWeights.from_training(tree, arrays, dense)
        return weights.with_weight_type(self.settings.weights, run.n_threads), report

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        return weight_warnings(self.settings, nodes, reports)

    def _open_checkpoint(
        self, examples: Examples, seed: int, plan: ColumnPlan, negatives: Negatives | None, run: Run
    ) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        fingerprint = run.phase(
            "computing the fingerprint of the rows",
            lambda progress: _native.fingerprint(examples.features, progress),
        )
        # The chunks of a checkpoint may come from a version where solvers other than "sparse" had no l1.
        settings = asdict(self.settings)
        del settings["weights"]  # all labels are rounded together, at the end
        if self.settings.solver != "sparse":
            del settings["l1"]
        return Checkpoint(
            self.checkpoint,
            {
                "library_version": labeltree.__version__,
                "X": f"{fingerprint:016x}",
                "y": array_hash(examples.labels.indptr, examples.labels.indices),
                "sample_weight": None
                if examples.sample_weight is None
                else array_hash(examples.sample_weight),
                "parameters": {**settings, "n_negatives": self.n_negatives},
                "seed": seed,
                "negatives": None if negatives is None else array_hash(negatives.indptr, negatives.indices),
                "order of labels": array_hash(plan.label, plan.group_begin),
                "chunk_groups": column_plan.CHUNK_GROUPS,
            },
        )


class _Chunks:
    """The finished chunks, in memory or in a checkpoint."""

    def __init__(self, plan: ColumnPlan, checkpoint: Checkpoint | None) -> None:
        self._plan = plan
        self._checkpoint = checkpoint
        self.finished: dict[int, Arrays] = {}

    def missing(self) -> list[int]:
        """Read the chunks of the checkpoint; return the numbers of the chunks to train."""
        if self._checkpoint is not None:
            for number in range(self._plan.n_chunks):
                arrays = self._checkpoint.read(number, self._plan.labels_of(number))
                if arrays is not None:
                    self.finished[number] = arrays
        return [number for number in range(self._plan.n_chunks) if number not in self.finished]

    def add(self, number: int, arrays: Arrays) -> None:
        """Keep a trained chunk; any thread may call this."""
        arrays["label"] = self._plan.labels_of(number)
        if self._checkpoint is not None:
            arrays = self._checkpoint.write(number, arrays)
        self.finished[number] = arrays
        # Checked after every chunk: the training may take days, and later chunks only add weights.
        n_weights = sum(len(chunk["weight"]) for chunk in list(self.finished.values()))
        if n_weights > MOST_WEIGHTS:
            raise ValueError(
                f"the labels trained so far have {n_weights:,} weights, but a model can have at most "
                f"{MOST_WEIGHTS:,}: use a larger prune"
            )


def _report(chunks: Sequence[Arrays]) -> dict[str, int]:
    """Return the reports of all chunks as one report."""
    numbers = np.array([chunk["report"] for chunk in chunks], dtype=np.int64).reshape(-1, len(_REPORT))
    totals = numbers.sum(axis=0)
    totals[-1] = numbers[:, -1].max(initial=0)  # of n_passes, the maximum
    return dict(zip(_REPORT, totals.tolist(), strict=True))
