"""`annif hyperopt`, with labeltree's tuner."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from opening import Annif

SEARCHED = ["loss", "C", "arity", "max_leaves", "prune", "n_trees"]


@pytest.mark.parametrize("metric", ["NDCG", "NDCG@5", "Precision@1"])
def test_it_recommends_parameters(run: Annif, metric: str) -> None:
    run("train", "tree", "train.tsv")
    told = run("hyperopt", "tree", "more.tsv", "-T", "4", "-j", "2", "-m", metric, "-r", "trials.tsv").output
    found = re.search(rf"Got best {metric} score ([\d.]+) with:\n---\n(.*)\n---", told, re.DOTALL)
    assert found is not None, told
    assert float(found[1]) > 0.9
    recommended = found[2].splitlines()
    assert [each.partition("=")[0] for each in recommended] == SEARCHED
    with open("trials.tsv") as file:
        trials = list(csv.DictReader(file, delimiter="\t"))
    assert [trial["trial"] for trial in trials] == ["0", "1", "2", "3"]
    assert list(trials[0])[2:] == [*SEARCHED, "documents"]
    assert found[1] in [f"{float(trial['value']):.4f}" for trial in trials]
    # The lines may be put into projects.cfg as they are.
    run("train", "tree", "--cached", *(part for each in recommended for part in ("-b", f"labeltree.{each}")))


def test_the_search_starts_from_the_parameters_of_the_project(run: Annif) -> None:
    run("train", "tree", "train.tsv")
    Path("projects.cfg").write_text(
        Path("projects.cfg").read_text().replace("[online]", "arity=8\nC=2.0\n[online]")
    )
    run("hyperopt", "tree", "more.tsv", "-T", "1", "-r", "trials.tsv")
    with open("trials.tsv") as file:
        (trial,) = csv.DictReader(file, delimiter="\t")
    assert (trial["arity"], trial["C"]) == ("8", "2.0")


def test_what_it_cannot_do_is_refused(run: Annif) -> None:
    assert "not found" in run("hyperopt", "tree", "more.tsv", fails=True).output
    run("train", "tree", "train.tsv")
    told = run("hyperopt", "tree", "more.tsv", "-m", "F1 score (doc avg)", fails=True).output
    assert "cannot optimize 'F1 score (doc avg)'; expected one of NDCG, NDCG@5" in told
    assert "only projects with online=false" in run("hyperopt", "online", "more.tsv", fails=True).output
