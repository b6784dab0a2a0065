"""The reference has every public name."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from tests.pages import DOCS

import labeltree

DOCUMENTED = {
    name
    for page in (DOCS / "reference").glob("*.md")
    for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
}


def names_of(package: str) -> set[str]:
    return set(getattr(import_module(f"labeltree.{package}"), "__all__", ()))


PACKAGES = [package for package in labeltree._SUBPACKAGES if names_of(package)]


@pytest.mark.parametrize("name", [name for name in labeltree.__all__ if name != "__version__"])
def test_public_names_are_in_the_reference(name: str) -> None:
    in_packages = [f"labeltree.{package}" for package in PACKAGES if name in names_of(package)]
    assert not DOCUMENTED.isdisjoint({f"labeltree.{name}", *in_packages})


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_of_packages_are_in_the_reference(package: str) -> None:
    described = {name.rpartition(".")[2] for name in DOCUMENTED}
    assert f"labeltree.{package}" in DOCUMENTED or names_of(package) <= described


def test_documented_names_exist() -> None:
    for name in DOCUMENTED:
        home, _, last = name.rpartition(".")
        assert last in dir(import_module(home)) or import_module(name)


def test_all_pages_are_in_the_table() -> None:
    table = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    for page in (DOCS / "reference").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in table
