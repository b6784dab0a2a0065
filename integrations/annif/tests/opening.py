"""Projects of Annif in the current folder, as another process would open them."""

from __future__ import annotations

from collections.abc import Callable

from annif.project import AnnifProject
from annif.registry import AnnifRegistry
from click.testing import Result

#: Runs a command of Annif: the fixture `run`.
Annif = Callable[..., Result]


def open_project(name: str, projects: str = "projects.cfg") -> AnnifProject:
    # Annif keeps projects by the address of their registry, which a later registry may get again.
    AnnifRegistry._projects.clear()
    AnnifRegistry._vocabs.clear()
    return AnnifRegistry(projects, "data", init_projects=False).get_project(name)
