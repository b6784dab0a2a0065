"""A target of fuzzing: makes input, tries it, and tells a right answer or a proper error from a finding."""

from __future__ import annotations

import random
import re
import traceback
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

#: All targets, and where they are.
TARGETS = {
    "model-files": "tests.fuzz.model_files:ModelFiles",
    "data-files": "tests.fuzz.data_files:DataFiles",
    "texts": "tests.fuzz.texts:Texts",
    "requests": "tests.fuzz.http_requests:HttpRequests",
    "streams": "tests.fuzz.online_streams:OnlineStreams",
}

#: The input of one case: the contents of files by name.
Case: TypeAlias = dict[str, bytes]

#: Packages whose `ValueError` is a proper refusal: scikit-learn checks arrays for this library.
_CHECKERS = re.compile(r"/(labeltree|sklearn)/")


class Target(ABC):
    """A target of fuzzing. It may keep files in `folder`, which is removed in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def seeds(self) -> list[Case]:
        """Return valid input to begin with."""

    @abstractmethod
    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        """Return new input, usually a mutation of some of the corpus."""

    @abstractmethod
    def run(self, case: Case) -> str:
        """Try the input. Return what became of it in a few words, or raise the exception that came."""

    def close(self) -> None:
        """Stop what was started, by default nothing."""
        return


def target_class(place: str) -> type[Target]:
    """Return the class at a place such as ``package.module:Name``."""
    module, _, name = place.partition(":")
    found: type[Target] = getattr(import_module(module), name)
    return found


def outcome(target: Target, case: Case) -> str:
    """Try the input. Return what became of it, also if it was refused; raise what is a finding."""
    try:
        return target.run(case)
    except ValueError as error:
        if not is_refusal(error):
            raise
        return f"refused: {_place(error)} {pattern(str(error))}"


def is_refusal(error: BaseException) -> bool:
    """Whether an exception is a `ValueError` that this library raised with a message for users."""
    if not isinstance(error, ValueError) or isinstance(error, UnicodeError):
        return False
    return bool(_CHECKERS.search(traceback.extract_tb(error.__traceback__)[-1].filename)) and bool(str(error))


def signature(error: BaseException) -> str:
    """Return a line that is the same for all findings with the same cause."""
    return f"{type(error).__name__} at {_place(error)}: {pattern(str(error))}"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/labeltree/" in frame.filename] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"


def pattern(message: str) -> str:
    """Return a message without the parts that differ from input to input."""
    message = re.sub(r"'[^']*'|\"[^\"]*\"|\[.*\]|/\S+|\\u\S+", "…", message)
    return re.sub(r"\d+", "0", message)[:80].encode("ascii", "replace").decode()
