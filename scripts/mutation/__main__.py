"""The command line of mutation testing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mutation.kernel import KernelBuild
from mutation.mutant import Mutant
from mutation.reach import find_test_files
from mutation.results import Results, read_equivalent, summarise
from mutation.run import Run
from mutation.sample import choose_sample
from mutation.sources import ROOT, find_files, mutants_of

BUILD = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).parent / "equivalent.txt"
WANTED_SHARE = 0.95


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/mutants",
        description="Make small wrong changes to the code, and see whether tests notice. A stopped run resumes.",
    )
    parser.add_argument(
        "--sample", type=int, default=300, help="number of mutants, spread over folders; 0 for all"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument(
        "--files", nargs="+", default=[], help="only mutate files and folders that begin like this"
    )
    parser.add_argument("--tests", nargs="+", default=[], help="only run test files that begin like this")
    parser.add_argument("--jobs", type=int, default=1, help="number of mutants that run at the same time")
    parser.add_argument(
        "--budget",
        type=float,
        default=60,
        help="CPU seconds of tests for one mutant; slower tests are left out",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the mutants of the sample and their outcomes"
    )
    parser.add_argument("--report", action="store_true", help="print the outcomes so far, run nothing")
    parser.add_argument("--show", metavar="ID", help="show a mutant as a diff, and its outcome")
    parser.add_argument(
        "--run", metavar="ID", nargs="+", help="run these mutants, also if they were run before"
    )
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    sources = {file: (ROOT / file).read_bytes() for file in find_files()}
    everything = [mutant for file, source in sources.items() for mutant in mutants_of(file, source)]
    results = Results(BUILD / "results.jsonl")
    equivalent = read_equivalent(EQUIVALENT)
    kernel = KernelBuild(BUILD / "kernel")

    def describe(mutant: Mutant) -> str:
        return mutant.describe(sources[mutant.file])

    def select(failed: set[str]) -> list[Mutant]:
        chosen = [m for m in everything if not options.files or m.file.startswith(tuple(options.files))]
        sample = choose_sample(chosen, options.sample or None, options.seed, failed)
        asked = set(options.run or ()) - {mutant.id for mutant in sample}
        return sample + [mutant for mutant in everything if mutant.id in asked]

    if options.show:
        (mutant,) = (mutant for mutant in everything if mutant.id == options.show)
        print(mutant.diff(sources[mutant.file]), end="")
        print(results.get(mutant) or "not run")
        return 0
    mutants = select(kernel.failed)
    if not options.list and not options.report:
        mutants = kernel.build(select)
        run = Run(BUILD, kernel.module, mutants, results, options.jobs, options.budget)
        run.record(find_test_files(options.tests))
        run.run([mutant for mutant in mutants if mutant.id in options.run] if options.run else None)
    for mutant in mutants:
        outcome = results.get(mutant) or {"outcome": "not run"}
        if options.list or (outcome["outcome"] == "survived" and mutant.id not in equivalent):
            print(f"{outcome['outcome']:9} {describe(mutant)}")
    table, share = summarise(mutants, results, equivalent)
    print(table)
    known = {mutant.id: mutant for mutant in everything}
    stale = [name for name in equivalent if name not in known]
    caught = [
        m.id
        for m in known.values()
        if m.id in equivalent and (results.get(m) or {}).get("outcome") == "killed"
    ]
    for name in stale:
        print(
            f"{EQUIVALENT.name}: no mutant has the identity {name} any more: remove the line", file=sys.stderr
        )
    for name in caught:
        print(f"{EQUIVALENT.name}: a test notices {name}: remove the line", file=sys.stderr)
    return int(share < WANTED_SHARE or bool(stale) or bool(caught))


if __name__ == "__main__":
    sys.exit(main())
