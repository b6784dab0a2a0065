"""Who may ask, and who may change something: on every route."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route
from tests.servers import BEARER, TOKEN, serving

from labeltree.serving import Settings, Tokens
from labeltree.serving.metrics import ROUTES
from labeltree.serving.tokens import Access, access_of

#: Where nobody ever needs a token, and where everybody does. All other routes only ask.
OPEN = {"/healthz", "/readyz", "/", "/page/{name}"}
CHANGES = {"/v1/models/{name}/reload", "/v1/models/{name}/learn"}

WRONG: list[dict[str, str | bytes]] = [
    {},
    {"Authorization": ""},
    {"Authorization": TOKEN},
    {"Authorization": f"Basic {TOKEN}"},
    {"Authorization": "Bearer"},
    {"Authorization": f"Bearer {TOKEN}x"},
    {"Authorization": f"Bearer {TOKEN[:-1]}"},
    {"Authorization": "Bearer ünïcode".encode()},
]


def application_of(models: dict[str, Path]) -> FastAPI:
    from labeltree.serving import Service, create_application

    return create_application(Service(Settings(models)))


@pytest.fixture(scope="module")
def routes(models: dict[str, Path]) -> list[tuple[str, str]]:
    """All methods and paths that the application has."""
    return [
        (method, path)
        for path, methods in all_routes(application_of(models)).items()
        for method in sorted(methods)
    ]


def all_routes(app: FastAPI) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    waiting = list(app.routes)
    while waiting:
        route = waiting.pop(0)
        inside = getattr(route, "original_router", None) or getattr(route, "included_router", None)
        if inside is not None:
            waiting = [*inside.routes, *waiting]
            continue
        assert isinstance(route, Route), route
        found.setdefault(route.path, set()).update((route.methods or set()) - {"HEAD"})
    return found


@pytest.fixture(scope="module")
def clients(models: dict[str, Path]) -> Iterator[dict[str, httpx.Client]]:
    """Servers without tokens, with tokens, and with tokens for all."""
    with (
        serving(Settings(models)) as (without, _),
        serving(Settings(models, tokens=Tokens([TOKEN, "another-token-here"]))) as (with_tokens, _),
        serving(Settings(models, tokens=Tokens([TOKEN], for_all=True))) as (for_all, _),
    ):
        yield {"without": without, "with": with_tokens, "for all": for_all}


def test_every_route_is_known(routes: list[tuple[str, str]]) -> None:
    assert {path for _, path in routes} == set(ROUTES) - {"other"}
    assert {method for method, _ in routes} == {"GET", "POST"}  # others would need a look at `access_of`


def status_of(client: httpx.Client, method: str, path: str, headers: Any = None) -> int:
    response = client.request(method, path.format(name="online"), headers=headers)
    assert response.status_code != 500
    return response.status_code


@pytest.mark.parametrize("headers", WRONG, ids=str)
def test_nothing_is_changed_with_a_wrong_token_or_none(
    clients: dict[str, httpx.Client], routes: list[tuple[str, str]], headers: dict[str, str | bytes]
) -> None:
    for method, path in routes:
        expected = 401 if path in CHANGES else None
        found = status_of(clients["with"], method, path, headers)
        assert (found == 401) == (expected == 401), (method, path, found)
        found = status_of(clients["for all"], method, path, headers)
        assert (found == 401) == (path not in OPEN), (method, path, found)
        found = status_of(clients["without"], method, path, headers)
        assert (found == 403) == (path in CHANGES), (method, path, found)


def test_a_right_token_opens_every_route(
    clients: dict[str, httpx.Client], routes: list[tuple[str, str]]
) -> None:
    for kind in ("with", "for all"):
        for method, path in routes:
            assert status_of(clients[kind], method, path, BEARER) not in (401, 403)
    other = {"Authorization": "bearer another-token-here"}
    assert status_of(clients["with"], "POST", "/v1/models/online/reload", other) == 200
    # Where there are no tokens, none is right.
    assert status_of(clients["without"], "POST", "/v1/models/online/reload", BEARER) == 403


def test_the_answer_says_which_scheme_is_wanted(clients: dict[str, httpx.Client]) -> None:
    missing = clients["with"].post("/v1/models/online/reload")
    assert missing.headers["www-authenticate"] == 'Bearer realm="labeltree"'
    assert missing.json()["error"]["code"] == "unauthorized"
    wrong = clients["with"].post("/v1/models/online/reload", headers={"Authorization": "Bearer x"})
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    assert wrong.json()["error"]["code"] == "wrong_token"


def test_a_token_is_looked_at_before_the_body(clients: dict[str, httpx.Client]) -> None:
    response = clients["with"].post("/v1/models/online/learn", content=b"x" * 20_000_000)
    assert response.status_code == 401


def test_what_changes_something_needs_a_token_by_the_description(clients: dict[str, httpx.Client]) -> None:
    paths = clients["without"].get("/openapi.json").json()["paths"]
    needing = {path for path, methods in paths.items() for method in methods.values() if "security" in method}
    assert needing == CHANGES


def test_tokens_come_from_a_file_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tokens"
    path.write_text("# mine\nfirst-token-of-mine\n\n  second-token-of-mine \n")
    monkeypatch.setenv("LABELTREE_TOKENS", "third-token-of-mine, fourth-token-of-mine")
    tokens = Tokens.read(path)
    for number in ("first", "second", "third", "fourth"):
        assert tokens.accepts(f"Bearer {number}-token-of-mine".encode())
    assert not tokens.accepts(b"Bearer # mine")
    monkeypatch.delenv("LABELTREE_TOKENS")
    assert not Tokens.read(None)
    path.write_text("# none\n")
    with pytest.raises(ValueError, match="expected a token on each line, got none"):
        Tokens.read(path)


def test_tokens_that_can_be_guessed_are_refused() -> None:
    with pytest.raises(ValueError, match="expected tokens of at least 16 letters"):
        Tokens(["secret"])
    with pytest.raises(ValueError, match="all requests need a token, but there are none"):
        Tokens(for_all=True)


#: Paths that begin or end as one that needs no token, or another.
NEAR_QUESTIONS = [
    "/v1/models/pets/predict/",
    "/v1/models/pets/predict/learn",
    "/v1/models/pets/predictx",
    "/v1/models/pets/predict\n",
    "/v1/models/pets/xpredict",
    "/v1/models/pets/predict/../learn",
    "/v1/models/a/b/predict",
    "/v1/models//predict",
    "/x/v1/models/pets/predict",
    "/V1/models/pets/predict",
]
NEAR_OPEN = [
    "/healthzx",
    "/healthz/",
    "/healthz\n",
    "/x/healthz",
    "/readyzz",
    "/page/a/b",
    "/page",
    "//",
    "/ ",
]


def test_the_rules_match_whole_paths() -> None:
    assert access_of("POST", "/v1/models/pets/predict") is Access.READ
    for path in NEAR_QUESTIONS:
        assert access_of("POST", path) is Access.WRITE, path
    for path in ("/healthz", "/readyz", "/", "/page/index.html"):
        assert access_of("GET", path) is Access.OPEN
        assert access_of("POST", path) is Access.WRITE
    for path in NEAR_OPEN:
        assert access_of("GET", path) is Access.READ, path


def test_paths_that_begin_as_a_question_are_none(clients: dict[str, httpx.Client]) -> None:
    for path in ("/v1/models/online/predict/x", "/v1/models/online/predict/", "/x/v1/models/online/predict"):
        answer = clients["with"].post(path, json={"text": "a"}, headers=BEARER)
        assert answer.status_code == 404, path


@pytest.mark.parametrize(
    "given",
    [f"x{TOKEN}", f"{TOKEN}x", TOKEN[:-1], TOKEN[1:], f"{TOKEN}=", f"{TOKEN} {TOKEN}", TOKEN.upper(), ""],
)
def test_a_token_is_the_whole_token(given: str) -> None:
    tokens = Tokens([TOKEN])
    assert tokens.accepts(f"Bearer {TOKEN}".encode())
    assert not tokens.accepts(f"Bearer {given}".encode())


@pytest.mark.parametrize("character", ["\n", " ", "ü", ",", "=x", "\0"])
def test_tokens_that_no_header_can_have_are_refused(character: str) -> None:
    for token in (f"{TOKEN}{character}", f"{character}{TOKEN}"):
        with pytest.raises(ValueError, match="expected tokens of at least 16 letters"):
            Tokens([token])
