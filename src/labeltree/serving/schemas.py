"""What requests and answers look like: checked here, and described by ``/openapi.json``."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)


def _no_integer(value: Any) -> Any:
    """Else an integer that is too large would become the nearest float, which is another label."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(f"an integer must be from {-(2**63)} to {2**63 - 1}")
    return value


#: As in `classes_`: all strings, all integers, or in rare models all floats or all truth values.
Label = (
    StrictStr
    | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
    | Annotated[StrictFloat, BeforeValidator(_no_integer)]
    | StrictBool
)

LARGEST_INDEX = 2**31 - 3  # X has fewer columns than an int32 has values
LARGEST_VALUE = 3.4028234663852886e38  # of float32

Index = Annotated[int, Field(ge=0, le=LARGEST_INDEX, strict=True)]
Value = Annotated[float, Field(ge=-LARGEST_VALUE, le=LARGEST_VALUE, strict=True)]


class Request(BaseModel):
    """A body: nothing else may be in it, and all numbers are finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Answer(BaseModel):
    """An answer."""


class Row(Request):
    """A sparse vector: features by number, in ascending order, and their values."""

    indices: list[Index] = Field(examples=[[3, 7]])
    values: list[Value] = Field(examples=[[0.5, 1.0]])

    @model_validator(mode="after")
    def _check(self) -> Row:
        if len(self.indices) != len(self.values):
            raise ValueError(
                f"expected as many values as indices, got {len(self.values)} and {len(self.indices)}"
            )
        if self.indices == sorted(set(self.indices)):  # as almost all are; what follows takes longer
            return self
        for before, index in pairwise(self.indices):
            if index <= before:
                what = "is there twice" if index == before else f"comes after {before}"
                raise ValueError(f"indices must be in ascending order, but {index} {what}")
        return self


#: Features by name; a text as value makes a feature of its own.
Features = dict[str, Value | StrictStr]

Text = Annotated[str, Field(examples=["A small boat in a storm"], strict=True)]


def _exactly_one(request: BaseModel, *names: str) -> None:
    given = [name for name in names if getattr(request, name) is not None]
    if len(given) != 1:
        raise ValueError(f"expected exactly one of {', '.join(names)}, got {', '.join(given) or 'none'}")


class PredictRequest(Request):
    """What to predict labels for, and which."""

    text: Text | None = Field(None, description="One text.")
    texts: list[Text] | None = Field(None, description="Several texts.", min_length=1)
    rows: list[Row] | None = Field(
        None, description="Sparse vectors, for models that were trained on numbers.", min_length=1
    )
    features: list[Features] | None = Field(
        None, description="Features by name, for online models that learned such.", min_length=1
    )
    k: int = Field(5, ge=1, description="At most so many labels for each.", strict=True)
    threshold: float = Field(
        0.0, ge=0, le=1, description="Labels with a smaller probability are left out.", strict=True
    )
    allow: list[Label] | None = Field(None, description="Only these labels are considered.")
    deny: list[Label] | None = Field(None, description="None of these labels is considered.")
    label_weight: Literal["propensity"] | dict[str, Annotated[float, Field(ge=0, strict=True)]] | None = (
        Field(
            None,
            description="Labels are ranked by weight times probability: weights by label, where those left out "
            'weigh 1, or "propensity", by which rare labels weigh more.',
        )
    )

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"texts": ["A small boat in a storm"], "k": 3}]},
    )

    @model_validator(mode="after")
    def _check(self) -> PredictRequest:
        _exactly_one(self, "text", "texts", "rows", "features")
        return self


class Prediction(Answer):
    """A label and its probability."""

    label: Label = Field(examples=["sea"])
    probability: float = Field(examples=[0.83])


class PredictAnswer(Answer):
    """The labels of every row, best first."""

    model: str = Field(examples=["paintings"])
    version: str = Field(description="Which version of the model answered.", examples=["3f1c09a2b7d4"])
    predictions: list[list[Prediction]]


class ExplainRequest(Request):
    """What to explain: one row, and a label."""

    text: Text | None = None
    row: Row | None = None
    features: Features | None = None
    label: Label = Field(examples=["sea"])
    n_features: int = Field(10, ge=1, description="How many features are given for each node.", strict=True)

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "A small boat in a storm", "label": "sea"}]},
    )

    @model_validator(mode="after")
    def _check(self) -> ExplainRequest:
        _exactly_one(self, "text", "row", "features")
        return self


class Contribution(Answer):
    """What one feature added to the score of a node: value times weight."""

    feature: str | int
    value: float
    weight: float
    amount: float


class Step(Answer):
    """A node on the path to the label. Its score is the sum of all contributions and the bias."""

    node: int
    n_labels: int
    label: Label | None = Field(None, description="Of the last node, the leaf.")
    score: float
    probability: float = Field(description="Given that the parent has a label.")
    probability_so_far: float
    bias: float
    contributions: list[Contribution]


class Highlight(Answer):
    """Characters of the text (Unicode code points) from `begin` to before `end`, and what they added to the scores."""

    begin: int
    end: int
    amount: float


class ExplainAnswer(Answer):
    """Why a label has its probability: its path in each tree, and what weighed most."""

    model: str
    version: str
    label: Label
    probability: float
    paths: list[list[Step]]
    highlights: list[Highlight]


class LabelCount(Answer):
    """A label, and how many training examples had it."""

    label: Label
    count: int


class LabelsAnswer(Answer):
    """Some labels, and how many there are in all."""

    labels: list[LabelCount]
    total: int


class TreeChild(Answer):
    """A child of a node: a leaf has a label, others the most frequent of those below."""

    node: int
    n_labels: int
    count: int
    label: Label | None = None
    examples: list[Label] = []


class TreeAnswer(Answer):
    """A node of a tree, and some of its children, those with most examples first."""

    tree: int
    n_trees: int
    node: int
    parent: int | None
    n_labels: int
    count: int = Field(description="How often labels below this node were given in training.")
    label: Label | None = None
    children: list[TreeChild]
    total: int = Field(description="How many children there are in all.")


class PathAnswer(Answer):
    """The nodes from the root to a label."""

    tree: int
    label: Label
    nodes: list[int]


class ModelAnswer(Answer):
    """A model that is served."""

    name: str
    version: str = Field(description="Of the files; of a model that learns, the number of its examples.")
    estimator: str
    n_labels: int
    n_features: int
    n_trees: int
    has_label_trees: bool = Field(description="Whether the trees divide labels, and can be looked at.")
    takes_text: bool
    takes_features: bool = Field(description="Whether rows are features by name, rather than by number.")
    learns: bool
    loaded_at: str


class ModelsAnswer(Answer):
    """All models that are served."""

    models: list[ModelAnswer]


class WorkerVersion(Answer):
    """The version that a worker process answers with."""

    worker: int
    version: str


class ReloadAnswer(Answer):
    """The version that was loaded, and whether all processes have it."""

    model: str
    version: str
    complete: bool
    workers: list[WorkerVersion]


class Example(Request):
    """Something with its labels."""

    text: Text | None = None
    row: Row | None = None
    features: Features | None = None
    labels: list[Label]

    @model_validator(mode="after")
    def _check(self) -> Example:
        _exactly_one(self, "text", "row", "features")
        return self


class LearnRequest(Request):
    """Examples to learn, in their order."""

    examples: list[Example] = Field(min_length=1)

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"examples": [{"text": "A boat in a storm", "labels": ["sea"]}]}]},
    )


class LearnAnswer(Answer):
    """That all examples are learned, and safely on disk."""

    model: str
    version: str
    learned: int
    n_examples: int = Field(description="How many the model has learned in all.")
    n_labels: int


class StatusAnswer(Answer):
    """How the server is."""

    status: str


class Problem(Answer):
    """What is wrong."""

    code: str = Field(examples=["invalid_request"])
    message: str


class ErrorAnswer(Answer):
    """Every answer that is not what was asked for."""

    error: Problem


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of a path, as FastAPI wants them."""
    return {status: {"model": ErrorAnswer, "description": _MEANINGS[status]} for status in statuses}


_MEANINGS = {
    400: "The body is not JSON.",
    401: "A token is needed, and there was none or a wrong one.",
    403: "This server has no tokens: nothing can be changed.",
    404: "There is no such model, label or node.",
    408: "The body did not come in time.",
    409: "The model cannot do this.",
    413: "The body is too large.",
    415: "The body is said to be something else than JSON.",
    422: "Something in the request is not as it must be; the message says what and where.",
    500: "The server has a fault.",
    503: "The server has too much to do: come again after the seconds in Retry-After.",
    504: "The answer took too long.",
}
