import re
from pathlib import Path

import pytest
from benchmarks import start
from benchmarks.start import Usage, compare, usage_of

from labeltree.text import Tagger

BUSY = "import time\nuntil = time.process_time() + 0.5\nwhile time.process_time() < until: pass"


def test_the_processor_and_the_memory_of_a_process_are_its_own() -> None:
    idle, busy = usage_of("pass"), usage_of(BUSY)
    large = usage_of("x = bytearray(b'1') * 300_000_000")
    assert 0.5 <= busy.cpu_s < idle.cpu_s + 1
    assert 3 < idle.peak_mb < 60  # the process that runs this test has more, and it does not count
    assert large.peak_mb - idle.peak_mb == pytest.approx(300, abs=20)


def test_the_least_time_and_the_most_memory_of_several_runs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {"a": [Usage(3.0, 5.0), Usage(2.0, 6.0)], "b": [Usage(1.0, 1.0), Usage(4.0, 1.0)]}
    order = []

    def run(program: str) -> Usage:
        order.append(program)
        return runs[program].pop(0)

    monkeypatch.setattr(start, "usage_of", run)
    assert compare({"first": ["a"], "second": ["b"]}, 2) == {
        "first": Usage(2.0, 6.0),
        "second": Usage(1.0, 1.0),
    }
    assert order == ["a", "b", "a", "b"]


def test_a_process_that_fails_ends_the_measurement() -> None:
    with pytest.raises(SystemExit, match="failed with 3"):
        usage_of("raise SystemExit(3)")


def test_the_table_has_a_line_for_each_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["a boat on the sea", "portrait of a woman", "waves and a ship", "an old man, seated"] * 5
    Tagger().fit(texts, [["boat", "sea"], ["portrait"], ["boat", "sea"], ["portrait"]] * 5).save(
        tmp_path / "tags"
    )
    start.main(["--model", str(tmp_path / "tags"), "--texts", "20", "--repeat", "1"])
    table = re.findall(r"^\| (.*) \| ([\d.]+) \| (\d+) \|$", capsys.readouterr().out, re.MULTILINE)
    memory = {name: int(peak_mb) for name, _, peak_mb in table}
    asked = [name for name in memory if name.startswith("`labeltree predict`")]
    assert asked[::2] == ["`labeltree predict`, one text", "`labeltree predict`, 20 texts"]
    assert memory["Python"] < memory["`labeltree --help`"] < memory[asked[0]]
    # A command that only asks does not import scikit-learn.
    assert memory[asked[1]] > memory[asked[0]] + 20
