"""What a task that ran in a worker ends with: its result or its error, and its warnings."""

from __future__ import annotations

import pickle
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labeltree.errors import WorkerError


class WorkerTraceback(Exception):  # noqa: N818 - it is only shown, as the cause of an error
    """The traceback of an error, as text from the worker."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


@dataclass(frozen=True)
class Outcome:
    """The result of a task, or the error that it raised with its traceback; and what it warned of."""

    result: Any = None
    error: Exception | None = None
    traceback: str = ""
    warnings: tuple[Warning, ...] = ()

    @classmethod
    def of(cls, run: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
        """Run a task and catch its error."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")  # the filters of the program decide, not those of the worker
            try:
                result = run(*arguments)
            except Exception as error:
                return cls.failed(error, _that_travel(caught))
        return cls(result, warnings=_that_travel(caught))

    @classmethod
    def failed(cls, error: Exception, warnings: tuple[Warning, ...] = ()) -> Outcome:
        """Return the outcome of a task that raised an error; it is told in words if it cannot be pickled."""
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        if not _travels(error):
            error = WorkerError(f"{type(error).__name__}: {error}")
        return cls(error=error, traceback=text, warnings=warnings)

    def value(self) -> Any:
        """Give the warnings of the task, and return its result or raise its error."""
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=2)
        if self.error is not None:
            raise self.error from WorkerTraceback(self.traceback)
        return self.result


def _that_travel(caught: list[warnings.WarningMessage]) -> tuple[Warning, ...]:
    """Return the warnings that can be pickled."""
    said = (warning.message for warning in caught)
    return tuple(one for one in said if isinstance(one, Warning) and _travels(one))


def _travels(error: BaseException) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False
