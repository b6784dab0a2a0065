"""Plurals and articles in messages."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import labeltree
from labeltree import LabelTreeClassifier, OneVsRestClassifier, OnlineLabelTreeClassifier
from labeltree.calibration import node_pairs
from labeltree.model_file import load

X, Y = np.eye(3), [["a"], ["b"], ["a"]]


def test_articles(tmp_path: Path) -> None:
    online = OnlineLabelTreeClassifier().partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"^an OnlineLabelTreeClassifier does not give the scores"):
        node_pairs(online, X, Y)
    with pytest.raises(ValueError, match="model 1, an OnlineLabelTreeClassifier, goes on learning"):
        labeltree.mix([online, online])
    OneVsRestClassifier().fit(X, Y).save(tmp_path / "model")
    with pytest.raises(labeltree.ModelFileError, match="is a OneVsRestClassifier, not an OnlineLabelTree"):
        load(tmp_path / "model", False, OnlineLabelTreeClassifier)


def test_plurals() -> None:
    model = LabelTreeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"got 1 name$"):
        model.explain(X[0], "a", feature_names=["one"])
    with pytest.raises(ValueError, match="of 1 row leaves none to train on"):
        model.fit_for("micro_f1", X[:1], Y[:1])


def test_no_message_puts_a_fixed_article_before_the_name_of_a_class() -> None:
    package = Path(labeltree.__file__).parent
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r"\ba \{[^}]*__name__\}", line)
    ]
    assert found == []
