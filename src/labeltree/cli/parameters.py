"""The parameters of an estimator as options of a command.

Names, types, defaults and help texts come from the estimator, so that they always agree. Its source is parsed, not
imported: importing scikit-learn takes a second, and a help page should appear at once.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from labeltree.kinds import KINDS, METHODS, Kind, Panels

_PACKAGE = Path(__file__).parents[1]

#: The options of label trees, by panel.
PANELS = METHODS["label-tree"].panels

#: The modules of estimators whose parameters become options.
_MODULES = {kind.estimator: kind.module for kind in KINDS} | {"TextVectorizer": "labeltree.text.vectorizer"}


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # the estimator checks the word


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
    sources = (path.read_text(encoding="utf-8") for path in (_PACKAGE / "trees").glob("*.py"))
    return sorted(word for text in sources for word in re.findall(r'^@builder\("(\w+)"', text, re.MULTILINE))


_TREE_FILES = "a tree (.json), a taxonomy (.csv, .tsv, .ttl, .rdf, .jsonld, .nt, .skos)"

#: The option for a tree that is given rather than built.
_GIVEN_TREE = {
    "type": str | None,
    "metavar": "FILE|MODEL",
    "note": f"Here: {_TREE_FILES}, or a trained model, whose trees and labels are used.",
}

#: Where an option differs from the parameter: types that can be typed, all processors and a fixed seed by default.
_ON_THE_COMMAND_LINE: dict[str, dict[str, Any]] = {
    "tree": {
        "type": str,
        "metavar": "WORD|FILE",
        "note": f"Here: {', '.join(_tree_words())}, {_TREE_FILES}, or several of these with commas, one for each tree.",
    },
    "tree_weight": {
        "type": list[float] | None,
        "metavar": "NUMBER",
        "note": "Here: give it once for each tree.",
    },
    "C": {"type": str | None, "parser": _number_or_word, "metavar": "NUMBER|auto"},
    "label_weight": {"type": Literal["propensity"] | None, "note": "Here: propensity."},
    "ngram_range": {"type": str, "parser": _two_numbers, "metavar": "MIN,MAX"},
    "char_ngram_range": {"type": str | None, "parser": _two_numbers, "metavar": "MIN,MAX"},
    "stop_words": {"type": str | None, "metavar": "LANGUAGE", "note": "Here: a language."},
    "stemmer": {"type": str | None, "metavar": "LANGUAGE"},
    "tokenizer": {"type": str | None, "metavar": "MODULE:FUNCTION", "note": "Here: its name."},
    "min_df": {"type": str, "parser": _count_or_share, "metavar": "NUMBER"},
    "max_df": {"type": str, "parser": _count_or_share, "metavar": "NUMBER"},
    "sublinear_tf": {"has_no": True},  # to exclude it from a search
    "checkpoint": {"type": str | None, "metavar": "DIR"},
    "encoder": {"type": str, "metavar": "DIR|NAME"},
    "device": {"type": str, "metavar": "DEVICE", "note": "Here: auto, cpu, cuda, cuda:N or mps."},
    "pretrained": {"type": str | None, "metavar": "FILE", "note": "Here: a file, for texts only."},
    "n_jobs": {"default": -1},
    "random_state": {
        "type": int,
        "default": 0,
        "note": "Here: an integer, so that the same command makes the same model.",
    },
}

#: Options with a default of the command line, which no estimator and no preset has.
FOR_EVERY_RUN = ("n_jobs", "random_state")

_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (int, float, bool, str)}
_TYPES |= {f"{name} | None": kind | None for name, kind in _TYPES.items()}
#: What help pages show in place of a number.
_METAVARS: dict[Any, str] = {int: "N", int | None: "N", float: "NUMBER", float | None: "NUMBER"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator: its default and annotation from the signature, the rest from the docstring."""

    name: str
    default: Any
    annotation: str
    help: str
    words: tuple[str, ...]


def option_name(parameter: str) -> str:
    """Return the name of the option for a parameter."""
    return f"--{parameter.replace('_', '-')}"


@cache
def classifier_parameters(estimator: str = "LabelTreeClassifier") -> dict[str, Parameter]:
    """Return the parameters of an estimator by name, in the order of its signature."""
    folders = _MODULES[estimator].split(".")[1:]
    source = _PACKAGE.joinpath(*folders).with_suffix(".py").read_text(encoding="utf-8")
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    texts = parse_parameter_section(ast.get_docstring(classes[estimator]) or "")
    parameters = {}
    for name, (annotation, default) in _fields(classes, estimator).items():
        kind, text = texts[name]
        words = re.match(r"\{(.*?)\}", kind)
        parameters[name] = Parameter(
            name=name,
            default=ast.literal_eval(default),
            annotation=ast.unparse(annotation),
            help=text,
            words=ast.literal_eval(f"({words[1]},)") if words else (),
        )
    return parameters


def _fields(classes: dict[str, ast.ClassDef], name: str) -> dict[str, tuple[ast.expr, ast.expr]]:
    """The annotation and the default of each field of a dataclass, with those of parents in the same file."""
    definition = classes[name]
    found: dict[str, tuple[ast.expr, ast.expr]] = {}
    if not definition.decorator_list:  # its annotations are no fields
        return found
    for parent in definition.bases:
        if isinstance(parent, ast.Name) and parent.id in classes:
            found |= _fields(classes, parent.id)
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            if ast.unparse(node.annotation).startswith("ClassVar"):
                continue
            found[node.target.id] = node.annotation, node.value
    return found


def parse_parameter_section(docstring: str) -> dict[str, tuple[str, str]]:
    """Return the type and the description of each parameter in a numpydoc docstring.

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


def options_of(
    estimator: str, panels: Panels, names: Collection[str] = (), *, optional: bool = False
) -> list[inspect.Parameter]:
    """Return options for the parameters of an estimator in these panels, or only for those with the given names.

    An option that is not given has the estimator's default; if `optional`, None.
    """
    panel_of = {name: panel for panel, members in panels.items() for name in members}
    return [
        _option(parameter, panel_of[name], optional)
        for name, parameter in classifier_parameters(estimator).items()
        if name in (names or panel_of)
    ]


def text_options(
    *, optional: bool = False, defaults: Mapping[str, Any] | None = None, panel: str = "Texts"
) -> list[inspect.Parameter]:
    """Return options for turning texts into features; `n_features` and `fields` are options of the data.

    `defaults` replace those of `TextVectorizer`. `panel` is their heading.
    """
    names = classifier_parameters("TextVectorizer").keys() - {"n_features", "fields", "n_jobs"}
    options = options_of("TextVectorizer", {panel: tuple(names)}, optional=optional)
    others = defaults or {}
    return [option.replace(default=others.get(option.name, option.default)) for option in options]


def with_parameters(
    *names: str, defaults: bool = False, texts: bool = False, kind: Kind = METHODS["label-tree"]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the ``**parameters`` of a command by options for the parameters of an estimator, and of `texts`.

    An option that is not given is None, so that a trained model keeps its own value; or, if `defaults`, the
    estimator's default.
    """
    options = options_of(kind.estimator, kind.panels, names, optional=not defaults)
    options += text_options(optional=not defaults) if texts else []

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        set_options(command, inspect.signature(command, eval_str=True), options)
        return command

    return decorate


def set_options(
    command: Callable[..., None], signature: inspect.Signature, options: list[inspect.Parameter]
) -> None:
    """Give a command this signature, with options in place of its ``**parameters``."""
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    command.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined] # inspect reads it


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(parameter: Parameter, panel: str, optional: bool) -> inspect.Parameter:
    name = parameter.name
    # The parameter C may be a number or a word in one estimator, and a plain number in another.
    here = {} if parameter.annotation == "float" else _ON_THE_COMMAND_LINE.get(name, {})
    if name == "tree" and parameter.default is None:
        here = _GIVEN_TREE
    kind = here.get("type") or (Literal[parameter.words] if parameter.words else _TYPES[parameter.annotation])
    default = here.get("default", parameter.default)
    flag = option_name(name)
    option = typer.Option(
        f"{flag}/--no-{flag[2:]}" if parameter.default is True or "has_no" in here else flag,
        help=escape(f"{parameter.help} {here.get('note', '')}".strip().replace("``", "`")),
        metavar=here.get("metavar") or _METAVARS.get(kind),
        parser=here.get("parser"),
        rich_help_panel=panel,
    )
    if optional and name not in FOR_EVERY_RUN:
        kind, default = kind | None, None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )
