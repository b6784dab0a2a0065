"""The CPU time and the memory of commands that only ask, from the start of a process to its end.

python -m benchmarks.start --repeat 9

The model is a tagger of the Tate's catalogue, which is trained and kept, and the texts are captions that were not
trained on. All processes run in turns; the least time and the most memory of each count. `labeltree predict` also runs
in processes that imported scikit-learn first, as all commands once did.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import CACHE
from labeltree import LabelTreeClassifier
from labeltree.datasets import load_tate
from labeltree.text import Tagger

LABELTREE = "import sys; from labeltree.cli import main; sys.exit(main())"
#: scikit-learn, and what came with it for texts.
WITH_SCIKIT_LEARN = f"import scipy.sparse, sklearn.base; {LABELTREE}"
#: Starts a command from a process that has little memory itself: a new process counts the memory of the one that made
#: it as its own.
LAUNCHER = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
scale = 1e6 if sys.platform == "darwin" else 1e6 / 1024
print(json.dumps([process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale]))
"""


@dataclass(frozen=True)
class Usage:
    """CPU time of a process in seconds, and its peak memory in MB."""

    cpu_s: float
    peak_mb: float


def usage_of(program: str, *arguments: str) -> Usage:
    """Run a program of Python in a process of its own."""
    command = [sys.executable, "-I", "-S", "-c", LAUNCHER, sys.executable, "-c", program, *arguments]
    exit_code, cpu_s, peak_mb = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    if exit_code != 0:
        raise SystemExit(f"a process failed with {exit_code}: {program} {' '.join(arguments)}")
    return Usage(cpu_s, peak_mb)


def compare(programs: Mapping[str, Sequence[str]], repeat: int) -> dict[str, Usage]:
    """Run all programs in turns; return the least time and the most memory of each.

    Other work makes times longer, and lets the system take memory back before a process needs its most.
    """
    runs: dict[str, list[Usage]] = {name: [] for name in programs}
    for _ in range(repeat):
        for name, program in programs.items():
            runs[name].append(usage_of(*program))
    return {
        name: Usage(min(run.cpu_s for run in found), max(run.peak_mb for run in found))
        for name, found in runs.items()
    }


def programs_of(model: Path, texts: Sequence[str], folder: Path) -> dict[str, list[str]]:
    """The programs to compare; files of texts are written into the folder."""
    asked = {"one text": texts[:1], f"{len(texts):,} texts": texts}
    programs = {
        "Python": ["pass"],
        "Python, `import numpy`": ["import numpy"],
        "`labeltree --help`": [LABELTREE, "--help"],
    }
    for number, (name, some) in enumerate(asked.items()):
        path = folder / f"{number}.jsonl"
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in some), encoding="utf-8")
        predict = ["predict", str(model), str(path), "-o", str(folder / "predicted.txt")]
        programs[f"`labeltree predict`, {name}"] = [LABELTREE, *predict]
        programs[f"`labeltree predict`, {name}, scikit-learn imported"] = [WITH_SCIKIT_LEARN, *predict]
    return programs


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--model", type=Path, help="a saved tagger; by default, one is trained and kept")
    parser.add_argument("--texts", type=int, help="number of texts to predict; all by default")
    parser.add_argument("--repeat", type=int, default=5, help="number of runs of each")
    options = parser.parse_args(arguments)
    tate = load_tate()
    model = options.model or CACHE / "start" / "tate.labeltree"
    if not model.exists():
        model.parent.mkdir(parents=True, exist_ok=True)
        classifier = LabelTreeClassifier(n_jobs=-1, random_state=0)
        Tagger(classifier).fit(tate.texts_train, tate.labels_train).save(model)
    with tempfile.TemporaryDirectory() as folder:
        programs = programs_of(model, tate.texts_test[: options.texts], Path(folder))
        found = compare(programs, options.repeat)
    print("| process | CPU s | peak MB |\n| --- | --- | --- |")
    for name, usage in found.items():
        print(f"| {name} | {usage.cpu_s:.2f} | {usage.peak_mb:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
