"""Decisions in model files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.decided_models import decided_cases
from tests.golden.label_trees import features
from tests.golden.make import GOLDEN
from tests.golden.online_trees import rows_of
from tests.noisy_models import MODELS, TRAINED, VALID, as_lists, batch_model, online_model

from labeltree.errors import ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.saving import draft_of

METRICS = ["micro_f1", "macro_f1", "precision@3", "macro_am"]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("as_strings", [False, True])
def test_a_saved_model_decides_as_it_did(make: Any, name: str, as_strings: bool, tmp_path: Path) -> None:
    y_train, y_valid = (as_lists(y) if as_strings else y for y in (TRAINED[1], VALID[1]))
    model = make().fit(TRAINED[0], y_train).decide_for(name, VALID[0], y_valid)
    model.save(tmp_path / "model")
    for opened in (load(tmp_path / "model", verify=True), type(model).load(tmp_path / "model")):
        np.testing.assert_array_equal(opened.decision_.threshold, model.decision_.threshold)
        for part in ("metric", "method", "k", "value"):
            assert getattr(opened.decision_, part) == getattr(model.decision_, part)
        expected, found = model.predict(VALID[0]), opened.predict(VALID[0])
        assert (found == expected) if as_strings else (found != expected).nnz == 0
    info = read_info(tmp_path / "model")
    assert info.estimator == type(model).__name__
    assert info.n_bytes == sum(path.stat().st_size for path in (tmp_path / "model").glob("*.safetensors"))
    load(tmp_path / "model").save(tmp_path / "again")
    assert document(tmp_path / "again") == document(tmp_path / "model")


@pytest.mark.parametrize("make", MODELS)
def test_a_model_that_decides_as_at_first_is_written_as_before(make: Any, tmp_path: Path) -> None:
    model = make().fit(*TRAINED).decide_for("macro_f1", *VALID)
    model.save(tmp_path)
    model.decide_for("hamming").save(tmp_path)
    assert document(tmp_path)["format_version"] == (13 if make is batch_model else 3)
    assert "decision" not in document(tmp_path)
    assert not list(tmp_path.glob("decision-*"))
    assert load(tmp_path).decision_.threshold == 0.5


def test_an_online_model_that_is_loaded_learns_on_with_its_thresholds(tmp_path: Path) -> None:
    model = online_model().fit(TRAINED[0], as_lists(TRAINED[1]))
    model.decide_for("macro_f1", VALID[0], as_lists(VALID[1])).save(tmp_path)
    opened: Any = load(tmp_path)
    for each in (model, opened):
        each.partial_fit(VALID[0][:3], [["a new one"], ["label 10a"], ["label 3"]])
    np.testing.assert_array_equal(opened.decision_.threshold, model.decision_.threshold)
    assert opened.predict(VALID[0]) == model.predict(VALID[0])


@pytest.mark.parametrize("name", decided_cases())
def test_golden_models_decide_as_they_did(name: str, tmp_path: Path) -> None:
    golden, (case, _) = GOLDEN / "version-4" / name, decided_cases()[name]
    expected = json.loads(golden.with_name(f"{name}.json").read_text(encoding="utf-8"))
    model: Any = load(golden, verify=True)
    assert read_info(golden).format_version == 4
    assert (model.decision_.metric, model.decision_.k) == (expected["metric"], expected["k"])
    assert np.asarray(model.decision_.threshold).tolist() == expected["threshold"]
    found = model.predict(rows_of(case) if name.startswith("online") else features())
    assert (found if isinstance(found, list) else found.toarray().tolist()) == expected["predicted"]
    model.save(tmp_path / "saved")
    assert document(tmp_path / "saved")["decision"] == document(golden)["decision"]
    assert document(tmp_path / "saved")["files"] == document(golden)["files"]


def document(directory: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((directory / "model.json").read_text())
    return parsed


def edit_document(directory: Path, change: Any) -> None:
    changed = document(directory)
    change(changed)
    (directory / "model.json").write_text(json.dumps(changed))


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": 3}, "'metric' must be of type str"),
        ({"method": "magic"}, "'method' must be one of fixed, exact, ofo, got 'magic'"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, got 1.5"),
        ({"threshold": "half"}, "threshold must be a number from 0 to 1, got 'half'"),
        ({"threshold": None}, "either a threshold or k"),
        ({"k": 3}, "either a threshold or k"),
        ({"threshold": None, "k": 0}, "k must be an integer of at least 1, got 0"),
        ({"threshold": "per_label"}, "a file if and only if thresholds are per label"),
        ({"value": "good"}, "value must be a number or null, got good"),
        ({"extra": 1}, "decision has the unknown field 'extra'"),
    ],
    ids=str,
)
def test_decisions_that_lie(make: Any, change: dict[str, Any], message: str, tmp_path: Path) -> None:
    make().fit(*TRAINED).decide_for("micro_f1", *VALID).save(tmp_path)
    edit_document(tmp_path, lambda document: document["decision"].update(change))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path)


@pytest.mark.parametrize("make", MODELS)
def test_files_and_versions_that_lie(make: Any, tmp_path: Path) -> None:
    def refused(directory: str, message: str, change: Any) -> None:
        draft_of(model).write(tmp_path / directory)  # as `save`, which would refuse some of them
        edit_document(tmp_path / directory, change)
        with pytest.raises(ModelFileError, match=message):
            load(tmp_path / directory)

    model = make().fit(*TRAINED).decide_for("macro_f1", *VALID)
    refused("missing", "if and only if", lambda document: document["files"].pop("decision"))
    refused(
        "older",
        f"but its sections are those of version {13 if make is batch_model else 4}",
        lambda d: d.update(format_version=1 if make is batch_model else 3),
    )
    refused("scalar", "if and only if", lambda document: document["decision"].update(threshold=0.5))
    refused("none", "unknown field 'decision'", lambda document: document.pop("decision"))
    model.decision_ = type(model.decision_)("macro_f1", "exact", np.full(3, 0.5, dtype=np.float32))
    refused("short", "expected 15 thresholds .F32., got F32 of shape .3,.", lambda document: None)
    for wrong in (np.nan, -0.1, 1.1):
        thresholds = np.full(15, wrong, dtype=np.float32)
        model.decision_ = type(model.decision_)("macro_f1", "exact", thresholds)
        refused(f"wrong {wrong}", "thresholds must be from 0 to 1", lambda document: None)
