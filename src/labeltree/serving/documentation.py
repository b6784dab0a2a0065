"""The HTML page that documents the API, made from its OpenAPI description."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


def documentation_page(api: dict[str, Any]) -> str:
    """Return the page for an OpenAPI description."""
    title = escape(f"{api['info']['title']} {api['info']['version']}")
    about = "".join(f"<p>{_prose(part)}</p>" for part in api["info"]["description"].split("\n\n"))
    operations = "\n".join(
        _operation(method, path, operation, api["components"]["schemas"])
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="page/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="page/page.css"><link rel="stylesheet" href="page/docs.css">'
        f'</head><body class="docs"><main><h1>{title}</h1>{about}'
        '<p>For programs: <a href="/openapi.json">openapi.json</a>. To try it: <a href="/">the page</a>.</p>'
        f"{operations}</main></body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    parameters = [
        (parameter["name"], {"description": parameter.get("description", ""), **parameter["schema"]})
        for parameter in operation.get("parameters", [])
    ]
    responses = dict(operation["responses"])
    answer = responses.pop("200", {})
    errors = [f"<li>{status}: {_prose(error['description'])}</li>" for status, error in responses.items()]
    parts = [
        f"<h2>{escape(operation['summary'])}</h2>",
        f"<pre><strong>{method.upper()}</strong> {escape(path)}</pre>",
        f"<p>{_prose(operation['description'])}</p>",
        "<p>Needs a token.</p>" if "security" in operation else "",
        _titled("Parameters", _fields(parameters)),
        _titled("Body", _objects(operation.get("requestBody", {}), schemas)),
        _titled("Answer", _objects(answer, schemas)),
        _titled("Other answers", f"<ul>{''.join(errors)}</ul>" if errors else ""),
    ]
    return f"<section>{''.join(parts)}</section>"


def _titled(title: str, content: str) -> str:
    return f"<h3>{title}</h3>{content}" if content else ""


def _objects(described: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return the fields of the objects that a description refers to, and of the objects inside them."""
    names, text = list(dict.fromkeys(_REFERENCE.findall(json.dumps(described)))), ""
    for name in names:  # grows meanwhile
        schema = schemas[name]
        text += (
            f"<p>{escape(name)}: {_prose(schema['description'])}</p>{_fields(schema['properties'].items())}"
        )
        for example in schema.get("examples", []):
            text += f"<pre>{escape(json.dumps(example, ensure_ascii=False))}</pre>"
        inner = _REFERENCE.findall(json.dumps(schema))
        names += dict.fromkeys(name for name in inner if name not in names)
    return text


def _fields(schemas: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Return a list of fields or parameters: their names, types, defaults and meanings."""
    items = []
    for name, schema in schemas:
        default = schema.get("default")
        of_default = "" if default is None else f", default {escape(json.dumps(default))}"
        meaning = _prose(schema.get("description", ""))
        items.append(f"<li><code>{escape(name)}</code> ({_type(schema)}{of_default}) {meaning}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return escape(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        types = [_type(part) for part in schema["anyOf"] if part.get("type") != "null"]
        return " or ".join(dict.fromkeys(types))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if "additionalProperties" in schema:
        return f"object of {_type(schema['additionalProperties'])}"
    return escape(schema["type"])


def _prose(text: str) -> str:
    """Return text as HTML; of Markdown, only `code` is supported."""
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
