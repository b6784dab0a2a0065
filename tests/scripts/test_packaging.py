"""What the build says to interpreters that it does not support, and what a release must agree on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project() -> dict[str, Any]:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return loaded


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


def test_the_interpreters_of_the_metadata_are_those_that_get_wheels(project: dict[str, Any]) -> None:
    classifiers = project["project"]["classifiers"]
    named = [
        one.rsplit(" ", 1)[1] for one in classifiers if one.startswith("Programming Language :: Python :: 3.")
    ]
    built = re.findall(r"cp3(\d+)-", project["tool"]["cibuildwheel"]["build"])
    assert named == [f"3.{minor}" for minor in built]
    assert project["project"]["requires-python"] == f">={named[0]}"
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    (tested,) = re.findall(r"^        python: \[(.*)\]$", workflow, re.MULTILINE)
    assert re.findall(r"[\d.]+", tested) == named


def test_tests_in_the_source_distribution_read_nothing_that_it_leaves_out(project: dict[str, Any]) -> None:
    left_out = project["tool"]["scikit-build"]["sdist"]["exclude"]
    folders = "|".join(name for name in left_out if re.fullmatch(r"\w+", name))
    reads = re.compile(rf'/ "({folders})"|^(from|import) ({folders})\b|\bDOCS\b', re.MULTILINE)
    inside = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if not any(path.relative_to(ROOT).is_relative_to(name) for name in left_out)
    ]
    assert len(inside) > 200
    assert [path.name for path in inside if reads.search(path.read_text(encoding="utf-8"))] == []


def test_the_description_has_no_relative_links(
    project: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = pytest.importorskip("scikit_build_core.metadata.fancy_pypi_readme")
    pytest.importorskip("hatch_fancy_pypi_readme")
    monkeypatch.chdir(ROOT)
    readme = provider.dynamic_metadata("readme", {}, {"name": "labeltree", "version": "1.2.3"})
    assert readme["content-type"] == "text/markdown"
    text = re.sub(r"```.*?```", "", readme["text"], flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert [target for target in targets if not target.startswith(("http", "#"))] == []
    assert "`labeltree`" in text
    # Readers on PyPI install a package: they have no clone and, without links, no other pages.
    assert 'pip install "labeltree[serve]"' in readme["text"]
    assert "clone" not in readme["text"]
    assert readme["text"].count("\n## ") == (ROOT / "README.md").read_text(encoding="utf-8").count("\n## ")
    # Once the project has an address, the links lead there.
    source = project["project"].get("urls", {}).get("Source")
    assert (source is None) == ("Start in five minutes" not in text)
    assert source is None or any(target.startswith(source) for target in targets)
