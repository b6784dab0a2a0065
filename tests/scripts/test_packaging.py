"""What the build says to interpreters that it does not support, and what a release must agree on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("abi_flags", "refused"), [("", False), ("t", True)])
def test_free_threaded_python_is_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, abi_flags: str, refused: bool
) -> None:
    overrides = pytest.importorskip("scikit_build_core.settings.skbuild_overrides")
    reader = pytest.importorskip("scikit_build_core.settings.skbuild_read_settings").SettingsReader
    monkeypatch.setattr(overrides, "get_abi_flags", lambda: abi_flags)
    settings = reader.from_file(ROOT / "pyproject.toml").settings
    assert bool(settings.fail) == refused
    assert ("free-threaded" in settings.messages.after_failure) == refused


def test_scripts_and_builds_use_one_version_of_nanobind() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    pinned = set(re.findall(r"nanobind==([\d.]+)", project + (ROOT / "scripts/cross").read_text()))
    assert len(pinned) == 1
