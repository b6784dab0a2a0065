"""Thousands of damaged models: each is refused with `ModelFileError`, or loads and answers."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.model_files import header_of, with_header
from tests.fuzz.mutation import replace_somewhere
from tests.small_models import small_data, small_model

from labeltree import ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import DTYPES

X = small_data()[0][:8]


class Model:
    """The files of a saved model, in memory and on disk."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files = {path.name: path.read_bytes() for path in sorted(directory.iterdir())}
        self.tensor_files = [name for name in self.files if name.endswith(".safetensors")]

    def outcome(self, changed: dict[str, bytes], verify: bool = False) -> str:
        """What becomes of the model with some of its files changed; puts them back."""
        try:
            self.write(changed)
            return ask(self.directory, verify)
        finally:
            self.write({name: self.files[name] for name in changed})

    def write(self, files: dict[str, bytes]) -> None:
        for name, content in files.items():
            # Not written in place: an earlier model may still have the file mapped.
            (self.directory / name).unlink()
            (self.directory / name).write_bytes(content)

    def with_file(self, name: str, content: bytes) -> dict[str, bytes]:
        """The changes that bring in another tensor file, of the size that model.json says it has."""
        document = json.loads(self.files["model.json"])
        files = document["files"]
        for entry in [*files["trees"], files["labels"]]:
            if entry["name"] == name:
                entry["bytes"] = len(content)
        return {name: content, "model.json": json.dumps(document).encode()}


def ask(directory: Path, verify: bool = False) -> str:
    """Open a model and ask it everything; anything but an answer or `ModelFileError` is passed on."""
    try:
        model = load(directory, verify=verify)
    except ModelFileError:
        return "refused"
    try:
        if model.n_features_in_ != X.shape[1]:
            return "answered"
        probabilities = model.predict_topk(X, k=3).probabilities
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        model.predict(X)
        model.predict_pairs(X, range(8), [model.classes_[0]] * 8)
        model.explain(X[0], model.classes_[-1])
        for _ in zip(range(4), model.iter_labels(X[0]), strict=False):
            pass
    except ModelFileError:
        return "refused when asked"
    return "answered"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    for name, seed, weights in [
        ("a", 0, "float32"),
        ("b", 1, "float32"),
        ("c", 0, "int8"),
        ("d", 1, "bfloat16"),
    ]:
        small_model(seed, n_trees=2 if name == "a" else 1).save(root / name, weights=weights)
    return [Model(root / name) for name in "abcd"]


# -- ways to damage a model ----------------------------------------------------------------------------


def flip_bits(rng: random.Random, model: Model) -> dict[str, bytes]:
    name = rng.choice(list(model.files))
    content = bytearray(model.files[name])
    in_header = rng.random() < 0.5
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(min(len(content), 900) if in_header else len(content))
        content[at] ^= 1 << rng.randrange(8)
    return {name: bytes(content)}


def cut_or_lengthen(rng: random.Random, model: Model) -> dict[str, bytes]:
    name = rng.choice(model.tensor_files)
    content = model.files[name]
    if rng.random() < 0.7:
        content = content[: rng.randrange(len(content))]
    else:
        content += rng.randbytes(rng.choice([1, 8, 64, 1000]))
    return model.with_file(name, content) if rng.random() < 0.8 else {name: content}


def overwrite_range(rng: random.Random, model: Model) -> dict[str, bytes]:
    name = rng.choice(model.tensor_files)
    content = bytearray(model.files[name])
    n = rng.choice([1, 4, 8, 64])
    to, source = rng.randrange(len(content) - n), rng.randrange(len(content) - n)
    filling = rng.choice(
        [b"\0" * n, b"\xff" * n, b"\x7f" * n, rng.randbytes(n), bytes(content[source : source + n])]
    )
    content[to : to + n] = filling
    return {name: bytes(content)}


def change_numbers(rng: random.Random, model: Model) -> dict[str, bytes]:
    """Put numbers of the right type but of no sense into a tensor."""
    name = rng.choice(model.tensor_files)
    header, data = header_of(model.files[name])
    tensor = header[rng.choice([key for key in header if key != "__metadata__"])]
    begin, end = tensor["data_offsets"]
    values = np.frombuffer(data[begin:end], dtype=DTYPES[tensor["dtype"]]).copy()
    if values.dtype.kind == "f":
        wild = [np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-45, 0]
    else:
        limits = np.iinfo(values.dtype)
        wild = [limits.min, limits.max, limits.max // 2, 0, 1, len(values)]
        wild += [int(rng.choice(values)) + step for step in (-1, 1)]
    for _ in range(rng.choice([1, 1, 3])):
        number = rng.choice(wild)
        if values.dtype.kind != "f":
            number = min(max(number, limits.min), limits.max)
        values[rng.choice([0, -1, rng.randrange(len(values))])] = number
    if rng.random() < 0.1:
        rng.shuffle(values)
    return model.with_file(name, with_header(header, data[:begin] + values.tobytes() + data[end:]))


def change_header(rng: random.Random, model: Model) -> dict[str, bytes]:
    """Let the header say something else; sometimes two tensors swap what it says about them."""
    name = rng.choice(model.tensor_files)
    header, data = header_of(model.files[name])
    names = [key for key in header if key != "__metadata__"]
    one, other = header[rng.choice(names)], header[rng.choice(names)]
    how = rng.randrange(7)
    if how == 0:
        field = rng.choice(["dtype", "shape", "data_offsets"])
        one[field], other[field] = other[field], one[field]
    elif how == 1:
        one["dtype"] = rng.choice(list(DTYPES))
    elif how == 2:
        field = one[rng.choice(["shape", "data_offsets"])]
        field[rng.randrange(len(field))] += rng.choice([-8, -1, 1, 8, 2**31, 2**32, 2**61, 2**62])
    elif how == 3:
        one["shape"] = rng.choice([one["shape"][::-1], [*one["shape"], 1], [1, *one["shape"]], [0], []])
    elif how == 4:
        header[rng.choice([*names, "new"])] = header.pop(rng.choice(names))
    elif how == 5:
        one, other = rng.sample(names, 2)
        header[one], header[other] = header[other], header[one]
    else:
        replace_somewhere(rng, header)
    return model.with_file(name, with_header(header, data))


def change_document(rng: random.Random, model: Model) -> dict[str, bytes]:
    document = json.loads(model.files["model.json"])
    for _ in range(rng.choice([1, 1, 2])):
        replace_somewhere(rng, document)
    return {"model.json": json.dumps(document).encode()}


DAMAGES = [flip_bits, cut_or_lengthen, overwrite_range, change_numbers, change_header, change_document]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_models_are_refused_or_answer(models, damage):
    rng = random.Random(damage.__name__)
    outcomes = Counter()
    for number in range(500):
        model = models[number % len(models)]
        outcomes[model.outcome(damage(rng, model))] += 1
    assert outcomes["refused"] > 100, outcomes


def test_every_changed_byte_is_found_on_request(models):
    rng = random.Random(1)
    for model in models[1:]:
        for name in model.tensor_files:
            content = model.files[name]
            for at in {0, 7, 8, len(content) - 1, *rng.sample(range(len(content)), 150)}:
                changed = bytearray(content)
                changed[at] ^= 1 << rng.randrange(8)
                assert model.outcome({name: bytes(changed)}, verify=True) == "refused", (name, at)


def test_files_of_other_models_are_refused(models):
    for model in models:
        for name in model.tensor_files:
            for other in models:
                for theirs in other.tensor_files:
                    if other.files[theirs] == model.files[name]:
                        continue
                    assert model.outcome(model.with_file(name, other.files[theirs])) == "refused"
        for other in models:
            if other is not model:
                assert model.outcome({"model.json": other.files["model.json"]}) == "refused"


def test_information_about_damaged_models_is_refused_or_given(models):
    rng = random.Random(2)
    refused = 0
    for number in range(300):
        model = models[number % len(models)]
        changed = rng.choice([change_header, change_document, cut_or_lengthen])(rng, model)
        try:
            model.write(changed)
            read_info(model.directory)
        except ModelFileError:
            refused += 1
        finally:
            model.write({name: model.files[name] for name in changed})
    assert refused > 100
