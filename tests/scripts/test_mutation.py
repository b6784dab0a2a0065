"""`scripts/mutants`: which mutants it makes, how they keep their identities, and how a run resumes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

from mutation import cpp_source, python_source  # noqa: E402
from mutation.kernel import KernelBuild  # noqa: E402
from mutation.mutant import Mutant, identify, rewrite  # noqa: E402
from mutation.reach import Reach, quickest  # noqa: E402
from mutation.reached_table import ReachedTable  # noqa: E402
from mutation.results import Results, read_equivalent, summarise  # noqa: E402
from mutation.sample import choose_sample  # noqa: E402

from labeltree import _native  # noqa: E402

CPP = b"""
#include <cstdio>
#include <stdexcept>
constexpr int kSize = 8;
template <int N>
struct Counter {
  int table[N + 1] = {};
  int count(int a, int b) {
    int n = 0;
    if (a < b && a != 3) n += 2;
    for (int i = 0; i < 4; ++i) {
      if (i == a) continue;
      ++n;
    }
    if (n > 100) throw std::invalid_argument("too many: " + std::to_string(n + 1));
    return n;
  }
};
int main() {
  Counter<kSize> counter;
  std::printf("%d %d", counter.count(1, 2), counter.count(3, 4));
}
"""
PYTHON = b'''
"""A module of 2 lines."""
from dataclasses import dataclass

def clip(x: int = 0, limits: tuple[int, int] = (0, 9)) -> int:
    if not x < limits[1] and x is not None:
        raise ValueError(f"{x + 1} is too large" + "!")
    return max(x, limits[0]) + 1
'''


def cpp_mutants(source: bytes = CPP) -> list[Mutant]:
    return identify("native/toy/toy.cpp", source, cpp_source.find_places(source))


def python_mutants(source: bytes = PYTHON) -> list[Mutant]:
    return identify("src/labeltree/toy/toy.py", source, python_source.find_places(source))


def changes(mutants: list[Mutant], source: bytes) -> set[tuple[str, str]]:
    return {(source[m.place.start : m.place.end].decode(), m.place.replacement.decode()) for m in mutants}


def test_changes_of_cpp() -> None:
    found = changes(cpp_mutants(), CPP)
    assert {
        ("a < b && a != 3", "a < b || a != 3"),
        ("a < b && a != 3", "!(a < b && a != 3)"),
        ("a < b", "a <= b"),
        ("a != 3", "a == 3"),
        ("3", "3 + 1"),
        ("3", "3 - 1"),
        ("0", "0 + 1"),
        ("n += 2;", ""),
        ("n += 2", "n -= 2"),
        ("continue;", ""),
        ("++n;", ""),
        ('throw std::invalid_argument("too many: " + std::to_string(n + 1));', ""),
    } <= found
    olds = {old for old, _ in found}
    assert not olds & {"N + 1", "8", "n + 1", "0 - 1"}, "constant expressions and messages stay as they are"


def test_changes_of_python() -> None:
    assert changes(python_mutants(), PYTHON) >= {
        ("not x < limits[1] and x is not None", "not x < limits[1] or x is not None"),
        ("not x < limits[1]", "x < limits[1]"),
        ("x < limits[1]", "x <= limits[1]"),
        ("x is not None", "x is None"),
        ('raise ValueError(f"{x + 1} is too large" + "!")', "pass"),
        ("max(x, limits[0])", "min(x, limits[0])"),
        ("max(x, limits[0]) + 1", "max(x, limits[0]) - 1"),
        ("9", "(9 - 1)"),
    }
    assert not any(old in {"x + 1", "int"} for old, _ in changes(python_mutants(), PYTHON))
    for mutant in python_mutants():
        compile(mutant.apply(PYTHON), "toy.py", "exec")


def test_identities_survive_changes_elsewhere() -> None:
    mutants = cpp_mutants()
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    edited = CPP.replace(b"int main() {", b"// A comment.\nint other(int a) { return a + 1; }\nint main() {")
    edited = edited.replace(b"    int n = 0;\n", b"    int n = 0;\n    int unused = 7;\n")
    assert {mutant.id for mutant in mutants} < {mutant.id for mutant in cpp_mutants(edited)}
    changed = {mutant.id for mutant in cpp_mutants(CPP.replace(b"n > 100", b"n > 200"))}
    gone = [mutant for mutant in mutants if mutant.id not in changed]
    assert {mutant.line for mutant in gone} == {15}


def test_equal_lines_have_different_identities() -> None:
    mutants = identify("a.py", b"x += 1\nx += 1\n", python_source.find_places(b"x += 1\nx += 1\n"))
    assert len({mutant.id for mutant in mutants}) == len(mutants) == 6


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_mutants_are_compiled_in_together_and_chosen_at_run_time(tmp_path: Path) -> None:
    mutants = cpp_mutants()
    text, wrapped = rewrite(CPP, mutants, lambda m: cpp_source.wrap(m.id, m.place))
    assert all(text[w.start : w.inner].count(m.encode()) for w in wrapped for m in [w.mutant.id])
    for name in ("mutation.h", "mutation.cpp"):
        shutil.copy(SCRIPTS / "mutation" / "native" / name, tmp_path)
    (tmp_path / "toy.cpp").write_bytes(b'#include "mutation.h"\n#include <string>\n' + text)
    subprocess.run(
        ["g++", "-std=c++20", "-w", "-o", "toy", "toy.cpp", "mutation.cpp"], cwd=tmp_path, check=True
    )

    def output(mutant: str) -> str:
        environment = {**os.environ, "LABELTREE_MUTANT": mutant}
        done = subprocess.run(
            [tmp_path / "toy"], env=environment, capture_output=True, text=True, timeout=120
        )
        return done.stdout

    assert output("0") == "5 3"
    of = {m.diff(CPP).split("\n+")[2].split("\n")[0].strip(): m.id for m in mutants if m.line in (10, 13)}
    assert output(of["if ((a < b || a != 3)) n += 2;"]) == "5 5"
    assert output(of["if (a < b && a != (3 + 1)) n += 2;"]) == "5 5"
    assert output(of["if (a < b && a != 3)"]) == "3 3"


def test_the_compiler_tells_which_mutants_do_not_compile(tmp_path: Path) -> None:
    build = KernelBuild(tmp_path)
    source = b"std::string f(std::string a) {\n  return a + g(1);\n}\n"
    mutants = identify("native/toy/toy.cpp", source, cpp_source.find_places(source))
    text, places = rewrite(source, mutants, lambda m: cpp_source.wrap(m.id, m.place))
    (sum_,) = (m for m in mutants if m.place.replacement == b"a - g(1)")
    column = text.split(b"\n")[1].index(b"a - g") + 3
    error = f"{tmp_path}/source/native/toy/toy.cpp:2:{column}: error: no match for 'operator-'"
    failed = build._find_failed(error, {"native/toy/toy.cpp": (text, places)})
    assert failed == [sum_]


def test_a_python_module_that_records_what_it_reaches_works_as_before(tmp_path: Path) -> None:
    mutants = python_mutants()
    source, _ = rewrite(PYTHON, mutants, lambda m: python_source.wrap(m.id, m.place))
    ReachedTable.create(tmp_path / "reached")
    table = ReachedTable(tmp_path / "reached")
    module: dict[str, Any] = {"mutation_reached": table.note}
    exec(compile(source, "toy.py", "exec"), module)
    table.take()
    assert module["clip"](5) == 6
    reached = table.take()
    by_identity = {int(mutant.id, 16): mutant for mutant in mutants}
    assert {by_identity[i].line for i in reached} == {6, 8}
    assert table.take() == set()
    with pytest.raises(ValueError, match="11 is too large!"):
        module["clip"](10)
    assert {by_identity[i].line for i in table.take()} == {6, 7}


def test_a_process_imports_the_mutant_that_its_environment_names(tmp_path: Path) -> None:
    file = "src/labeltree/decisions/exact_search.py"
    source = (SCRIPTS.parent / file).read_bytes()
    mutants = identify(file, source, python_source.find_places(source))
    (mutant,) = (m for m in mutants if m.place.replacement == b"(0.5 + 1)" and m.place.function == "module")
    ReachedTable.create(tmp_path / "reached")

    def undecided(**environment: str) -> float:
        paths = (SCRIPTS.parent / "src", SCRIPTS / "mutation" / "site")
        environment |= {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
        environment["LABELTREE_MUTANTS_KERNEL"] = str(_native.__file__)
        command = [
            sys.executable,
            "-c",
            "from labeltree.decisions.exact_search import UNDECIDED as u; print(u)",
        ]
        return float(subprocess.check_output(command, env={**os.environ, **environment}, text=True))

    assert undecided(LABELTREE_MUTANT=mutant.id, LABELTREE_MUTANT_FILE=file) == 1.5
    assert undecided(LABELTREE_MUTANT=mutant.id, LABELTREE_MUTANT_FILE="native/search/ranking.h") == 0.5
    recording = {"LABELTREE_MUTANTS_FOLDERS": "src/labeltree/decisions"}
    assert undecided(LABELTREE_MUTANTS_REACHED=str(tmp_path / "reached"), **recording) == 0.5
    assert int(mutant.id, 16) in ReachedTable(tmp_path / "reached").take()


def test_samples_are_spread_over_folders_and_contain_smaller_ones() -> None:
    mutants = [*cpp_mutants(), *python_mutants()]
    small, large = (choose_sample(mutants, size, seed=1) for size in (6, 12))
    assert small == large[:6]
    assert sum(mutant.folder == "native/toy" for mutant in large) == 6
    assert {mutant.folder for mutant in small} == {"native/toy", "src/labeltree/toy"}
    assert choose_sample(mutants, 6, seed=2) != small
    assert small[0] not in choose_sample(mutants, 6, seed=1, left_out={small[0].id})
    assert len(choose_sample(mutants, None, seed=1)) == len(mutants)


def test_results_are_kept(tmp_path: Path) -> None:
    mutants = python_mutants()
    results = Results(tmp_path / "results.jsonl")
    for mutant, outcome in zip(mutants, ["killed", "timeout", "survived", "survived"], strict=False):
        results.add(mutant, {"outcome": outcome})
    results.add(mutants[3], {"outcome": "killed"})
    again = Results(tmp_path / "results.jsonl")
    assert [(again.get(m) or {}).get("outcome") for m in mutants[:5]] == [
        "killed", "timeout", "survived", "killed", None,
    ]  # fmt: skip
    _, share = summarise(mutants, again, {})
    assert share == 3 / 4
    table, share = summarise(mutants, again, {mutants[2].id: "no test can"})
    assert share == 1
    assert table.splitlines()[-1].split()[:6] == ["all", str(len(mutants)), "2", "1", "0", "1"]


def test_reasons_for_equivalent_mutants(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.txt"
    path.write_text("# comment\n\n0123456789abcdef native/a.h f: the order: does not matter\n")
    assert read_equivalent(path) == {"0123456789abcdef": "the order: does not matter"}


def test_what_a_test_reaches_is_recorded_again_when_it_changes(tmp_path: Path) -> None:
    mutants = python_mutants()
    file = "tests/scripts/test_mutation.py"
    reach = Reach(tmp_path, mutants)
    assert not reach.load(file)
    record = {"identities": [mutants[0].id], "shared": [], "tests": {}, "failed": []}
    record["tests"] = {"slow": {"seconds": 2.0, "reached": [0]}, "quick": {"seconds": 1.0, "reached": [0]}}
    reach.path(file).write_text(json.dumps(record))
    assert reach.complete(file) == []
    tests = reach.tests_of(mutants[0])
    assert tests == {file: [(2.0, "slow"), (1.0, "quick")]}
    assert quickest(tests, budget=3) == {file: [(1.0, "quick"), (2.0, "slow")]}
    assert quickest(tests, budget=0.5) == {file: [(1.0, "quick")]}
    assert reach.tests_of(mutants[1]) == {}
    assert Reach(tmp_path, mutants).load(file)
    assert not Reach(tmp_path, mutants[1:]).load(file), "it reaches a file with other mutants than before"
    stored = json.loads(reach.path(file).read_text())
    reach.path(file).write_text(json.dumps({**stored, "fingerprint": "of an older file"}))
    assert not Reach(tmp_path, mutants).load(file)
