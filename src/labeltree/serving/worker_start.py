"""The first function of a worker process: it is imported before the modules that open models."""

from __future__ import annotations

from typing import Any

from labeltree.scikit_learn import leave_out


def start_worker(*arguments: Any) -> None:
    """Run a worker without importing scikit-learn, which it does not use."""
    leave_out()
    from labeltree.serving.worker import run_worker

    run_worker(*arguments)
