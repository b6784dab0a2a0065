"""Text in, tags out: how long one text and one row take through Python, and a file of texts on the command line.

python -m benchmarks.tagging tags.labeltree texts.jsonl --other ../other/.venv/bin/python

The model is one of texts, with label trees. `--other` names the interpreter of another installation. Both are asked in
turns, in processes of their own, and the fastest run of each counts: ratios are to the other one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

#: What is asked in each process, in microseconds at the median: it must run with older versions too.
QUESTIONS = """
import json, sys
from itertools import islice
import numpy as np
from labeltree.text import Tagger
from labeltree.timing import shortest_seconds

tagger = Tagger.load(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    texts = [json.loads(line)["text"] for line in islice(file, int(sys.argv[3]))]
X = tagger.vectorizer_.transform(texts)
rows = [X[i] for i in range(len(texts))]
forest, search = tagger.model_.forest, tagger.make_search(5)
features = [tagger.classifier_.model_.read(row) for row in rows]
asked = {
    "the kernel's search alone": (lambda one: forest.top_k(one, search), features),
    "predict_topk(row)": (tagger.classifier_.predict_topk, rows),
    "predict_topk([text])": (lambda text: tagger.predict_topk([text]), texts),
    "tag(text)": (tagger.tag, texts),
}
times = {name: shortest_seconds(*call, 7) for name, call in asked.items()}
print(json.dumps({name: float(np.median(of_calls)) * 1e6 for name, of_calls in times.items()}))
"""


def answer_times(python: str, model: str, texts: str, n_texts: int) -> dict[str, float]:
    """Microseconds of single texts and rows."""
    command = [python, "-c", QUESTIONS, model, texts, str(n_texts)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def command_time(python: str, model: str, texts: str, output: Path) -> float:
    """Seconds of all processors that `labeltree predict` takes, with its start."""
    program = "import sys; from labeltree.cli import main; sys.exit(main())"
    process = subprocess.Popen([python, "-c", program, "predict", model, texts, "-o", str(output)])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"labeltree predict failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def measure(python: str, model: str, texts: str, n_texts: int, output: Path) -> dict[str, float]:
    """One run of everything; `output` gets what the command predicts for all texts."""
    figures = answer_times(python, model, texts, n_texts)
    with open(texts, encoding="utf-8") as file:
        lines = file.readlines()
    first = output.with_suffix(".jsonl")
    first.write_text(lines[0], encoding="utf-8")
    start = command_time(python, model, str(first), output)
    whole = command_time(python, model, texts, output)
    figures["labeltree predict, a text without the start"] = (whole - start) / max(len(lines) - 1, 1) * 1e6
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tagging", description=__doc__)
    parser.add_argument("model", help="a saved tagger with label trees")
    parser.add_argument("texts", help="JSON lines with texts")
    parser.add_argument("--other", help="the Python of another installation, to compare with")
    parser.add_argument("--texts-asked", type=int, default=500, help="number of texts asked one by one")
    parser.add_argument("--repeat", type=int, default=3, help="number of runs of each; the fastest counts")
    options = parser.parse_args(arguments)
    pythons = [sys.executable] + ([options.other] if options.other else [])
    with tempfile.TemporaryDirectory() as name:
        outputs = [Path(name) / f"{number}.txt" for number in range(len(pythons))]
        runs = [
            [
                measure(python, options.model, options.texts, options.texts_asked, output)
                for output, python in zip(outputs, pythons, strict=True)
            ]
            for _ in range(options.repeat)
        ]
        if len({output.read_bytes() for output in outputs}) > 1:
            raise SystemExit("the two installations predict different labels")
    print("| µs | this |" + (" other | × |" if options.other else ""))
    print("| --- | --- |" + (" --- | --- |" if options.other else ""))
    for figure in runs[0][0]:
        fastest = [float(np.min([run[i][figure] for run in runs])) for i in range(len(pythons))]
        ratio = f" {fastest[1]:.1f} | {fastest[1] / fastest[0]:.2f} |" if options.other else ""
        print(f"| {figure} | {fastest[0]:.1f} |{ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
