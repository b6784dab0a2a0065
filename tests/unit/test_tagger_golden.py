"""Saved taggers are read for ever."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.golden.make import GOLDEN, tagger_cases

from labeltree.model_file import read_info
from labeltree.text import Tagger


def test_all_golden_taggers_are_there() -> None:
    assert {path.parent.name for path in GOLDEN.glob("version-6/*/model.json")} == set(tagger_cases())


@pytest.mark.parametrize("name", tagger_cases())
def test_tags_what_it_did(name: str) -> None:
    golden = GOLDEN / "version-6" / name
    expected = json.loads(golden.with_name(f"{name}.json").read_text(encoding="utf-8"))
    tagger = Tagger.load(golden, verify=True)
    info = read_info(golden)
    assert (info.format_version, info.estimator) == (6, expected["estimator"])
    labels, probabilities = tagger.predict_topk(expected["texts"], k=3)
    assert labels.tolist() == expected["labels"]
    np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=1e-5)
    assert tagger.predict(expected["texts"]) == expected["predicted"]
