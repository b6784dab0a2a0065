"""Mixes of the format version they came with are read, and answer as they did."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from labeltree.model_file import load, read_info

MODELS = sorted(path.parent for path in (Path(__file__).parents[1] / "golden/version-7").glob("*/model.json"))

each_model = pytest.mark.parametrize("golden", MODELS, ids=lambda path: path.name)


def test_all_golden_mixes_are_there():
    assert [path.name for path in MODELS] == ["decided", "three-kinds"]


@each_model
def test_answers_as_it_did(golden):
    expected = json.loads(golden.with_name(f"{golden.name}.json").read_text(encoding="utf-8"))
    model = load(golden, verify=True)
    assert read_info(golden).format_version == 7
    assert model.classes_.tolist() == expected["classes"]
    assert model.weights_ == expected["weights"]
    assert [type(member).__name__ for member in model.members_] == expected["members"]
    X = np.array(expected["X"], dtype=np.float32)
    labels, probabilities = model.predict_topk(X, 3)
    assert labels.tolist() == expected["labels"]
    np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=1e-5)
    assert model.predict(X) == expected["predicted"]


@each_model
def test_saving_it_again_writes_the_same_bytes(golden, tmp_path):
    shutil.copytree(golden, tmp_path / "copy")
    load(tmp_path / "copy").save(tmp_path / "saved")
    files = sorted(path.name for path in golden.iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    for name in files:
        if name != "model.json":  # which has the version of the library
            assert (golden / name).read_bytes() == (tmp_path / "saved" / name).read_bytes()
