"""Models over HTTP: the server behind ``labeltree serve``, and its clients.

A client needs only httpx; the server also needs FastAPI and uvicorn. ``pip install labeltree[serve]`` installs all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeltree.serving.application import create_application
    from labeltree.serving.client import AsyncClient, Client
    from labeltree.serving.client_errors import ServiceError, ServiceUnavailableError
    from labeltree.serving.limits import Limits
    from labeltree.serving.service import Service
    from labeltree.serving.settings import Settings
    from labeltree.serving.tokens import Tokens

__all__ = [
    "AsyncClient",
    "Client",
    "Limits",
    "Service",
    "ServiceError",
    "ServiceUnavailableError",
    "Settings",
    "Tokens",
    "create_application",
]

# Imported at first use, because a client must not need the server's packages.
_MODULES = {
    "AsyncClient": "client",
    "Client": "client",
    "Limits": "limits",
    "Service": "service",
    "ServiceError": "client_errors",
    "ServiceUnavailableError": "client_errors",
    "Settings": "settings",
    "Tokens": "tokens",
    "create_application": "application",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'labeltree.serving' has no attribute {name!r}")
    try:
        module = import_module(f"labeltree.serving.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("labeltree"):
            raise
        raise ImportError(
            f"labeltree.serving.{name} needs {error.name}, which is not installed: pip install 'labeltree[serve]'"
        ) from error
    return getattr(module, name)
