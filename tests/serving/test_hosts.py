"""A server answers only for its own names, so that no page can reach it under a name of its own (DNS rebinding)."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.command_line import run
from tests.servers import ServerProcess, serving

from labeltree.serving import Settings
from labeltree.serving.hosts import Hosts

OURS = [
    "localhost",
    "localhost:8000",
    "LOCALHOST.",
    "127.0.0.1:9",
    "[::1]:8000",
    "[::1]",
    "192.168.1.7",
    "tags.example.org",
    "Tags.Example.org:443",
]
OTHERS = [
    "evil.example",
    "localhost.evil.example",
    "evil.localhost.example:8000",
    "tags.example.org.evil.example",
    "xtags.example.org",
    "127.0.0.1.evil.example",
    "127.0.0.1:x",
    "localhost:8000:9",
    "[::1",
    "localhost ",
    "",
]


def test_only_own_names_and_addresses_are_accepted() -> None:
    hosts = Hosts(["tags.example.org"])
    for _ in range(2):  # the second time from memory
        assert [host for host in OURS if not hosts.accepts(host.encode())] == []
        assert [host for host in OTHERS if hosts.accepts(host.encode())] == []
    assert hosts.accepts(None)  # browsers always send one
    assert all(Hosts(["*"]).accepts(host.encode()) for host in OTHERS)


def test_what_is_accepted_is_not_remembered_without_end() -> None:
    hosts = Hosts()
    assert all(hosts.accepts(f"localhost:{port}".encode()) for port in range(2000))
    assert len(hosts._known) < 1000


@pytest.mark.parametrize("name", ["https://example.org", "example.org:80", "", "a b", "*.example.org"])
def test_what_is_no_name_is_refused(name: str, models: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match="expected the name of a host without a port"):
        Settings(models, allowed_hosts=(name,))


def test_every_route_but_health_checks_asks_for_the_host(models: dict[str, Path]) -> None:
    evil = {"Host": "evil.example:8000"}
    with serving(Settings({"small": models["small"]})) as (client, _):
        for path in (
            "/",
            "/v1/models",
            "/v1/models/small/labels",
            "/metrics",
            "/openapi.json",
            "/docs",
            "/none",
        ):
            refused = client.get(path, headers=evil)
            assert refused.status_code == 421, path
            assert refused.json()["error"]["code"] == "wrong_host"
            assert "start it with --allowed-host evil.example" in refused.json()["error"]["message"]
        body = {"rows": [{"indices": [1], "values": [1.0]}]}
        assert client.post("/v1/models/small/predict", json=body, headers=evil).status_code == 421
        for path in ("/healthz", "/readyz"):  # load balancers ask under any name
            assert client.get(path, headers=evil).status_code == 200


def test_names_are_options_of_the_command(models: dict[str, Path], tmp_path: Path) -> None:
    options = ("--host", "127.0.0.1", "--allowed-host", "one.example", "--allowed-host", "other.example")
    with ServerProcess(models["small"], *options, log=tmp_path / "log") as server:
        for host, status in (("one.example", 200), ("other.example:80", 200), ("third.example", 421)):
            assert server.client.get("/v1/models", headers={"Host": host}).status_code == status
    refused = run("serve", models["small"], "--port", 0, "--allowed-host", "http://x", exit_code=1)
    assert "expected the name of a host without a port" in refused.stderr


def test_head_is_answered_wherever_get_is(models: dict[str, Path]) -> None:
    paths = [
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/v1/models",
        "/v1/models/small",
        "/openapi.json",
        "/docs",
    ]
    paths += ["/v1/models/small/labels?limit=3", "/v1/models/small/tree", "/page/index.html", "/none"]
    with serving(Settings({"small": models["small"]})) as (client, _):
        for path in paths:
            get, head = client.get(path), client.head(path)
            assert head.status_code == get.status_code, path
            assert head.headers["content-type"] == get.headers["content-type"]
            if path != "/metrics":  # which counts these requests
                assert head.headers["content-length"] == get.headers["content-length"]
            assert head.content == b""
        assert client.head("/v1/models/small/predict").status_code == 405
        refused = httpx.head(f"{client.base_url}/v1/models/nothing")
        assert refused.status_code == 404
