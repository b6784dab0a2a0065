"""The settings of a server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from labeltree.serving.hosts import Hosts
from labeltree.serving.limits import Limits
from labeltree.serving.tokens import Tokens

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Parameters
    ----------
    models : dict from names to directories
    limits : Limits
    tokens : Tokens
    cors_origins : tuple of str
        Origins whose pages may send requests from a browser; none by default.
    allowed_hosts : tuple of str
        Host names that the server answers for, besides localhost and all IP addresses; ``*`` allows every name.
    learn : bool
        Whether online models learn from requests.
    snapshot_every : int
        A model that learns is saved, and its journal restarted, after this many examples.
    verify : bool
        Whether to compare all files with their checksums before a version is served; otherwise this is done in the
        background, while it is served.
    watch_seconds : float, optional
        Interval at which directories are checked for new models; None disables the checks.
    workers : int
        Number of worker processes.
    grace_seconds : float
        Maximum time that requests in progress may take when the server stops.
    log_requests : bool
        Whether to log every request and event; otherwise only warnings and errors are logged.
    """

    models: dict[str, Path]
    limits: Limits = field(default_factory=Limits)
    tokens: Tokens = field(default_factory=Tokens)
    cors_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    learn: bool = False
    snapshot_every: int = 10_000
    verify: bool = False
    watch_seconds: float | None = None
    workers: int = 1
    grace_seconds: float = 10.0
    log_requests: bool = True

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("expected at least one model to serve, got none")
        Hosts(self.allowed_hosts)  # refuses what is no name
        if self.learn and self.workers > 1:
            raise ValueError(f"--learn needs one worker, got {self.workers}: let others --watch the model")
        if self.learn and not self.tokens:
            raise ValueError("--learn needs a token, but there are none: add --token-file")


def named_models(words: Iterable[str]) -> dict[str, Path]:
    """Return models by name, from the arguments ``DIR`` or ``NAME=DIR`` of the command line.

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
                f"{name!r} cannot be the name of a model: expected letters, digits, '.', '_' and '-'; use "
                f"NAME={directory}"
            )
        if name in models:
            raise ValueError(f"two models have the name {name!r}: use NAME={directory} for one of them")
        models[name] = path.resolve() if not path.name else path  # "." has no name to put the journal beside
    return models
