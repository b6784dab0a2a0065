"""A graph of ONNX: looked through before it is run, and run by onnxruntime on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from labeltree.deep.extras import import_extra
from labeltree.errors import ModelFileError
from labeltree.validation import n_threads

#: Fields of ONNX messages that hold other messages, by the number of the field: see onnx.proto.
_PARTS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
_OPERATION = 4  # of a node
_EXTERNAL = (13, 14)  # of a tensor: where its data are, if they are in another file
#: A graph that has these could run for ever.
_LOOPS = (b"Loop", b"Scan")
_DEEPEST = 20


class OnnxGraph:
    """A graph that onnxruntime runs.

    Parameters
    ----------
    graph : array of uint8
        The bytes of the graph.
    n_jobs : int, optional
        Number of threads.

    Raises
    ------
    ValueError
        If the graph has loops or names other files, or onnxruntime cannot read it.
    """

    def __init__(self, graph: NDArray[np.uint8], n_jobs: int | None = None) -> None:
        check_graph(np.ascontiguousarray(graph).data)
        self.graph = graph
        self.n_jobs = n_jobs
        self._lock = threading.Lock()
        self._session: tuple[int, Any] | None = None
        self._open()

    def run(self, **inputs: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the output of the graph; raises `ModelFileError` if it cannot be computed."""
        session = self._open()
        try:
            found: NDArray[np.float32] = session.run(None, inputs)[0]
        except Exception as error:  # onnxruntime has no common class of errors
            raise ModelFileError(f"the graph of the model cannot be computed: {error}") from error
        return found

    def _open(self) -> Any:
        """Return a session with the number of threads that is wanted now."""
        wanted = n_threads(self.n_jobs)
        if wanted > 1:  # counting processors reads files
            wanted = min(wanted, cpu_count())  # more would wait for each other
        with self._lock:
            if self._session is None or self._session[0] != wanted:
                self._session = (wanted, _session(self.graph, wanted))
            return self._session[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxGraph, (np.array(self.graph), self.n_jobs)


def _session(graph: NDArray[np.uint8], wanted: int) -> Any:
    onnxruntime = import_extra("onnxruntime", "a model that was exported to ONNX")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = wanted
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised, and not printed
    try:
        return onnxruntime.InferenceSession(
            graph.tobytes(), options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # onnxruntime has no common class of errors
        raise ValueError(f"onnxruntime cannot read the graph: {error}") from error


def check_graph(graph: memoryview) -> None:
    """Raise `ValueError` if a graph has loops, or data in other files; the package onnx is not needed."""
    waiting = [("model", graph, 0)]
    while waiting:
        kind, message, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError("the graph is nested too deeply")
        for number, value in _fields(message):
            if kind == "tensor" and number in _EXTERNAL and value is not None and value not in (0, b""):
                raise ValueError("the graph has data in other files")
            if kind == "node" and number == _OPERATION and isinstance(value, memoryview) and value in _LOOPS:
                raise ValueError(f"the graph has a loop ({bytes(value).decode()})")
            if isinstance(value, memoryview) and number in _PARTS[kind]:
                waiting.append((_PARTS[kind][number], value, depth + 1))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview | None]]:
    """Return number and value of each field of a message of Protocol Buffers."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire)
        if wire == 2:
            size, at = _varint(message, at)
        if size is None or at + size > len(message):
            raise ValueError("the graph is damaged")
        yield number, message[at : at + size] if wire == 2 else None
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        value |= (message[at] & 0x7F) << shift
        at += 1
        if message[at - 1] < 0x80:
            return value, at
    raise ValueError("the graph is damaged")
