"""Which tests reach which mutants, and how long they take."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mutation.mutant import Mutant
from mutation.sources import PYTHON_FOLDERS, ROOT, fingerprint

#: For each test file its tests: CPU seconds and names.
TestsOfFile = dict[str, list[tuple[float, str]]]
TEST_FOLDERS = ("tests/unit", "tests/serving")


def find_test_files(prefixes: Iterable[str] = ()) -> list[str]:
    """Test files, and the mutated modules that have examples in docstrings; those that begin like this."""
    tests = [path for folder in TEST_FOLDERS for path in sorted((ROOT / folder).glob("test_*.py"))]
    modules = [path for folder in PYTHON_FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    examples = [path for path in modules if ">>> " in path.read_text()]
    files = [path.relative_to(ROOT).as_posix() for path in (*tests, *examples)]
    return [file for file in files if file.startswith(tuple(prefixes) or "")]


class Reach:
    """The records of test files, one JSON file each."""

    def __init__(self, folder: Path, mutants: Iterable[Mutant]) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        identities: dict[str, list[str]] = defaultdict(list)
        self._file_of = {mutant.id: mutant.file for mutant in mutants}
        for mutant in mutants:
            identities[mutant.file].append(mutant.id)
        self._known = {
            file: hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()[:16]
            for file, ids in identities.items()
        }
        self._records: dict[str, dict[str, Any]] = {}

    def path(self, test_file: str) -> Path:
        return self._folder / (test_file.replace("/", "+") + ".json")

    def load(self, test_file: str) -> bool:
        """Use what was recorded, if neither the test file nor the mutants that it reaches changed since then."""
        path = self.path(test_file)
        if not path.exists():
            return False
        record = json.loads(path.read_text())
        if record.get("fingerprint") != fingerprint(test_file):
            return False
        for file, identities in self._known.items():
            if record["known"].get(file) != identities and file not in record["not_reached"]:
                return False
        self._records[test_file] = record
        return True

    def complete(self, test_file: str) -> list[str]:
        """Take what a worker wrote; return the tests that failed."""
        path = self.path(test_file)
        record = json.loads(path.read_text())
        reached = {self._file_of.get(identity) for identity in record["identities"]}
        record |= {
            "fingerprint": fingerprint(test_file),
            "known": self._known,
            "not_reached": [file for file in self._known if file not in reached],
        }
        path.write_text(json.dumps(record))
        self._records[test_file] = record
        return list(record["failed"])

    def version(self, test_file: str) -> str:
        """The fingerprint that a test file had when it was recorded."""
        return str(self._records[test_file]["fingerprint"])

    def tests_of(self, mutant: Mutant) -> TestsOfFile:
        """The tests that reach a mutant: for each file their seconds and names."""
        found = {}
        for file, record in self._records.items():
            if mutant.id not in record["identities"]:
                continue
            number = record["identities"].index(mutant.id)
            by_all = number in record["shared"]
            tests = [
                (test["seconds"], name)
                for name, test in record["tests"].items()
                if name not in record["failed"] and (by_all or number in test["reached"])
            ]
            if tests:
                found[file] = tests
        return found


def quickest(tests: TestsOfFile, budget: float) -> TestsOfFile:
    """The quickest tests that fit into the budget, at least one."""
    every = sorted((seconds, file, name) for file, of_file in tests.items() for seconds, name in of_file)
    chosen: TestsOfFile = {}
    total = 0.0
    for seconds, file, name in every:
        total += seconds
        if chosen and total > budget:
            break
        chosen.setdefault(file, []).append((seconds, name))
    return chosen
