"""Online models of every format version ever released are read, answer and learn on as they did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.golden.make import GOLDEN
from tests.golden.online_trees import (
    given_tree_cases,
    later_online_cases,
    online_cases,
    rows_of,
    several_tree_cases,
)

from labeltree import OnlineLabelTreeClassifier
from labeltree.model_file import read_info

VERSIONS = {3: online_cases(), 9: later_online_cases(), 12: given_tree_cases(), 13: several_tree_cases()}
CASES = [(version, name) for version, named in VERSIONS.items() for name in named]


@pytest.mark.parametrize("version", VERSIONS)
def test_all_golden_models_are_there(version: int) -> None:
    there = {
        path.parent.name
        for path in GOLDEN.glob(f"version-{version}/*/model.json")
        if read_info(path.parent).estimator == "OnlineLabelTreeClassifier"
    }
    assert there == set(VERSIONS[version])


@pytest.mark.parametrize(("version", "name"), CASES)
def test_answers_and_learns_on_as_it_did(version: int, name: str) -> None:
    case, golden = VERSIONS[version][name], GOLDEN / f"version-{version}" / name
    expected = json.loads(golden.with_name(f"{name}.json").read_text(encoding="utf-8"))
    model = OnlineLabelTreeClassifier.load(golden, verify=True)
    assert model.classes_.tolist() == expected["classes"]
    for k, labels in enumerate(expected["labels"]):
        found = model.predict_topk(rows_of(case), k=3)
        assert found.labels.tolist() == labels
        np.testing.assert_allclose(found.probabilities, expected["probabilities"][k], rtol=1e-5)
        if k == 0:
            model.partial_fit(rows_of(case), case.y)
    assert model.n_examples_ == expected["n_examples"]
    trees = expected["trees"] if "trees" in expected else [expected["tree"]]
    assert [tree.to_nested() for tree in model.trees_] == trees


@pytest.mark.parametrize(("version", "name"), CASES)
def test_saving_it_again_writes_the_same_bytes(version: int, name: str, tmp_path: Path) -> None:
    golden = GOLDEN / f"version-{version}" / name
    OnlineLabelTreeClassifier.load(golden).save(tmp_path / "saved")
    files = sorted(path.name for path in golden.iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    assert json.loads((tmp_path / "saved" / "model.json").read_text())["format_version"] == version
    for file in files:
        if file.endswith(".safetensors"):
            assert (golden / file).read_bytes() == (tmp_path / "saved" / file).read_bytes()
