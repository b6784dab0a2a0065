"""The HTTP application: routes, error answers and the gate in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response

import labeltree
from labeltree.serving import endpoints, pages
from labeltree.serving.errors import Refusal, internal_error, invalid_request
from labeltree.serving.gate import Gate
from labeltree.serving.service import Service

_ABOUT = """Labels for texts and rows, out of very many.

Errors are `{"error": {"code": …, "message": …}}`. Requests that change something need a header
`Authorization: Bearer …` with one of the server's tokens. If the server was started with `--token-for-all`, all
requests need it."""


def create_application(service: Service) -> FastAPI:
    """Return the application of one worker process, for any ASGI server.

    Parameters
    ----------
    service : Service
        The models and settings. The application starts and stops it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.serving import Service, Settings, create_application
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LabelTreeClassifier().fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]]).save(f"{folder}/pets")
    ...     application = create_application(Service(Settings({"pets": Path(folder, "pets")})))
    >>> application.title
    'labeltree'
    """

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    # FastAPI's own documentation pages load scripts from other servers.
    app = FastAPI(
        title="labeltree",
        version=labeltree.__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    with_body = [*endpoints.body_router.routes, *endpoints.form_router.routes]
    app.router.routes[:0] = with_body  # matched first
    for router in (endpoints.model_router, endpoints.server_router, pages.router):
        app.include_router(router)
    for kind in (Refusal, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _answer_error)
    # Around all other layers, which the gate bypasses for the routes with a body.
    gate = app.middleware_stack = Gate(app.build_middleware_stack(), service, with_body)
    app.state.fast_lane = gate.fast_lane
    if service.settings.cors_origins:  # outermost: a preflight request has no token
        app.middleware_stack = CORSMiddleware(
            app.middleware_stack,
            allow_origins=service.settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
            expose_headers=["X-Request-Id", "Retry-After"],
        )
    return app


async def _answer_error(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        error = invalid_request(error.errors())
    elif isinstance(error, HTTPException):
        messages = {
            404: "there is nothing at this path; /docs lists all paths",
            405: f"this path does not accept {request.method}; /docs lists all paths",
        }
        message = messages.get(error.status_code, str(error.detail))
        error = Refusal(error.status_code, message, headers=error.headers)
    return (error if isinstance(error, Refusal) else internal_error()).response()
