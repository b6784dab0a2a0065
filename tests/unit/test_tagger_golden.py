"""Saved taggers are read for ever."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.golden.make import GOLDEN
from tests.golden.taggers import later_tagger_cases, newest_tagger_cases, tagger_cases, vector_tagger_cases

from labeltree.model_file import read_info
from labeltree.text import Tagger, allow_import

CASES = {6: tagger_cases(), 8: later_tagger_cases(), 9: newest_tagger_cases(), 10: vector_tagger_cases()}


def test_all_golden_taggers_are_there() -> None:
    for version, cases in CASES.items():
        assert set(cases) <= {path.parent.name for path in GOLDEN.glob(f"version-{version}/*/model.json")}
    assert {path.parent.name for path in GOLDEN.glob("version-6/*/model.json")} == set(CASES[6])


@pytest.mark.filterwarnings("ignore:the model was trained with snowballstemmer")
@pytest.mark.parametrize(
    ("version", "name"), [(version, name) for version in CASES for name in CASES[version]]
)
def test_tags_what_it_did(version: int, name: str) -> None:
    golden = GOLDEN / f"version-{version}" / name
    expected = json.loads(golden.with_name(f"{name}.json").read_text(encoding="utf-8"))
    allow_import("tests.tokenizers:split_at_spaces")
    tagger = Tagger.load(golden, verify=True)
    info = read_info(golden)
    assert (info.format_version, info.estimator) == (version, expected["estimator"])
    labels, probabilities = tagger.predict_topk(expected["texts"], k=3)
    assert labels.tolist() == expected["labels"]
    np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=1e-5)
    assert tagger.predict(expected["texts"]) == expected["predicted"]
