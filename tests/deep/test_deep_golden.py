"""Saved models with neural networks are read for ever, and answer as they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.deep.golden.make import FOLDER, NAMES

from labeltree.model_file import load, read_info


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    for package in ("tokenizers", "onnxruntime") if is_export(request.param) else ("torch", "transformers"):
        pytest.importorskip(package)
    return str(request.param)


def is_export(name: str) -> bool:
    return name.endswith("-onnx")


def test_all_golden_models_are_there_and_small() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/model.json")} == set(NAMES)
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 1_000_000


def test_answers_as_it_did(name: str) -> None:
    expected: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    model: Any = load(FOLDER / name, verify=True)
    assert type(model).__name__ == expected["estimator"]
    assert model.classes_.tolist() == expected["classes"]
    assert model.label_counts_.tolist() == expected["label_counts"]
    assert [tree.to_nested() for tree in model.trees_] == expected["trees"]
    found = model.predict_topk(expected["texts"], k=3)
    assert found.labels.tolist() == expected["labels"]
    np.testing.assert_allclose(found.probabilities, expected["probabilities"], rtol=1e-4)
    assert model.predict(expected["texts"]) == expected["predicted"]


def test_saving_it_again_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    load(FOLDER / name).save(tmp_path / "saved")
    files = sorted(path.name for path in (FOLDER / name).iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    for file in files:
        if file.endswith(".safetensors"):
            assert (FOLDER / name / file).read_bytes() == (tmp_path / "saved" / file).read_bytes()


def test_information(name: str) -> None:
    info = read_info(FOLDER / name)
    assert (info.format_version, info.runtime) == (11, "onnx" if is_export(name) else "torch")
    assert info.weights == ("int8" if "int8" in name else "float32")
    assert len(info.trees) == (2 if name.startswith("attention") else 1)
