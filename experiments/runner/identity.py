"""What a run is known by: a hash of what is run, not of the code, so that runs outlive a change of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def key_of(facts: Mapping[str, Any]) -> str:
    """A hash of facts that JSON can have."""
    return short_hash(json.dumps(facts, sort_keys=True))


def short_hash(text: str) -> str:
    """Twelve digits of a hash."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
