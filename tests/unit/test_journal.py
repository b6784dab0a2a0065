"""A journal gives back all that was written, and nothing else, whatever happened to its end."""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from labeltree.model_file.journal import Journal, journal_of
from labeltree.model_file.journal_lines import Contents, Lesson, Mark, Receipt, Refused, records

BEFORE = Mark("b" * 64, 7)


def opened(path: Path, mark: Mark = BEFORE) -> Journal:
    return Journal(path, Contents.read(path), mark)


def read(path: Path) -> list[tuple[int, list[dict[str, Any]]]]:
    """All examples that were not refused."""
    found = []
    for record in records(path):
        spans = [record.examples[begin:end] for _, begin, end, _ in record.spans()]
        found.append((record.first, [example for span in spans for example in span]))
    return found


def write(path: Path, *written: tuple[int, list[dict[str, Any]]]) -> Path:
    """The only part of a journal with these records."""
    journal = opened(path)
    for first, examples in written:
        journal.append(first, examples)
    journal.close()
    (part,) = path.glob("*.jsonl")
    return part


RECORDS = [(7, [{"text": "a\nb\r\u2028", "labels": ["é"]}]), (8, [{"x": 1}, {"x": 2}]), (10, [{"x": 3}])]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "pets.labeltree")
    assert path == tmp_path.resolve() / "pets.labeltree.journal"
    assert not opened(path).exists
    part = write(path, *RECORDS)
    assert part.name == "000000000007.jsonl"
    assert read(path) == RECORDS
    contents = Contents.read(path)
    assert (contents.marks, contents.n_records, contents.first, contents.end) == ([BEFORE], 3, 7, 11)


def test_the_journal_lies_beside_the_directory_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "model").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "model")
    assert journal_of(tmp_path / "link") == tmp_path.resolve() / "there" / "model.journal"


def test_a_line_that_is_cut_anywhere_is_dropped_and_others_go_on_behind(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    part = write(path, *RECORDS)
    whole = part.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        part.write_bytes(whole[:cut])
        journal = opened(path)
        assert read(path) == RECORDS[:2]
        journal.append(10, [{"x": 4}])
        journal.close()
        assert read(path) == [*RECORDS[:2], (10, [{"x": 4}])]


def test_the_last_of_a_file_that_was_never_written_is_dropped(tmp_path: Path) -> None:
    part = write(tmp_path / "journal", *RECORDS)
    whole = part.read_bytes()
    part.write_bytes(whole[:-10] + bytes(10))
    assert read(tmp_path / "journal") == RECORDS[:2]


def test_every_flipped_bit_is_told(tmp_path: Path) -> None:
    """Also one inside a text, which is still JSON, and one in the last line, which was acknowledged."""
    part = write(tmp_path / "journal", *RECORDS)
    whole = part.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        part.write_bytes(bytes(damaged))
        with pytest.raises(ValueError, match=r"000000000007\.jsonl:[1-4]: this line is damaged"):
            read(tmp_path / "journal")


def test_another_text_in_the_last_line_is_told(tmp_path: Path) -> None:
    part = write(tmp_path / "journal", (7, [{"x": 1}]), (8, [{"text": "purrs", "labels": ["cat"]}]))
    part.write_bytes(part.read_bytes().replace(b"purrs", b"barks"))
    with pytest.raises(ValueError, match=r"000000000007\.jsonl:3: this line is damaged"):
        read(tmp_path / "journal")


def test_a_cut_end_of_a_part_that_has_another_behind_it_is_damage(tmp_path: Path) -> None:
    part = write(tmp_path / "journal", *RECORDS)
    journal = opened(tmp_path / "journal")
    journal.begin_part(11, [])
    journal.append(11, [{"x": 5}])
    journal.close()
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(ValueError, match="this line is damaged"):
        read(tmp_path / "journal")


def test_a_line_of_a_kind_that_is_not_known_is_told(tmp_path: Path) -> None:
    """It may be of a later version, and stand for examples."""
    part = write(tmp_path / "journal", *RECORDS)
    text = b'{"forgotten":["cat"]}'
    with part.open("ab") as file:
        file.write(b"%08x %s\n" % (zlib.crc32(text), text))
    with pytest.raises(ValueError, match="none of the known kinds; open it with a newer labeltree"):
        Contents.read(tmp_path / "journal")


def test_what_is_refused_is_gone(tmp_path: Path) -> None:
    journal = opened(tmp_path / "journal", Mark("", 0))
    journal.append(0, [{"x": 0}])
    journal.refuse(journal.append(1, [{"x": 1}, {"x": 2}]), Refused(1, 2, "no"))
    journal.append(2, [{"x": 3}])
    journal.refuse(journal.append(3, [{"x": 4}]), Refused(0, 1, "no"))
    # Of several requests that were written together, one is refused after its first example.
    several = journal.append(3, [{"x": i} for i in range(5, 11)], [Lesson(2), Lesson(3), Lesson(1)])
    journal.refuse(several, Refused(3, 5, "no"))
    assert several.n_learned == 4
    journal.close()
    assert read(tmp_path / "journal") == [
        (0, [{"x": 0}]),
        (1, [{"x": 1}]),
        (2, [{"x": 3}]),
        (3, []),
        (3, [{"x": 5}, {"x": 6}, {"x": 7}, {"x": 10}]),
    ]
    assert Contents.read(tmp_path / "journal").end == 7


def test_all_requests_of_a_record_may_be_refused_at_once(tmp_path: Path) -> None:
    """As after a fault, in the second example of the second of three requests."""
    journal = opened(tmp_path / "journal", Mark("", 0))
    lessons = [Lesson(1, "a", ""), Lesson(2, "b", ""), Lesson(2, "c", "")]
    record = journal.append(0, [{"x": i} for i in range(5)], lessons)
    journal.refuse(record, Refused(2, 5, "no memory"))
    journal.close()
    assert read(tmp_path / "journal") == [(0, [{"x": 0}, {"x": 1}])]
    receipts = Contents.read(tmp_path / "journal").receipts
    assert receipts == {"a": Receipt("a", "", 1, 1), "b": Receipt("b", "", 1, 2, "no memory")}


def test_a_part_whose_name_may_be_lost_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labeltree.model_file import journal as module

    journal = opened(tmp_path / "journal")
    synced: list[Path] = []

    def sync(folder: Path) -> None:
        synced.append(folder)
        if len(synced) == 2:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(module, "sync_folder", sync)
    with pytest.raises(OSError, match="Input/output"):
        journal.append(7, [{"x": 7}])
    journal.append(7, [{"x": 8}])
    assert synced == [tmp_path, tmp_path / "journal", tmp_path / "journal"]
    journal.close()
    assert read(tmp_path / "journal") == [(7, [{"x": 8}])]


def test_receipts_are_kept_over_parts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = opened(path)
    lessons = [Lesson(1, "a", "1"), Lesson(1), Lesson(2, "b", "2"), Lesson(1, "c", "3")]
    record = journal.append(7, [{"x": i} for i in range(5)], lessons)
    journal.refuse(record, Refused(3, 4, "too large"))
    journal.refuse(record, Refused(4, 5, "too large"))
    expected = {"a": Receipt("a", "1", 1, 8), "b": Receipt("b", "2", 1, 10, "too large")}
    assert Contents.read(path).receipts == expected
    journal.begin_part(10, list(expected.values()))
    journal.remove_parts_before(10)
    journal.close()
    contents = Contents.read(path)
    assert (contents.receipts, contents.n_records) == (expected, 0)


def test_parts_are_removed_when_a_model_has_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = opened(path)
    journal.append(0, [{"x": 0}])
    for first in (5, 9):
        journal.begin_part(first, [])
        journal.append(first, [{"x": first}])
    journal.remove_parts_before(8)
    assert sorted(one.stem for one in path.glob("*.jsonl")) == ["000000000005", "000000000009"]
    journal.close()
    assert read(path) == [(5, [{"x": 5}]), (9, [{"x": 9}])]
    opened(path).remove()
    assert not path.exists()


class Disk:
    """Notes every call that reaches the disk, and fails when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: list[bytes] = []
        self.is_full = False
        sync = os.fsync

        def fsync(descriptor: int) -> None:
            if self.is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            sync(descriptor)
            name = os.readlink(f"/proc/self/fd/{descriptor}")
            if name.endswith(".jsonl"):
                self.synced.append(Path(name).read_bytes())

        monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs the names of open files")
def test_every_line_is_synced_before_its_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    journal = opened(tmp_path / "journal")
    record = journal.append(7, [{"text": "first"}])
    assert b'"first"' in disk.synced[-1]
    journal.refuse(record, Refused(0, 1, "refused so"))
    assert b"refused so" in disk.synced[-1]
    journal.mark(Mark("abc", 7))
    assert b"abc" in disk.synced[-1]
    journal.begin_part(7, [Receipt("key", "", 1, 7)])
    assert b"key" in disk.synced[-1]
    journal.close()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs the names of open files")
def test_what_could_not_be_synced_is_not_there_and_what_comes_later_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    path = tmp_path / "journal"
    journal = opened(path)
    record = journal.append(7, [{"x": 7}, {"x": 8}])
    disk.is_full = True
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            journal.append(9, [{"x": 9}])
    journal.refuse(record, Refused(1, 2, "no"))  # written when there is room
    disk.is_full = False
    journal.append(8, [{"x": 10}])
    journal.close()
    assert read(path) == [(7, [{"x": 7}]), (8, [{"x": 10}])]


def test_a_short_write_is_no_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    part = write(path, *RECORDS)
    whole = part.read_bytes()
    journal = opened(path)
    real: Any = journal._part

    class Short:
        """A file on a disk that becomes full in the midst of a line, and stays as it is."""

        def __init__(self) -> None:
            self.n_writes = 0

        def write(self, data: bytes) -> int:
            self.n_writes += 1
            if self.n_writes == 1:
                return int(real.write(data[:5]))
            raise OSError(errno.ENOSPC, "No space left on device")

        def truncate(self, size: int) -> int:
            raise OSError(errno.EIO, "Input/output error")

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    journal._part = Short()  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space left"):
        journal.append(11, [{"x": 11}])
    assert part.read_bytes() == whole + part.read_bytes()[len(whole) :][:5]
    assert read(path) == RECORDS
    journal._part = real
    journal.append(11, [{"x": 12}])
    journal.close()
    assert read(path) == [*RECORDS, (11, [{"x": 12}])]
