"""`LinearLearner`: trains linear node classifiers, chooses C, and calibrates them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from labeltree.calibration.fitting import level_maps_of_trial
from labeltree.calibration.level_maps import Calibration, LevelArrays
from labeltree.model.block_weights import BlockWeights
from labeltree.training.array_folder import Arrays
from labeltree.training.choice_of_c import ChosenC, choose_c
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree, weight_warnings
from labeltree.training.run import Run
from labeltree.training.tree_plan import NodeLearner
from labeltree.training.trial import FEWEST_ROWS, Trial, TrialSize, TrialSource
from labeltree.trees import LabelTree

logger = logging.getLogger(__name__)

#: What maps are fitted to. They need more than the choice of C does.
SIZE = TrialSize(n_columns=32, n_positive=3_000, most_work=0.2)


@dataclass
class LinearLearner(NodeLearner):
    """Trains linear node classifiers.

    Attributes
    ----------
    settings : SolverSettings
    choose : bool
        Choose C on the first tree, instead of using the C of the settings.
    calibrate : bool
        Fit maps from scores to probabilities on held-out rows of a trial.
    kernel : str
        The name of the kernel's function that trains all nodes of a tree.
    losses : dict, optional
        By C, the log loss of each level, if C was chosen.
    maps : list
        The maps of each trained tree; None where there were too few rows to fit them.
    """

    settings: SolverSettings
    choose: bool = False
    calibrate: bool = False
    kernel: str = "train_blocks"
    losses: dict[float, list[float]] | None = None
    maps: list[LevelArrays | None] = field(default_factory=list)

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run
    ) -> tuple[BlockWeights, dict[str, int]]:
        if self.choose or self.calibrate:
            self._try_out(tree, examples, seed, run)
        return train_tree(tree, examples, self.settings, seed, run, self.kernel)

    def _try_out(self, tree: LabelTree, examples: Examples, seed: int, run: Run) -> None:
        """Choose C if that is wanted and not done yet, and fit the maps of a tree if they are wanted."""
        maps = None
        # Children of joint blocks are no independent problems.
        if examples.labels.n_rows >= FEWEST_ROWS and self.settings.siblings == "independent":
            started = time.perf_counter()
            source = cache(lambda: TrialSource.of(tree, examples, run))
            if self.choose:
                # Weights of labels bend probabilities on purpose: C is chosen without them.
                unweighted = source
                if examples.label_weight is not None:
                    without = replace(examples, label_weight=None)
                    unweighted = cache(lambda: TrialSource.of(tree, without, run))
                chosen = _kept_choice(unweighted, self.settings, seed, run)
                if chosen is not None:
                    self.settings, self.losses = replace(self.settings, C=chosen.C), chosen.losses
                    logger.info("C of each level, from the root: %s", ", ".join(f"{C:g}" for C in chosen.C))
            if self.calibrate:
                # A tree without maps has no arrays.
                fitted = run.workplace.kept(
                    "calibration", lambda: dict(self._fit_maps(source(), seed, run) or {})
                )
                maps = fitted or None
            run.seconds["trial"] = time.perf_counter() - started
        self.choose = False
        self.maps.append(maps)

    def _fit_maps(self, source: TrialSource, seed: int, run: Run) -> LevelArrays | None:
        trial = Trial.draw(source, SIZE, seed)
        if len(trial.level) == 0:
            return None
        scores = trial.scores_of_levels(self.settings, run)
        return level_maps_of_trial(scores, source.tree.depth + 1, source.examples.labels.n_rows)

    def calibration(self) -> Calibration | None:
        maps = [of_tree for of_tree in self.maps if of_tree is not None]
        return (
            Calibration("isotonic", maps, source="training") if maps and len(maps) == len(self.maps) else None
        )

    def facts(self) -> Mapping[str, Any]:
        return {"C_": self.settings.C, "C_scores_": self.losses} if self.settings.solver == "descent" else {}

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        found = weight_warnings(self.settings, nodes, reports)
        if self.settings.siblings == "joint" and not any(report.get("n_joint", 0) for report in reports):
            found.append(
                "siblings='joint' found no node with at most five children, so all classifiers are independent: use a "
                "smaller arity and max_leaves, and frequent_share=0"
            )
        return found


def _kept_choice(
    source: Callable[[], TrialSource], settings: SolverSettings, seed: int, run: Run
) -> ChosenC | None:
    """Choose C, unless an earlier run of the same training has; no arrays if there is nothing to choose by."""

    def choose() -> Arrays:
        chosen = choose_c(source(), settings, seed, run)
        return {} if chosen is None else dict(chosen.to_arrays())

    arrays = run.workplace.kept("choice-of-C", choose)
    return ChosenC.from_arrays(arrays) if arrays else None
