"""How many instructions the kernels take, counted by callgrind: a busy machine does not change that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.callgrind import FunctionCost, read_callgrind
from labeltree import _native

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "profile"

#: valgrind knows no AVX-512, so that the kernels for it cannot be counted.
UNCOUNTABLE = "x86_64_v4"

#: Entries of the kernel, and what their instructions are divided by.
ENTRIES = {
    "labeltree::read_text_format": "byte",
    "labeltree::label_vectors": "feature",
    "labeltree::cluster_top": "feature",
    "labeltree::assign_to_nodes": "row",
    "labeltree::train_blocks": "feature visited",
    "descent_pass": "feature visited",
    "labeltree::Forest::top_k": "row",
    "labeltree::BlockStore::probabilities": "node asked",
}
_SHOWN = 20


def show_instructions(console: Console) -> None:
    """Build a copy with the names of functions in it, run the workload under callgrind, print two tables."""
    if shutil.which("valgrind") is None:
        console.print("no instructions counted: valgrind is not installed (apt install valgrind)")
        return
    console.print("counting instructions; this takes a minute or two")
    instruction_set = next(name for name in _native.available_vector_code() if name != UNCOUNTABLE)
    site = build()
    with tempfile.TemporaryDirectory() as folder:
        work, costs = count(site, Path(folder), instruction_set)
    show_entries(costs, work, instruction_set, console)
    show_functions(costs, console)


def build() -> Path:
    """The package as it is released, but with symbols; the folder to import it from."""
    site = BUILD / "site"
    shutil.rmtree(site, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "-qq",
        "--no-build-isolation",
    ]
    command += ["--no-deps", "--target", str(site), str(ROOT), f"-Cbuild-dir={BUILD / 'cmake'}"]
    command += ["-Ccmake.build-type=RelWithDebInfo"]
    command += ["-Ccmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O3 -g -DNDEBUG"]
    subprocess.run(command, check=True)
    return site


def count(site: Path, folder: Path, instruction_set: str) -> tuple[dict[str, int], dict[str, FunctionCost]]:
    """How much work the workload did, and the instructions of our own functions."""
    environment = {
        **os.environ,
        # Without `site`, whose .pth files would put an editable installation first.
        "PYTHONPATH": os.pathsep.join(
            [str(site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        ),
        "LABELTREE_ISA": instruction_set,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    written = folder / "callgrind.out"
    command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={written}"]
    command += ["--compress-strings=no", "--compress-pos=no", "--dump-line=no"]
    command += [sys.executable, "-S", str(Path(__file__).parent / "kernel_workload.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"valgrind failed with exit code {done.returncode}:\n{done.stderr[-2000:]}")
    with open(written) as lines:
        costs = read_callgrind(lines)
    ours = {name: cost for name, cost in costs.items() if Path(cost.object_file).name.startswith("_native")}
    return json.loads(done.stdout.splitlines()[-1]), ours


def show_entries(
    costs: dict[str, FunctionCost], work: dict[str, int], instruction_set: str, console: Console
) -> None:
    """Instructions of the kernel's entries, with all they call, per unit of their work."""
    table = Table(title=f"instructions with all that is called, {instruction_set}, 1 thread")
    for heading in ("kernel", "M instructions", "per", "units", "instructions per unit"):
        table.add_column(heading, justify="left" if heading in ("kernel", "per") else "right")
    for entry, unit in ENTRIES.items():
        found = [cost.inclusive for name, cost in costs.items() if f"{entry}(" in name]
        if not found:
            continue
        inclusive = max(found)
        table.add_row(
            entry.removeprefix("labeltree::"),
            f"{inclusive / 1e6:,.1f}",
            unit,
            f"{work[unit]:,}",
            f"{inclusive / work[unit]:,.1f}",
        )
    console.print(table)
    console.print(
        "A feature visited is two multiply-adds, one of them only where an example counts, for up to 32 nodes."
    )


def show_functions(costs: dict[str, FunctionCost], console: Console) -> None:
    """The functions that take most instructions themselves."""
    total = sum(cost.own for cost in costs.values())
    table = Table(title=f"our functions, {total / 1e6:,.0f} M instructions of their own")
    for heading in ("M instructions", "share", "function"):
        table.add_column(heading, justify="left" if heading == "function" else "right")
    for name, cost in sorted(costs.items(), key=lambda item: -item[1].own)[:_SHOWN]:
        table.add_row(f"{cost.own / 1e6:,.1f}", f"{cost.own / total:.1%}", short_name(name))
    console.print(table)


def short_name(function: str) -> str:
    """A function without its arguments, its namespaces and the arguments of its templates."""
    kept, depth = [], 0
    for character in function.replace("(anonymous namespace)::", "").replace("labeltree::", ""):
        depth += character in "<("
        if depth == 0:
            kept.append(character)
        depth -= character in ">)"
    return " ".join("".join(kept).split()) or function
