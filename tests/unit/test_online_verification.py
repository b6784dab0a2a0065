"""Checksums of saved online models: compared only if asked, because this reads all weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.contract.problem import problem
from tests.online_problem import online

from labeltree import ModelFileError, OnlineLabelTreeClassifier
from labeltree.model_file import load


def flip_a_bit_of_a_weight(directory: Path) -> None:
    """Change the last bit of the first weight: nothing but a checksum can notice."""
    (path,) = directory.glob("online-tree-*.safetensors")
    content = bytearray(path.read_bytes())
    header_end = 8 + int.from_bytes(content[:8], "little")
    begin, _ = json.loads(content[8:header_end])["weight"]["data_offsets"]
    content[header_end + begin] ^= 1
    path.write_bytes(content)


def test_damage_is_noticed_if_asked_for(tmp_path: Path) -> None:
    online().partial_fit(*problem()).save(tmp_path)
    OnlineLabelTreeClassifier.load(tmp_path, verify=True)
    flip_a_bit_of_a_weight(tmp_path)
    for opened in (OnlineLabelTreeClassifier.load(tmp_path), load(tmp_path)):
        assert isinstance(opened, OnlineLabelTreeClassifier)
    with pytest.raises(ModelFileError, match="checksum"):
        OnlineLabelTreeClassifier.load(tmp_path, verify=True)
    with pytest.raises(ModelFileError, match="checksum"):
        load(tmp_path, verify=True)
