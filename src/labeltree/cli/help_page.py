"""Docstrings as help pages."""

from __future__ import annotations

import inspect


def reflowed(docstring: str) -> str:
    """Join the lines of every paragraph, so that they wrap at the width of the terminal; keep examples as they are."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)
