"""Where readers take their data from."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zstandard

from labeltree.data import DataFormatError, read_libsvm, read_texts, read_xmlc

TEXT = b"2 4 3\n0,2 1:0.5 3:1.5\n 0:2\n"
COMPRESS: dict[str, Any] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def assert_reads(source: Any) -> None:
    X, y = read_xmlc(source)
    np.testing.assert_array_equal(X.toarray(), [[0, 0.5, 0, 1.5], [2, 0, 0, 0]])
    np.testing.assert_array_equal(y.toarray(), [[1, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_file(suffix: str, tmp_path: Path) -> None:
    for name in (f"data.txt{suffix}", f"DATA.TXT{suffix.upper()}"):
        (tmp_path / name).write_bytes(COMPRESS[suffix](TEXT))
        assert_reads(tmp_path / name)
    parts = tmp_path / f"parts{suffix}"  # as `cat` and parallel compressors make them
    parts.write_bytes(COMPRESS[suffix](TEXT[:9]) + COMPRESS[suffix](TEXT[9:]))
    assert_reads(parts)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_damaged_compressed_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.txt{suffix}"
    whole = COMPRESS[suffix](TEXT * 1000)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for damaged in (whole[:-1], whole[: len(whole) // 2], bytes(flipped), bz2.compress(TEXT)):
        path.write_bytes(damaged)
        with pytest.raises(
            DataFormatError, match=r"data\.txt\.\w+: expected a valid \w+ file, but"
        ) as raised:
            read_xmlc(path)
        assert raised.value.line is None


@pytest.mark.parametrize("suffix", ["", *COMPRESS])
def test_error_names_file_and_line(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.txt{suffix}"
    path.write_bytes(COMPRESS.get(suffix, bytes)(TEXT + b"0 x\n"))
    with pytest.raises(DataFormatError) as raised:
        read_xmlc(path)
    assert str(raised.value) == f"{path}:4: expected 'feature:value', got 'x'"


def test_missing_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.txt.zst"
    path.write_bytes(COMPRESS[".zst"](TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r"data.txt.zst: .*pip install zstandard"):
        read_xmlc(path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT)))
    assert_reads("-")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x")))
    with pytest.raises(DataFormatError, match=r"^<stdin>:1: "):
        read_xmlc("-")


def test_pipe_into_a_process() -> None:
    program = "from labeltree.data import read_xmlc; print(read_xmlc('-')[0].sum())"
    result = subprocess.run([sys.executable, "-c", program], input=TEXT, capture_output=True, check=True)
    assert result.stdout.split()[-1] == b"4.0"


def test_open_files(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT)
    with path.open("rb") as file:
        assert_reads(file)
        file.seek(0)
        file.readline()
        with pytest.raises(DataFormatError, match=r"data.txt:1: expected a header"):
            read_xmlc(file, header=True)
        assert not file.closed
    with path.open() as text, pytest.raises(TypeError, match="expected a file opened in binary mode"):
        read_xmlc(text)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    assert_reads(path)
    writer.join()


@pytest.mark.parametrize("read", [read_xmlc, read_libsvm, read_texts])
def test_missing_file_and_folder(read: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.txt")
    with pytest.raises(OSError, match=tmp_path.name):  # IsADirectoryError, or PermissionError on Windows
        read(tmp_path)


def test_file_can_be_removed_after_an_error(tmp_path: Path) -> None:
    """No map of the file outlives the call, even while the error is held."""
    path = tmp_path / "data.txt"
    path.write_bytes(b"0 x\n")
    with pytest.raises(DataFormatError) as raised:
        read_xmlc(path)
    frame = raised.value.__traceback__
    maps = []
    while frame is not None:
        maps += [value for value in frame.tb_frame.f_locals.values() if type(value).__name__ == "mmap"]
        frame = frame.tb_next
    assert maps
    assert all(mapped.closed for mapped in maps)
