"""What a model is and how it was trained, as lines of a table."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from labeltree.questions import Questions
from labeltree.wording import count_text, shortened

#: Longer values of parameters are cut.
LONGEST_VALUE = 60


class ModelFacts(NamedTuple):
    """Facts about a model by name, and its parameters: those that were set, and those left at their defaults."""

    facts: dict[str, str]
    set_parameters: dict[str, str]
    default_parameters: dict[str, str]


def model_facts(model: Questions) -> ModelFacts:
    """Describe a trained model.

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> found = model_facts(LabelTreeClassifier(random_state=0).fit([[1.0], [2.0]], [["cat"], ["dog"]]))
    >>> found.facts["trained on"], found.set_parameters
    ('2 rows with 2 labels, 1 feature', {'random_state': '0'})
    """
    trained = model.model_
    forest, n_labels = trained.forest, len(trained.label_index)
    features = count_text(trained.n_features, "feature")
    facts = {
        "kind": type(model).__name__,
        "trained on": f"{count_text(trained.n_samples_fit, 'row')} with {count_text(n_labels, 'label')}, {features}",
        "training rows of a label": f"{trained.label_counts.mean():,.1f} on average, from "
        f"{trained.label_counts.min():,} to {trained.label_counts.max():,}",
    }
    if trained.vectorizer is not None:
        facts["texts"] = repr(trained.vectorizer)
    shapes = forest.shapes()
    if shapes:
        depth, arity = max(shape.depth for shape in shapes), max(shape.arity for shape in shapes)
        facts["trees"] = (
            f"{len(shapes):,}, {count_text(depth, 'level')} deep, at most {arity:,} children of a node"
        )
    seconds = trained.training.seconds
    if seconds:
        facts["training took"] = ", ".join(f"{name} {time:.1f} s" for name, time in seconds.items())
    calibration = getattr(forest, "calibration", None)
    facts["calibration"] = "none" if calibration is None else calibration.describe()
    facts["decision"] = f"{trained.decision.describe()}, for {trained.decision.metric}"
    return ModelFacts(facts, *_parameters(model))


def _parameters(model: Any) -> tuple[dict[str, str], dict[str, str]]:
    if not hasattr(model, "get_params"):
        return {}, {}
    given: dict[str, str] = {}
    left: dict[str, str] = {}
    defaults = inspect.signature(type(model)).parameters
    for name, value in model.get_params(deep=False).items():
        default = defaults[name].default if name in defaults else inspect.Parameter.empty
        is_default = value is default or (type(value) is type(default) and repr(value) == repr(default))
        (left if is_default else given)[name] = shortened(repr(value), LONGEST_VALUE)
    return given, left
