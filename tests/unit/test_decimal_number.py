"""Values are read as the nearest float32, whatever their spelling."""

from __future__ import annotations

import io
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.reference.xmlc_format import nearest_float32

from labeltree.data import DataFormatError, read_xmlc

pytestmark = pytest.mark.native


def read_values(numbers: list[str]) -> NDArray[np.float32]:
    text = "".join(f" {i}:{number}" for i, number in enumerate(numbers))
    values: NDArray[np.float32] = read_xmlc(io.BytesIO(text.encode()))[0].data
    return values


def assert_nearest(numbers: list[str]) -> None:
    expected = np.array([nearest_float32(number.encode()) for number in numbers], dtype=np.float32)
    found = read_values(numbers)
    wrong = np.flatnonzero(found.view(np.uint32) != expected.view(np.uint32))
    assert not len(wrong), [(numbers[i], found[i], expected[i]) for i in wrong[:5]]


def test_spellings() -> None:
    numbers = [
        "0",
        "-0",
        "0.0",
        "1",
        "1.",
        ".5",
        "-.5",
        "+2.5",
        "007",
        "1e3",
        "1E+3",
        "1.5e-3",
        "0e999",
        "-0e9",
    ]
    values = [0, -0.0, 0, 1, 1, 0.5, -0.5, 2.5, 7, 1000, 1000, 0.0015, 0, -0.0]
    expected = np.array(values, dtype=np.float32)
    np.testing.assert_array_equal(read_values(numbers).view(np.uint32), expected.view(np.uint32))


def test_numbers_as_programs_print_them() -> None:
    random = np.random.default_rng(0)
    values = random.lognormal(-3, 4, size=3000) * random.choice([-1, 1], size=3000)
    for form in (
        "{:.5g}",
        "{:.5f}",
        "{:.7g}",
        "{:.9g}",
        "{:.12f}",
        "{:.16g}",
        "{:.17g}",
        "{!r}",
        "{:.25f}",
        "{:e}",
    ):
        assert_nearest([form.format(float(value)) for value in values])


def test_halfway_between_two_floats() -> None:
    """Where rounding first to double and then to float goes wrong."""
    random = np.random.default_rng(1)
    bits = np.concatenate([random.integers(1, 0x7F7FFFFF, 300), np.arange(0x3F800000, 0x3F800000 + 300)])
    numbers = []
    with localcontext() as context:
        context.prec = 200
        for lower in bits.astype(np.uint32):
            pair = np.array([lower, lower + 1], dtype=np.uint32).view(np.float32)
            middle = (Decimal(float(pair[0])) + Decimal(float(pair[1]))) / 2
            nudge = middle * Decimal("1e-40")
            numbers += [f"{value:f}" for value in (middle, middle + nudge, middle - nudge)]
            numbers += [f"{middle:e}", f"{middle:.17e}", f"{middle:.15g}"]
    assert_nearest(numbers)


def test_ends_of_the_range() -> None:
    large = ["3.4028234663852886e38", "3.40282356e38", "340282356779733661637539395458142568447"]
    small = [
        "1.17549435e-38",
        "1.1754943e-38",
        "1e-40",
        "1.4e-45",
        "7.1e-46",
        "7e-46",
        "1e-46",
        "1e-60",
        "1e-400",
    ]
    odd = [
        "0." + "0" * 60 + "1e61",
        "1" + "0" * 60 + "e-60",
        "1e-" + "0" * 40 + "1",
        "1e-99999999999999999999",
    ]
    assert_nearest([*large, *small, *odd])


@pytest.mark.parametrize(
    "number", ["3.4028236e38", "1e39", "-1e39", "1e400", "1e99999999999999999999", "9" * 60]
)
def test_too_large(number: str) -> None:
    with pytest.raises(DataFormatError, match="expected a finite float32 as the value of a feature, got '0:"):
        read_values([number])


@given(st.from_regex(r"\A[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})(e[+-]?[0-9]{1,2})?\Z"))
def test_any_number(number: str) -> None:
    if np.isfinite(nearest_float32(number.encode())):
        assert_nearest([number])
