"""Lines of text: blocks of whole lines, decoding, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO


class LineError(Exception):
    """An error in a line of a text. Lines count from 1; 0 means the whole text."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def checked_bytes(content: object) -> bytes:
    """Return what was read from a file; raise `TypeError` if the file was opened in text mode."""
    if not isinstance(content, bytes):
        raise TypeError(f"expected a file opened in binary mode, got one that reads {type(content).__name__}")
    return content


def decode_line(line: bytes) -> str:
    """Decode a line from UTF-8, without the ``\\r`` that some systems put at its end."""
    return decode_utf8(line.removesuffix(b"\r"))


def decode_utf8(line: bytes) -> str:
    """Decode a line from UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"the byte 0x{line[error.start]:02x} as byte {error.start + 1} of the line"
        raise LineError(
            f"expected UTF-8 text, got {found}; convert the file, with 'iconv -f LATIN1 -t UTF-8' for instance"
        ) from None


def read_what_is_there(file: BinaryIO, n_bytes: int) -> bytes:
    """Read at most `n_bytes` and wait only if no byte is available; return ``b""`` at the end of the file."""
    # Raw files have no read1, but their read does the same.
    return checked_bytes(getattr(file, "read1", file.read)(n_bytes))


def line_blocks(file: BinaryIO, block_bytes: int) -> Iterator[bytes]:
    """Yield blocks of whole lines; from a pipe, all lines that have arrived, without waiting for more."""
    begun: list[bytes] = []  # pieces of a line whose end has not arrived
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
    """Return the text before and the text after a line of a block. Lines count from 1.

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
