"""The backend `labeltree` for Annif. Importing this package registers it."""

import os
from typing import Any

import annif.backend
from annif.default_config import Config as AnnifConfig


def _labeltree() -> Any:
    from labeltree_annif import backend

    return backend.LabelTreeBackend


# A later Annif that has the backend keeps its own.
annif.backend._backend_fns.setdefault("labeltree", _labeltree)


class Config(AnnifConfig):
    """Annif's own settings. With ``ANNIF_CONFIG=labeltree_annif.Config``, Annif imports this package when it starts."""

    # As Annif decides without ANNIF_CONFIG: a server loads its projects at once, a command only the one it needs.
    INITIALIZE_PROJECTS = os.environ.get("FLASK_RUN_FROM_CLI") != "true"


def main() -> None:
    """Run Annif's command line. Processes that it starts have the backend on every system: they import its script."""
    from annif.cli import cli

    cli(prog_name="annif")
