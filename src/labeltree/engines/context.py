"""`engine`: choose where computations run, for the lines inside a with statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from labeltree.engines.in_process import InProcess
from labeltree.engines.protocol import Engine
from labeltree.wording import with_article

_current: ContextVar[Engine | None] = ContextVar("labeltree engine", default=None)


def current_engine() -> Engine:
    """Return the engine that `engine` has chosen in this thread, or else one that runs tasks in this process.

    Examples
    --------
    >>> from labeltree.engines import current_engine
    >>> type(current_engine()).__name__
    'InProcess'
    """
    return _current.get() or InProcess()


@contextmanager
def engine(kind: str | Engine, **options: Any) -> Iterator[Engine]:
    """Choose the engine that runs computations inside a with statement, and stop its workers at the end.

    Results do not depend on the engine. It counts for the thread that runs the with statement.

    Parameters
    ----------
    kind : {"pool", "ray"} or Engine
        "pool": processes on this machine, see `labeltree.engines.ProcessPool`. "ray": processes on the machines of a
        Ray cluster, see `labeltree.engines.RayEngine`; needs the extra `ray`. An engine that is passed as an object is
        not closed at the end.
    **options
        Parameters of the engine, such as `n_workers` or, for Ray, `address`.

    Examples
    --------
    >>> import labeltree
    >>> from labeltree.engines import Task
    >>> with labeltree.engine("pool", n_workers=2) as pool:
    ...     sorted(pool.run([Task("a square", pow, (3, 2)), Task("a cube", pow, (3, 3))]))
    [(0, 9), (1, 27)]
    """
    if not isinstance(kind, str):
        if not isinstance(kind, Engine) or options:
            raise TypeError(
                "engine takes 'pool' or 'ray' with options, or an engine without options, got "
                f"{with_article(type(kind).__name__)} and the options {sorted(options)}"
            )
        with _chosen(kind):
            yield kind
        return
    made = _made(kind, options)
    try:
        with _chosen(made):
            yield made
    finally:
        made.close()


@contextmanager
def _chosen(chosen: Engine) -> Iterator[None]:
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)


def _made(kind: str, options: dict[str, Any]) -> Engine:
    if kind == "pool":
        from labeltree.engines.pool import ProcessPool

        return ProcessPool(**options)
    if kind == "ray":
        from labeltree.engines.ray_engine import RayEngine

        return RayEngine(**options)
    raise ValueError(f"engine must be 'pool' or 'ray', got {kind!r}")
