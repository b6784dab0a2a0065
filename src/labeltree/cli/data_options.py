"""The argument DATA of commands, and the options that say how to read it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any, get_args, get_origin

from labeltree.cli.data_file import DataFile, DataFormat
from labeltree.cli.options import argument, count, option

data_option = partial(option, rich_help_panel="The data")
_column = partial(data_option, metavar="COLUMN")
_size = partial(count, rich_help_panel="The data")

_DATA = argument(
    "DATA",
    "A file of texts or rows of numbers, a store, or - for stdin. Files ending in .gz, .xz and .zst are decompressed.",
)

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format": (
        DataFormat,
        data_option(
            'The format of the file. Texts: jsonl, JSON lines such as {"text": "A boat", "labels": ["sea"]}; csv and '
            "tsv, with a header; parquet; arrow; fasttext. Rows of numbers: xmlc, the text format of the extreme "
            "classification repository (with or without a header); libsvm. auto: by the name of the file or else by "
            "its first line. For online models, JSON lines may have 'features'.",
            metavar="FORMAT",
        ),
    ),
    "text": (
        list[str] | None,
        data_option(
            "The column or JSON key of the text; 'text' by default. Give it several times to read several columns, "
            "with weights if you like: --text title=2 --text abstract. A model stores its columns.",
            metavar="COLUMN[=WEIGHT]",
        ),
    ),
    "labels": (str | None, _column("The column or JSON key of the labels; 'labels' by default.")),
    "separator": (
        str | None,
        data_option(
            "Split a string of labels at this text, such as ';'. Without it, a string is one label.",
            metavar="TEXT",
        ),
    ),
    "id": (str | None, _column("The column or JSON key of the id of a row; the row's number by default.")),
    "one_based": (
        bool | None,
        data_option(
            "Whether ids of features and labels count from 1. By default only the features of libsvm files do.",
            "--one-based/--zero-based",
        ),
    ),
}

_SIZES: dict[str, tuple[Any, Any]] = {
    "n_features": (
        int | None,
        _size(
            "The number of features. Set it for a file without a header if later files have larger feature ids. "
            "For texts: hash words into this number of features."
        ),
    ),
    "n_labels": (
        int | None,
        _size(
            "The number of labels. Set it for a file without a header if later files have larger label ids."
        ),
    ),
}


def reads_data(command: Callable[..., None] | None = None, *, sizes: bool = False) -> Callable[..., Any]:
    """Replace the `DataFile` among the parameters of a command by the name of a file and options to read it with.

    The parameter is the argument DATA; ``Annotated[DataFile, …]`` gives it another name and help text,
    ``DataFile | None`` makes it optional, and ``list[DataFile]`` takes several names. With `sizes`, there are
    options for the numbers of features and labels.
    """
    if command is None:
        return partial(reads_data, sizes=sizes)
    signature = inspect.signature(command, eval_str=True)
    name = next(name for name, p in signature.parameters.items() if _is_data_file(p.annotation))
    added = _OPTIONS | (_SIZES if sizes else {})

    @wraps(command)
    def reading(**given: Any) -> None:
        path, settings = given.pop(name), {option: given.pop(option) for option in added}
        settings["text"] = tuple(settings["text"] or ())
        files = [DataFile(one, **settings) for one in path] if isinstance(path, list) else None
        command(**given, **{name: files or (None if path is None else DataFile(path, **settings))})

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.name == name:
            parameter = parameter.replace(annotation=_of_a_name(parameter.annotation))
        parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
    for option_name, (kind, info) in added.items():
        default = "auto" if option_name == "format" else None
        parameters.append(
            inspect.Parameter(
                option_name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
            )
        )
    parameters += [p for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    reading.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # inspect reads it
    return reading


def _is_data_file(annotation: Any) -> bool:
    return annotation is DataFile or any(_is_data_file(part) for part in get_args(annotation))


def _of_a_name(annotation: Any) -> Any:
    """Return the annotation of the name of a file in place of that of a `DataFile`."""
    kind, *shown = get_args(annotation) if get_origin(annotation) is Annotated else (annotation, _DATA)
    names = {DataFile: str, list[DataFile]: list[str]}.get(kind, str | None)
    return Annotated[(names, *shown)]
