"""The process that runs cases. It may crash: the case is on disk before it is tried, and the runner starts another."""

from __future__ import annotations

import faulthandler
import json
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.corpus import Corpus
from tests.fuzz.target import Case, Target, outcome, signature, target_class

#: More memory than any small input needs. The sanitizers need address space for themselves, and have their own limit.
MOST_BYTES = 4 << 30


class Result(NamedTuple):
    """What became of a case: `finding` is None if all is well, else it says what is wrong in one line."""

    number: int
    case: Case
    finding: str | None
    details: str = ""


def run_cases(
    target: Target, corpus: Corpus, seed: int, first: int = 0, current: Path | None = None
) -> Iterator[Result]:
    """Try case after case, without end. The same seed and corpus give the same cases."""
    number = first
    while True:
        rng = random.Random(f"{seed}:{number}")
        case = target.make(rng, corpus.cases)
        if current is not None:
            current.write_bytes(pickle.dumps((number, case)))
        finding, details = try_case(target, case)
        if finding is None:
            corpus.add(case, details)
        yield Result(number, case, finding, details)
        number += 1


def try_case(target: Target, case: Case) -> tuple[str | None, str]:
    """Return the finding, or None, and the details: what came of it, or the traceback."""
    try:
        return None, outcome(target, case)
    except Exception as error:
        return signature(error), traceback.format_exc()


def main() -> None:
    """Read the order from standard input, and write a line for each case, until the time is over."""
    order: dict[str, Any] = json.load(sys.stdin)
    if sys.platform == "linux" and not order["sanitized"]:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    folder = Path(order["folder"])
    until = time.monotonic() + order["seconds"]
    with tempfile.TemporaryDirectory(dir=folder) as own:
        target = target_class(order["place"])(Path(own))
        corpus = Corpus(target.seeds(), order["corpus"] and Path(order["corpus"]))
        start_clock(order["limit"])
        for result in run_cases(target, corpus, order["seed"], order["first"], folder / "current"):
            start_clock(order["limit"])
            report = {"number": result.number, "finding": result.finding}
            if result.finding is not None:
                report["details"] = result.details
                (folder / f"finding-{result.number}").write_bytes(pickle.dumps(result.case))
            print(json.dumps(report), file=sys.__stdout__, flush=True)
            if time.monotonic() >= until or result.number + 1 == order["end"]:
                break
        target.close()


def start_clock(limit: float) -> None:
    """End this process, with a traceback, after a time that no case needs: of the processor, or on a clock.

    The processor's time comes first, because a busy machine proves nothing. The clock ends a process that waits.
    """
    faulthandler.register(signal.SIGPROF, all_threads=True, chain=True)
    signal.setitimer(signal.ITIMER_PROF, limit)
    faulthandler.dump_traceback_later(10 * limit, exit=True)


if __name__ == "__main__":
    main()
