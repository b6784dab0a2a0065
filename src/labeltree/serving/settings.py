"""What a server is started with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from labeltree.serving.limits import Limits
from labeltree.serving.tokens import Tokens

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class Settings:
    """What a server is started with.

    Parameters
    ----------
    models : dict from names to directories
    limits : Limits
    tokens : Tokens
    cors_origins : tuple of str
        Origins whose pages may ask; none by default.
    learn : bool
        Whether online models learn from requests.
    snapshot_every : int
        After so many learned examples a model is saved and its journal begun anew.
    watch_seconds : float, optional
        How often to look whether a directory has a new model; None for never.
    workers : int
        Processes that answer.
    grace_seconds : float
        How long requests at work may take to end when the server stops.
    log_requests : bool
        Whether requests and what else goes well are logged, too, rather than only what goes wrong.
    """

    models: dict[str, Path]
    limits: Limits = field(default_factory=Limits)
    tokens: Tokens = field(default_factory=Tokens)
    cors_origins: tuple[str, ...] = ()
    learn: bool = False
    snapshot_every: int = 10_000
    watch_seconds: float | None = None
    workers: int = 1
    grace_seconds: float = 10.0
    log_requests: bool = True

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("expected at least one model to serve, got none")
        if self.learn and self.workers > 1:
            raise ValueError(
                f"a model that learns has one process, but {self.workers} workers are wanted: leave --workers out, or "
                "learn in one server and let others --watch the directory"
            )
        if self.learn and not self.tokens:
            raise ValueError("learning needs a token, but there are none: give --token-file")


def named_models(words: Iterable[str]) -> dict[str, Path]:
    """Models as they are given on the command line: ``DIR`` or ``NAME=DIR``.

    Examples
    --------
    >>> {name: str(path) for name, path in named_models(["models/pets.labeltree", "art=models/tate"]).items()}
    {'pets': 'models/pets.labeltree', 'art': 'models/tate'}
    """
    models: dict[str, Path] = {}
    for word in words:
        given, _, directory = word.rpartition("=")
        path = Path(directory)
        name = given or path.resolve().name.removesuffix(".labeltree")
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of a model: expected letters, digits, '.', '_' and '-'; say "
                f"NAME={directory}"
            )
        if name in models:
            raise ValueError(f"two models have the name {name!r}: say NAME={directory} for one of them")
        models[name] = path.resolve() if not path.name else path  # "." has no folder beside it
    return models
