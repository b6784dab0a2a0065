"""The command: ``python -m tests.fuzz --seconds 300``; `make fuzz` runs it under the sanitizers."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.fuzz.findings import Findings, read_finding
from tests.fuzz.runner import Effort, Runner, is_sanitized
from tests.fuzz.target import TARGETS, target_class
from tests.fuzz.worker import try_case


def main() -> int:
    arguments = _arguments()
    if arguments.replay is not None:
        return replay(arguments.replay)
    names = arguments.target or list(TARGETS)
    seed = random.SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    findings = Findings(arguments.folder / "findings")
    runner = Runner(findings, seed, arguments.limit, arguments.folder / "corpus")
    print(f"seed {seed}, {'with' if is_sanitized() else 'without'} sanitizers", flush=True)
    efforts = {}
    for name in names:
        efforts[name] = runner.run(name, arguments.seconds / len(names))
        print(f"{name}: {efforts[name].cases} cases", flush=True)
    print_table(efforts, findings)
    return 1 if findings.counts else 0


def replay(folder: Path) -> int:
    """Try the input of a finding again, in this process, so that debuggers can see it."""
    name, case = read_finding(folder)
    with tempfile.TemporaryDirectory() as own:
        target = target_class(TARGETS.get(name, name))(Path(own))
        try:
            finding, details = try_case(target, case)
        finally:
            target.close()
    print(details if finding is None else f"{details}\nFINDING {name}: {finding}")
    return 0 if finding is None else 1


def print_table(efforts: dict[str, Effort], findings: Findings) -> None:
    row = "{:<12} {:>9} {:>9} {:>9} {:>9} {:>9}"
    print(row.format("target", "cases", "cases/s", "minutes", "CPU min.", "findings"))
    for name, effort in efforts.items():
        print(
            row.format(
                name,
                effort.cases,
                f"{effort.cases / effort.seconds:.1f}",
                f"{effort.seconds / 60:.1f}",
                f"{effort.cpu_seconds / 60:.1f}",
                sum(line.startswith(f"{name}: ") for line in findings.counts),
            )
        )
    for line, count in findings.counts.items():
        print(f"{count} × {line}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="time for all targets together")
    parser.add_argument(
        "--target", action="append", choices=list(TARGETS), help="only this target; repeatable"
    )
    parser.add_argument("--seed", type=int, help="a number that chooses the cases; random by default")
    parser.add_argument(
        "--limit", type=float, default=60, help="maximum CPU seconds of one case; more is a hang"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("build/fuzz"), help="where findings and corpus go"
    )
    parser.add_argument("--replay", type=Path, metavar="FINDING", help="try the input of a finding again")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
