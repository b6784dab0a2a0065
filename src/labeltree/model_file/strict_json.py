"""JSON from files that nobody vouches for."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NoReturn

#: Objects and lists inside each other; a model needs about ten. Code that descends into JSON may rely on it.
MAX_DEPTH = 100


def parse_json(text: bytes) -> Any:
    """Parse UTF-8 JSON, or raise `ValueError`; stricter than the standard library.

    Names that come twice, numbers beyond 64 bits, NaN and infinity are errors, and so is deep nesting.
    """
    try:
        value = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text: {error}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _parts(outer) if isinstance(inner, dict | list)]
    if level:
        raise _too_deep()
    return value


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> ValueError:
    return ValueError(f"this JSON is nested too deeply: at most {MAX_DEPTH} levels are read")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the name {repeated_name(pairs)[:100]!r} comes twice in one object")
    return found


def repeated_name(pairs: Iterable[tuple[str, Any]]) -> str:
    """Return the first name that is there twice, in linear time; an empty string if there is none."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _integer(digits: str) -> int:
    # Told by its length: turning a million digits into a number would take minutes.
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise ValueError(f"the number {digits[:30]} does not fit into 64 bits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:30]} is too large")
    return number


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
