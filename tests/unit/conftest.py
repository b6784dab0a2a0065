"""What tests of trainings in parts share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.training_parts import divide_finely, training_data


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide trainings into many tasks of little data."""
    divide_finely(monkeypatch)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of temporary files, which must be empty in the end."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def rows_in_parts() -> tuple[Any, Any]:
    """X and y for trainings that are divided."""
    return training_data()
