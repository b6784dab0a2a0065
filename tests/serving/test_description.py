"""Whatever the description allows is answered as it says, and whatever it forbids is refused as it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS
from tests.servers import BEARER, TOKEN, serving
from tests.serving.conftest import LIMITS

from labeltree.serving import Settings, Tokens
from labeltree.serving.endpoints import body_router, form_router, model_router, server_router

OPERATIONS = [
    (method, route.path)
    for route in (*body_router.routes, *form_router.routes, *model_router.routes, *server_router.routes)
    for method in sorted(route.methods - {"HEAD"})  # type: ignore[attr-defined]
]

#: A mode of Schemathesis with each: what is allowed, and what is forbidden where something is.
CASES = [
    *((schemathesis.GenerationMode.POSITIVE, *operation) for operation in OPERATIONS),
    *(
        (schemathesis.GenerationMode.NEGATIVE, method, path)
        for method, path in OPERATIONS
        if "{name}/" in path and not path.endswith("/reload")
    ),
]

#: The HTTP server itself refuses addresses that are longer, whatever the description says.
LONGEST_QUERY = 10_000

#: Most names that come to Schemathesis's mind are of no model.
NAMES = ["small", "numbers", "online", "tags"]

CONFORMANCE = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]


@pytest.fixture(scope="module")
def description(models: dict[str, Path]) -> Iterator[Any]:
    """That of a server with a token, on which nothing learns."""
    limits_and_tokens = Settings(models, limits=LIMITS, tokens=Tokens([TOKEN]), log_requests=False)
    with serving(limits_and_tokens) as (client, _):
        yield schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")


def test_all_operations_are_described(description: Any) -> None:
    described = {(op.ok().method.upper(), op.ok().path) for op in description.get_all_operations()}
    assert described == set(OPERATIONS)


@pytest.mark.parametrize(("mode", "method", "path"), CASES)
def test_answers_are_as_described(description: Any, mode: Any, method: str, path: str) -> None:
    operation = description[path][method]
    checks = CHECKS.get_by_names(CONFORMANCE)  # known since a description was read

    @settings(
        max_examples=5,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), name=st.sampled_from(NAMES))
    def check(case: Any, name: str) -> None:
        assume(len(str(case.query)) < LONGEST_QUERY)
        if "name" in case.path_parameters:
            case.path_parameters["name"] = name
        case.call_and_validate(headers=BEARER, checks=checks)

    check()


def test_bodies_are_described_as_the_server_reads_them(client: httpx.Client) -> None:
    """With any version of FastAPI: the arguments of an endpoint are not fields of its body."""
    api = client.get("/openapi.json").json()
    described = {
        path: {
            kind: content["schema"]["$ref"].rpartition("/")[2]
            for kind, content in operation["requestBody"]["content"].items()
        }
        for path, methods in api["paths"].items()
        for operation in methods.values()
        if "requestBody" in operation
    }
    json = "application/json"
    assert described == {
        "/v1/models/{name}/predict": {json: "PredictRequest"},
        "/v1/models/{name}/explain": {json: "ExplainRequest"},
        "/v1/models/{name}/learn": {json: "LearnRequest"},
        "/v1/models/{name}/suggest": {"application/x-www-form-urlencoded": "SuggestRequest"},
    }
    for name in ("PredictRequest", "ExplainRequest", "LearnRequest", "SuggestRequest"):
        assert not {"scope", "body", "service", "exchange", "served"} & set(
            api["components"]["schemas"][name]["properties"]
        )
