"""Blocks of a tree that were trained in parts, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Arrays that count from 0 in every part.
_BEGINS = ("block_begin", "block_entry_begin", "code_begin")


def joined_blocks(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of `train_blocks` for all blocks, given that for ranges that follow each other."""
    whole: dict[str, Any] = {
        name: _joined_begins([part[name] for part in parts])
        if name in _BEGINS
        else np.concatenate([part[name] for part in parts])
        for name in parts[0]
        if name != "report"
    }
    if "code" in whole and not len(whole["code"]):  # no block is joint
        for name in ("code_begin", "code", "code_bias"):
            del whole[name]
    reports = [part["report"] for part in parts]
    whole["report"] = {
        name: (max if name == "n_passes" else sum)(report[name] for report in reports) for name in reports[0]
    }
    return whole


def _joined_begins(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    sizes = np.concatenate([np.diff(part) for part in parts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
