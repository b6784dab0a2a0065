"""write_xmlc: what it writes, that it is read back, that it appears complete or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csc_matrix, csr_array, csr_matrix
from tests.reference import xmlc_format as twin

from labeltree._native import format_text_rows
from labeltree.data import read_xmlc, row_writer, write_xmlc

pytestmark = pytest.mark.native

X = csr_matrix(np.array([[0, 0.5, 1e-10], [0, 0, 0], [-3, 0, 0], [0, 0, 0]], dtype=np.float32))
Y = csr_matrix(np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]))
TEXT = "4 3 4\n0,3 1:0.5 2:1e-10\n \n 0:-3\n1\n"


def test_text(tmp_path: Path) -> None:
    write_xmlc(tmp_path / "data.txt", X, Y)
    assert (tmp_path / "data.txt").read_bytes() == TEXT.encode()


@pytest.mark.parametrize(
    "kind", [np.asarray, csr_matrix, csc_matrix, coo_matrix, csr_array, np.ndarray.tolist]
)
def test_kinds_of_matrices(kind: Any, tmp_path: Path) -> None:
    write_xmlc(str(tmp_path / "data.txt"), kind(X.toarray()), kind(Y.toarray()))
    assert (tmp_path / "data.txt").read_text() == TEXT


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64])
def test_kinds_of_numbers(dtype: Any, tmp_path: Path) -> None:
    write_xmlc(tmp_path / "data.txt", X.astype(np.float64), Y.astype(dtype))
    assert (tmp_path / "data.txt").read_text() == TEXT


def test_entries_in_any_order(tmp_path: Path) -> None:
    """Indices out of order, entries given in parts, zeros spelled out; the caller's matrix stays as it is."""
    scrambled = csr_matrix(([1.0, 2.0, 0.0, 0.5], [2, 0, 1, 2], [0, 4]), shape=(1, 3))
    labels = csr_matrix(([1, 0, 1], [3, 2, 0], [0, 3]), shape=(1, 4))
    write_xmlc(tmp_path / "data.txt", scrambled, labels)
    assert (tmp_path / "data.txt").read_text() == "1 3 4\n0,3 0:2 1:0 2:1.5\n"
    np.testing.assert_array_equal(scrambled.indices, [2, 0, 1, 2])
    np.testing.assert_array_equal(labels.indices, [3, 2, 0])


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (3, 0)])
def test_empty_matrices(shape: tuple[int, int], tmp_path: Path) -> None:
    write_xmlc(tmp_path / "data.txt", csr_matrix(shape), csr_matrix(shape))
    assert [matrix.shape for matrix in read_xmlc(tmp_path / "data.txt")] == [shape, shape]


def test_blocks_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for entries in (1, 2, 5):
        monkeypatch.setattr(row_writer, "_BLOCK_ENTRIES", entries)
        write_xmlc(tmp_path / "data.txt", X, Y)
        assert (tmp_path / "data.txt").read_text() == TEXT


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.tuples(st.dictionaries(st.integers(0, 50), finite), st.sets(st.integers(0, 9))), max_size=8)
)
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[dict[int, float], set[int]]]
) -> None:
    path = tmp_path_factory.mktemp("round_trip", numbered=True) / "data.txt"
    indptr = np.cumsum([0, *(len(features) for features, _ in rows)])
    features = [item for row, _ in rows for item in sorted(row.items())]
    values = np.array([value for _, value in features], dtype=np.float32)
    first = csr_matrix((values, [i for i, _ in features], indptr), shape=(len(rows), 51))
    labels = csr_matrix(np.array([[i in row for i in range(10)] for _, row in rows]).reshape(len(rows), 10))
    write_xmlc(path, first, labels)
    second, second_labels = read_xmlc(path)
    np.testing.assert_array_equal(first.indptr, second.indptr)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.data.view(np.uint32), second.data.view(np.uint32))
    np.testing.assert_array_equal(labels.toarray(), second_labels.toarray())


def test_shortest_spelling() -> None:
    random = np.random.default_rng(0)
    values = random.integers(0, 0x7F800000, size=2000).astype(np.uint32).view(np.float32)
    n = len(values)
    one = np.array([0, n]), np.arange(n, dtype=np.int32)
    text = format_text_rows(*one, values, np.zeros(2, dtype=np.int64), np.empty(0, dtype=np.int32)).decode()
    for value, word in zip(values, text.split(), strict=True):
        spelling = word.partition(":")[2]
        assert twin.nearest_float32(spelling.encode()) == value
        fixed = np.format_float_positional(value, trim="-")
        scientific = np.format_float_scientific(value, trim="-", exp_digits=2)
        assert len(spelling) == min(len(fixed), len(scientific))


def test_bad_matrices(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    with pytest.raises(ValueError, match="expected X and y of the same number of rows, got 4 and 3"):
        write_xmlc(path, X, Y[:3])
    for bad in (np.nan, -np.inf, 1e39):
        matrix = X.toarray().astype(np.float64)
        matrix[2, 1] = bad
        with pytest.raises(
            ValueError, match=r"expected finite float32 values in X, got .* in row 2, column 1"
        ):
            write_xmlc(path, matrix, Y)
    for bad in (2, -1, 0.5, np.nan):
        matrix = Y.toarray().astype(np.float64)
        matrix[3, 2] = bad
        with pytest.raises(ValueError, match=f"expected 0 and 1 in y, got {bad}.* in row 3, column 2"):
            write_xmlc(path, X, matrix)
    with pytest.raises(ValueError, match="expected at most 2147483647 columns in X, got 2147483648"):
        write_xmlc(path, csr_matrix((4, 2**31)), Y)
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.txt"
    path.write_text("old")

    def fail(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(row_writer, "format_text_rows", fail)
    with pytest.raises(KeyboardInterrupt):
        write_xmlc(path, X, Y)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_file_is_complete_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.txt"
    synced: list[str] = []
    replace, fsync = os.replace, os.fsync

    def checked_fsync(descriptor: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def checked_replace(source: str, target: str) -> None:
        assert synced == ["file"]
        assert Path(source).read_text() == TEXT
        assert Path(source).parent == Path(target).parent
        replace(source, target)

    monkeypatch.setattr(os, "fsync", checked_fsync)
    monkeypatch.setattr(os, "replace", checked_replace)
    write_xmlc(path, X, Y)
    assert synced == ["file", "folder"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_compressed(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.txt{suffix}"
    write_xmlc(path, X, Y)
    first = path.read_bytes()
    assert not first.startswith(b"4 3 4")
    for wanted, found in zip((X, Y), read_xmlc(path), strict=True):
        np.testing.assert_array_equal(wanted.toarray(), found.toarray())
    write_xmlc(path, X, Y)
    assert path.read_bytes() == first


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_xmlc(tmp_path / "no" / "data.txt", X, Y)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_xmlc(tmp_path / "folder", X, Y)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_permissions_and_links(tmp_path: Path) -> None:
    plain, written, link = tmp_path / "plain", tmp_path / "written", tmp_path / "link"
    plain.touch()
    write_xmlc(written, X, Y)
    assert written.stat().st_mode == plain.stat().st_mode  # what the umask asks for
    link.symlink_to(plain)
    write_xmlc(link, X, Y)
    assert link.is_symlink()
    assert plain.read_text() == TEXT
