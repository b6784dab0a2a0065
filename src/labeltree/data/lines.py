"""Lines of text as they come: in blocks of whole lines, and what may be wrong with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO


class LineError(Exception):
    """What is wrong with a line, and which line of a block it is, counted from 1."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def decode_line(line: bytes) -> str:
    """The text of a line in UTF-8, without the ``\\r`` that some systems put at its end."""
    line = line.removesuffix(b"\r")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"the byte 0x{line[error.start]:02x} as byte {error.start + 1} of the line"
        raise LineError(f"expected UTF-8 text, got {found}") from None


def read_what_is_there(file: BinaryIO, n_bytes: int) -> bytes:
    """Read at most so many bytes, and wait only if there are none; nothing is the end of the file."""
    # Raw files have no read1: their read already is like that.
    text: object = getattr(file, "read1", file.read)(n_bytes)
    if not isinstance(text, bytes):
        raise TypeError(f"expected a file opened in binary mode, got one that reads {type(text).__name__}")
    return text


def line_blocks(file: BinaryIO, block_bytes: int) -> Iterator[bytes]:
    """Give whole lines in blocks: of a pipe, whatever has come so far, without waiting for more."""
    begun: list[bytes] = []  # pieces of a line whose end has not come
    while text := read_what_is_there(file, block_bytes):
        end = text.rfind(b"\n") + 1
        if end:
            yield b"".join([*begun, text[:end]])
            begun.clear()
        if end < len(text):
            begun.append(text[end:])
    if begun:
        yield b"".join(begun)


def cut_at_line(block: bytes, line: int) -> tuple[bytes, bytes]:
    """What is before and what is behind a line of a block, counted from 1.

    Examples
    --------
    >>> cut_at_line(b"a\\nb\\nc\\n", 2)
    (b'a\\n', b'c\\n')
    """
    begin = 0
    for _ in range(line - 1):
        begin = block.index(b"\n", begin) + 1
    end = block.find(b"\n", begin) + 1 or len(block)
    return block[:begin], block[end:]
