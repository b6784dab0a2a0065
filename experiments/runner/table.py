"""What a table is: rows that differ in a few parameters from one baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from experiments.runner.claims import Claim
from experiments.runner.figures import DECISION_QUALITIES, PRECISIONS, PROCESSOR_COSTS, QUALITIES, Quality

#: Classes of ours that rows are run with.
TREES, ONLINE, SOFTMAX = (
    "LabelTreeClassifier",
    "OnlineLabelTreeClassifier",
    "HierarchicalSoftmaxClassifier",
)

#: What the paper sets for all its tables of design choices.
BASELINE: Mapping[str, Any] = {
    "tree": "kmeans",
    "arity": 2,
    "max_leaves": 100,
    "frequent_share": 0.0,
    "label_vector_prune": 0.0,
    "loss": "logistic",
    "prune": 0.1,
    "search": "exact",
}

#: Parameters of batch training only; incremental solvers do not have them. The paper gives Parabel 20 passes.
BASELINE_OF_DESCENT: Mapping[str, Any] = {"tol": 0.1, "max_iter": 20}

#: The values of C that the paper tunes over.
C_GRID = (1.0, 8.0, 12.0, 16.0, 32.0)

#: Sets that are too large to tune on have what was chosen on a smaller one of the same kind.
TUNED_AS = {"extreme-670k": "extreme-131k", "extreme-3m": "extreme-131k"}

#: As many as the paper has wherever chance plays a part.
SEEDS_OF_PAPER = 5

#: Most seeds on large sets, whose runs are long.
SEEDS = {"extreme-131k": 3, "extreme-670k": 1, "extreme-3m": 1}

#: The weight of the examples where C is not tuned: of the logistic loss as our preset of napkinXC.
BASELINE_C = {"logistic": 12.0, "squared_hinge": 1.0}

#: The link of the squared hinge that Parabel and napkinXC have.
BASELINE_LINK = {"squared_hinge": "exp2"}


@dataclass(frozen=True)
class Row:
    """One configuration.

    Attributes
    ----------
    name : str
        What the table calls it.
    parameters : mapping
        Parameters that are not those of the baseline, or not the defaults of the class. A `tree` "taxonomy" is the
        hierarchy that comes with the data, "stream" the complete tree of that arity that an online model of the same
        seed grows.
    features : str
        The features, as `experiments/runner/features.py` names them.
    data : sequence of str, optional
        The sets it is run on, if not all of the table.
    seeds : int, optional
        The most seeds that it is run with; fewer where runs are long or chance plays no role.
    system : str
        The class of `labeltree` that is trained, or another package of `benchmarks/peers.py`, which then has its own
        parameters, but for `n_trees`.
    decide : mapping, optional
        Arguments of `fit_for`: label sets are decided for a metric. Without, labels are ranked.
    sample_weight : str, optional
        The weights of the examples, as `experiments/runner/sample_weights.py` names them.
    tune : mapping
        Values of parameters that are chosen on development rows of every set, one parameter after the other. C of the
        baseline is always chosen so, once for each loss.
    tune_for : str
        The figure that they are chosen by.
    baseline : bool
        Whether label trees and hierarchical softmax have the parameters of the baseline rather than their defaults.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    features: str = "words"
    data: Sequence[str] | None = None
    seeds: int | None = None
    system: str = TREES
    decide: Mapping[str, Any] | None = None
    sample_weight: str | None = None
    tune: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tune_for: str = "P@1"
    baseline: bool = True

    @property
    def has_baseline(self) -> bool:
        """Whether its class has the parameters of the baseline, and is to have them."""
        return self.baseline and self.system in (TREES, SOFTMAX)

    @property
    def c_is_tuned(self) -> bool:
        """Whether it has the C that is chosen for its loss with the baseline."""
        return (
            self.has_baseline
            and not {"C", "penalty"} & {*self.parameters, *self.tune}
            and "C" in self.all_parameters()
        )

    def all_parameters(self) -> dict[str, Any]:
        """The parameters, of batch training with those of the baseline."""
        if not self.has_baseline:
            return dict(self.parameters)
        if self.system == SOFTMAX:  # knows but one loss
            usual = {name: value for name, value in BASELINE.items() if name != "loss"}
            return {**usual, **BASELINE_OF_DESCENT, "C": BASELINE_C["logistic"], **self.parameters}
        loss = self.parameters.get("loss", BASELINE["loss"])
        usual = dict(BASELINE)
        if self.parameters.get("solver", "descent") == "descent":
            usual |= BASELINE_OF_DESCENT
            if loss in BASELINE_C:
                usual["C"] = BASELINE_C[loss]
        if loss in BASELINE_LINK:
            usual["link"] = BASELINE_LINK[loss]
        return {**usual, **self.parameters}


@dataclass(frozen=True)
class Table:
    """Rows to compare.

    Attributes
    ----------
    name : str
        The name of the script and of the files in `experiments/results`.
    title : str
    paper : str
        What the paper says.
    here : str
        What our runs say.
    rows : sequence of Row
        Costs are compared with the first that ran. All rank labels, or all decide.
    data : sequence of str
        The sets, each a part of the table.
    notes : sequence of str
        What else must be known to read it.
    batch_sizes : sequence of int
        Also measure prediction in batches of these numbers of rows.
    costs : mapping
        What the columns of costs are called.
    ranking : sequence of str
        What the columns of rankings are, of `QUALITIES`.
    seeds : mapping
        The most seeds that rows are run with on some of the sets, where runs are long.
    large : mapping
        Large sets, each with the names of the rows that are run on it.
    claims : sequence of Claim
        What the paper claims of these rows; the page says what the figures say to it.
    picture : {"rows", "stream", "batches"}
        What is drawn: the columns, P@1 over the stream, or the time over the size of the batch.
    """

    name: str
    title: str
    paper: str
    rows: Sequence[Row]
    data: Sequence[str] = ("eurlex57k", "tate", "bibtex", "delicious")
    notes: Sequence[str] = ()
    batch_sizes: Sequence[int] = ()
    here: str = ""
    costs: Mapping[str, str] = field(default_factory=lambda: PROCESSOR_COSTS)
    ranking: Sequence[str] = PRECISIONS
    seeds: Mapping[str, int] = field(default_factory=dict)
    large: Mapping[str, Sequence[str]] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    picture: Literal["rows", "stream", "batches"] = "rows"

    @property
    def qualities(self) -> Mapping[str, Quality]:
        """The figures that say how good a row is."""
        if self.rows[0].decide is not None:
            return DECISION_QUALITIES
        return {name: QUALITIES[name] for name in self.ranking}

    @property
    def sets(self) -> list[str]:
        """All data sets."""
        return [*self.data, *self.large]

    def most_seeds(self, data: str, row: Row, seeds: int) -> int:
        """With how many seeds a row is run on a set, if `seeds` are asked for."""
        return min(seeds, row.seeds or seeds, self.seeds.get(data, seeds), SEEDS.get(data, seeds))

    def rows_on(self, data: str) -> list[Row]:
        """The rows that are run on a set."""
        if data in self.large:
            return [row for row in self.rows if row.name in self.large[data]]
        return [row for row in self.rows if row.data is None or data in row.data]


def per_loss(rows: Mapping[str, Mapping[str, Any]], seeds: Mapping[str, int] | None = None) -> list[Row]:
    """Every row with both losses of the paper; `seeds` has the most seeds of some of them, by name."""
    names = {"logistic": "logistic", "squared_hinge": "squared hinge"}
    return [
        Row(f"{names[loss]}, {name}", {"loss": loss, **parameters}, seeds=(seeds or {}).get(name))
        for loss in names
        for name, parameters in rows.items()
    ]
