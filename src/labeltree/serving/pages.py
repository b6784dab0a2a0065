"""The pages for browsers: one to try models, and one that documents the API. They load only files of this server."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from labeltree.serving.documentation import documentation_page
from labeltree.serving.errors import Refusal

#: Set here rather than guessed, because some systems have another type for scripts.
_MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

_FOLDER = Path(__file__).with_name("page")
_FILES = {path.name: path for path in _FOLDER.iterdir() if path.suffix in _MEDIA_TYPES}

router = APIRouter(include_in_schema=False, default_response_class=Response)


@router.get("/")
async def page() -> Response:
    """Return the page to try models."""
    return await page_file("index.html")


@router.get("/page/{name}")
async def page_file(name: str) -> Response:
    """Return a file of the page."""
    if name not in _FILES:  # a name is never used as a path
        raise Refusal(404, "the page has no such file")
    return FileResponse(_FILES[name], media_type=_MEDIA_TYPES[_FILES[name].suffix])


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Return the documentation of the API."""
    return HTMLResponse(documentation_page(request.app.openapi()))
