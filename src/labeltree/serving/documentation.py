"""The pages: one to try models, and one that describes the API. Neither needs anything but this server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse, HTMLResponse, Response

from labeltree.serving.errors import Refusal

PAGE = Path(__file__).with_name("page")

#: Said here rather than guessed, because systems may have other ideas of what a script is.
_MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def page_routes() -> APIRouter:
    """The page to try models, and its files under ``/page/``."""
    router = APIRouter(include_in_schema=False)
    files = {path.name: path for path in PAGE.iterdir() if path.suffix in _MEDIA_TYPES}

    @router.get("/", response_class=Response)
    async def page() -> Response:
        return _file(files["index.html"])

    @router.get("/page/{name}", response_class=Response)
    async def page_file(name: str) -> Response:
        if name not in files:  # a name is looked up, never made a path
            raise Refusal(404, "the page has no such file")
        return _file(files[name])

    return router


def _file(path: Path) -> Response:
    return FileResponse(path, media_type=_MEDIA_TYPES[path.suffix])


def description_page(app: FastAPI) -> Callable[[], Awaitable[Response]]:
    """The page that describes the API, made once from its own description."""
    made: list[str] = []

    async def docs() -> Response:
        if not made:
            made.append(_page(app.openapi()))
        return HTMLResponse(made[0])

    return docs


def _page(schema: dict[str, Any]) -> str:
    title = escape(f"{schema['info']['title']} {schema['info']['version']}")
    operations = "\n".join(
        _operation(method, path, operation, schema)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    )
    about = "".join(f"<p>{_prose(part)}</p>" for part in schema["info"]["description"].split("\n\n"))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="page/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="page/page.css"><link rel="stylesheet" href="page/docs.css">'
        f'</head><body class="docs"><main><h1>{title}</h1>{about}'
        f'<p>For machines: <a href="/openapi.json">openapi.json</a>. To try it: <a href="/">the page</a>.</p>'
        f"{operations}</main></body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any], schema: dict[str, Any]) -> str:
    parts = [
        f"<h2>{escape(operation['summary'])}</h2>",
        f"<pre><strong>{method.upper()}</strong> {escape(path)}</pre>",
        f"<p>{_prose(operation.get('description', ''))}</p>" if "description" in operation else "",
        "<p>Needs a token.</p>" if operation.get("security") else "",
        _parameters(operation.get("parameters", [])),
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is not None:
        parts.append("<h3>Body</h3>" + _fields(body, schema))
    good = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")
    if good:
        parts.append("<h3>Answer</h3>" + _fields(good, schema))
    refusals = [
        f"<li>{status}: {_prose(response['description'])}</li>"
        for status, response in operation["responses"].items()
        if status != "200"
    ]
    parts.append(f"<h3>Other answers</h3><ul>{''.join(refusals)}</ul>" if refusals else "")
    return f"<section>{''.join(parts)}</section>"


def _parameters(parameters: list[dict[str, Any]]) -> str:
    items = []
    for parameter in parameters:
        schema = parameter["schema"]
        default = f", default {escape(json.dumps(schema['default']))}" if "default" in schema else ""
        items.append(
            f"<li><code>{escape(parameter['name'])}</code> ({_type(schema)}{default}) "
            f"{_prose(parameter.get('description', ''))}</li>"
        )
    return f"<h3>Parameters</h3><ul>{''.join(items)}</ul>" if items else ""


def _fields(reference: dict[str, Any], schema: dict[str, Any]) -> str:
    """The fields of an object, and below it those of the objects inside."""
    waiting, told, text = [reference], set[str](), ""
    while waiting:
        for name in _references(waiting.pop(0)):
            if name in told:
                continue
            told.add(name)
            described = schema["components"]["schemas"][name]
            items = "".join(
                f"<li><code>{escape(field)}</code> ({_type(value)}) {_prose(value.get('description', ''))}</li>"
                for field, value in described.get("properties", {}).items()
            )
            text += f"<p>{escape(name)}: {_prose(described.get('description', ''))}</p><ul>{items}</ul>"
            for example in described.get("examples", []):
                text += f"<pre>{escape(json.dumps(example, ensure_ascii=False))}</pre>"
            waiting += described.get("properties", {}).values()
    return text


def _references(value: Any) -> list[str]:
    """The names of all objects that a description speaks of."""
    if isinstance(value, dict):
        own = [value["$ref"].rpartition("/")[2]] if isinstance(value.get("$ref"), str) else []
        return own + [name for part in value.values() for name in _references(part)]
    if isinstance(value, list):
        return [name for part in value for name in _references(part)]
    return []


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return escape(value["$ref"].rpartition("/")[2])
    if "anyOf" in value:
        return " or ".join(
            dict.fromkeys(_type(part) for part in value["anyOf"] if part.get("type") != "null")
        )
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    if "const" in value:
        return f"<code>{escape(json.dumps(value['const']))}</code>"
    if "additionalProperties" in value and value.get("type") == "object":
        inside = value["additionalProperties"]
        return f"object of {_type(inside)}" if isinstance(inside, dict) else "object"
    return escape(str(value.get("type", "anything")))


def _prose(text: str) -> str:
    """Markdown of which only `code` is heeded."""
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
