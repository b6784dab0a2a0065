"""read_libsvm and write_libsvm, against scikit-learn's reader and writer of the same format."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tests.reference import xmlc_format as twin

from labeltree.data import DataFormatError, read_libsvm, read_xmlc, write_libsvm

pytestmark = pytest.mark.native


def read(text: str, **options: Any) -> tuple[csr_matrix, csr_matrix]:
    return read_libsvm(io.BytesIO(text.encode()), **options)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("comment", [None, "made for a test\nin two lines"])
def test_files_of_scikit_learn(zero_based: bool, comment: str | None) -> None:
    rng = np.random.default_rng(0)
    X = csr_matrix(random_array((60, 30), density=0.2, rng=rng, dtype=np.float64))
    y = csr_matrix((rng.random((60, 12)) < 0.2).astype(np.int64))
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based, comment=comment, multilabel=True)
    found, labels = read_libsvm(
        io.BytesIO(file.getvalue()), one_based=not zero_based, n_features=30, n_labels=12
    )
    np.testing.assert_array_equal(found.toarray(), X.toarray().astype(np.float32))
    np.testing.assert_array_equal(labels.toarray(), y.toarray())


def test_as_scikit_learn_reads() -> None:
    text = "1,5,7 3:0.5 4:1e-3 # a comment\n#\n2 1:1#x\n3:1.5 7:2\n# the end\n"
    X, y = read(text)
    expected, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True, zero_based=False)
    np.testing.assert_array_equal(X.toarray(), expected.toarray().astype(np.float32))
    assert [tuple(row.indices) for row in y] == labels


def test_ids_of_features_count_from_one_and_labels_from_zero() -> None:
    X, y = read("0 1:1")
    assert X.shape == y.shape == (1, 1)
    with pytest.raises(
        DataFormatError, match=r"<stream>:1: expected feature ids from 1 to 2147483647 .*, got '0'"
    ):
        read("1 0:1")
    X, y = read("0 0:1", one_based=False)
    assert X.shape == y.shape == (1, 1)


def test_there_is_no_header() -> None:
    with pytest.raises(DataFormatError, match="<stream>:1: expected 'feature:value', got '4'"):
        read("2 4 3\n0 1:1\n1 2:1\n")


def test_comments_are_no_rows_but_blank_lines_are() -> None:
    X, y = read("# one\n1 1:1\n\n  # two\n 2:1 # three\n3 # four\r\n#\n")
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [0, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(y.toarray(), [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])


def test_lines_are_counted_with_comments() -> None:
    with pytest.raises(DataFormatError, match="<stream>:5: expected 'feature:value', got 'x'"):
        read("# one\n1 1:1\n\n# two\n1 x\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-1 1:1", "expected label ids that are not negative, got '-1'"),
        ("+1 1:1", r"expected labels such as '3,17' or 'feature:value', got '\+1'"),
        ("1 qid:3 1:1", "expected 'feature:value', got 'qid:3'"),
        ("1 1:1 1:1", "expected every feature at most once in a row, got feature 1 twice"),
        ("# nothing\n", "expected at least one row, got an empty file"),
        ("", "expected at least one row, got an empty file"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(DataFormatError, match=f"<stream>:1: {message}$"):
        read(text)


def test_like_twin_and_like_xmlc() -> None:
    text = b"3,1 5:0.1 2:1\n\n 1:4\n2\n"
    X, y = read_libsvm(io.BytesIO(text))
    expected = twin.read(text, header=False, first_feature=1, comments=True)
    assert X.shape == (4, expected.n_features)
    assert [list(zip(row.indices, row.data, strict=True)) for row in X] == expected.features
    assert [list(row.indices) for row in y] == expected.labels
    other, _ = read_xmlc(io.BytesIO(text), n_features=6)
    np.testing.assert_array_equal(X.toarray(), other.toarray()[:, 1:])


def test_scikit_learn_reads_what_is_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = csr_matrix(random_array((40, 30), density=0.2, rng=rng, dtype=np.float32))
    y = csr_matrix((rng.random((40, 12)) < 0.2).astype(np.int64))
    assert (np.diff(y.indptr) == 0).any()  # a row without labels
    write_libsvm(tmp_path / "data.svm.gz", X, y)
    found, labels = load_svmlight_file(
        str(tmp_path / "data.svm.gz"), n_features=30, multilabel=True, zero_based=False, dtype=np.float32
    )
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    assert [sorted(map(int, row)) for row in labels] == [row.indices.tolist() for row in y]
    for expected, matrix in zip(
        (X, y), read_libsvm(tmp_path / "data.svm.gz", n_features=30, n_labels=12), strict=True
    ):
        np.testing.assert_array_equal(matrix.toarray(), expected.toarray())
