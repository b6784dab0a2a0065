"""`labeltree train` with the options of the method that ``--method`` names."""

from __future__ import annotations

import inspect
from functools import wraps
from itertools import pairwise
from typing import Any

import typer

from labeltree.cli.data_options import reads_data
from labeltree.cli.help_page import LongCommand, reflowed
from labeltree.cli.parameters import options_of, set_options, text_options
from labeltree.cli.train import DEFAULT_METHOD, train
from labeltree.kinds import METHODS, Kind

#: Options of networks that are seldom changed, and options of vectorizers.
_NOT_BASIC_FOR_NETWORKS = (
    *("ngram_range", "pooling", "node_rate", "warm_up", "candidates", "average", "search", "beam", "verbose"),
    *("normalize_siblings", "arity", "max_leaves", "shared", "word_dropout", "min_count", "patience"),
)


class TrainCommand(LongCommand):
    """The options of `train` depend on the method: they are chosen before the command line is parsed."""

    basic = (
        *(
            "model",
            "overwrite",
            "tune",
            "valid",
            "metric",
            "text",
            "labels",
            "separator",
            "format",
            "label_names",
        ),
        *("method", "parameters_file", "n_trees", "tree", "C", "ngram_range", "n_jobs"),
        *("random_state", "json"),
    )

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        method = _method_in(args)
        command = self if method == DEFAULT_METHOD or method not in METHODS else _command(method)
        return super(TrainCommand, command).make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for flag in (word.partition("=")[0] for word in args if word.startswith("--")):
            if flag not in self.flags and not ctx.resilient_parsing:
                others = [method for method in METHODS if flag in _command(method).flags]
                if others:
                    ctx.fail(f"{flag} is an option of {' and '.join(others)}, not of {_method_in(args)}")
        return super().parse_args(ctx, args)

    @property
    def flags(self) -> set[str]:
        """The names of all options."""
        return {flag for option in self.params for flag in (*option.opts, *option.secondary_opts)}


def add_train(app: typer.Typer, kind: Kind = METHODS[DEFAULT_METHOD]) -> None:
    """Add `train` with the options of one kind to an application."""

    reading = reads_data(train, sizes=True)

    @wraps(train)
    def command(**given: Any) -> None:
        reading(**given)

    signature = inspect.signature(reading)
    own = [
        option.replace(default=kind.method) if name == "method" else option
        for name, option in signature.parameters.items()
        if _has_option(kind, name)
    ]
    panel = "Texts: words of the linear model of --mix linear" if kind.reads_texts else "Texts"
    texts = text_options(defaults=kind.text, panel=panel)
    options = [*options_of(kind.estimator, kind.panels), *texts]
    set_options(command, signature.replace(parameters=own), options)
    own_names = [name for names in kind.panels.values() for name in names]
    basic: tuple[str, ...] = (
        *TrainCommand.basic,
        *(("mix", *own_names) if kind.method != DEFAULT_METHOD else ()),
    )
    if kind.reads_texts:
        basic = tuple(name for name in basic if name not in _NOT_BASIC_FOR_NETWORKS)
    shape = type("TrainCommand", (TrainCommand,), {"basic": tuple(dict.fromkeys(basic))})
    app.command("train", cls=shape, help=_help_page(kind))(command)


def _has_option(kind: Kind, name: str) -> bool:
    """Return whether an option of `train` makes sense for a kind."""
    if name == "preset":
        return bool(kind.presets)
    if name in ("tune", "valid", "metric", "ray", "workers", "max_retries"):
        return kind.method == DEFAULT_METHOD
    if name in ("mix", "holdout"):
        return kind.estimator != "PfastreXMLClassifier"  # its scores are no probabilities
    if name in ("stream", "buffer_rows"):
        return kind.section == "embedding"
    return True


def _command(method: str) -> TrainCommand:
    """Return `train` with the options of one method."""
    app = typer.Typer(rich_markup_mode="rich", add_completion=False)
    add_train(app, METHODS[method])
    command = typer.main.get_command(app)
    assert isinstance(command, TrainCommand)
    return command


def _method_in(args: list[str]) -> str:
    """Return the method that unparsed arguments name: by ``--method``, or else by ``--preset``."""
    method = _value_in(args, "--method")
    if method is not None:
        return method
    preset = _value_in(args, "--preset")
    kinds = [name for name, kind in METHODS.items() if preset in kind.presets]
    return kinds[0] if kinds else DEFAULT_METHOD


def _value_in(args: list[str], flag: str) -> str | None:
    """Return the last value of an option among arguments that are not parsed yet."""
    value = None
    for word, following in pairwise([*args, ""]):
        if word == flag:
            value = following
        elif word.startswith(f"{flag}="):
            value = word.partition("=")[2]
    return value


def _help_page(kind: Kind) -> str:
    """Return the docstring of `train` and the methods, or a page about another method."""
    page = inspect.cleandoc(train.__doc__ or "")
    if kind.method == DEFAULT_METHOD:
        methods = [f"[bold]--method {other.method}[/bold]: {other.help}" for other in METHODS.values()]
        title = "[bold]Methods[/bold] (add --help-all to see the options of a method)"
        return reflowed("\n\n".join([page, title, *methods]))
    summary = page.partition("\n\n")[0]
    example = f"    labeltree train train.txt --model tags.labeltree --method {kind.method}"
    if kind.reads_texts:
        encoder = " --encoder DIR" if "encoder" in next(iter(kind.panels.values())) else ""
        example = f"    labeltree train texts.jsonl --model tags.labeltree --method {kind.method}{encoder}"
        example += f"\n{example} --mix linear"
        summary = "Train a neural network on labelled texts and save it."
    return reflowed("\n\n".join([f"{summary} {kind.help}", "[bold]Examples[/bold]", example]))
