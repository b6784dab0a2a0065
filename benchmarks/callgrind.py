"""Reading what callgrind writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class FunctionCost:
    """Instructions of one function: its own, and with all that it calls."""

    object_file: str
    own: int = 0
    inclusive: int = 0


def read_callgrind(lines: Iterable[str]) -> dict[str, FunctionCost]:
    """The instructions of every function, by name.

    Understands files written with ``--compress-strings=no --compress-pos=no``. A function that calls itself, directly
    or through others, has an inclusive count that counts some instructions more than once.

    Examples
    --------
    >>> costs = read_callgrind(["ob=a.so", "fn=f", "1 10", "cob=b.so", "cfn=g", "calls=2 7", "2 30", "fn=g", "7 30"])
    >>> costs["f"].own, costs["f"].inclusive, costs["g"].own
    (10, 40, 30)
    """
    costs: dict[str, FunctionCost] = defaultdict(lambda: FunctionCost(""))
    object_file, function, of_a_call = "", "", False
    for line in lines:
        name, sign, value = line.rstrip("\n").partition("=")
        if sign and name == "ob":
            object_file = value
        elif sign and name == "fn":
            function = value
            costs[function].object_file = object_file
        elif sign and name == "calls":
            of_a_call = True
        elif function and line[:1].isdigit():
            instructions = int(line.split()[1])
            costs[function].inclusive += instructions
            if not of_a_call:
                costs[function].own += instructions
            of_a_call = False
    return dict(costs)
