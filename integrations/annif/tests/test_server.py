"""Annif's own server, with projects of the backend."""

from __future__ import annotations

import annif
from opening import Annif
from things import NEW, WORDS, uri


def test_it_suggests_and_learns(run: Annif) -> None:
    run("train", "online", "train.tsv")
    with annif.create_app("labeltree_annif.Config").test_client() as client:
        answer = client.get("/v1/projects/online").json()
        assert (answer["backend"]["backend_id"], answer["is_trained"]) == ("labeltree", True)
        ask = {"text": "a bottle from the cellar", "limit": "1"}
        (found,) = client.post("/v1/projects/online/suggest", data=ask).json()["results"]
        assert (found["uri"], found["label"]) == (uri("wine"), "wine")
        lesson = {"text": WORDS["wine"], "subjects": [{"uri": uri(NEW), "label": NEW}]}
        assert client.post("/v1/projects/online/learn", json=[lesson] * 40).status_code == 204
        ask["limit"] = "2"
        results = client.post("/v1/projects/online/suggest", data=ask).json()["results"]
        assert uri(NEW) in [found["uri"] for found in results]
