"""Model files: damaged and malicious directories are refused, or the model answers and is saved again."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.fuzz.mutation import mutate_bytes, replace_somewhere
from tests.fuzz.target import Case, Target

from labeltree import ModelFileError
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import DTYPES
from labeltree.text import Tagger

GOLDEN = Path(__file__).parents[1] / "golden"
DOCUMENT = "model.json"


class ModelFiles(Target):
    """Loads mutated copies of the golden models, of every kind and version, asks them everything, saves them again."""

    def seeds(self) -> list[Case]:
        return [
            {file.name: file.read_bytes() for file in sorted(path.parent.iterdir())}
            for path in sorted(GOLDEN.glob("version-*/*/model.json"))
        ]

    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        case = dict(rng.choice(corpus))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            damage = rng.choice(DAMAGES)
            try:
                damage(rng, case, rng.choice(corpus))
            except (ValueError, RecursionError, KeyError, TypeError, AttributeError, IndexError):
                # It is so damaged already that its structure cannot be changed.
                name = rng.choice(list(case))
                case[name] = mutate_bytes(rng, case[name])
        return case

    def run(self, case: Case) -> str:
        directory = self.folder / "model"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        for name, content in case.items():
            (directory / name).write_bytes(content)
        seed = len(case[DOCUMENT])
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        try:
            read_info(directory)
            model = load(directory, verify=seed % 3 == 0)
            answers = ask(model, random.Random(seed))
        except ModelFileError as error:
            text = str(error)
            assert len(text) < 5000, f"a message of {len(text)} characters"
            raise
        model.save(self.folder / "again")
        again = load(self.folder / "again", verify=True)
        assert ask(again, random.Random(seed)) == answers, "the saved model answers differently"
        shutil.rmtree(self.folder / "again")
        if hasattr(model, "partial_fit"):
            change(model)
        return f"answered: {type(model).__name__} {sorted(json.loads(case[DOCUMENT]))}"


def ask(model: Any, rng: random.Random) -> list[Any]:
    """Ask a model everything; return labels and probabilities of the first rows."""
    X = rows_for(model, rng)
    found = model.predict_topk(X, k=3)
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all(), found.probabilities
    model.predict(X)
    model.predict_proba(X, top_k=4)
    n_rows = len(X) if isinstance(X, list) else X.shape[0]
    label = model.classes_[-1] if len(model.classes_) else None
    pairs = model.predict_pairs(X, range(n_rows), [label] * n_rows)
    assert ((pairs >= 0) & (pairs <= 1)).all(), pairs
    for _ in zip(range(4), model.iter_labels(X[:1]), strict=False):
        pass
    if hasattr(model, "trees_"):
        with suppress(ValueError):  # some kinds of models have no explanations
            model.explain(X[:1], label)
        for tree in model.trees_:
            tree.to_nested()
    if hasattr(model, "vectorizer_"):
        tagger = Tagger()
        tagger.classifier_, tagger.vectorizer_ = model, model.vectorizer_
        tagger.tag("A boat at SEA", k=2)
        tagger.explain("A boat at SEA", label)
    return [found.labels.tolist(), found.probabilities.tolist()]


def change(model: Any) -> None:
    """Let an online model learn, forget and freeze."""
    X = rows_for(model, random.Random(0))
    y = model.predict(X)
    with suppress(ValueError):  # such as a policy that is a function, or labels of another kind
        model.partial_fit(X, y)
        model.forget(labels=model.classes_[:1].tolist())
        model.partial_fit(X, y)
        model.freeze()
    model.predict_topk(X)


def rows_for(model: Any, rng: random.Random) -> Any:
    """Return a few rows that the model accepts: dictionaries if its features have names, else a sparse matrix."""
    if getattr(model, "named_features_", False):
        return [{f"feature {rng.randrange(8)}": rng.random(), "new": 1.0} for _ in range(4)]
    n_features = model.n_features_in_
    indices = sorted({rng.randrange(n_features) for _ in range(6)} | set(range(min(n_features, 8))))
    data = np.array([rng.random() for _ in indices] * 4, dtype=np.float32)
    indptr = np.arange(5) * len(indices)
    X = sp.csr_matrix((data, np.array(indices * 4, dtype=np.int32), indptr), shape=(4, n_features))
    reader = getattr(model.model_, "reader", None)
    dense = getattr(reader, "n_dense", 0)
    return X.toarray() if dense else X


# -- ways to damage a model ----------------------------------------------------------------------------


def tensor_files(case: Case) -> list[str]:
    return [name for name in case if name.endswith(".safetensors")]


def header_of(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the data of a tensor file."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header: object, data: bytes) -> bytes:
    """Return a tensor file, its tensors aligned as the library does it."""
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + data


def put(rng: random.Random, case: Case, name: str, content: bytes) -> None:
    """Put a tensor file in; mostly model.json then tells its new size and checksum."""
    case[name] = content
    document = json.loads(case[DOCUMENT])
    size, digest = rng.random() < 0.95, rng.random() < 0.5
    for entry in entries(document):
        if entry["name"] == name:
            if size:
                entry["bytes"] = len(content)
            if digest:
                entry["sha256"] = hashlib.sha256(content).hexdigest()
    case[DOCUMENT] = json.dumps(document).encode()


def entries(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the entries of files, wherever they are."""
    if isinstance(value, dict):
        if value.keys() == {"name", "bytes", "sha256"}:
            yield value
        for inner in value.values():
            yield from entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from entries(inner)


def change_bytes(rng: random.Random, case: Case, other: Case) -> None:
    name = rng.choice(list(case))
    case[name] = mutate_bytes(rng, case[name], list(other.values()))


def change_data(rng: random.Random, case: Case, other: Case) -> None:
    """Change bytes of tensors, and keep their sizes."""
    name = rng.choice(tensor_files(case))
    header, data = header_of(case[name])
    changed = (mutate_bytes(rng, data) + bytes(len(data)))[: len(data)]
    put(rng, case, name, with_header(header, changed))


def change_numbers(rng: random.Random, case: Case, other: Case) -> None:
    """Put numbers of the right type but of no sense into a tensor."""
    name = rng.choice(tensor_files(case))
    header, data = header_of(case[name])
    tensor = header[rng.choice([key for key in header if key != "__metadata__"])]
    begin, end = tensor["data_offsets"]
    values = np.frombuffer(data[begin:end], dtype=DTYPES[tensor["dtype"]]).copy()
    if not len(values):
        return
    for _ in range(rng.choice([1, 1, 3])):
        at = rng.choice([0, -1, rng.randrange(len(values))])
        if values.dtype.kind == "f":
            values[at] = rng.choice([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, 0, 1, -1])
        elif values.dtype.kind == "b":
            values[at] = not values[at]
        else:
            limits = np.iinfo(values.dtype)
            wild = [
                limits.min,
                limits.max,
                limits.max // 2,
                0,
                1,
                len(values),
                int(values[at]) + rng.choice([-1, 1]),
            ]
            values[at] = min(max(rng.choice(wild), limits.min), limits.max)
    if rng.random() < 0.1:
        rng.shuffle(values)
    put(rng, case, name, with_header(header, data[:begin] + values.tobytes() + data[end:]))


def change_shapes(rng: random.Random, case: Case, other: Case) -> None:
    """Let a tensor have more or fewer items; the offsets of all tensors fit the new sizes."""
    name = rng.choice(tensor_files(case))
    header, data = header_of(case[name])
    names = [key for key in header if key != "__metadata__"]
    chosen, parts, end = rng.choice(names), [], 0
    for key in sorted(names, key=lambda key: header[key]["data_offsets"]):
        tensor = header[key]
        part = data[slice(*tensor["data_offsets"])]
        if key == chosen:
            shape = tensor["shape"]
            if not shape:
                return
            item = np.dtype(DTYPES[tensor["dtype"]]).itemsize
            row = item * int(np.prod(shape[1:], dtype=int))
            count = max(0, rng.choice([0, 1, shape[0] - 1, shape[0] + 1, shape[0] + 16, shape[0] * 2]))
            part = (part + (part[-row:] if row else b"") * 16 + bytes(row * count))[: row * count]
            shape[0] = count
        tensor["data_offsets"] = [end, end + len(part)]
        end += len(part)
        parts.append(part)
    put(rng, case, name, with_header(header, b"".join(parts)))


def change_header(rng: random.Random, case: Case, other: Case) -> None:
    """Let the header say something else; sometimes two tensors swap what it says about them."""
    name = rng.choice(tensor_files(case))
    header, data = header_of(case[name])
    names = [key for key in header if key != "__metadata__"]
    one, another = rng.choice(names), rng.choice(names)
    match rng.randrange(6):
        case 0:
            field = rng.choice(["dtype", "shape", "data_offsets"])
            header[one][field], header[another][field] = header[another][field], header[one][field]
        case 1:
            header[one]["dtype"] = rng.choice(list(DTYPES))
        case 2:
            shape = header[one]["shape"]
            header[one]["shape"] = rng.choice([shape[::-1], [*shape, 1], [1, *shape], [0], []])
        case 3:
            header[rng.choice([*names, "new"])] = header.pop(one)
        case 4:
            header[one], header[another] = header[another], header[one]
        case _:
            replace_somewhere(rng, header)
    put(rng, case, name, with_header(header, data))


def change_document(rng: random.Random, case: Case, other: Case) -> None:
    document = json.loads(case[DOCUMENT])
    for _ in range(rng.choice([1, 1, 2, 4])):
        replace_somewhere(rng, document)
    case[DOCUMENT] = json.dumps(document).encode()


def borrow_fields(rng: random.Random, case: Case, other: Case) -> None:
    """Take fields, or all files, from another model."""
    document, theirs = json.loads(case[DOCUMENT]), json.loads(other[DOCUMENT])
    for key in rng.sample(sorted(theirs), rng.randrange(1, len(theirs))):
        document[key] = theirs[key]
    if rng.random() < 0.5:
        case.update({name: content for name, content in other.items() if name != DOCUMENT})
    case[DOCUMENT] = json.dumps(document).encode()


DAMAGES = [
    change_bytes,
    change_data,
    change_numbers,
    change_numbers,
    change_shapes,
    change_header,
    change_document,
    change_document,
    borrow_fields,
]
