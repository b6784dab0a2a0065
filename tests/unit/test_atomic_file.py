"""Atomic writes: what a target is before and after."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from labeltree.data.atomic_file import open_atomic


def fail_while_writing(path: Path) -> None:
    with open_atomic(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        fail_while_writing(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with open_atomic(pipe) as file:
        file.write(b"rows")
    reader.join(timeout=60)
    assert read == [b"rows"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
