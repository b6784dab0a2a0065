"""The JSON of requests and answers. Requests are checked against it, and ``/openapi.json`` describes it."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, Strict, model_validator

from labeltree.serving.errors import STATUSES


def _refuse_integer(value: Any) -> Any:
    """Refuse an integer that is too large for a label, rather than round it to a float, which is another label."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(f"an integer must be from {-(2**63)} to {2**63 - 1}")
    return value


#: A label as in `classes_`. The labels of a model are all strings, all integers, all floats or all booleans.
Label = (
    Annotated[str, Strict()]
    | Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63)]
    | Annotated[float, Strict(), BeforeValidator(_refuse_integer)]
    | Annotated[bool, Strict()]
)

LARGEST_INDEX = 2**31 - 3  # X has fewer columns than an int32 has values
LARGEST_VALUE = 3.4e38  # that the kernel accepts: almost the largest of float32

Index = Annotated[int, Field(ge=0, le=LARGEST_INDEX)]
Value = Annotated[float, Field(ge=-LARGEST_VALUE, le=LARGEST_VALUE)]
Text = Annotated[str, Field(examples=["A small boat in a storm"])]
#: A text, or its fields by name, for a model that was trained on fields.
FieldedText = Annotated[Text | dict[str, str | None], Field(union_mode="left_to_right")]

#: Features by name; a text as value makes a feature of its own.
Features = dict[str, Value | str]


class Request(BaseModel, extra="forbid", allow_inf_nan=False, strict=True):
    """A request body: without unknown fields, numbers that are not finite, and conversions of types."""


class Row(Request):
    """A sparse vector: indices of features, in ascending order, and their values."""

    indices: list[Index] = Field(examples=[[3, 7]])
    values: list[Value] = Field(examples=[[0.5, 1.0]])

    @model_validator(mode="after")
    def _check(self) -> Row:
        n_indices, n_values = len(self.indices), len(self.values)
        if n_indices != n_values:
            raise ValueError(f"expected as many values as indices, got {n_values} and {n_indices}")
        if self.indices == sorted(set(self.indices)):  # faster than the loop, and true of almost all rows
            return self
        for before, index in pairwise(self.indices):
            if index <= before:
                what = "is there twice" if index == before else f"comes after {before}"
                raise ValueError(f"indices must be in ascending order, but {index} {what}")
        return self


def _check_exactly_one(request: Request, *names: str) -> None:
    given = [name for name in names if getattr(request, name) is not None]
    if len(given) != 1:
        raise ValueError(f"expected exactly one of {', '.join(names)}, got {', '.join(given) or 'none'}")


class PredictRequest(
    Request, json_schema_extra={"examples": [{"texts": ["A small boat in a storm"], "k": 3}]}
):
    """The texts or rows to predict labels for, and restrictions on the labels."""

    text: FieldedText | None = Field(None, description="One text, or an object with its fields.")
    texts: list[FieldedText] | None = Field(None, description="Several texts.", min_length=1)
    rows: list[Row] | None = Field(None, description="Sparse vectors, for models of numbers.", min_length=1)
    features: list[Features] | None = Field(None, description="Features by name.", min_length=1)
    k: int = Field(5, ge=1, description="Maximum number of labels for each text or row.")
    threshold: float = Field(0.0, ge=0, le=1, description="Minimum probability of a label.")
    allow: list[Label] | None = Field(None, description="Consider only these labels.")
    deny: list[Label] | None = Field(None, description="Do not consider these labels.")
    label_weight: Literal["propensity"] | dict[str, Annotated[float, Field(ge=0)]] | None = Field(
        None,
        description="Rank labels by weight times probability. Either weights by label, with a default of 1, or "
        '"propensity" to rank rare labels higher.',
    )

    @model_validator(mode="after")
    def _check(self) -> PredictRequest:
        _check_exactly_one(self, "text", "texts", "rows", "features")
        return self


#: The readable name of a label. It is left out if the label has none.
Name = Annotated[str | None, Field(description="The readable name of the label, if it has one.")]


class Prediction(BaseModel):
    """A label and its probability."""

    label: Label = Field(examples=["sea"])
    name: Name = None
    probability: float = Field(examples=[0.83])


class PredictAnswer(BaseModel):
    """The labels of each text or row, best first."""

    model: str = Field(examples=["paintings"])
    version: str = Field(description="The version of the model that answered.", examples=["3f1c09a2b7d4"])
    predictions: list[list[Prediction]]


class SuggestRequest(
    Request, json_schema_extra={"examples": [{"text": "A small boat in a storm", "limit": 10}]}
):
    """The form that the backend `http` of Annif sends. Fields that begin with `metadata_` are ignored."""

    text: Text
    limit: int = Field(10, ge=1, description="Maximum number of suggestions.")
    threshold: float = Field(0.0, ge=0, le=1, description="Minimum score of a suggestion.")
    project: str | None = Field(None, description="Ignored: the address names the model.")
    language: str | None = Field(None, description="Ignored: names have the language of the model.")


class Suggestion(BaseModel):
    """A label as Annif names it."""

    uri: str = Field(description="The label.", examples=["http://www.yso.fi/onto/yso/p12738"])
    label: str = Field(description="The readable name of the label, or the label itself.", examples=["boats"])
    score: float = Field(description="The probability.", examples=[0.83])


class SuggestAnswer(BaseModel):
    """Suggestions, best first."""

    results: list[Suggestion]


class OneInput(Request):
    """Exactly one text, row or object of features."""

    text: FieldedText | None = None
    row: Row | None = None
    features: Features | None = None

    @model_validator(mode="after")
    def _check(self) -> OneInput:
        _check_exactly_one(self, "text", "row", "features")
        return self


class ExplainRequest(
    OneInput, json_schema_extra={"examples": [{"text": "A small boat in a storm", "label": "sea"}]}
):
    """The text or row, and the label to explain."""

    label: Label = Field(examples=["sea"])
    n_features: int = Field(10, ge=1, description="Maximum number of features for each node.")


class Contribution(BaseModel):
    """The amount that one feature adds to the score of a node: value times weight."""

    feature: str | int
    value: float
    weight: float
    amount: float


class Step(BaseModel):
    """A node on the path to the label. Its score is the sum of all contributions and the bias."""

    node: int
    n_labels: int
    label: Label | None = Field(None, description="The label of the leaf, the last node of the path.")
    score: float
    probability: float = Field(description="Probability given that a label below the parent is positive.")
    probability_so_far: float
    bias: float
    contributions: list[Contribution]


class LabelStep(BaseModel):
    """The classifier of the label itself, in a model with `rerank`. Its score is the sum of contributions and bias."""

    proposed: bool = Field(
        description="Whether the trees propose the label, so that this probability counts."
    )
    score: float
    probability: float
    bias: float
    contributions: list[Contribution]


class Highlight(BaseModel):
    """The characters of the text (Unicode code points) from `begin` to before `end`, and their share of the scores."""

    begin: int
    end: int
    amount: float
    field: str | None = Field(None, description="The field of the text, if it has fields.")


class ExplainAnswer(BaseModel):
    """The path to the label in each tree, with the features that contributed most."""

    model: str
    version: str
    label: Label
    name: Name = None
    probability: float
    paths: list[list[Step]]
    classifier: LabelStep | None = Field(None, description="Only of models with `rerank`.")
    highlights: list[Highlight]


class LabelCount(BaseModel):
    """A label and its number of training examples."""

    label: Label
    name: Name = None
    count: int


class LabelsAnswer(BaseModel):
    """A page of labels, and the total number of matches."""

    labels: list[LabelCount]
    total: int


class TreeChild(BaseModel):
    """A child of a node. A leaf has a label; other nodes have their most frequent labels as examples."""

    node: int
    n_labels: int
    count: int
    label: Label | None = None
    name: Name = None
    examples: list[Label] = []
    example_names: list[str] = Field([], description="The names of the examples, if labels have names.")


class TreeAnswer(BaseModel):
    """A node of a tree and a page of its children, the most frequent first."""

    tree: int
    n_trees: int
    node: int
    parent: int | None
    n_labels: int
    count: int = Field(description="How often labels below this node occur in the training examples.")
    label: Label | None = None
    name: Name = None
    children: list[TreeChild]
    total: int = Field(description="The total number of children.")


class PathAnswer(BaseModel):
    """The nodes from the root to a label."""

    tree: int
    label: Label
    name: Name = None
    nodes: list[int]


class ModelAnswer(BaseModel):
    """A model that is served."""

    name: str
    version: str = Field(description="A hash of the files; for a model that learns, its number of examples.")
    estimator: str
    n_labels: int
    n_features: int
    n_trees: int
    has_label_trees: bool = Field(description="Whether the trees divide labels and can be browsed.")
    has_label_names: bool = Field(description="Whether labels have readable names.")
    takes_text: bool
    takes_features: bool = Field(description="Whether features have names rather than numbers.")
    learns: bool
    loaded_at: str
    is_trained: bool = Field(default=True, description="For Annif, which asks this of a project.")
    modification_time: str = Field(description="When the model was saved; for Annif, too.")


class ModelsAnswer(BaseModel):
    """All models that are served."""

    models: list[ModelAnswer]


class WorkerVersion(BaseModel):
    """The version that a worker process serves."""

    worker: int
    version: str


class ReloadAnswer(BaseModel):
    """The version that was loaded, and whether all workers serve it."""

    model: str
    version: str
    complete: bool
    workers: list[WorkerVersion]


class Example(OneInput):
    """A text or row with its labels."""

    text: Text | None = None
    labels: list[Label]


class LearnRequest(
    Request,
    json_schema_extra={"examples": [{"examples": [{"text": "A boat in a storm", "labels": ["sea"]}]}]},
):
    """Examples, which are learned in this order."""

    examples: list[Example] = Field(min_length=1)


class LearnAnswer(BaseModel):
    """A confirmation that all examples are learned and on disk."""

    model: str
    version: str
    learned: int
    n_examples: int = Field(description="How many examples the model has learned in total.")
    n_labels: int


class AcceptedAnswer(BaseModel):
    """A confirmation that all examples are on disk, and will be learned unless the model cannot learn them."""

    model: str
    accepted: int = Field(description="The number of examples.")
    message: str


#: The header that makes it safe to send a request again.
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A word that no other request has. A request with the same key and the same examples is learned "
    "once, and gets the first answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


class Learning(BaseModel):
    """Whether a model learns from requests at the moment."""

    learns: bool
    reason: str | None = Field(
        None, description="Why it does not learn.", examples=["the server runs without --learn"]
    )


class ReadyAnswer(BaseModel):
    """The state of the server and of its models."""

    status: str
    models: dict[str, Learning]


class StatusAnswer(BaseModel):
    """The state of the server."""

    status: str


class Problem(BaseModel):
    """The reason of an error."""

    code: str = Field(examples=["invalid_request"])
    message: str
    learned: int | None = Field(
        None, description="How many examples of a request to learn were learned before."
    )


class ErrorAnswer(BaseModel):
    """The answer to a request that failed."""

    error: Problem


def error_answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of error answers that FastAPI expects."""
    return {status: {"model": ErrorAnswer, "description": STATUSES[status][1]} for status in statuses}
