"""Models with label names are read for ever."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from labeltree.model_file import load, read_info

#: Other models of this version have texts of a kind that came with it.
MODELS = sorted(
    path.with_suffix("")
    for path in (Path(__file__).parents[1] / "golden/version-8").glob("*.json")
    if "label_names" in json.loads(path.read_text(encoding="utf-8"))
)

each_model = pytest.mark.parametrize("golden", MODELS, ids=lambda path: path.name)


def test_all_golden_models_are_there():
    assert [path.name for path in MODELS] == ["fastxml", "label-tree", "mix", "online"]


@each_model
def test_has_the_names_and_answers_as_it_did(golden):
    expected = json.loads(golden.with_name(f"{golden.name}.json").read_text(encoding="utf-8"))
    model, info = load(golden, verify=True), read_info(golden)
    assert (info.format_version, info.estimator, info.has_label_names) == (8, expected["estimator"], True)
    assert model.label_names_ == expected["label_names"]
    found = model.predict_topk(np.array(expected["X"], dtype=np.float32), 3)
    assert found.labels.tolist() == expected["labels"]
    np.testing.assert_allclose(found.probabilities, expected["probabilities"], rtol=1e-5)


@each_model
def test_saving_it_again_writes_the_same_bytes(golden, tmp_path):
    shutil.copytree(golden, tmp_path / "copy")
    load(tmp_path / "copy").save(tmp_path / "saved")
    files = sorted(path.name for path in golden.iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    for name in files:
        if name != "model.json":  # which has the version of the library
            assert (golden / name).read_bytes() == (tmp_path / "saved" / name).read_bytes()
