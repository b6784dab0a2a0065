"""`Trial`: groups of sibling nodes that are trained on a part of their rows and judged by the other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.calibration.fitting import CERTAIN_SCORE
from labeltree.training.array_folder import Arrays
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.memory_plan import ENTRY_BYTES, LANES
from labeltree.training.run import Run
from labeltree.training.workplace import part_text
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: With fewer rows there is no trial: its result would be noise.
FEWEST_ROWS = 1_000

#: Number of rows to hold out, and the limits of their share of all rows.
HELD_OUT_ROWS = 2_000
LEAST_HELD_OUT, MOST_HELD_OUT = 0.1, 0.25

#: On every level, blocks are drawn until their groups make up at least this share of the level's work.
WORK_SHARE = 0.04

#: Bytes that a group needs for each row of its block: two numbers for each column and C, and others.
TRIAL_ROW_BYTES = 8 * LANES + 28
#: Groups that all threads train at once may need this share of the memory; a group that needs more is trained alone.
TRIAL_SHARE = 0.5

#: Maximum number of pairs with a negative node, roughly.
NEGATIVE_PAIRS = 150_000

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class TrialScores:
    """Scores of pairs of a held-out row and a node whose parent is positive for the row, for several C.

    Attributes
    ----------
    row, level : arrays of shape (n_pairs,)
        The row, and the level of the node.
    positive : array of shape (n_pairs,)
        Whether the row has a label below the node.
    weight : array of shape (n_pairs,)
        Number of pairs that a pair stands for, times the weight of its row.
    score : array of shape (n_pairs, n_C) or (n_pairs,)
        The score of the node for each C, or for one.
    """

    row: NDArray[np.int32]
    level: NDArray[np.int64]
    positive: NDArray[np.bool_]
    weight: FloatArray
    score: NDArray[np.float32]

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> TrialScores:
        """Return some of the pairs: those with True, or with these numbers."""
        return TrialScores(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[TrialScores]) -> TrialScores:
        """Return the pairs of all parts."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


@dataclass(frozen=True)
class TrialSize:
    """How much of a tree is drawn for a trial.

    Attributes
    ----------
    n_columns : int
        Maximum number of columns of a group.
    n_positive : int
        Number of positive pairs that are wanted on every level.
    most_work : float
        No more blocks are drawn for them when their groups make up this share of the level's work.
    most_rows : int, optional
        Number of rows that a large block has about; fewer are trained on. All by default.
    """

    n_columns: int
    n_positive: int
    most_work: float
    most_rows: int | None = None


@dataclass(frozen=True)
class TrialSource:
    """A tree and examples that trials are drawn from, with the rows of each node.

    Attributes
    ----------
    tree : LabelTree
    examples : Examples
    rows : dict of arrays
        The rows of each node.
    blocks : Blocks
    """

    tree: LabelTree
    examples: Examples
    rows: Arrays
    blocks: Blocks

    @classmethod
    def of(cls, tree: LabelTree, examples: Examples, run: Run) -> TrialSource:
        """Find the rows of each node; with a limit of memory, they go to a file."""
        rows: Arrays = _native.assign_rows(tree.native, examples.native, run.n_threads, _native.Progress())
        if run.workplace.is_here:
            rows = run.workplace.share("trial-rows", rows).open()
        return cls(tree, examples, rows, Blocks.of(tree, examples, rows, run.n_threads))


@dataclass(frozen=True)
class Trial:
    """Groups of siblings from every level, drawn at random, and the rows that are held out.

    Siblings are an independent problem. A few of them, trained on most of their own rows, show how a whole tree does on
    rows that it has not seen, at a fraction of its cost. Labels keep nearly all of their rows; in a sample of rows they
    would be rarer.

    Attributes
    ----------
    tree : LabelTree
    examples : Examples
    held_out : array of shape (n_rows,)
        1 for held-out rows, 0 for rows to train on.
    block, level : arrays of shape (n_groups,)
        The block of each group, and the level of its nodes.
    columns, column_weight : lists of arrays
        The columns of each group, and the number of columns of the block that each stands for.
    level_scale : array of shape (n_levels,)
        Number of positive pairs on each level, relative to those in the blocks that were drawn.
    n_bytes : array of shape (n_groups,)
        Memory that training each group needs.
    rows : dict of arrays
        The rows of each node.
    most_rows : int
        Number of rows drawn from a block that has more. Those of them that are not held out are trained on.
    negative_share : float
        Share of the pairs with a negative node that are scored.
    seed : int
    """

    tree: LabelTree
    examples: Examples
    held_out: NDArray[np.uint8]
    block: NDArray[np.int32]
    level: NDArray[np.int32]
    columns: list[NDArray[np.int32]]
    column_weight: list[FloatArray]
    level_scale: FloatArray
    n_bytes: FloatArray
    rows: Arrays
    most_rows: int
    negative_share: float
    seed: int

    @classmethod
    def draw(cls, source: TrialSource, size: TrialSize, seed: int) -> Trial:
        """Draw the held-out rows, and groups of every level."""
        tree, examples, blocks = source.tree, source.examples, source.blocks
        random = np.random.default_rng(seed)
        n_rows = examples.labels.n_rows
        share = min(max(HELD_OUT_ROWS / n_rows, LEAST_HELD_OUT), MOST_HELD_OUT)
        held_out = (random.random(n_rows) < share).astype(np.uint8)
        chosen, scale = [np.empty(0, np.int64)], np.ones(tree.depth + 1)
        for level in range(tree.depth + 1):
            shuffled = random.permutation(np.flatnonzero(blocks.level == level))
            work = np.cumsum(blocks.n_entries[shuffled]) / max(int(blocks.work[shuffled].sum()), 1)
            positives = np.cumsum(
                share
                * blocks.n_positive[shuffled]
                * np.minimum(size.n_columns / blocks.n_columns[shuffled], 1)
            )
            # enough work, and enough positive pairs unless they are too much work
            enough = (work >= WORK_SHARE) & ((positives >= size.n_positive) | (work >= size.most_work))
            n_drawn = int(np.argmax(enough)) + 1 if enough.any() else len(shuffled)
            chosen.append(shuffled[:n_drawn])
            scale[level] = blocks.n_positive[shuffled].sum() / max(
                int(blocks.n_positive[shuffled[:n_drawn]].sum()), 1
            )
        kept = np.sort(np.concatenate(chosen))
        columns, column_weight = draw_columns(blocks.n_columns[kept].tolist(), size.n_columns, random)
        n_pairs = share * float(blocks.n_rows[kept] @ [len(of_block) for of_block in columns])
        return cls(
            tree,
            examples,
            held_out,
            blocks.block[kept].astype(np.int32),
            blocks.level[kept].astype(np.int32),
            columns,
            column_weight,
            scale,
            ENTRY_BYTES * blocks.n_entries[kept] + TRIAL_ROW_BYTES * blocks.n_rows[kept].astype(np.float64),
            source.rows,
            n_rows if size.most_rows is None else size.most_rows,
            min(1.0, NEGATIVE_PAIRS / max(n_pairs, 1.0)),
            seed,
        )

    def scores_of_levels(self, settings: SolverSettings, run: Run) -> TrialScores:
        """Train all groups with the C of their level, and score the held-out rows."""
        of_levels = np.array(settings.C, dtype=np.float32, ndmin=1)
        C = of_levels[np.minimum(self.level, len(of_levels) - 1)]
        found = self._scores_of_groups(settings, C[:, np.newaxis], run)
        return replace(found, score=found.score[:, 0])

    def scores(self, settings: SolverSettings, C_values: Sequence[float], run: Run) -> TrialScores:
        """Train all groups with each C, and score the held-out rows."""
        C = np.array(C_values, dtype=np.float32)
        return self._scores_of_groups(settings, np.tile(C, (len(self.level), 1)), run)

    def _scores_of_groups(
        self, settings: SolverSettings, C_values: NDArray[np.float32], run: Run
    ) -> TrialScores:
        """Train each group with each of its C."""
        tried = ", ".join(f"{C:g}" for C in np.unique(C_values))
        title = f"trying C {tried} on {count_text(len(self.level), 'group')} of nodes"
        batches = self._batches(run)
        parts, numbers = zip(
            *(
                self._scores_of_batch(
                    settings, C_values[batch], batch, title + part_text(number, len(batches)), run
                )
                for number, batch in enumerate(batches)
            ),
            strict=True,
        )
        # However groups were divided, their pairs are in the order of groups: sums are the same, bit for bit.
        return TrialScores.joined(parts).take(np.argsort(np.concatenate(numbers), kind="stable"))

    def _batches(self, run: Run) -> list[NDArray[np.int64]]:
        """Divide all groups so that those that all threads train at once fit into the memory; a large one is alone."""
        groups = np.arange(len(self.level))
        if run.workplace.memory is None:
            return [groups]
        large = run.n_threads * self.n_bytes > TRIAL_SHARE * run.workplace.memory
        small = groups[~large]
        return [*(groups[large][:, np.newaxis]), *([small] if len(small) else [])]

    def _scores_of_batch(
        self,
        settings: SolverSettings,
        C_values: NDArray[np.float32],
        groups: NDArray[np.int64],
        title: str,
        run: Run,
    ) -> tuple[TrialScores, NDArray[np.int64]]:
        """Return the scores of pairs, and the group of each."""
        columns = [self.columns[group] for group in groups]
        options = replace(settings, C=1.0).options(self.seed, run.n_threads)
        found = run.phase(
            title,
            lambda progress: _native.held_out_blocks(
                self.tree.native,
                self.examples.native,
                options,
                self.held_out,
                self.block[groups],
                np.cumsum([0, *(len(drawn) for drawn in columns)], dtype=np.int64),
                np.concatenate(columns),
                C_values,
                self.most_rows,
                self.negative_share,
                progress,
                self.rows,
            ),
        )
        n_pairs = np.diff(found["group_begin"])
        positive = found["positive"].astype(bool)
        # Each pair stands for pairs with other columns of its block and, if it is negative, for those not drawn.
        of_group = [self.column_weight[group] for group in groups]
        first = np.cumsum([0, *(len(weights) for weights in of_group)])[:-1]
        weight = np.concatenate(of_group)[np.repeat(first, n_pairs) + found["column"]]
        weight = weight * np.where(positive, 1.0, 1 / self.negative_share)
        if self.examples.sample_weight is not None:
            weight = weight * self.examples.sample_weight[found["row"]]
        # A node without an example to learn from is not in a model: it says nothing about the nodes that are.
        known = (found["score"] != -CERTAIN_SCORE).any(axis=1) & (weight > 0)
        scores = TrialScores(
            found["row"][known],
            np.repeat(self.level[groups], n_pairs)[known].astype(np.int64),
            positive[known],
            weight[known],
            _bounded(found["score"][known]),
        )
        return scores, np.repeat(groups, n_pairs)[known]


def _bounded(score: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return scores by pair and C, bounded below those of constant nodes: huge features make huge scores."""
    constant = np.abs(score) == CERTAIN_SCORE
    bound = np.nextafter(np.float32(CERTAIN_SCORE), np.float32(0))
    return np.where(constant.all(axis=1, keepdims=True), score, np.clip(np.nan_to_num(score), -bound, bound))


def draw_columns(
    n_columns: Sequence[int], n_drawn: int, random: np.random.Generator
) -> tuple[list[NDArray[np.int32]], list[FloatArray]]:
    """Draw columns of blocks with so many, the frequent ones first; return them and the number each stands for.

    The columns of a block are divided into parts that grow geometrically, and one is drawn from each: a frequent column
    has many of the positive pairs, and rare ones are alike.
    """
    parts = [_parts_of_columns(n, n_drawn) for n in n_columns]
    first, size = (np.concatenate([part[i] for part in parts] or [np.empty(0, np.int64)]) for i in range(2))
    drawn, weight = (first + random.integers(size)).astype(np.int32), size.astype(np.float64)
    end = np.cumsum([len(of_block) for of_block, _ in parts]).tolist()
    blocks = [slice(begin, end) for begin, end in zip([0, *end], end, strict=False)]
    return [drawn[block] for block in blocks], [weight[block] for block in blocks]


@cache  # blocks have few different numbers of columns
def _parts_of_columns(n: int, n_parts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first column and the size of each part, the parts growing geometrically."""
    edges = np.unique(np.round(np.geomspace(1, n + 1, min(n_parts, n) + 1)).astype(np.int64)) - 1
    return edges[:-1], np.diff(edges)


@dataclass(frozen=True)
class Blocks:
    """The blocks of a tree that need training.

    Attributes
    ----------
    block : array
        Numbers of the blocks.
    level : array
        Level of their nodes.
    n_columns, n_rows, n_entries : arrays
        Number of columns to train, of rows, and of values of features in these rows.
    n_positive : array
        Number of pairs of a row and a node with a label of the row.
    work : array
        Number of values that training a block reads in a pass.
    """

    block: NDArray[np.int64]
    level: NDArray[np.int64]
    n_columns: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    n_entries: NDArray[np.int64]
    n_positive: NDArray[np.int64]
    work: NDArray[np.int64]

    @classmethod
    def of(cls, tree: LabelTree, examples: Examples, rows: Arrays, n_threads: int) -> Blocks:
        groups = _native.block_groups(tree.native, examples.native, n_threads, rows)
        block, first, n_groups = np.unique(groups["block"], return_index=True, return_counts=True)
        before = rows["row_begin"]
        inner = tree.inner_nodes
        first_child = np.concatenate([[0], tree.child_begin[inner]])[block]
        last_child = np.concatenate([[1], tree.child_begin[inner + 1]])[block]
        n_entries = groups["n_entries"][first].astype(np.int64)
        return cls(
            block.astype(np.int64),
            groups["level"][first].astype(np.int64),
            groups["end"][first + n_groups - 1].astype(np.int64),
            groups["n_rows"][first].astype(np.int64),
            n_entries,
            before[last_child] - before[first_child],
            n_entries * n_groups,
        )
