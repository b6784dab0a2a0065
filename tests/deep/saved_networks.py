"""What the tests of saved networks share: comparisons of answers, and changes of files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.deep.conftest import TEXTS
from tests.unit.test_model_file_fuzz import Model

from labeltree.errors import ModelFileError
from labeltree.model_file import load
from labeltree.model_file.directory import ModelWriter
from labeltree.model_file.tensors import map_tensors

FILE = {"encoder": "encoder", "attention": "attention-0"}


def answers(model):
    found = model.predict_topk(TEXTS[:40], k=3)
    return found.labels.tolist(), found.probabilities


def same(first, second):
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


def change(path: Path, **fields):
    document = json.loads((path / "model.json").read_text())
    for name, value in fields.items():
        place, (*way, last) = document, name.split("__")
        for step in way:
            place = place[step]
        if value is None:
            del place[last]
        else:
            place[last] = value
    (path / "model.json").write_text(json.dumps(document))


def rewrite(path: Path, stem: str, edit):
    """Replace the tensors of a file by others, with checksums that are right."""
    document = json.loads((path / "model.json").read_text())
    (old,) = (file for file in path.iterdir() if file.name.startswith(f"{stem}-"))
    with old.open("rb") as file:
        tensors = dict(map_tensors(file).tensors)
    edit(tensors)
    with ModelWriter(path) as writer:
        entry = writer.add(stem, tensors).to_json()
        text = json.dumps(document)
        (before,) = [part for part in entries(document) if part["name"] == old.name]
        writer.commit(text.replace(json.dumps(before), json.dumps(entry)))


def entries(value):
    if isinstance(value, dict) and value.keys() == {"name", "bytes", "sha256"}:
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [entry for part in parts for entry in entries(part)]


class DeepModel(Model):
    """The files of a saved network, in memory and on disk."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        # It has one tensor, and tests of its own.
        self.tensor_files = [name for name in self.tensor_files if not name.startswith("tokenizer")]

    def outcome(self, changed: dict[str, bytes], verify: bool = False) -> str:
        try:
            self.write(changed)
            return self.ask(verify)
        finally:
            self.write({name: self.files[name] for name in changed})

    def ask(self, verify: bool) -> str:
        try:
            model = load(self.directory, verify=verify)
        except ModelFileError:
            return "refused"
        try:
            probabilities = model.predict_topk(TEXTS[:4], k=3).probabilities
            assert ((probabilities >= 0) & (probabilities <= 1)).all()
            model.predict_pairs(TEXTS[:2], [0, 1], [model.classes_[0]] * 2)
            model.explain(TEXTS[0][:20], model.classes_[-1])
        except ModelFileError:
            return "refused when asked"
        return "answered"

    def with_file(self, name: str, content: bytes) -> dict[str, bytes]:
        document = json.loads(self.files["model.json"])
        for entry in entries(document):
            if entry["name"] == name:
                entry["bytes"] = len(content)
        return {name: content, "model.json": json.dumps(document).encode()}
