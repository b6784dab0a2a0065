"""What read_xmlc makes of each thing a file may contain."""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from labeltree.data import DataFormatError, read_xmlc

pytestmark = pytest.mark.native


def read(text: str | bytes, **options: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    X, y = read_xmlc(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)
    return X.toarray(), y.toarray()


def assert_same(first: Any, second: Any) -> None:
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("3 5 4\n3,1 4:0.25 0:1\n 2:-3\n2\n")
    X, y = read_xmlc(path)
    assert X.format == y.format == "csr"
    assert X.dtype == y.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == y.indices.dtype == y.indptr.dtype == np.int32
    assert X.has_canonical_format
    assert y.has_canonical_format
    np.testing.assert_array_equal(X.indices, [0, 4, 2])  # sorted in the row
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 0, 0, 0.25], [0, 0, -3, 0, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(y.toarray(), [[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]])
    assert type_of_target(y) == "multilabel-indicator"
    assert_same((X.toarray(), y.toarray()), (m.toarray() for m in read_xmlc(str(path))))


def test_header_is_found_required_or_refused() -> None:
    rows, header = "1 0:1\n0 2:1\n", "2 5 4\n"
    assert [matrix.shape for matrix in read(header + rows)] == [(2, 5), (2, 4)]
    assert [matrix.shape for matrix in read(rows)] == [(2, 3), (2, 2)]
    assert_same(read(header + rows), read(header + rows, header=True))
    assert_same(read(rows), read(rows, header=False))
    assert_same(read(header + rows), read("\t2   5\t4 \r\n" + rows))
    with pytest.raises(
        DataFormatError, match=r"<stream>:1: expected a header of three numbers .*, got '1 0:1'"
    ):
        read(rows, header=True)
    with pytest.raises(DataFormatError, match=r"<stream>:1: expected 'feature:value', got '5'"):
        read(header + rows, header=False)


def test_a_first_row_is_not_taken_for_a_header() -> None:
    for row in ("5", "1,2", "3:0.5", "1 2:3 4:5"):
        assert len(read(row)[0]) == 1
    for row in ("1 2", "1 2 3 4", "1 2 -3", "1 2 3.0"):
        with pytest.raises(DataFormatError, match=":1: expected 'feature:value', got '2'"):
            read(row)


@pytest.mark.parametrize("header", ["2 3 2", "9 3 2", "0 3 2"])
def test_header_that_lies_about_rows(header: str) -> None:
    says = header.split()[0]
    with pytest.raises(
        DataFormatError, match=rf"^<stream>:1: expected {says} rows, as the header says, got 3"
    ):
        read(f"{header}\n0 0:1\n1 1:1\n0 2:1\n")


def test_header_that_lies_about_columns() -> None:
    with pytest.raises(DataFormatError, match=r":3: .* 0 to 2 \(the header says 3 features\), got '3'"):
        read("2 3 2\n0 2:1\n1 3:1\n")
    with pytest.raises(DataFormatError, match=r":3: .* 0 to 1 \(the header says 2 labels\), got '2'"):
        read("2 3 2\n0 2:1\n1,2 1:1\n")
    with pytest.raises(
        DataFormatError, match=r":2: expected no label ids \(the header says 0 labels\), got '0'"
    ):
        read("1 3 0\n0 2:1\n")
    with pytest.raises(DataFormatError, match=r":1: expected a header of at most 2147483647 features"):
        read("1 99999999999999999999 3\n0 0:1\n")


def test_header_without_rows() -> None:
    assert [matrix.shape for matrix in read("0 5 4\n")] == [(0, 5), (0, 4)]
    assert [matrix.shape for matrix in read("0 5 4")] == [(0, 5), (0, 4)]


def test_sizes_of_the_caller() -> None:
    assert [matrix.shape for matrix in read("0 1:1", n_features=7, n_labels=9)] == [(1, 7), (1, 9)]
    assert [matrix.shape for matrix in read("1 3 3\n0 1:1", n_features=7, n_labels=2)] == [(1, 7), (1, 2)]
    with pytest.raises(DataFormatError, match=r":1: .* 0 to 6 \(n_features is 7\), got '7'"):
        read("0 7:1", n_features=7)
    with pytest.raises(DataFormatError, match=r":2: .* 0 to 2 \(the header says 3 features\), got '3'"):
        read("1 3 3\n0 3:1", n_features=7)
    for size in (-1, 2**31):
        with pytest.raises(ValueError, match=f"expected n_labels from 0 to 2147483647, got {size}"):
            read("0 1:1", n_labels=size)


def test_one_based() -> None:
    assert_same(read("1 4 3\n3,1 4:0.5 1:2\n", one_based=True), read("1 4 3\n2,0 3:0.5 0:2\n"))
    with pytest.raises(DataFormatError, match=r":1: expected feature ids from 1 to .*, got '0'"):
        read("1 0:1", one_based=True)
    with pytest.raises(DataFormatError, match=r":2: expected label ids from 1 to 3 .*, got '0'"):
        read("1 4 3\n2,0 1:1", one_based=True)
    with pytest.raises(DataFormatError, match=r":2: expected feature ids from 1 to 4 .*, got '5'"):
        read("1 4 3\n2 5:1", one_based=True)


def test_rows_without_labels_or_features() -> None:
    X, y = read(" 1:1\n\t1:1\n1:1\n0\n0 \n\n \n0 1:1\n")
    np.testing.assert_array_equal(X[:, 1], [1, 1, 1, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(y[:, 0], [0, 0, 0, 1, 1, 0, 0, 1])
    assert [matrix.shape for matrix in read("\n")] == [(1, 0), (1, 0)]


def test_line_ends_and_blanks() -> None:
    plain = "2 4 3\n0,1 1:0.5 3:1\n 2:1\n"
    for variant in (
        plain.removesuffix("\n"),
        plain.replace("\n", "\r\n"),
        plain.replace("\n", "\r\n").removesuffix("\n"),
        plain.replace("\n", " \t\n"),
        plain.replace(" ", "\t  "),
        "\ufeff" + plain,
    ):
        assert_same(read(variant), read(plain))
    with pytest.raises(DataFormatError, match=":1: "):
        read(plain.replace("\n", "\r"))


def test_repeated_labels_count_once() -> None:
    np.testing.assert_array_equal(read("3,1,3,1,1 0:1")[1], [[0, 1, 0, 1]])


def test_zeros_are_kept() -> None:
    X, _ = read_xmlc(io.BytesIO(b"0 1:0 2:-0.0 3:1e-60"))
    assert X.nnz == 3
    np.testing.assert_array_equal(np.signbit(X.data), [False, True, False])


def test_largest_ids() -> None:
    X, y = read_xmlc(io.BytesIO(b"2147483646 2147483646:1 000000000000000000000000003:1"))
    assert X.shape == y.shape == (1, 2**31 - 1)
    np.testing.assert_array_equal(X.indices, [3, 2147483646])
    assert X.indices.dtype == X.indptr.dtype == np.int32
    for bad in ("2147483647", "2147483648", "18446744073709551617", "1" + "0" * 40):
        with pytest.raises(DataFormatError, match=":1: expected feature ids from 0 to 2147483646"):
            read(f"0 {bad}:1")
        with pytest.raises(
            DataFormatError, match=rf":1: expected label ids from 0 to 2147483646 .*, got '{bad[:9]}"
        ):
            read(f"{bad} 0:1")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1 4:abc", "expected 'feature:value' with a number, got '4:abc'"),
        ("1 4:", "expected 'feature:value' with a number, got '4:'"),
        ("1 4:1e", "expected 'feature:value' with a number, got '4:1e'"),
        ("1 4:0x10", "expected 'feature:value' with a number, got '4:0x10'"),
        ("1 4:1,5", "expected 'feature:value' with a number, got '4:1,5'"),
        ("1 4: 1", "expected 'feature:value' with a number, got '4:'"),
        ("1 4:+-1", "expected 'feature:value' with a number, got '4:+-1'"),
        ("1 4:1:2", "expected 'feature:value' with a number, got '4:1:2'"),
        ("1 4:nan", "expected a finite float32 as the value of a feature, got '4:nan'"),
        ("1 4:-Inf", "expected a finite float32 as the value of a feature, got '4:-Inf'"),
        ("1 4:+INFINITY", "expected a finite float32 as the value of a feature, got '4:+INFINITY'"),
        ("1 4:1e39", "expected a finite float32 as the value of a feature, got '4:1e39'"),
        ("1 4", "expected 'feature:value', got '4'"),
        (" 4", "expected 'feature:value', got '4'"),
        ("1 :2", "expected 'feature:value', got ':2'"),
        ("1 4 :2", "expected 'feature:value', got '4'"),
        ("a:1", "expected 'feature:value', got 'a:1'"),
        ("1 +4:1", "expected 'feature:value', got '+4:1'"),
        ("1 -4:1", "expected feature ids that are not negative, got '-4:1'"),
        ("-4:1", "expected feature ids that are not negative, got '-4:1'"),
        ("1,-2 4:1", "expected label ids that are not negative, got '-2'"),
        ("-1 4:1", "expected label ids that are not negative, got '-1'"),
        ("1, 4:1", "expected labels such as '3,17' or 'feature:value', got '1,'"),
        (",1 4:1", "expected labels such as '3,17' or 'feature:value', got ',1'"),
        ("1,,2 4:1", "expected labels such as '3,17' or 'feature:value', got '1,,2'"),
        ("1,2:3", "expected labels such as '3,17' or 'feature:value', got '1,2:3'"),
        ("1.0 4:1", "expected labels such as '3,17' or 'feature:value', got '1.0'"),
        ("tea", "expected labels such as '3,17' or 'feature:value', got 'tea'"),
        ("# no", "expected labels such as '3,17' or 'feature:value', got '#'"),
        ("1 4:1 3:1 4:2", "expected every feature at most once in a row, got feature 4 twice"),
        ("1 4:1 4:1", "expected every feature at most once in a row, got feature 4 twice"),
        ("1 4:1\0", r"expected 'feature:value' with a number, got '4:1\x00'"),
        ("\0", r"expected labels such as '3,17' or 'feature:value', got '\x00'"),
        ("1 4:½", r"expected 'feature:value' with a number, got '4:\xc2\xbd'"),
        ("1 " + "x" * 99, f"expected 'feature:value', got '{'x' * 40}...'"),
        ("1 2:1\r 3:1", r"expected 'feature:value' with a number, got '2:1\x0d'"),
    ],
)
def test_bad_rows(row: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(f"0 1:1\n\n{row}\n0 x\n".encode())
    with pytest.raises(DataFormatError, match=re.escape(f":3: {message}")) as raised:
        read_xmlc(path)
    assert raised.value.path == str(path)
    assert raised.value.line == 3
    assert str(raised.value) == f"{path}:3: {message}"
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@pytest.mark.parametrize("header", ["auto", True, False])
def test_empty_file(header: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    with pytest.raises(
        DataFormatError, match=r"empty.txt:1: expected (a header|at least one row).*, got (an empty|'')"
    ):
        read_xmlc(path, header=header)


def test_unknown_header_rule() -> None:
    with pytest.raises(ValueError, match="expected header to be True, False or 'auto', got 'maybe'"):
        read("0 1:1", header="maybe")


def test_threads_do_not_change_the_result() -> None:
    random = np.random.default_rng(0)
    lines = []
    for _ in range(20_000):
        ids = np.flatnonzero(random.random(200) < 0.1)
        labels = ",".join(map(str, random.integers(0, 500, size=random.integers(0, 5))))
        lines.append(labels + "".join(f" {i}:{random.random():.5g}" for i in ids))
    text = "\n".join(lines).encode()
    assert len(text) > 4 << 20  # several of the pieces that threads take
    one = read_xmlc(io.BytesIO(text), n_jobs=1)
    for n_jobs in (2, 3, -1):
        for a, b in zip(one, read_xmlc(io.BytesIO(text), n_jobs=n_jobs), strict=True):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a.indptr, b.indptr)
            np.testing.assert_array_equal(a.indices, b.indices)
            np.testing.assert_array_equal(a.data, b.data)

    lines[17_000] = "0 x"
    lines[9_000] = "0 1:y"
    lines[9_001] = "0 z"
    for n_jobs in (1, 2, 3):
        with pytest.raises(DataFormatError, match=r"<stream>:9001: .* got '1:y'"):
            read_xmlc(io.BytesIO("\n".join(lines).encode()), n_jobs=n_jobs)


def test_huge_line() -> None:
    n = 400_000
    text = "0 " + " ".join(f"{i}:{i % 7}.5" for i in range(n)) + "\n1 3:1\n"
    assert len(text) > 4 << 20
    for n_jobs in (1, 3):
        X, y = read_xmlc(io.BytesIO(text.encode()), n_jobs=n_jobs)
        assert X.shape == (2, n)
        np.testing.assert_array_equal(X[0].data, np.arange(n) % 7 + np.float32(0.5))
        np.testing.assert_array_equal(y.toarray(), [[1, 0], [0, 1]])


def test_n_jobs_is_checked() -> None:
    with pytest.raises(ValueError, match="n_jobs"):
        read("0 1:1", n_jobs=0)
