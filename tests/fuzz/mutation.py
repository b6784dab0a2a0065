"""Random changes of bytes, of texts and of JSON."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

#: Numbers at which code goes wrong.
NUMBERS: list[Any] = [
    *(-1, 0, 1, 2, 3, 5, 127, 128, 255, 256, 65535, 65536),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, -(2**31), -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1.5, 1e-45, 1e-308, 3.4e38, 3.5e38, 1e308, -1e308, float("nan"), float("inf")),
]
#: Characters that lower case, accents, the splitting or the encoding treat in ways of their own.
ODD = (
    "Σ\u03c3ςİ\u0131ßÉé\u0301\u0307ǅﬁﷺ½Ⅷ٣א\u05b4中\U0001f600"
    "\u200d\u00ad\0_\t\n\r\x0b\x1c\x85\xa0\u3000\ud800\udfff\ufffe"
)
WORDS = ["", "x", "\0", "a" * 999, "é", "\ud800", "../x", "null", "\U0001f600", "a\nb", "__proto__"]
VALUES: list[Any] = [
    *NUMBERS,
    *WORDS,
    None,
    True,
    False,
    [],
    {},
    [[]],
    [0],
    {"a": 1},
    [0, 0],
    [-1, 3],
    [2**62] * 2,
]


def mutate_bytes(rng: random.Random, content: bytes, others: list[bytes] | None = None) -> bytes:
    """Return the content with one or several changes; some insert parts of other contents."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = rng.randrange(len(changed) + 1)
        n = rng.choice([1, 1, 2, 4, 8, 64])
        match rng.randrange(10):
            case 0 | 1 if changed:
                changed[at % len(changed)] ^= 1 << rng.randrange(8)
            case 2:
                del changed[at : at + n]
            case 3:
                changed[at:at] = rng.randbytes(n)
            case 4:
                changed[at : at + n] = (
                    rng.choice([b"\0", b"\xff", b"\x7f", b"0", b"9", b" ", b"\n", b"[", b'"']) * n
                )
            case 5:
                begin = rng.randrange(len(changed) + 1)
                changed[at:at] = changed[begin : begin + rng.choice([n, 1000])]
            case 6:
                changed[at:at] = str(rng.choice(NUMBERS)).encode()
            case 7 if others:
                other = rng.choice(others)
                begin = rng.randrange(len(other) + 1)
                changed[at : at + n] = other[begin : begin + rng.choice([8, 100, 10_000])]
            case 8 if rng.random() < 0.2:
                del changed[at:]
            case 9 if rng.random() < 0.05:
                changed[at:at] = rng.choice([b"[", b'{"":', b"9", b" "]) * 100_000
    return bytes(changed)


def random_text(rng: random.Random, longest: int = 40) -> str:
    """Return letters, odd characters of every kind, and halves of surrogate pairs."""
    characters = []
    for _ in range(rng.randrange(longest + 1)):
        match rng.randrange(8):
            case 0:
                characters.append(rng.choice(ODD))
            case 1:
                characters.append(chr(rng.randrange(0x110000)))
            case 2:
                characters.append(" ")
            case _:
                characters.append(rng.choice("abcdeABC12_-.,'"))
    return "".join(characters)


def replace_somewhere(rng: random.Random, value: Any) -> None:
    """Replace, remove, add, double or swap something somewhere in a JSON value that has members."""
    places = list(containers(value))
    if not places:
        return
    place = rng.choice(places)
    key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    match rng.randrange(9):
        case 0:
            del place[key]
        case 1 if isinstance(place, dict):
            place[rng.choice(["new", *map(str, rng.choice(places))])] = place[key]
        case 1 | 2 if isinstance(place, list):
            place.insert(rng.randrange(len(place) + 1), copy.deepcopy(place[key]))
        case 3:
            other = rng.choice(places)
            other_key = rng.choice(list(other) if isinstance(other, dict) else range(len(other)))
            place[key] = copy.deepcopy(other[other_key])
        case 4 if type(place[key]) is int:
            place[key] += rng.choice([-8, -1, 1, 8, 2**31, 2**32])
        case 5 if isinstance(place[key], str):
            place[key] = (
                random_text(rng) if rng.random() < 0.5 else place[key][: rng.randrange(len(place[key]) + 1)]
            )
        case 6 if rng.random() < 0.1:
            for _ in range(rng.choice([10, 100])):
                place[key] = [place[key]]
        case _:
            place[key] = copy.deepcopy(rng.choice(VALUES))


def containers(value: Any) -> Iterator[Any]:
    """Yield all lists and objects in a JSON value that have members."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list) and one:
            yield one
            waiting += one.values() if isinstance(one, dict) else one
