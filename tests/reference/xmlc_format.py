"""Slow, obvious readers of the XMLC and libsvm text formats."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

MOST_COLUMNS = 2**31 - 1

LABELS = re.compile(rb"[0-9]+(,[0-9]+)*")
FEATURE = re.compile(rb"([0-9]+):(.*)", re.DOTALL)
NUMBER = re.compile(rb"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
HEADER = re.compile(rb"[ \t]*([0-9]+)[ \t]+([0-9]+)[ \t]+([0-9]+)[ \t]*")


class BadLineError(Exception):
    """The first line that is not as the format says; its only argument is the line number."""


@dataclass
class Rows:
    n_features: int = 0
    n_labels: int = 0
    features: list[list[tuple[int, np.float32]]] = field(default_factory=list)
    labels: list[list[int]] = field(default_factory=list)


def nearest_float32(text: bytes) -> np.float32:
    """The float32 nearest to a decimal number, ties to even, found with exact fractions."""
    match = NUMBER.fullmatch(text)
    assert match is not None
    sign = -1 if match[1] == b"-" else 1
    whole, _, decimals = match[2].partition(b".")
    exponent = int(match[3] or 0) - len(decimals)
    digits = int(whole + decimals)
    if digits == 0 or len(str(digits)) + exponent < -100:
        return np.float32(sign * 0.0)
    if len(str(digits)) + exponent > 100:
        return np.float32(sign * np.inf)
    exact = digits * Fraction(10) ** exponent
    if exact >= Fraction(2) ** 128 - Fraction(2) ** 103:  # halfway from the largest float32 to the next power
        return np.float32(sign * np.inf)
    guess = np.float32(min(float(exact), float(np.finfo(np.float32).max)))
    bits = int(guess.view(np.uint32))  # neighbours of a positive float have neighbouring bits
    neighbours = np.arange(max(bits - 1, 0), bits + 2, dtype=np.uint32).view(np.float32)
    candidates = [value for value in neighbours if np.isfinite(value)]
    nearest = min(
        candidates, key=lambda value: (abs(Fraction(float(value)) - exact), value.view(np.uint32) & 1)
    )
    return np.float32(sign) * nearest


def read(
    text: bytes,
    *,
    header: bool | str = "auto",
    first_feature: int = 0,
    first_label: int = 0,
    n_features: int | None = None,
    n_labels: int | None = None,
    comments: bool = False,
) -> Rows:
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    if text.endswith(b"\n") or not text:
        lines.pop()
    said = None
    if header and lines and (match := HEADER.fullmatch(lines[0])):
        said = [int(number) for number in match.groups()]
        if said[0] > 2**53 or max(said[1:]) > MOST_COLUMNS:
            raise BadLineError(1)
    elif header is True:
        raise BadLineError(1)
    header_sizes = (said[1], said[2]) if said else (None, None)
    most_features = min(size for size in (MOST_COLUMNS, header_sizes[0], n_features) if size is not None)
    most_labels = min(size for size in (MOST_COLUMNS, header_sizes[1], n_labels) if size is not None)

    rows = Rows()
    for number, line in enumerate(lines, start=1):
        if number == 1 and said:
            continue
        if comments and b"#" in line:
            line = line.partition(b"#")[0]
            if not line.strip(b" \t"):
                continue
        words = [word for word in re.split(rb"[ \t]+", line) if word]
        labels: list[int] = []
        if words and line[:1] not in (b" ", b"\t") and not FEATURE.fullmatch(words[0]):
            if not LABELS.fullmatch(words[0]):
                raise BadLineError(number)
            labels = sorted({int(label) - first_label for label in words.pop(0).split(b",")})
        features = {}
        for word in words:
            match = FEATURE.fullmatch(word)
            if not match or not NUMBER.fullmatch(match[2]) or not np.isfinite(nearest_float32(match[2])):
                raise BadLineError(number)
            feature = int(match[1]) - first_feature
            if feature in features:
                raise BadLineError(number)
            features[feature] = nearest_float32(match[2])
        if not all(0 <= label < most_labels for label in labels):
            raise BadLineError(number)
        if not all(0 <= feature < most_features for feature in features):
            raise BadLineError(number)
        rows.labels.append(labels)
        rows.features.append(sorted(features.items()))

    if said and len(rows.labels) != said[0]:
        raise BadLineError(1)
    if not said and not rows.labels:
        raise BadLineError(1)
    needed_features = 1 + max((i for row in rows.features for i, _ in row), default=-1)
    needed_labels = 1 + max((i for row in rows.labels for i in row), default=-1)
    rows.n_features = n_features if n_features is not None else said[1] if said else needed_features
    rows.n_labels = n_labels if n_labels is not None else said[2] if said else needed_labels
    return rows
