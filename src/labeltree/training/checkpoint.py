"""`Checkpoint`: the finished chunks of a long training, in a directory to resume from."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.data.atomic_file import open_atomic
from labeltree.model_file.directory import open_inside
from labeltree.model_file.lock import LOCK_NAME, ModelLock
from labeltree.model_file.strict_json import parse_json
from labeltree.model_file.tensors import Tensor, content_hash, map_tensors, write_tensors

Arrays = dict[str, NDArray[Any]]

#: The file that describes the training.
RUN_NAME = "run.json"
_FORMAT = {"format": "labeltree checkpoint", "format_version": 1}
#: The temporary names that `open_atomic` gives to the files of a checkpoint.
_TEMPORARY_NAME = re.compile(r"\.(run\.json|chunk-\d+\.safetensors)\.[0-9a-f]{8}\.tmp", re.ASCII)


class Checkpoint:
    """The finished chunks of one training.

    Every file is complete or does not exist, and survives a crash of the machine. Only one process at a time may use a
    directory. The only files that are ever removed are incomplete ones of a killed process.

    Parameters
    ----------
    directory : path
        Created if it does not exist. The checkpoint of another training, or any other directory with files, is refused.
    run : mapping of str to JSON values
        Everything that the chunks depend on. A training resumes only from a checkpoint where all of it is the same.

    Raises
    ------
    ValueError
        If this training cannot use the directory; the message says why.
    """

    def __init__(self, directory: str | os.PathLike[str], run: Mapping[str, Any]) -> None:
        self.directory = Path(directory)
        text = json.dumps({**_FORMAT, **run}, indent=2, allow_nan=False).encode() + b"\n"
        # Each chunk has the hash of its run, so that a file copied from another checkpoint is recognised.
        digest = content_hash({"run": Tensor.of(np.frombuffer(text, dtype=np.uint8))})
        self._tag = np.frombuffer(bytes.fromhex(digest), dtype=np.uint8)
        _check_directory(self.directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        for path in self.directory.iterdir():
            if _TEMPORARY_NAME.fullmatch(path.name):
                path.unlink(missing_ok=True)
        if (self.directory / RUN_NAME).exists():
            _check_same_run(self.directory, parse_json(text))
            return
        if any(path.name != LOCK_NAME for path in self.directory.iterdir()):
            raise ValueError(
                f"checkpoint: {self.directory} has files, but no {RUN_NAME}: it is not a checkpoint; choose another "
                "directory, or an empty one"
            )
        with open_atomic(self.directory / RUN_NAME) as file:
            file.write(text)

    def write(self, number: int, arrays: Arrays) -> Arrays:
        """Write a finished chunk; return its arrays mapped from the file, so that they need no memory."""
        tensors = {name: Tensor.of(values) for name, values in arrays.items()}
        with open_atomic(self.directory / _name(number)) as file:
            write_tensors(file, {**tensors, "run": Tensor.of(self._tag)})
        return self._read(number)

    def read(self, number: int, label: NDArray[np.int32] | None = None) -> Arrays | None:
        """Return a chunk, of these labels if given; None if it is not finished, or damaged, which causes a warning."""
        try:
            arrays = self._read(number)
            if label is not None and not np.array_equal(arrays["label"], label):
                raise ValueError("it has other labels")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, OSError) as error:
            warnings.warn(
                f"checkpoint: {self.directory / _name(number)} is damaged ({error}); what it had is trained again",
                UserWarning,
                stacklevel=2,
            )
            return None
        return arrays

    def _read(self, number: int) -> Arrays:
        with open_inside(self.directory, _name(number)) as file:
            mapped = map_tensors(file)
        if content_hash(mapped.tensors) != mapped.content:
            raise ValueError("its checksum is wrong")
        arrays = {name: tensor.values for name, tensor in mapped.tensors.items()}
        if not np.array_equal(arrays.pop("run"), self._tag):
            raise ValueError("it belongs to another run")
        return arrays


@contextmanager
def locked_checkpoint(directory: Path, run: Mapping[str, Any]) -> Iterator[Checkpoint]:
    """Open the checkpoint of a whole training, which has those of its stages inside; lock out other processes."""
    _check_directory(directory)
    with ModelLock(directory, "trains with this checkpoint"):
        yield Checkpoint(directory, run)


def _check_directory(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"checkpoint: {directory} is not a directory; choose another name")


def _check_same_run(directory: Path, run: dict[str, Any]) -> None:
    """Raise `ValueError` unless the directory is the checkpoint of this run."""
    try:
        with open_inside(directory, RUN_NAME) as file:
            found = parse_json(file.read())
        if not isinstance(found, dict) or found.get("format") != _FORMAT["format"]:
            raise ValueError("it is not the file of a checkpoint")
    except (ValueError, OSError) as error:
        raise ValueError(
            f"checkpoint: {directory / RUN_NAME} cannot be used ({error}); choose another directory, or remove this one"
        ) from error
    differences = _differences(found, run)
    if differences:
        raise ValueError(
            f"checkpoint: {directory} belongs to another run, with {', '.join(differences)}; choose another directory, "
            "or remove this one to start again"
        )


def _differences(found: Mapping[str, Any], run: Mapping[str, Any]) -> list[str]:
    """Return descriptions of the values of another run that differ from those of this run."""
    differences = []
    for name in sorted(found.keys() | run.keys()):
        there, here = found.get(name), run.get(name)
        if there == here:
            continue
        if isinstance(there, dict) and isinstance(here, dict):
            differences += _differences(there, here)
        elif isinstance(there, str) and re.fullmatch(r"[0-9a-f]{16,}", there):
            differences.append(f"another {name}")
        else:
            differences.append(f"{name}={there!r} instead of {here!r}")
    return differences


def _name(number: int) -> str:
    return f"chunk-{number:06}.safetensors"
