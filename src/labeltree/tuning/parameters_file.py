"""Files with parameters of an estimator: a JSON object from names to values."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from labeltree.classifier import LabelTreeClassifier
from labeltree.data.atomic_file import open_atomic
from labeltree.model_file.strict_json import parse_json
from labeltree.text.tokenizers import check_allowed
from labeltree.text.vectorizer import TextVectorizer

#: The name under which a file has the parameters of `TextVectorizer`.
TEXT = "text"

#: Parameters that are Python objects, which a file cannot have.
_NOT_IN_FILES = {"node_estimator"}


def write_parameters(path: str | os.PathLike[str], parameters: dict[str, Any]) -> None:
    """Write parameters to a file, atomically.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltree.tuning import read_parameters, write_parameters
    >>> path = Path(tempfile.mkdtemp(), "parameters.json")
    >>> write_parameters(path, {"loss": "logistic", "C": 4.0})
    >>> read_parameters(path)
    {'loss': 'logistic', 'C': 4.0}
    """
    text = json.dumps(parameters, indent=2, ensure_ascii=False, default=_plain) + "\n"
    with open_atomic(path) as file:
        file.write(text.encode())


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a file can hold strings, numbers, lists of these, true, false and null, got {value!r}")


def read_parameters(
    path: str | os.PathLike[str], estimator: type[Any] = LabelTreeClassifier
) -> dict[str, Any]:
    """Read parameters of an estimator, or raise `ValueError` if a name is unknown or a value not valid.

    The parameters of `TextVectorizer`, if the file has any, are under the name ``text``.
    """
    try:
        found = parse_json(Path(path).read_bytes())
        if not isinstance(found, dict):
            raise ValueError(f"expected a JSON object of parameters by name, got {type(found).__name__}")
        if TEXT in found:
            if not isinstance(found[TEXT], dict):
                raise ValueError(f"{TEXT} must be an object of parameters of texts, got {found[TEXT]!r}")
            _check_names(found[TEXT], TextVectorizer)
            found[TEXT] = _with_tuples(found[TEXT])
            TextVectorizer(**found[TEXT]).check_parameters()
            if (name := found[TEXT].get("tokenizer")) is not None:  # a file is data, and may come from anyone
                check_allowed(name, f"the tokenizer is the function {name!r}, and files may not import")
        _check_names([name for name in found if name != TEXT], estimator)
        if not isinstance(found.get("tree", ""), str):
            raise ValueError(f"tree must be a word or the name of a file, got {found['tree']!r}")
        # The tree may be the name of a file, which is read later.
        values = {name: value for name, value in found.items() if name not in ("tree", TEXT)}
        estimator(**values).check_parameters()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return found


def _check_names(names: Collection[str], estimator: type[Any]) -> None:
    known = estimator().get_params().keys() - _NOT_IN_FILES
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"{unknown[0]!r} is not a parameter that a file may have; expected one of {', '.join(sorted(known))}"
        )


def _with_tuples(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with tuples in place of the lists of JSON."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
