import os
import sys
import time

from benchmarks.process import MessageStopwatch, read_report, run_process


def run(script, folder, limit_s=30.0, **options):
    return run_process([sys.executable, "-S", "-c", script], folder, limit_s=limit_s, threads=3, **options)


def test_reports_are_merged_and_the_number_of_threads_is_set(tmp_path):
    ended = run(
        "import json, os\n"
        "print(json.dumps({'a': 1}))\n"
        "print(json.dumps({'threads': os.environ['OMP_NUM_THREADS']}))",
        tmp_path,
    )
    assert (ended.exit_code, ended.timed_out) == (0, False)
    assert ended.report == {"a": 1, "threads": "3"}
    assert ended.seconds_between is None


def test_a_line_that_was_cut_short_is_left_out(tmp_path):
    (tmp_path / "report").write_text('{"a": 1}\n{"b": ')
    assert read_report(tmp_path / "report") == {"a": 1}


def test_the_last_messages_of_a_failure_are_kept(tmp_path):
    ended = run("import sys; sys.stderr.write('x' * 5000 + 'the end'); sys.exit(3)", tmp_path)
    assert ended.exit_code == 3
    assert ended.last_messages.endswith("the end")
    assert len(ended.last_messages) == 2000


def test_the_limit_ends_a_process_and_what_it_started(tmp_path):
    script = (
        "import json, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "print(json.dumps({'child': child.pid}), flush=True)\n"
        "time.sleep(600)"
    )
    for limit_s in (1, 4, 16):  # a busy machine may need some time to start it
        ended = run(script, tmp_path, limit_s=limit_s)
        assert ended.timed_out
        if ended.report:
            break
    deadline = time.monotonic() + 60
    while is_running(ended.report["child"]):
        assert time.monotonic() < deadline, "the child still runs"
        time.sleep(0.05)


def is_running(pid):
    """Whether a process runs; one that ended and that nobody has asked for yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_memory_of_children_is_counted(tmp_path):
    hungry = (
        "import time; held = bytearray(60_000_000); held[::4096] = b'1' * len(held[::4096]); time.sleep(1)"
    )
    ended = run(f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {hungry!r}])", tmp_path)
    if os.path.exists("/proc/self/task"):
        assert 57 < ended.children_mb < 120
    else:
        assert ended.children_mb == 0  # nobody tells


def test_the_stopwatch_adds_up_the_time_between_two_messages(tmp_path):
    log = tmp_path / "log"
    log.write_text("begin\n")
    watch = MessageStopwatch(log, "begin", "end")
    watch.look()
    assert watch.seconds is None
    time.sleep(0.05)
    with open(log, "a") as file:
        file.write("50 %\r100 %\rend of the first\nbegin\nen")
    watch.look()
    first = watch.seconds
    assert first >= 0.05
    time.sleep(0.05)
    with open(log, "a") as file:
        file.write("d\n")
    watch.look()
    assert watch.seconds >= first + 0.05
