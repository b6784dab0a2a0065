"""A pytest plugin: runs the tests that were asked for, quickest first, and notes what each of them reaches."""

from __future__ import annotations

import json
import math
import os
import resource
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings

from mutation.reached_table import ReachedTable

# A counterexample is enough: nobody reads the smallest one.
settings.register_profile(
    "mutants", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate], database=None
)


#: A test with a mutant may take this many CPU seconds, and this many times what it takes without one.
SECONDS, TIMES = 6, 4


class Chosen:
    """Keeps the tests that were asked for, in that order, and remembers the first that fails."""

    def __init__(self, tests: list[tuple[float, str]]) -> None:
        self._order = {name: i for i, (_, name) in enumerate(tests)}
        self._seconds = {name: seconds for seconds, name in tests}
        self.failed: str | None = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        kept = [item for item in items if item.nodeid in self._order]
        items[:] = sorted(kept, key=lambda item: self._order[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Let the system end the process if the test takes too long: only this also ends a loop in the kernel."""
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        allowed = math.ceil(used + SECONDS + TIMES * self._seconds[nodeid])
        resource.setrlimit(resource.RLIMIT_CPU, (min(allowed, most), most))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and self.failed is None:
            self.failed = report.nodeid


class Recorder:
    """Notes the places that a test reaches, and how long it takes."""

    def __init__(self, table: ReachedTable) -> None:
        self._table = table
        self._shared: set[int] = (
            set()
        )  # reached while tests are imported, by fixtures, or by threads that end late
        self._tests: dict[str, dict[str, Any]] = {}
        self.failed: list[str] = []
        self._seconds = sum(os.times()[:4])

    def pytest_collection_finish(self) -> None:
        self._shared |= self._table.take()
        self._cpu_seconds()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        test = self._tests.setdefault(report.nodeid, {"seconds": 0.0, "reached": set()})
        test["seconds"] += self._cpu_seconds()
        (test["reached"] if report.when == "call" else self._shared).update(self._table.take())
        if report.failed:
            self.failed.append(report.nodeid)

    def _cpu_seconds(self) -> float:
        """Seconds of this process, and of children that ended, since the last call: a busy machine changes little."""
        before, self._seconds = self._seconds, sum(os.times()[:4])
        return self._seconds - before

    def write(self, path: Path) -> None:
        identities = sorted(self._shared.union(*(test["reached"] for test in self._tests.values())))
        number = {identity: i for i, identity in enumerate(identities)}
        tests = {
            name: {
                "seconds": round(test["seconds"], 4),
                "reached": sorted(number[i] for i in test["reached"]),
            }
            for name, test in self._tests.items()
        }
        record = {
            "identities": [f"{identity:016x}" for identity in identities],
            "shared": sorted(number[i] for i in self._shared),
            "tests": tests,
            "failed": self.failed,
        }
        path.write_text(json.dumps(record))
