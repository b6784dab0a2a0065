"""What is told of a mix without opening it: a damaged document is refused here too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.small_models import small_model

from labeltree import ModelFileError, mix
from labeltree.model_file import read_info


def test_a_field_that_nobody_knows(tmp_path: Path) -> None:
    mix([small_model(n_trees=1), small_model(n_trees=2)]).save(tmp_path)
    assert len(read_info(tmp_path).trees) == 3
    document = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**document, "odd": 1}))
    with pytest.raises(ModelFileError, match="unknown field 'odd'"):
        read_info(tmp_path)
