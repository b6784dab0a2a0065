"""The native reader against its slow twin, on valid, mutated and random texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import xmlc_format as twin

from labeltree import _native
from labeltree._native import HeaderRule

pytestmark = pytest.mark.native

RULES = {"auto": HeaderRule.OPTIONAL, True: HeaderRule.REQUIRED, False: HeaderRule.ABSENT}
FRAGMENTS = [
    *("0", "1", "2", "3", "7", "10", "007", "2147483646", "2147483647", "99999999999999999999"),
    *(":", ",", " ", " ", " ", "\t", "\n", "\n", "\r\n", "\r", "#", "-", "+", ".", "e", "\0", "x", "\xe9"),
    *("0.5", "1e-3", "1E5", "3.", ".5", "1e39", "1e-60", "nan", "inf", "-1", "+1", "0x10", "1e"),
    *("1:0.5", "2:1", "3:-2.25", " 4:1", "0,1 ", "5 ", "2 9 9\n", "3 0 0\n"),
]
PLAIN = {"first_feature": 0, "first_label": 0, "n_features": None, "n_labels": None}
OPTIONS = st.fixed_dictionaries(
    {
        "header": st.sampled_from(["auto", True, False]),
        "first_feature": st.integers(0, 1),
        "first_label": st.integers(0, 1),
        "n_features": st.sampled_from([None, None, 0, 3, 2**31 - 1]),
        "n_labels": st.sampled_from([None, None, 0, 2]),
        "comments": st.booleans(),
    }
)


@st.composite
def valid_texts(draw: st.DrawFn) -> bytes:
    value = st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: str(np.float32(x)))
    features = st.dictionaries(st.integers(1, 20), value, max_size=5)
    rows = draw(
        st.lists(st.tuples(st.lists(st.integers(1, 9), max_size=4), features), min_size=1, max_size=8)
    )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [
        ",".join(map(str, labels)) + " " + " ".join(f"{i}:{v}" for i, v in f.items()) for labels, f in rows
    ]
    if draw(st.booleans()):
        lines.insert(0, f"{len(rows)} 21 10")
    return end.join([*lines, ""] if draw(st.booleans()) else lines).encode()


def native_read(text: bytes, *, n_threads: int, chunk_bytes: int, header: Any, **options: Any) -> Any:
    array = np.frombuffer(text, dtype=np.uint8)
    return _native.read_text_format(
        array, header=RULES[header], n_threads=n_threads, chunk_bytes=chunk_bytes, **options
    )


def assert_like_twin(text: bytes, **options: Any) -> bool:
    """Compare for several ways of cutting the text; True when it is valid."""
    expected: twin.Rows | None = None
    line = 0
    try:
        expected = twin.read(text, **options)
    except twin.BadLineError as error:
        (line,) = error.args
    for n_threads, chunk_bytes in ((1, 1 << 20), (1, 1), (3, 7), (3, 40)):
        ways = {"n_threads": n_threads, "chunk_bytes": chunk_bytes}
        if expected is None:
            with pytest.raises(_native.TextFormatError) as raised:
                native_read(text, **ways, **options)
            assert raised.value.args[0] == line, raised.value.args[1]
            continue
        n_features, n_labels, indptr, ids, values, label_indptr, label_ids = native_read(
            text, **ways, **options
        )
        assert (n_features, n_labels) == (expected.n_features, expected.n_labels)
        assert indptr.tolist() == [0, *np.cumsum([len(row) for row in expected.features])]
        assert label_indptr.tolist() == [0, *np.cumsum([len(row) for row in expected.labels])]
        assert ids.tolist() == [i for row in expected.features for i, _ in row]
        assert label_ids.tolist() == [i for row in expected.labels for i in row]
        wanted = np.array([value for row in expected.features for _, value in row], dtype=np.float32)
        np.testing.assert_array_equal(values.view(np.uint32), wanted.view(np.uint32))
    return expected is not None


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25), OPTIONS)
def test_random_fragments(fragments: list[str], options: dict[str, Any]) -> None:
    assert_like_twin("".join(fragments).encode("latin-1"), **options)


@given(valid_texts())
def test_valid_texts(text: bytes) -> None:
    assert assert_like_twin(text, header="auto", comments=False, **PLAIN)


@given(valid_texts(), OPTIONS)
def test_valid_texts_read_in_other_ways(text: bytes, options: dict[str, Any]) -> None:
    assert_like_twin(text, **options)


def test_thousands_of_mutations() -> None:
    text = b"4 12 9\n3,1 0:0.5 7:-1.25e-3 11:3\n 2:1 1:2\n\n8,8,0\n"
    alphabet = b"0123456789:, \t\n\r.-+eE#nx\x00\xff"
    random = np.random.default_rng(0)
    outcomes = []
    for _ in range(4000):
        mutant = bytearray(text)
        for _ in range(random.integers(1, 4)):
            at = int(random.integers(len(mutant)))
            byte = alphabet[random.integers(len(alphabet))]
            match random.integers(3):
                case 0:
                    mutant[at] = byte
                case 1:
                    mutant.insert(at, byte)
                case _:
                    del mutant[at]
        outcomes.append(
            assert_like_twin(bytes(mutant), header="auto", comments=bool(random.integers(2)), **PLAIN)
        )
    assert 0.1 < np.mean(outcomes) < 0.9  # both valid and invalid texts were compared
