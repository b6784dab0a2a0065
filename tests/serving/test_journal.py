"""A journal gives back all that was written, and nothing else, whatever happened to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labeltree.serving.journal import Journal, journal_of


def read(path: Path) -> list[tuple[int, list[dict[str, Any]]]]:
    journal = Journal(path)
    try:
        return [(record.first, record.examples) for record in journal.records()]
    finally:
        journal.close()


def write(path: Path, *records: tuple[int, list[dict[str, Any]]]) -> Path:
    """The only part of a journal with these records."""
    journal = Journal(path)
    assert list(journal.records()) == []
    for first, examples in records:
        journal.append(first, examples)
    journal.close()
    (part,) = path.glob("*.jsonl")
    return part


RECORDS = [(7, [{"text": "a\nb\r\u2028", "labels": ["é"]}]), (8, [{"x": 1}, {"x": 2}]), (10, [{"x": 3}])]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "pets.labeltree")
    assert path == tmp_path / "pets.labeltree.journal"
    part = write(path, *RECORDS)
    assert part.name == "000000000007.jsonl"
    assert read(path) == RECORDS


def test_a_line_that_is_cut_anywhere_is_dropped_and_others_go_on_behind(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    part = write(path, *RECORDS)
    whole = part.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        part.write_bytes(whole[:cut])
        journal = Journal(path)
        assert [(record.first, record.examples) for record in journal.records()] == RECORDS[:2]
        journal.append(10, [{"x": 4}])
        journal.close()
        assert read(path) == [*RECORDS[:2], (10, [{"x": 4}])]


def test_the_last_of_a_file_that_was_never_written_is_dropped(tmp_path: Path) -> None:
    part = write(tmp_path / "journal", *RECORDS)
    whole = part.read_bytes()
    part.write_bytes(whole[:-10] + bytes(10))
    assert read(tmp_path / "journal") == RECORDS[:2]


def test_damage_in_the_middle_is_told(tmp_path: Path) -> None:
    part = write(tmp_path / "journal", *RECORDS)
    damaged = bytearray(part.read_bytes())
    damaged[20] ^= 1
    part.write_bytes(bytes(damaged))
    with pytest.raises(ValueError, match=r"000000000007\.jsonl:1: this line is damaged"):
        read(tmp_path / "journal")


def test_a_cut_end_of_a_part_that_has_another_behind_it_is_damage(tmp_path: Path) -> None:
    part = write(tmp_path / "journal", *RECORDS)
    journal = Journal(tmp_path / "journal")
    list(journal.records())
    journal.begin_part(11)
    journal.append(11, [{"x": 5}])
    journal.close()
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(ValueError, match="this line is damaged"):
        read(tmp_path / "journal")


def test_what_is_taken_back_is_gone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    list(journal.records())
    journal.append(0, [{"x": 0}])
    journal.take_back(journal.append(1, [{"x": 1}, {"x": 2}]), 1)
    journal.append(2, [{"x": 3}])
    journal.take_back(journal.append(3, [{"x": 4}]), 0)
    journal.append(3, [{"x": 5}])
    journal.close()
    assert read(tmp_path / "journal") == [(0, [{"x": 0}]), (1, [{"x": 1}]), (2, [{"x": 3}]), (3, [{"x": 5}])]


def test_parts_are_removed_when_a_model_has_all_of_them(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    list(journal.records())
    for first in (0, 5, 9):
        journal.begin_part(first)
        journal.append(first, [{"x": first}])
    journal.remove_parts_before(8)
    assert sorted(path.stem for path in tmp_path.glob("journal/*.jsonl")) == ["000000000005", "000000000009"]
    journal.close()
    assert read(tmp_path / "journal") == [(5, [{"x": 5}]), (9, [{"x": 9}])]
    journal = Journal(tmp_path / "journal")
    journal.restart(20)
    journal.close()
    assert read(tmp_path / "journal") == []


def test_one_at_a_time_has_a_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    with pytest.raises(ValueError, match="another server learns into this model"):
        Journal(tmp_path / "journal")
    journal.close()
    Journal(tmp_path / "journal").close()
