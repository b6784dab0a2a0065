"""A process that has imported the libraries of the tests, but not labeltree; it forks a child for each run.

It reads one JSON object per line from its input, and writes one per line to its output.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

LIBRARIES = """
numpy scipy.sparse scipy.special scipy.stats joblib pandas sklearn.base sklearn.linear_model sklearn.preprocessing
sklearn.feature_extraction.text sklearn.utils.estimator_checks pytest hypothesis hypothesis.strategies
hypothesis.extra.numpy typer.testing rich.progress fastapi uvicorn httpx schemathesis
"""
OPTIONS = ["-q", "-x", "--no-header", "--tb=line", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
# pytest and Hypothesis are imported before pytest starts.
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
# Other plugins, and the search for garbage at the end, take seconds (PYTEST_DISABLE_PLUGIN_AUTOLOAD is set).
OPTIONS += ["-p", "_hypothesis_pytestplugin", "-p", "pytest_timeout", "-p", "no:unraisableexception"]
LARGEST_MEMORY = 16 << 30
LONGEST_IDLE = 90  # seconds; a process that computes nothing for so long waits for itself


def run_tests(request: dict[str, Any], plugin: Any) -> str | None:
    """Run tests in this process; return the name of one that failed."""
    import pytest

    for file, tests in request["tests"]:
        chosen = plugin.Chosen(tests)
        code = pytest.main([*OPTIONS, file], plugins=[chosen])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return chosen.failed or f"{file} (not collected)"
    return None


def record_tests(request: dict[str, Any], plugin: Any) -> str | None:
    """Run the tests of a file and write what they reach."""
    import pytest

    from mutation.reached_table import ReachedTable

    recorder = plugin.Recorder(ReachedTable(Path(os.environ["LABELTREE_MUTANTS_REACHED"])))
    options = [option for option in OPTIONS if option != "-x"]
    code = pytest.main([*options, request["record"]], plugins=[recorder])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest does not run {request['record']}: see {request['log']}")
    recorder.write(Path(request["output"]))
    return None


def run_child(request: dict[str, Any], answer: int) -> None:
    os.setsid()
    with Path(request["log"]).open("wb") as log, Path(os.devnull).open("rb") as nothing:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        os.dup2(nothing.fileno(), 0)
    seconds = int(request["cpu_limit"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.update(request["environment"])
    import sitecustomize  # type: ignore[import-not-found]

    sitecustomize.start()
    from mutation import plugin

    failed = (record_tests if "record" in request else run_tests)(request, plugin)
    outcome = {"outcome": "survived"} if failed is None else {"outcome": "killed", "by": failed}
    os.write(answer, json.dumps(outcome).encode())


def _cpu_time(process: int) -> str:
    """The time that a process and its finished children have computed, as the system writes it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return " ".join(fields[11:15])


def wait_for(child: int, answer: int, wall_limit: float) -> dict[str, Any]:
    """Wait for a child, end it and its processes when its time is up, and tell how it ended."""
    begin = idle_since = time.monotonic()
    used = ""
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if done or now - begin > wall_limit or now - idle_since > LONGEST_IDLE:
            break
        before, used = used, _cpu_time(child)
        idle_since = now if used != before else idle_since
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # also what the tests left behind
    if not done:
        os.waitpid(child, 0)
        return {"outcome": "timeout"}
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        timed_out = number in (signal.SIGXCPU, signal.SIGKILL)
        return {"outcome": "timeout" if timed_out else "killed", "by": signal.Signals(number).name}
    text = os.read(answer, 1 << 16)
    outcome: dict[str, Any] = json.loads(text) if text else {"outcome": "killed", "by": "the process ended"}
    return outcome


def main() -> None:
    for name in LIBRARIES.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "labeltree" not in sys.modules
    for line in sys.stdin:
        request = json.loads(line)
        begin = time.monotonic()
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(readable)
                run_child(request, writable)
            except Exception:  # tests raise none: it is a defect of ours, and kills no mutant
                error = {"outcome": "error", "by": traceback.format_exc()[-4000:]}
                os.write(writable, json.dumps(error).encode())
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.close(writable)
        outcome = wait_for(child, readable, request["wall_limit"])
        os.close(readable)
        outcome["seconds"] = round(time.monotonic() - begin, 2)
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
