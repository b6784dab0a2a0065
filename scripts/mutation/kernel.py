"""The kernel with all its mutants compiled in; an environment variable chooses one when a process starts."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from mutation import cpp_source
from mutation.mutant import Mutant, Wrapped, rewrite
from mutation.sources import ROOT

ERROR = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error:", re.MULTILINE)
INCLUDE = b'#include "mutation.h"\n#line 1\n'  # so that lines keep their numbers
TEMPLATES = Path(__file__).parent / "native"


class KernelBuild:
    """A copy of the C++ sources with their mutants, and the module that is built from it."""

    def __init__(self, folder: Path) -> None:
        self._source, self._build = folder / "source", folder / "cmake"
        self._failed_path = folder / "failed.json"  # identities of mutants that do not compile
        failed = json.loads(self._failed_path.read_text()) if self._failed_path.exists() else []
        self.failed: set[str] = set(failed)
        self._has_mutants = True

    @property
    def module(self) -> Path:
        """The module with mutants, or the installed one if only Python is mutated."""
        folders = [self._build] if self._has_mutants else [ROOT / "src" / "labeltree", *_installed_folders()]
        return next(module for folder in folders for module in folder.glob("_native*.so"))

    def build(self, select: Callable[[set[str]], list[Mutant]]) -> list[Mutant]:
        """Build the module with the mutants that `select` chooses, which is told those that do not compile."""
        for _ in range(20):
            mutants = select(self.failed)
            self._has_mutants = any(not mutant.file.endswith(".py") for mutant in mutants)
            if not self._has_mutants:
                return mutants
            wrapped = self._write(mutants)
            output = self._compile()
            if output is None:
                return mutants
            failed = {mutant.id for mutant in self._find_failed(output, wrapped)}
            if not failed:
                raise RuntimeError(
                    f"the kernel does not compile, and no mutant is the reason:\n{output[-4000:]}"
                )
            print(f"{len(failed)} mutants do not compile", file=sys.stderr)
            self.failed |= failed
            self._failed_path.write_text(json.dumps(sorted(self.failed)))
        raise RuntimeError("the kernel still does not compile after 20 attempts")

    def _write(self, mutants: list[Mutant]) -> dict[str, tuple[bytes, list[Wrapped]]]:
        """Write the sources; files that stay the same keep their times, so that they are not built again."""
        files: dict[Path, bytes] = {Path("CMakeLists.txt"): (ROOT / "CMakeLists.txt").read_bytes()}
        for path in (ROOT / "native").rglob("*"):
            if path.is_file():
                files[path.relative_to(ROOT)] = path.read_bytes()
        for path in TEMPLATES.iterdir():
            files[Path("native") / path.name] = path.read_bytes()
        wrapped = {}
        for file in sorted({m.file for m in mutants if m.file.endswith((".h", ".cpp"))}):
            own = [mutant for mutant in mutants if mutant.file == file]
            wrapped[file] = rewrite(files[Path(file)], own, lambda m: cpp_source.wrap(m.id, m.place))
            files[Path(file)] = INCLUDE + wrapped[file][0]
        for path in list(self._source.rglob("*")):
            if path.is_file() and path.relative_to(self._source) not in files:
                path.unlink()
        for path, content in files.items():
            target = self._source / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != content:
                target.write_bytes(content)
        return wrapped

    def _compile(self) -> str | None:
        """Run the build; return what it printed if it failed."""
        flags = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -w -DNDEBUG"]
        # A unit per file: a mutant that does not compile costs only its own file another time.
        flags += ["-DCMAKE_UNITY_BUILD=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
        if shutil.which("ccache"):
            flags.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        configure = ["cmake", "-S", str(self._source), "-B", str(self._build), "-G", "Ninja", *flags]
        done = subprocess.run(configure, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"cmake failed:\n{done.stdout}{done.stderr}")
        build = ["cmake", "--build", str(self._build), "--target", "_native", "--", "-k", "0"]
        done = subprocess.run(build, capture_output=True, text=True)
        return None if done.returncode == 0 else done.stdout + done.stderr

    def _find_failed(self, output: str, wrapped: dict[str, tuple[bytes, list[Wrapped]]]) -> list[Mutant]:
        """The mutants that the compiler's errors point at."""
        failed = []
        for match in ERROR.finditer(output):
            path = Path(match["path"]).resolve()
            if not path.is_relative_to(self._source.resolve()):
                continue
            file = path.relative_to(self._source.resolve()).as_posix()
            if file not in wrapped:
                continue
            text, places = wrapped[file]
            lines = text.split(b"\n")
            number = int(match["line"]) - 1
            begin = sum(len(line) + 1 for line in lines[:number])
            at = begin + int(match["column"]) - 1
            own = [p for p in places if p.start <= at < p.inner]
            around = sorted((p for p in places if p.start <= at < p.end), key=lambda p: p.end - p.start)
            on_line = [p for p in places if begin <= p.start < begin + len(lines[number])]
            failed += [p.mutant for p in own or around[:1] or on_line]
        return failed


def _installed_folders() -> list[Path]:
    spec = importlib.util.find_spec("labeltree")
    return [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
