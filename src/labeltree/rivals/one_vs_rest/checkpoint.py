"""What a long training has finished so far, in a directory from which it resumes."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.data.atomic_file import open_atomic
from labeltree.model_file.directory import open_inside
from labeltree.model_file.strict_json import parse_json
from labeltree.model_file.tensors import Tensor, content_hash, map_tensors, write_tensors

Arrays = dict[str, NDArray[Any]]

#: The file that says what is trained here.
RUN_NAME = "run.json"
_FORMAT = {"format": "labeltree checkpoint", "format_version": 1}
#: What `open_atomic` calls a file of ours before it is complete.
_TEMPORARY_NAME = re.compile(r"\.(run\.json|chunk-\d+\.safetensors)\.[0-9a-f]{8}\.tmp", re.ASCII)


class Checkpoint:
    """The chunks of one run of training that are finished.

    Every file appears complete or not at all, and survives a crash of the machine once it is there. One run at a time
    may use a directory. Nothing is ever removed but what a run that was killed left half-written.

    Parameters
    ----------
    directory : path
        Made if it is not there. One that is the checkpoint of another run, or anything else, is refused.
    run : mapping of str to JSON values
        What the finished chunks depend on: they are of use to a run for which all of it is the same.

    Raises
    ------
    ValueError
        If the directory is of no use to this run; the message says why.
    """

    def __init__(self, directory: str | os.PathLike[str], run: Mapping[str, Any]) -> None:
        self.directory = Path(directory)
        text = json.dumps({**_FORMAT, **run}, indent=2, allow_nan=False).encode() + b"\n"
        # Each chunk says whose it is: a file that was copied here from elsewhere is not taken for one of ours.
        self._tag = np.frombuffer(bytes.fromhex(content_hash({"run": _bytes_tensor(text)})), dtype=np.uint8)
        if self.directory.exists() and not self.directory.is_dir():
            raise ValueError(f"checkpoint: {self.directory} is not a directory; choose another name")
        self.directory.mkdir(parents=True, exist_ok=True)
        self._remove_unfinished()
        if (self.directory / RUN_NAME).exists():
            _check_same_run(self.directory, parse_json(text))
            return
        if any(self.directory.iterdir()):
            raise ValueError(
                f"checkpoint: {self.directory} has files, but no {RUN_NAME}: it is no checkpoint; choose another "
                "directory, or an empty one"
            )
        with open_atomic(self.directory / RUN_NAME) as file:
            file.write(text)

    def write(self, number: int, arrays: Arrays) -> Arrays:
        """Keep a finished chunk; returns its arrays as they are in the file, which takes no memory of the process."""
        tensors = {name: Tensor.of(values) for name, values in arrays.items()}
        with open_atomic(self.directory / _name(number)) as file:
            write_tensors(file, {**tensors, "run": Tensor.of(self._tag)})
        return self._read(number)

    def read(self, number: int, label: NDArray[np.int32]) -> Arrays | None:
        """The chunk of these labels if it is finished; warns of one that is damaged, which is not there then."""
        try:
            arrays = self._read(number)
            if not np.array_equal(arrays["label"], label):
                raise ValueError("it has other labels")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, OSError) as error:
            warnings.warn(
                f"checkpoint: {self.directory / _name(number)} is damaged ({error}); its labels are trained again",
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
            raise ValueError("it is of another run")
        return arrays

    def _remove_unfinished(self) -> None:
        for path in self.directory.iterdir():
            if _TEMPORARY_NAME.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _check_same_run(directory: Path, run: dict[str, Any]) -> None:
    """Raise `ValueError` unless the directory is the checkpoint of this run."""
    try:
        with open_inside(directory, RUN_NAME) as file:
            found = parse_json(file.read())
        if not isinstance(found, dict) or found.get("format") != _FORMAT["format"]:
            raise ValueError("it is of something else")
    except (ValueError, OSError) as error:
        raise ValueError(
            f"checkpoint: {directory / RUN_NAME} cannot be used ({error}); choose another directory, or remove this one"
        ) from error
    differences = _differences(found, run)
    if differences:
        raise ValueError(
            f"checkpoint: {directory} is of another run, which had {', '.join(differences)}; choose another directory, "
            "or remove this one to start anew"
        )


def _differences(found: Mapping[str, Any], run: Mapping[str, Any]) -> list[str]:
    """What another run had, where this one has something else."""
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


def _bytes_tensor(text: bytes) -> Tensor:
    return Tensor.of(np.frombuffer(text, dtype=np.uint8))
