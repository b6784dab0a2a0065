"""Ctrl-C at every moment of some work."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any


def interruptions(begin: Callable[[], Callable[[], Any]]) -> Iterator[KeyboardInterrupt]:
    """Run what `begin` returns with Ctrl-C at its first moment, then at its second one, and so on until it ends.

    Python handles signals where one of its functions begins and where a function of C has returned. The errors stay
    alive with all that was interrupted, as in an interactive session.
    """
    errors: list[KeyboardInterrupt] = []
    for moment in count(1):
        work = begin()
        left = moment

        def interrupt(frame: Any, event: str, arg: Any) -> None:
            nonlocal left
            if event in ("call", "c_return") and not is_blocked(signal.SIGINT) and not loses(frame):
                left -= 1
                if left == 0:
                    sys.setprofile(None)
                    raise KeyboardInterrupt

        before = sys.getprofile()
        sys.setprofile(interrupt)
        try:
            work()
        except KeyboardInterrupt as error:
            errors.append(error)
        finally:
            left = -1
            sys.setprofile(before)
        if len(errors) < moment:
            return
        yield errors[-1]


def loses(frame: Any) -> bool:
    """Whether Python itself ignores exceptions here, in the callback of a weak reference."""
    return bool(frame.f_code.co_name == "_remove" and frame.f_globals["__name__"] == "_weakrefset")


def is_blocked(number: signal.Signals) -> bool:
    return hasattr(signal, "pthread_sigmask") and number in signal.pthread_sigmask(signal.SIG_BLOCK, ())
