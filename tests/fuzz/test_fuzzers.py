"""The fuzzers themselves: a short run of each finds nothing, and what breaks is found, kept and tried again."""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from tests.fuzz.corpus import Corpus
from tests.fuzz.findings import Findings, read_finding
from tests.fuzz.runner import Runner, crash_signature
from tests.fuzz.target import TARGETS, Case, Target, target_class
from tests.fuzz.worker import run_cases, try_case

from labeltree import LabelTree

#: Fewer where a case takes long.
N_CASES = {"model-files": 200, "data-files": 200, "texts": 12, "requests": 40, "streams": 15}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_a_short_run_finds_nothing(name: str, tmp_path: Path) -> None:
    target = target_class(TARGETS[name])(tmp_path)
    try:
        seeds = target.seeds()
        for case in seeds[:5]:
            assert try_case(target, case)[0] is None
        outcomes = set()
        for result in islice(run_cases(target, Corpus(seeds), seed=0), N_CASES[name]):
            assert result.finding is None, result.details
            outcomes.add(result.details)
        assert len(outcomes) > 5
    finally:
        target.close()


class Broken(Target):
    """A target with one fault of every kind."""

    def seeds(self) -> list[Case]:
        return [{"input": b"0"}]

    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        return {"input": rng.choice([b"good", b"refused", b"type", b"memory", b"crash", b"hang"])}

    def run(self, case: Case) -> str:
        match case["input"]:
            case b"refused":
                LabelTree.from_json("no JSON")
            case b"type":
                raise TypeError("not a proper refusal")
            case b"memory":
                raise MemoryError
            case b"crash":
                ctypes.string_at(0)
            case b"hang":
                while True:
                    time.thread_time()
        return "answered"


def test_faults_are_found_and_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = "tests.fuzz.test_fuzzers:Broken"
    findings = Findings(tmp_path)
    # This seed has two crashes and a hang; each costs the start of a process.
    effort = Runner(findings, seed=42, limit=2).run(place, seconds=250, n_cases=9)
    assert effort.cases == 9
    assert effort.crashes == 3
    lines = " ".join(findings.counts)
    for kind in ("TypeError at", "MemoryError at", "crash with status", "hang in"):
        assert kind in lines
    assert len(findings.counts) == 4  # and not one for each case
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == 4
    assert str(folders[0]) in capsys.readouterr().out
    replayed = []
    for folder in folders:
        name, case = read_finding(folder)
        assert name == place
        if case["input"] in (b"type", b"memory"):
            replayed.append(try_case(Broken(tmp_path), case)[0])
    assert len(replayed) == 2
    assert None not in replayed


def test_the_same_seed_gives_the_same_cases(tmp_path: Path) -> None:
    target = target_class(TARGETS["data-files"])(tmp_path)
    runs = [
        [result.case for result in islice(run_cases(target, Corpus(target.seeds()), 7), 30)] for _ in range(2)
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        (
            "==7==ERROR: AddressSanitizer: heap…\nSUMMARY: AddressSanitizer: heap-buffer-overflow a.cpp:7 in f\n",
            "overflow",
        ),
        (
            "a.cpp:7:3: runtime error: signed integer overflow: 2147483647 + 1 cannot\n",
            "signed integer overflow",
        ),
        ("Fatal Python error: Segmentation fault\n", "crash with status -11: Segmentation fault"),
    ],
)
def test_crashes_are_named_by_their_reports(text: str, signature: str) -> None:
    assert signature in crash_signature(text, -11)


def test_the_command(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.fuzz",
        "--seconds",
        "1",
        "--target",
        "data-files",
        "--folder",
        str(tmp_path),
    ]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"^seed \d+, without sanitizers$", ended.stdout, re.MULTILINE)
    assert re.search(r"^data-files +[1-9]\d* .* 0$", ended.stdout, re.MULTILINE)
    assert list((tmp_path / "corpus" / "data-files").iterdir())
