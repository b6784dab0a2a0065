"""The lines of a journal: what they say, how they are written, and what they say together."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

_PART_NAME = re.compile(r"[0-9]{12}\.jsonl", re.ASCII)


class Mark(NamedTuple):
    """A version of the model, the SHA-256 of its ``model.json``, and the number of examples that it has learned."""

    version: str
    n_examples: int


class Lesson(NamedTuple):
    """The number of examples in one request, its key and the digest of its examples."""

    n_examples: int
    key: str | None = None
    digest: str = ""


class Receipt(NamedTuple):
    """What became of a request with a key; `refusal` says why only the first of its examples were learned."""

    key: str
    digest: str
    learned: int
    n_examples: int
    refusal: str | None = None


class Refused(NamedTuple):
    """The examples of a record, from `begin` to before `end`, that the model could not learn."""

    begin: int
    end: int
    message: str


@dataclass
class Record:
    """Examples that were written together, and the number of examples that the model had learned before."""

    first: int
    examples: list[dict[str, Any]]
    lessons: list[Lesson]
    refused: list[Refused] = field(default_factory=list)

    def spans(self) -> Iterator[tuple[Lesson, int, int, str | None]]:
        """Yield every lesson with the range of its examples that are learned, and the reason if others are not."""
        begin = 0
        for lesson in self.lessons:
            end = begin + lesson.n_examples
            refused = next((one for one in self.refused if one.begin < end and one.end > begin), None)
            if refused is None:
                yield lesson, begin, end, None
            else:
                yield lesson, begin, max(begin, refused.begin), refused.message
            begin = end

    @property
    def n_learned(self) -> int:
        """The number of examples without those that were refused."""
        return sum(end - begin for _, begin, end, _ in self.spans())

    def receipts(self) -> Iterator[Receipt]:
        """Yield a receipt for every request with a key of which something was learned."""
        n_examples = self.first
        for lesson, begin, end, refusal in self.spans():
            n_examples += end - begin
            if lesson.key is not None and end > begin:
                yield Receipt(lesson.key, lesson.digest, end - begin, n_examples, refusal)

    def line(self) -> bytes:
        content: dict[str, Any] = {"first": self.first, "examples": self.examples}
        if len(self.lessons) > 1 or self.lessons[0].key is not None:
            content["lessons"] = [
                [*lesson] if lesson.key is not None else lesson[:1] for lesson in self.lessons
            ]
        return _line(content)


def mark_line(mark: Mark) -> bytes:
    return _line({"model": mark.version, "n_examples": mark.n_examples})


def refused_line(first: int, refused: Refused) -> bytes:
    return _line({"first": first, "refused": refused})


def receipts_line(receipts: list[Receipt]) -> bytes:
    return _line({"receipts": receipts})


@dataclass
class Contents:
    """Everything in a journal but the examples. `first` and `end` are numbers of examples of the model."""

    marks: list[Mark] = field(default_factory=list)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    n_records: int = 0
    first: int = 0
    end: int = 0
    torn: tuple[Path, int] | None = None  # a last line that was not written to its end

    @classmethod
    def read(cls, path: Path) -> Contents:
        """Read a journal, which another process may be writing."""
        found = cls()
        for record in _records(path, found):
            if found.n_records == 0:
                found.first = record.first
            found.n_records += 1
            found.end = record.first + record.n_learned
            found.receipts |= {receipt.key: receipt for receipt in record.receipts()}
        return found


def records(path: Path) -> Iterator[Record]:
    """Yield all records, oldest first."""
    return _records(path, Contents())


def parts(path: Path) -> list[Path]:
    """Return the files of a journal, oldest first."""
    try:
        return sorted(one for one in path.iterdir() if _PART_NAME.fullmatch(one.name))
    except FileNotFoundError:
        return []


def _records(path: Path, found: Contents) -> Iterator[Record]:
    """Yield all records, each when it is known what was refused of it, and note everything else in `found`."""
    last: Record | None = None
    for content in _contents(path, found):
        if "examples" in content:
            if last is not None:
                yield last
            examples = content["examples"]
            lessons = [Lesson(*lesson) for lesson in content.get("lessons", [[len(examples)]])]
            last = Record(content["first"], examples, lessons)
        elif "refused" in content:
            if last is not None:  # else its record was removed with its part
                last.refused.append(Refused(*content["refused"]))
        elif "receipts" in content:
            found.receipts |= {receipt[0]: Receipt(*receipt) for receipt in content["receipts"]}
        elif "model" in content:
            found.marks.append(Mark(content["model"], content["n_examples"]))
        else:  # skipping it could lose what a later version of labeltree has written
            raise ValueError(f"{path}: a line has none of the known kinds; open it with a newer labeltree")
    if last is not None:
        yield last


def _contents(path: Path, found: Contents) -> Iterator[dict[str, Any]]:
    """Yield the content of every line. An incomplete last line is only noted: it was never acknowledged."""
    files = parts(path)
    for file in files:
        position = 0
        try:
            lines = file.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:  # removed by the process that learns: the model has all of its examples
            continue
        for number, line in enumerate(lines, 1):
            content = _parsed(line)
            if content is not None:
                yield content
            elif file == files[-1] and number == len(lines) and _is_incomplete(line):
                found.torn = file, position
            else:
                raise ValueError(
                    f"{file}:{number}: this line is damaged; restore the file, or move the journal away and lose its "
                    "examples"
                )
            position += len(line)


def _is_incomplete(line: bytes) -> bool:
    """Return whether a line was not written to its end: it has no end, or, after a power failure, gaps of zeros."""
    checksum, _, text = line.partition(b" ")
    is_damaged_end = checksum == b"%08x" % zlib.crc32(text[:-1])
    return not (line.endswith(b"\n") or is_damaged_end) or b"\0" in line


def _line(content: Any) -> bytes:
    text = json.dumps(content, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the content of a line, or None if it is incomplete or damaged."""
    checksum, _, text = line.partition(b" ")
    if not text.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text[:-1]):
        return None
    with suppress(ValueError):
        content: dict[str, Any] = json.loads(text)
        return content
    return None
