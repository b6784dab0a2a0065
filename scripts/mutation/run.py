"""Runs mutants against the tests that reach them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from mutation.mutant import Mutant
from mutation.reach import Reach, TestsOfFile, quickest
from mutation.reached import ReachedTable
from mutation.results import CAUGHT, Results
from mutation.sources import PYTHON_FOLDERS, ROOT, fingerprint

Item = TypeVar("Item")
SITE = Path(__file__).parent / "site"


class Worker:
    """A process that forks a child for each request; see worker.py."""

    def __init__(self, folder: Path, kernel: Path) -> None:
        temporary = folder / "temporary"
        temporary.mkdir(parents=True, exist_ok=True)
        self._log, self._table, self._kernel = folder / "log", folder / "reached", kernel
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LABELTREE_MUTANT")
        }
        environment |= {
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", SITE, ROOT / "scripts"))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_DEBUG_TEMPROOT": str(temporary),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mutation.worker"],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def record(self, test_file: str, output: Path) -> dict[str, Any]:
        """Run a test file without a mutant, and write what its tests reach."""
        ReachedTable.create(self._table)
        output.unlink(missing_ok=True)
        environment = {
            "LABELTREE_MUTANTS_REACHED": str(self._table),
            "LABELTREE_MUTANTS_FOLDERS": os.pathsep.join(PYTHON_FOLDERS),
        }
        return self._ask({"record": test_file, "output": str(output)}, environment, 1200)

    def run(self, mutant: Mutant, tests: TestsOfFile) -> dict[str, Any]:
        """Run tests with a mutant."""
        environment = {"LABELTREE_MUTANT": mutant.id, "LABELTREE_MUTANT_FILE": mutant.file}
        seconds = sum(seconds for of_file in tests.values() for seconds, _ in of_file)
        return self._ask({"tests": list(tests.items())}, environment, 20 + 4 * seconds)

    def _ask(self, request: dict[str, Any], environment: dict[str, str], cpu_limit: float) -> dict[str, Any]:
        request |= {
            "environment": {**environment, "LABELTREE_MUTANTS_KERNEL": str(self._kernel)},
            "log": str(self._log),
            "cpu_limit": cpu_limit,
            "wall_limit": 30 + 6 * cpu_limit,  # the machine may be busy
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        if answer["outcome"] == "error":
            raise RuntimeError(answer["by"])
        return answer

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Run:
    """Records what tests reach, then runs mutants; finished ones are not run again."""

    def __init__(
        self, folder: Path, kernel: Path, mutants: list[Mutant], results: Results, jobs: int, budget: float
    ) -> None:
        self._folder, self._kernel, self._jobs, self._budget = folder, kernel, jobs, budget
        self._mutants, self._results = mutants, results
        self._reach = Reach(folder / "reach", mutants)

    def record(self, test_files: list[str]) -> None:
        """Run each test file once without a mutant, unless it is known what it reaches."""
        files = [file for file in test_files if not self._reach.load(file)]

        def record(worker: Worker, file: str) -> str:
            answer = worker.record(file, self._reach.path(file))
            if not self._reach.path(file).exists():
                raise RuntimeError(f"{file} does not run without a mutant: {answer}")
            failed = self._reach.complete(file)
            note = f", {len(failed)} tests fail without a mutant and are left out: {failed}" if failed else ""
            return f"{file}: {answer['seconds']} s{note}"

        self._for_each(files, record, "recorded")

    def run(self, mutants: list[Mutant] | None = None) -> None:
        """Run the mutants that are not finished, or the given ones."""
        again = mutants is not None
        mutants = [m for m in mutants or self._mutants if again or not self._is_finished(m)]
        self._for_each(mutants, lambda worker, mutant: self._run_one(worker, mutant, again), "ran")

    def _is_finished(self, mutant: Mutant) -> bool:
        outcome = self._results.get(mutant)
        if outcome is None:
            return False
        return outcome["outcome"] in CAUGHT or not self._new_tests(mutant)

    def _new_tests(self, mutant: Mutant) -> TestsOfFile:
        """The tests that reach a mutant, without files that it survived as they are now."""
        survived = self._survived(mutant)
        reaching = self._reach.tests_of(mutant)
        return {
            file: tests for file, tests in reaching.items() if survived.get(file) != self._reach.version(file)
        }

    def _survived(self, mutant: Mutant) -> dict[str, str]:
        """The versions of test files that a mutant survived, unless a larger budget allows more of their tests."""
        outcome = self._results.get(mutant) or {}
        if outcome.get("n_left_out") and outcome["budget"] < self._budget:
            return {}
        versions: dict[str, str] = outcome.get("survived", {})
        return versions

    def _run_one(self, worker: Worker, mutant: Mutant, again: bool) -> str:
        tests = self._reach.tests_of(mutant) if again else self._new_tests(mutant)
        # A file that somebody edits meanwhile proves nothing.
        tests = {
            file: of_file for file, of_file in tests.items() if fingerprint(file) == self._reach.version(file)
        }
        chosen = quickest(tests, self._budget)
        outcome = worker.run(mutant, chosen) if chosen else {"outcome": "survived", "seconds": 0.0}
        if outcome["outcome"] == "survived":
            earlier = {} if again else self._survived(mutant)
            outcome["budget"] = self._budget
            outcome["survived"] = earlier | {file: self._reach.version(file) for file in tests}
            outcome["n_left_out"] = sum(map(len, tests.values())) - sum(map(len, chosen.values()))
        self._results.add(mutant, outcome)
        return f"{outcome['outcome']} {mutant.id} {mutant.file}:{mutant.line} {outcome.get('by', '')}"

    def _for_each(self, items: list[Item], work: Callable[[Worker, Item], str], verb: str) -> None:
        if not items:
            return
        workers: SimpleQueue[Worker] = SimpleQueue()
        started = [
            Worker(self._folder / f"worker-{i}", self._kernel) for i in range(min(self._jobs, len(items)))
        ]
        for worker in started:
            workers.put(worker)

        def take(item: Item) -> str:
            worker = workers.get()
            try:
                return work(worker, item)
            finally:
                workers.put(worker)

        with ThreadPoolExecutor(self._jobs) as pool:
            for number, text in enumerate(pool.map(take, items), 1):
                print(f"{verb} {number} of {len(items)}: {text}", file=sys.stderr, flush=True)
        for worker in started:
            worker.end()
