"""Fields of a model's JSON: numbers at the edges of what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from labeltree.model_file.fields import Fields, short


def fields(**values: Any) -> Fields:
    return Fields(values, "model.json")


@pytest.mark.parametrize("value", [0, 1, 2**31, 2**62, 2**63 - 1])
def test_counts_that_are_fine(value: int) -> None:
    assert fields(n=value).count("n") == value


def test_counts_may_be_limited() -> None:
    assert fields(n=3).count("n", 3, 5) == 3
    assert fields(n=5).count("n", 3, 5) == 5
    for value in (2, 6, 0, -1):
        with pytest.raises(ValueError, match=f"n must be from 3 to 5, got {value}"):
            fields(n=value).count("n", 3, 5)
    with pytest.raises(ValueError, match="n must be from 0 to 5, got 6"):
        fields(n=6).count("n", 0, 5)
    with pytest.raises(ValueError, match="n must not be negative, got -1"):
        fields(n=-1).count("n")


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, [1]])
def test_counts_are_integers(value: Any) -> None:
    with pytest.raises(ValueError, match=r"model\.json: 'n' must be of type int, got"):
        fields(n=value).count("n")


@pytest.mark.parametrize(
    ("value", "least"), [([0, 0], 0), ([0, 7], 0), ([3, 7], 4), ([6, 7], 1), ([7, 7], 0)]
)
def test_ranges_of_features(value: list[int], least: int) -> None:
    assert fields(r=value).feature_range("r", 7, least) == tuple(value)


@pytest.mark.parametrize(
    ("value", "least"),
    [([-1, 3], 0), ([0, 8], 0), ([4, 3], 0), ([3, 6], 4), ([7, 7], 1), ([-1, -1], 0), ([8, 8], 0)],
)
def test_ranges_that_do_not_lie_within_the_features(value: list[int], least: int) -> None:
    with pytest.raises(ValueError, match=f"within the features, got {value[0]} to {value[1]}"):
        fields(r=value).feature_range("r", 7, least)


@pytest.mark.parametrize("value", [[], [1], [1, 2, 3], [1, 2.0], [True, 2], ["1", "2"], [None, 1]])
def test_ranges_are_two_integers(value: list[Any]) -> None:
    with pytest.raises(ValueError, match="r must be two integers, got"):
        fields(r=value).feature_range("r", 7)


def test_fields_that_nobody_takes_are_refused() -> None:
    some = fields(b=1, a=2)
    assert "a" in some
    assert "c" not in some
    with pytest.raises(ValueError, match=r"model\.json has no 'c'"):
        some.take("c", int)
    with pytest.raises(ValueError, match="unknown field 'a'"):
        some.finish()
    some.take("a", int)
    with pytest.raises(ValueError, match="unknown field 'b'"):
        some.finish()
    some.take("b", int)
    some.finish()


def test_long_values_are_cut_in_messages() -> None:
    assert short("x" * 98) == repr("x" * 98)
    assert short("x" * 99) == "'" + "x" * 98 + "…"
