"""A stream that is learned by a process which is killed again and again: the model is that of an uninterrupted run."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.command_line import run, start

from labeltree import OnlineLabelTreeClassifier
from labeltree.data import read_stream

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

#: Learns or goes on, in children that count the lines of this library which they run, and die at a given one.
NURSERY = """
import json, os, signal, sys
from labeltree import OnlineLabelTreeClassifier
from labeltree.data import read_stream

stream, folder, weights, policy = sys.argv[1:]


def learn(path):
    if os.path.exists(os.path.join(path, "model.json")):
        model = OnlineLabelTreeClassifier.load(path)
    else:
        model = OnlineLabelTreeClassifier(
            policy=policy, arity=3, weights=weights, memory_mb=0.1 if weights in ("hashed", "shared") else None,
            expected_labels=100 if weights == "hashed" else None, random_state=3,
        )
    model.learn(read_stream(stream, batch_size=7), checkpoint=path, checkpoint_every=20)


def in_child(path, die_at, report=None):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    lines, saving = 0, []

    def trace(frame, event, argument):
        nonlocal lines
        if "labeltree" not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines += 1
            if "model_file" in frame.f_code.co_filename:
                saving.append(lines)
            if lines == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    learn(path)
    sys.settrace(None)
    if report is not None:
        os.write(report, json.dumps([lines, saving[:: len(saving) // 200 + 1]]).encode())
    os._exit(0)


for request in sys.stdin:
    path, die_at = request.split()
    if die_at == "count":
        reading, writing = os.pipe()
        assert in_child(path, None, writing) == 0
        print(os.read(reading, 1 << 16).decode(), flush=True)
    else:
        print(in_child(path, int(die_at)), flush=True)
"""


def write_stream(path: Path, n_examples: int) -> Path:
    rng = random.Random(5)
    with path.open("w") as file:
        for i in range(n_examples):
            labels = [f"label {min(int(rng.paretovariate(0.8)), i)}" for _ in range(2)]
            features = {f"word of {label}": rng.random() for label in labels}
            file.write(json.dumps({"features": {**features, "any": 1}, "labels": labels}) + "\n")
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("weights", "policy"),
    [("map", "complete"), ("dense", "best_fit"), ("hashed", "random"), ("shared", "complete")],
)
def test_killed_at_any_line(tmp_path: Path, weights: str, policy: str) -> None:
    """Also in the midst of saving; afterwards the directory holds the model and nothing else."""
    stream = write_stream(tmp_path / "stream.jsonl", 130)
    command = [sys.executable, "-c", NURSERY, stream, tmp_path, weights, policy]
    rng = random.Random(7)
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as nursery:

        def ask(path: Path, die_at: object) -> str:
            assert nursery.stdin is not None
            assert nursery.stdout is not None
            print(path, die_at, file=nursery.stdin, flush=True)
            return nursery.stdout.readline().strip()

        n_lines, saving = json.loads(ask(tmp_path / "expected", "count"))
        expected = content(tmp_path / "expected")
        n_killed = 0
        for _ in range(10):
            # Counted from where it goes on: a line that is never reached ends the run.
            die_at = rng.choice([rng.randrange(1, n_lines // 2), rng.choice(saving)])
            n_killed += ask(tmp_path / "killed", die_at) == str(int(signal.SIGKILL))
        assert n_killed >= 3
        assert ask(tmp_path / "killed", 0) == "0"
        assert content(tmp_path / "killed") == expected


def test_kill_from_outside(tmp_path: Path) -> None:
    """`kill -9` at moments that nobody chose, while `labeltree learn` reads, learns and saves."""
    stream = write_stream(tmp_path / "stream.jsonl", 1500)
    options = ["--random-state", 3, "--checkpoint-every", 75, "--report-every", 100, "--json"]
    arguments = ["learn", stream, *options]
    run(*arguments, "--model", tmp_path / "expected")
    rng = random.Random(11)
    for _ in range(2):
        with start(*arguments, "--model", tmp_path / "killed") as process:
            assert process.stdout is not None
            for _ in range(rng.randrange(1, 6)):
                process.stdout.readline()
            time.sleep(rng.random() / 100)
            process.kill()
            process.wait()  # before its output is closed, which would be another way to end it
    assert OnlineLabelTreeClassifier.load(tmp_path / "killed").n_examples_ % 75 == 0
    run(*arguments, "--model", tmp_path / "killed")
    assert content(tmp_path / "killed") == content(tmp_path / "expected")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_clean_save(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """A process that waits for more saves what it has learned, says so, and ends at once."""
    lines = write_stream(tmp_path / "stream.jsonl", 130).read_bytes()
    arguments = ["learn", "-", "--model", tmp_path / "model", "--random-state", 3, "--report-every", 130]
    with start(*arguments, stdin=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines + b'{"text": "not yet comp')
        process.stdin.flush()
        for _ in range(2):  # the head, then the report of the last example
            process.stdout.readline()
        process.send_signal(number)
        printed = process.stdout.read().decode()
        assert process.wait(timeout=60) == code
    assert printed.startswith(f"stopped by {number.name}\n130 examples learned in ")
    model = OnlineLabelTreeClassifier(random_state=3, n_jobs=-1)
    for X, y in read_stream(tmp_path / "stream.jsonl"):
        model.partial_fit(X, y)
    model.save(tmp_path / "expected")
    assert content(tmp_path / "model") == content(tmp_path / "expected")


def test_signal_while_it_learns(tmp_path: Path) -> None:
    """What was read is learned and saved, and the same command goes on from there."""
    stream = write_stream(tmp_path / "stream.jsonl", 10_000)
    arguments = ["learn", stream, "--random-state", 3, "--report-every", 500, "--json", "--model"]
    with start(*arguments, tmp_path / "stopped") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        end = json.loads(process.stdout.read().splitlines()[-1])
        assert process.wait(timeout=60) == 0
    assert (end["event"], end["stopped_by"]) == ("end", "SIGTERM")
    assert 500 <= end["examples"] < 10_000
    assert OnlineLabelTreeClassifier.load(tmp_path / "stopped").n_examples_ == end["examples"]
    run(*arguments, tmp_path / "stopped")
    run(*arguments, tmp_path / "expected")
    assert content(tmp_path / "stopped") == content(tmp_path / "expected")
