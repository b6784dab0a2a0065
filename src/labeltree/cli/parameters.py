"""The parameters of an estimator as options of a command.

Names, types, defaults and help texts are those of the estimator, so that they cannot drift apart. Its source is
parsed instead of imported: scikit-learn takes a second to import, and a help page should not.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

#: Where an option stands on the help page.
PANELS = {
    "The tree": (
        "n_trees",
        "tree",
        "max_arity",
        "arity",
        "max_leaves",
        "max_depth",
        "frequent_share",
        "collapse",
        "label_vectors",
        "label_vector_prune",
    ),
    "The node classifiers": (
        "loss",
        "link",
        "penalty",
        "siblings",
        "C",
        "label_weight",
        "tol",
        "max_iter",
        "prune",
        "normalize",
        "bias",
    ),
    "Incremental learning": ("solver", "learning_rate", "epochs", "regularization"),
    "The search for labels": ("search", "beam", "tree_weight", "missing_estimates", "normalize_siblings"),
    "The run": ("n_jobs", "random_state", "verbose"),
}

#: The same for `OnlineLabelTreeClassifier`. What only `fit` heeds has no place where a stream is learned.
ONLINE_PANELS = {
    "The tree": ("policy", "arity", "alpha"),
    "Weights and memory": ("weights", "memory_mb", "expected_labels"),
    "The node classifiers": (
        "loss",
        "link",
        "solver",
        "learning_rate",
        "regularization",
        "normalize",
        "bias",
    ),
    "The search for labels": ("search", "beam", "normalize_siblings"),
    "The run": ("n_jobs", "random_state"),
}

#: The same for `HierarchicalSoftmaxClassifier`.
SOFTMAX_PANELS = {
    "The tree": PANELS["The tree"],
    "The node classifiers": ("C", "tol", "max_iter", "prune", "normalize", "bias"),
    "The search for labels": ("search", "beam", "tree_weight", "missing_estimates"),
    "The run": ("n_jobs", "random_state", "verbose"),
}

#: How texts become features, where a command is given texts; `n_features` and `n_jobs` are options already.
TEXT_PANELS: dict[str, tuple[str, ...]] = {
    "Texts": (
        "analyzer",
        "ngram_range",
        "char_ngram_range",
        "lowercase",
        "strip_accents",
        "stop_words",
        "min_df",
        "max_df",
        "max_features",
        "binary",
        "use_idf",
        "smooth_idf",
        "sublinear_tf",
        "norm",
    ),
}

#: The same for `OneVsRestClassifier`.
ONE_VS_REST_PANELS = {
    "The classifiers": (
        "solver",
        "loss",
        "link",
        "C",
        "l1",
        "tol",
        "max_iter",
        "prune",
        "negatives",
        "n_negatives",
        "normalize",
        "bias",
    ),
    "The run": ("checkpoint", "n_jobs", "random_state", "verbose"),
}

#: The same for `FastXMLClassifier` and `PfastreXMLClassifier`.
EXAMPLE_TREE_PANELS = {
    "The trees": ("n_trees", "max_leaf", "leaf_labels"),
    "Rare labels": ("propensity_A", "propensity_B", "gamma", "alpha"),
    "The separators": ("C", "max_iter", "tol", "normalize", "bias"),
    "The run": ("n_jobs", "random_state", "verbose"),
}

_PANELS_OF: dict[str, dict[str, tuple[str, ...]]] = {
    "TextVectorizer": TEXT_PANELS,
    "LabelTreeClassifier": PANELS,
    "OnlineLabelTreeClassifier": ONLINE_PANELS,
    "HierarchicalSoftmaxClassifier": SOFTMAX_PANELS,
    "OneVsRestClassifier": ONE_VS_REST_PANELS,
    "FastXMLClassifier": EXAMPLE_TREE_PANELS,
    "PfastreXMLClassifier": EXAMPLE_TREE_PANELS,
}

#: The files that the estimators are in.
_HOMES = {
    "FastXMLClassifier": "rivals/fastxml/classifier.py",
    "LabelTreeClassifier": "classifier.py",
    "OnlineLabelTreeClassifier": "online/classifier.py",
    "HierarchicalSoftmaxClassifier": "rivals/softmax/classifier.py",
    "TextVectorizer": "text/vectorizer.py",
    "OneVsRestClassifier": "rivals/one_vs_rest/classifier.py",
    "PfastreXMLClassifier": "rivals/fastxml/classifier.py",
}


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # the estimator knows which words there are


def _two_numbers(value: Any) -> tuple[int, int] | None:
    if value is None or isinstance(value, tuple):
        return value
    numbers = re.fullmatch(r"(\d+)[,-](\d+)", value)
    if numbers is None:
        raise typer.BadParameter(f"expected two numbers such as 1,2; got {value!r}")
    return int(numbers[1]), int(numbers[2])


def _count_or_share(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.isdigit() else float(value)
    except ValueError:
        raise typer.BadParameter(f"expected a number, got {value!r}") from None


def _tree_words() -> list[str]:
    """Return the words of the tree builders, as ``labeltree.trees.TREE_WORDS`` has them."""
    sources = (
        path.read_text(encoding="utf-8") for path in (Path(__file__).parents[1] / "trees").glob("*.py")
    )
    return sorted(word for text in sources for word in re.findall(r'^@builder\("(\w+)"', text, re.MULTILINE))


#: What an option has of its own: values that cannot be typed, and all processors unless told otherwise.
_ON_THE_COMMAND_LINE: dict[str, dict[str, Any]] = {
    "tree": {
        "kind": str,
        "metavar": "WORD|FILE",
        "note": f"Here: {', '.join(_tree_words())}, a tree (.json), a taxonomy (.csv, .tsv, .ttl, .rdf, .jsonld, "
        ".nt, .skos), or for several trees a list of these with commas.",
    },
    "tree_weight": {"kind": list[float] | None, "metavar": "NUMBER", "note": "Here: once for each tree."},
    "C": {"kind": str | None, "parser": _number_or_word, "metavar": "NUMBER|auto|auto_per_level"},
    "label_weight": {"kind": Literal["propensity"] | None, "note": "Here: propensity."},
    "ngram_range": {"kind": str, "parser": _two_numbers, "metavar": "MIN,MAX"},
    "char_ngram_range": {"kind": str | None, "parser": _two_numbers, "metavar": "MIN,MAX"},
    "stop_words": {"kind": Literal["english"] | None, "note": "Here: english."},
    "min_df": {"kind": str, "parser": _count_or_share, "metavar": "NUMBER"},
    "max_df": {"kind": str, "parser": _count_or_share, "metavar": "NUMBER"},
    "checkpoint": {"kind": str | None, "metavar": "DIR"},
    "n_jobs": {"default": -1},
    "random_state": {"kind": int | None, "note": "Here: an integer."},
}

#: Python objects, which nobody can type.
IN_PYTHON_ONLY = ("node_estimator",)

_KINDS: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "int | None": int | None,
    "float | None": float | None,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator: its default and annotation from the signature, the rest from the docstring."""

    name: str
    default: Any
    annotation: str
    help: str
    words: tuple[str, ...]

    @property
    def flag(self) -> str:
        name = self.name.replace("_", "-")
        return f"--{name}/--no-{name}" if self.default is True else f"--{name}"


@cache
def classifier_parameters(estimator: str = "LabelTreeClassifier") -> dict[str, Parameter]:
    """The parameters of an estimator by name, in the order of its signature."""
    source = (Path(__file__).parents[1] / _HOMES[estimator]).read_text(encoding="utf-8")
    (definition,) = (
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == estimator
    )
    (init,) = (
        node for node in definition.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )
    texts = parse_parameter_section(ast.get_docstring(definition) or "")
    arguments = [*init.args.args[1:], *init.args.kwonlyargs]
    defaults = [*init.args.defaults, *init.args.kw_defaults]
    parameters = {}
    for argument, default in zip(arguments, defaults, strict=True):
        assert argument.annotation is not None  # mypy insists on annotations, and
        assert default is not None  # scikit-learn on defaults
        kind, text = texts[argument.arg]
        words = re.match(r"\{(.*?)\}", kind)
        parameters[argument.arg] = Parameter(
            name=argument.arg,
            default=ast.literal_eval(default),
            annotation=ast.unparse(argument.annotation),
            help=text,
            words=ast.literal_eval(f"({words[1]},)") if words else (),
        )
    return parameters


def parse_parameter_section(docstring: str) -> dict[str, tuple[str, str]]:
    """The kind and the description of each parameter in a numpydoc docstring.

    Examples
    --------
    >>> docstring = "Count.\\n\\nParameters\\n----------\\nk : int\\n    How\\n    many.\\n\\nReturns\\n-------\\n"
    >>> parse_parameter_section(docstring)
    {'k': ('int', 'How many.')}
    """
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", docstring, re.DOTALL | re.MULTILINE)
    entries = re.findall(
        r"^(\w+(?:, \w+)*) : (.*)\n((?:(?: {4}.*)?\n)*)", section[1] if section else "", re.MULTILINE
    )
    return {
        name: (kind, " ".join(text.split())) for names, kind, text in entries for name in names.split(", ")
    }


def with_parameters(
    *names: str, defaults: bool = False, estimator: str = "LabelTreeClassifier"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options for the estimator's parameters in place of its ``**parameters``.

    Without names, for all of them. With names, for those, and an option that is not given is None, so that it leaves
    a trained model as it is; or, if `defaults`, the estimator's default.
    """
    options = [
        _option(parameter, _PANELS_OF[estimator], optional=bool(names) and not defaults)
        for name, parameter in classifier_parameters(estimator).items()
        if (not names or name in names) and name not in IN_PYTHON_ONLY
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        command.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined] # inspect reads it
        return command

    return decorate


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option is on the command line, and not there by default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(parameter: Parameter, panels: dict[str, tuple[str, ...]], optional: bool) -> inspect.Parameter:
    name = parameter.name
    # A plain number is typed as what it is, whatever a parameter of the same name takes elsewhere.
    here = {} if parameter.annotation == "float" else _ON_THE_COMMAND_LINE.get(name, {})
    kind = here.get("kind") or (Literal[parameter.words] if parameter.words else _KINDS[parameter.annotation])
    default = here.get("default", parameter.default)
    panel = next((panel for panel, members in panels.items() if name in members), "More parameters")
    option = typer.Option(
        parameter.flag,
        help=escape(f"{parameter.help} {here.get('note', '')}".strip()),
        metavar=here.get("metavar"),
        parser=here.get("parser"),
        rich_help_panel=panel,
    )
    if optional and name != "n_jobs":
        kind, default = kind | None, None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )
