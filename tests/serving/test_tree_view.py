"""Trees are looked through once for each model that is loaded, and no answer is about an older one."""

from __future__ import annotations

from pathlib import Path

from tests.servers import BEARER, TOKEN, serving
from tests.serving.lessons import example, send, settings
from tests.small_models import small_data, small_model

from labeltree.serving import Settings, Tokens
from labeltree.serving.tree_view import TreeView


def test_a_tree_is_looked_through_once(models: dict[str, Path]) -> None:
    with serving(Settings({"small": models["small"]})) as (client, service):
        answers = [client.get(f"/v1/models/small/tree?tree={tree}").json() for tree in (0, 1, 0, 1)]
        assert [answer["tree"] for answer in answers] == [0, 1, 0, 1]
        assert answers[:2] == answers[2:]
        served = service.registry["small"]
        assert TreeView.of(served, 0) is TreeView.of(served, 0)
        assert sorted(served.tree_views) == [0, 1]
        assert "_counts_of_nodes" in vars(TreeView.of(served, 0))  # what takes longest


def test_a_new_version_gets_a_new_view(tmp_path: Path) -> None:
    small_model().save(tmp_path / "small")
    with serving(Settings({"small": tmp_path / "small"}, tokens=Tokens([TOKEN]))) as (client, _):
        before = client.get("/v1/models/small/tree").json()["count"]
        X, y = small_data()
        small_model().fit(X[:30], y[:30]).save(tmp_path / "small")
        assert client.post("/v1/models/small/reload", headers=BEARER).status_code == 200
        assert before == sum(map(len, y))
        assert client.get("/v1/models/small/tree").json()["count"] == sum(map(len, y[:30]))


def test_a_model_that_learns_is_looked_through_each_time(path: Path) -> None:
    with serving(settings(path)) as (client, _):
        counts = []
        for number in range(3):
            counts.append(client.get("/v1/models/online/tree").json()["count"])
            assert send(client, example(number)).status_code == 200
        assert counts == [6, 8, 10]
