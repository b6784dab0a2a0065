"""Objects sent over a socket: arrays go from memory to memory, without a copy in between."""

from __future__ import annotations

import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")
#: One call of the system sends at most this many bytes; some systems refuse 2 GiB.
_MOST_BYTES = 1 << 28


def pack(message: Any) -> list[memoryview]:
    """Return the parts of a pickled object: its structure, and the memory of its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    return [memoryview(body), *(buffer.raw() for buffer in buffers)]


def unpack(parts: list[bytearray]) -> Any:
    """Return the object; its arrays share the memory of the parts."""
    body, *buffers = parts
    return pickle.loads(body, buffers=buffers)


def send(connection: socket.socket, parts: list[memoryview]) -> None:
    """Send the parts of an object. Raise `OSError` if the other side is gone."""
    head = pickle.dumps([part.nbytes for part in parts])
    for view in (memoryview(_LENGTH.pack(len(head))), memoryview(head), *parts):
        for begin in range(0, view.nbytes, _MOST_BYTES):
            connection.sendall(view[begin : begin + _MOST_BYTES])


def receive(connection: socket.socket) -> list[bytearray]:
    """Return the parts of the next object. Raise `EOFError` or `OSError` if the other side is gone."""
    (length,) = _LENGTH.unpack(_read(connection, _LENGTH.size))
    return [_read(connection, n_bytes) for n_bytes in pickle.loads(_read(connection, length))]


def _read(connection: socket.socket, n_bytes: int) -> bytearray:
    data = bytearray(n_bytes)
    view = memoryview(data)
    while view:
        n_read = connection.recv_into(view, min(len(view), _MOST_BYTES))
        if n_read == 0:
            raise EOFError("the other side has closed the connection")
        view = view[n_read:]
    return data
