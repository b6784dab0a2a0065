"""The HTTP application: routes, errors and the gate around them."""

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
from starlette.types import ASGIApp

import labeltree
from labeltree.serving import endpoints
from labeltree.serving.documentation import description_page, page_routes
from labeltree.serving.errors import CODES, Refusal, mistakes
from labeltree.serving.gate import Gate
from labeltree.serving.service import Service

_ABOUT = """Labels for texts and rows, out of very many.

Errors are `{"error": {"code": …, "message": …}}`. Requests that change something need a header
`Authorization: Bearer …` with one of the server's tokens; if the server was started with `--token-for-all`, all do."""


class Application(FastAPI):
    """FastAPI behind a `Gate`, which goes around it where it can."""

    def build_middleware_stack(self) -> ASGIApp:
        """What a request passes, from the outside in."""
        service: Service = self.state.service
        settings = service.settings
        shortcuts = {route.path.rpartition("/")[2]: route for route in endpoints.body_routes}
        stack: ASGIApp = Gate(
            super().build_middleware_stack(),
            shortcuts,
            settings.limits,
            settings.tokens,
            service.metrics,
            service.log,
        )
        if settings.cors_origins:  # outermost: a browser asks without a token whether it may ask
            stack = CORSMiddleware(
                stack,
                allow_origins=settings.cors_origins,
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type", "X-Request-Id"],
                expose_headers=["X-Request-Id", "Retry-After"],
            )
        return stack


def create_application(service: Service) -> Application:
    """The application of one worker process, for any ASGI server.

    Parameters
    ----------
    service : Service
        What it answers from. The application starts and stops it.

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

    # The pages that FastAPI has for its description load scripts from elsewhere: there is one of our own.
    app = Application(
        title="labeltree",
        version=labeltree.__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.router.routes[:0] = endpoints.body_routes  # the first that are looked at
    for router in (endpoints.router, page_routes()):
        app.include_router(router)
    app.add_api_route("/docs", description_page(app), methods=["GET"], include_in_schema=False)
    _describe_tokens(app)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(Exception, _failed)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error.response()


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return mistakes(error.errors()).response()


async def _failed(request: Request, error: Exception) -> Response:
    return Refusal(500, "the server has a fault; its log says more").response()


async def _no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {
        404: "there is nothing at this address; /docs says what there is",
        405: f"this address does not take {request.method}; /docs says what it takes",
    }
    message = messages.get(error.status_code, str(error.detail))
    return Refusal(error.status_code, message, CODES.get(error.status_code), error.headers).response()


def _describe_tokens(app: FastAPI) -> None:
    """Say in the description which requests need a token."""
    describe = app.openapi

    def with_tokens() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = describe()
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for operations in schema["paths"].values():
            for operation in operations.values():
                if operation.get("tags") == ["changes"]:
                    operation["security"] = [{"token": []}]
        return schema

    app.openapi = with_tokens  # type: ignore[method-assign]
