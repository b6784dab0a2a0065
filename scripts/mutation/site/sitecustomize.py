"""Python imports this file at its start, also in the processes that tests start: it puts the mutant in place."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from mutation.mutant import identify, rewrite  # noqa: E402
from mutation.python_source import find_places, wrap  # noqa: E402
from mutation.reached_table import ReachedTable  # noqa: E402


class MutatedLoader(importlib.machinery.SourceFileLoader):
    """Compiles the chosen mutant of a module, or a module that notes which places are reached."""

    def get_code(self, fullname):  # never from a cache
        source = self.get_data(self.path)
        file = Path(self.path).resolve().relative_to(ROOT).as_posix()
        mutants = identify(file, source, find_places(source))
        if TABLE is not None:
            source, _ = rewrite(source, mutants, lambda mutant: wrap(mutant.id, mutant.place))
        else:
            (mutant,) = (m for m in mutants if m.id == os.environ["LABELTREE_MUTANT"])
            source = mutant.apply(source)
        return compile(source, self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        if TABLE is not None:
            module.__dict__["mutation_reached"] = TABLE.note
        super().exec_module(module)


class MutatedFinder(importlib.abc.MetaPathFinder):
    """Finds the kernel with mutants, and the modules that are mutated."""

    def find_spec(self, fullname, path, target=None):
        if fullname == "labeltree._native":
            return importlib.util.spec_from_file_location(fullname, os.environ["LABELTREE_MUTANTS_KERNEL"])
        if fullname.split(".")[0] != "labeltree":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin is not None and is_mutated(Path(spec.origin).resolve()):
            spec.loader = MutatedLoader(fullname, spec.origin)
        return spec


def is_mutated(path):
    if TABLE is not None:
        return any(path.is_relative_to(ROOT / folder) for folder in FOLDERS)
    return path == ROOT / os.environ.get("LABELTREE_MUTANT_FILE", "none")


def start():
    """Begin to mutate imports, as the environment says."""
    global TABLE, FOLDERS
    TABLE = None
    if "LABELTREE_MUTANTS_REACHED" in os.environ:
        TABLE = ReachedTable(Path(os.environ["LABELTREE_MUTANTS_REACHED"]))
        FOLDERS = os.environ["LABELTREE_MUTANTS_FOLDERS"].split(os.pathsep)
    sys.meta_path.insert(0, MutatedFinder())


if "LABELTREE_MUTANTS_KERNEL" in os.environ:
    start()
