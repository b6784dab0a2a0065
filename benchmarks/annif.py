"""Annif's backends `labeltree` and `omikuji` side by side, on texts of EU laws: both with their default parameters.

LABELTREE_DATA=../shared/data python -m benchmarks.annif --documents 10000 --test-documents 2000

Prints a table in Markdown. The first run installs Annif (500 MB) into build/.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from integrations.annif.environment import ANNIF, annif_environment, environment_variables

from benchmarks.data import sources
from benchmarks.table import number

#: From the project's name to the folder of its model. Ours comes first: ratios are to it.
BACKENDS = {"labeltree": "labeltree-model", "omikuji": "omikuji-model"}
SUGGESTIONS = Path(__file__).parent / "systems" / "annif_suggestions.py"

PROJECT = """
[{backend}]
language=en
backend={backend}
analyzer=snowball(english)
vocab=eurovoc
"""

#: The name of a figure, its unit, and whether more of it is better.
FIGURES = {
    "training": ("`annif train`, s", False),
    "training_cpu": ("… CPU time, s", False),
    "memory": ("… peak memory, MB", False),
    "cached": ("`annif train --cached`, s", False),
    "cached_cpu": ("… CPU time, s", False),
    "model": ("model on disk, MB", False),
    "documents_per_s": ("documents per CPU second, whole path", True),
    "search_ms": ("… without words to numbers, CPU ms per document", False),
    "suggesting_memory": ("… peak memory, MB", False),
    "F1@5": ("F1@5", True),
    "NDCG": ("nDCG (10 suggestions)", True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--documents", type=int, help="number of documents to train on, by default all 45,000"
    )
    parser.add_argument(
        "--test-documents", type=int, help="number of documents to test with, by default all 6,000"
    )
    options = parser.parse_args()
    programs = annif_environment()
    with tempfile.TemporaryDirectory(dir=annif_environment().parent) as name:
        folder = Path(name)
        variables = environment_variables(folder)
        write_corpus(folder, options.documents, options.test_documents)
        (folder / "projects.cfg").write_text("".join(PROJECT.format(backend=backend) for backend in BACKENDS))
        annif = Annif(programs, folder, variables)
        annif.run("load-vocab", "eurovoc", "--language", "en", "vocabulary.tsv")
        figures = {backend: measure(annif, backend) for backend in BACKENDS}
    print(f"Annif {ANNIF}, {os.cpu_count()} processors\n")
    print("\n".join(table(figures)))


class Annif:
    """Runs Annif's programs in a folder."""

    def __init__(self, programs: Path, folder: Path, variables: dict[str, str]) -> None:
        self._programs, self.folder, self._variables = programs, folder, variables

    def run(self, *arguments: str | Path, program: str = "annif") -> dict[str, float]:
        """Return the seconds, the seconds of all processors, and the peak memory in MB of a command."""
        begin = time.perf_counter()
        log = self.folder / "log.txt"
        with open(log, "wb") as file:
            process = subprocess.Popen(
                [self._programs / program, *arguments],
                cwd=self.folder,
                env=self._variables,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
            memory_kb = 0
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                memory_kb = max(memory_kb, _peak_memory_kb(process.pid))
                time.sleep(0.02)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"annif {' '.join(map(str, arguments))} failed:\n{log.read_text()[-2000:]}")
        return {
            "s": time.perf_counter() - begin,
            "cpu": usage.ru_utime + usage.ru_stime,
            "mb": memory_kb / 1024,
        }


def _peak_memory_kb(pid: int) -> int:
    """Return the peak memory so far. `wait4` would count the memory that this process had when it started the other."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0  # it has ended


def measure(annif: Annif, backend: str) -> dict[str, float]:
    """Train a project from texts and from cached features, let it suggest, and measure all of it."""
    training = annif.run("train", backend, "train.tsv")
    cached = annif.run("train", backend, "--cached")
    annif.run("eval", backend, "test.tsv", "--metrics-file", "metrics.json")
    metrics: dict[str, float] = json.loads((annif.folder / "metrics.json").read_text())
    suggesting = annif.run(SUGGESTIONS, backend, "test.tsv", "suggesting.json", program="python")
    times: dict[str, Any] = json.loads((annif.folder / "suggesting.json").read_text())
    model = annif.folder / "data" / "projects" / backend / BACKENDS[backend]
    return {
        "training": training["s"],
        "training_cpu": training["cpu"],
        "memory": training["mb"],
        "cached": cached["s"],
        "cached_cpu": cached["cpu"],
        "model": sum(path.stat().st_size for path in model.rglob("*") if path.is_file()) / 2**20,
        "documents_per_s": times["documents"] / times["suggest_s"],
        "search_ms": 1000 * (times["suggest_s"] - times["vectorize_s"]) / times["documents"],
        "suggesting_memory": suggesting["mb"],
        "F1@5": metrics["F1@5"],
        "NDCG": metrics["NDCG"],
    }


def table(figures: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, with the ratio of the others to ours."""
    ours, *others = figures
    yield f"| | {ours} | {' | '.join(f'{other} | ratio' for other in others)} | better is |"
    yield f"| --- | --- | {' | '.join('--- | ---' for _ in others)} | --- |"
    for name, (words, more_is_better) in FIGURES.items():
        cells = [number(figures[ours][name])]
        for other in others:
            value = figures[other][name]
            cells += [number(value), f"{value / figures[ours][name]:.2f}×"]
        yield f"| {words} | {' | '.join(cells)} | {'more' if more_is_better else 'less'} |"


def write_corpus(folder: Path, n_train: int | None, n_test: int | None) -> None:
    """Write a vocabulary and documents as Annif reads them: random samples of the training set and of the test set."""
    source = sources() / "eurlex57k"
    names: dict[str, str] = {
        label: concept["label"]
        for label, concept in json.loads((source / "concepts.json").read_text()).items()
    }
    for split, n_rows in (("train", n_train), ("test", n_test)):
        with lzma.open(source / f"{split}.tsv.xz", "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").partition("\t") for line in file]
        if n_rows is not None:  # the rows are in the order of their years
            rows = random.Random(0).sample(rows, n_rows)
        with open(folder / f"{split}.tsv", "w", encoding="utf-8") as file:
            for labels, _, text in rows:
                file.write(f"{text.replace(chr(9), ' ')}\t{' '.join(map(_uri, labels.split()))}\n")
    lines = (f"{_uri(label)}\t{name}\n" for label, name in names.items())
    (folder / "vocabulary.tsv").write_text("".join(lines), encoding="utf-8")


def _uri(label: str) -> str:
    return f"<http://eurovoc.europa.eu/{label}>"


if __name__ == "__main__":
    main()
