"""Small model files that would take minutes or all memory are refused within seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.small_models import small_model

import labeltree
from labeltree import LabelTreeClassifier, ModelFileError, OneVsRestClassifier, OnlineLabelTreeClassifier
from labeltree.model_file import load, read_info
from labeltree.model_file.directory import MAX_DOCUMENT_BYTES
from labeltree.model_file.sections.online_tree import MAX_COLUMNS
from labeltree.model_file.strict_json import MAX_DEPTH, parse_json
from labeltree.model_file.tensors import write_tensors
from labeltree.text import Tagger, TextVectorizer

#: Each takes at most a few seconds on a quiet machine, and minutes where the time grows with the square of the size.
pytestmark = pytest.mark.timeout(60)

HEAD = '"format":"labeltree","format_version":7,"library_version":"1","estimator":"MixedModel"'
MEMBER = '{"weight":1,"format_version":1,"library_version":"1","estimator":"LabelTreeClassifier"}'


def filled(begin: str, part: Callable[[int], str], end: str) -> str:
    """A document just below the largest size, with as many numbered parts as there is room for."""
    n = (MAX_DOCUMENT_BYTES - len(begin) - len(end)) // (len(part(10**6)) + 1)
    return begin + ",".join(map(part, range(n))) + end


def nested(depth: int, inside: str = "") -> str:
    return "[" * depth + inside + "]" * depth


DOCUMENTS: dict[str, tuple[Callable[[], str], str]] = {
    "the last name twice": (lambda: filled("{", '"{:07}":1'.format, ',"0000000":1}'), "'0000000' comes twice"),
    "many unknown fields": (lambda: filled("{" + HEAD + ",", '"{:07}":1'.format, "}"), "no 'files' with trees"),
    "many members": (
        lambda: filled("{" + HEAD + ',"members":[', lambda i: MEMBER, "]}"),
        "a mix has at most 100 models, got",
    ),
    "a mix in a mix in a mix": (
        lambda: "{" + HEAD + ',"members":[' + f"{{{HEAD},\"weight\":1,\"members\":[" * 300 + "]}" * 300 + "]}",
        "nested too deeply: at most 100 levels",
    ),
    "deeper than Python": (lambda: "{" + HEAD + ',"a":' + nested(5_000_000) + "}", "nested too deeply"),
    "deeper than needed": (lambda: "{" + HEAD + ',"a":' + nested(MAX_DEPTH) + "}", "nested too deeply"),
    "a long name of a class": (
        lambda: "{" + HEAD.replace("MixedModel", "a" * 16_000_000) + "}",
        "of the class 'aaa|no 'files' with trees",
    ),
    "a long number": (lambda: '{"a":' + "1" * 16_000_000 + "}", "does not fit into 64 bits"),
    "a long fraction": (lambda: '{"a":' + "1" * 16_000_000 + "e-5}", "is too large"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_the_largest_size_is_refused_in_seconds(tmp_path: Path, name: str) -> None:
    make, message = DOCUMENTS[name]
    text = make()
    assert len(text) <= MAX_DOCUMENT_BYTES
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path)


def test_json_is_read_down_to_the_deepest_level() -> None:
    assert parse_json(nested(MAX_DEPTH).encode()) == json.loads(nested(MAX_DEPTH))
    assert parse_json(b"1") == 1
    for text in (nested(MAX_DEPTH + 1), "[" + '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH + "]"):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse_json(text.encode())


def edit(directory: Path, change: Callable[[Any], Any]) -> None:
    document = json.loads((directory / "model.json").read_text())
    change(document)
    (directory / "model.json").write_text(json.dumps(document))


def test_what_looks_like_files_among_parameters_takes_no_time_and_does_no_harm(tmp_path: Path) -> None:
    """`info` adds up the bytes of all files that a document names, wherever they are."""
    small_model(n_trees=1).save(tmp_path)
    n_bytes = read_info(tmp_path).n_bytes
    for entry in ({"name": [], "bytes": 1, "sha256": ""}, {"name": "x", "bytes": "y", "sha256": ""}):
        edit(tmp_path, lambda document, entry=entry: document["parameters"].update(beam=entry))
        assert read_info(tmp_path).n_bytes == n_bytes
    edit(tmp_path, lambda document: document["parameters"].update(beam=0))
    text = (tmp_path / "model.json").read_text()
    many = filled(
        "[" * 80, lambda i: f'{{"name":"{i:07}","bytes":1,"sha256":""}}', "]" * 80 + " " * len(text)
    )
    (tmp_path / "model.json").write_text(text.replace('"beam": 0', f'"beam": {many.rstrip()}'))
    assert read_info(tmp_path).n_bytes > n_bytes + 100_000


# -- memory ----------------------------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from labeltree import ModelFileError
from labeltree.model_file import load
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    model = load(sys.argv[1])
except ModelFileError as error:
    print("refused:", error)
else:
    print("loaded:", model.predict_topk([[1.0, 0.0, 0.0]], 1).labels.tolist())
"""


def with_little_memory(directory: Path) -> str:
    """What comes of loading a model in a process that may use 4 GiB."""
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, directory], capture_output=True, text=True, timeout=50, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def online(tmp_path: Path) -> Path:
    """A model whose labels are the columns of a matrix."""
    y = sp.csr_matrix(np.eye(3))
    OnlineLabelTreeClassifier(random_state=0).partial_fit(sp.csr_matrix(np.eye(3)), y).save(
        tmp_path / "online"
    )
    return tmp_path / "online"


def test_columns_that_a_small_file_claims_take_little_memory(online: Path) -> None:
    edit(online, lambda document: document.update(n_columns=MAX_COLUMNS))
    assert with_little_memory(online) == "loaded: [[0]]"
    edit(online, lambda document: document.update(n_columns=MAX_COLUMNS + 1))
    with pytest.raises(ModelFileError, match="n_columns must be from 0 to 100000000, got 100000001"):
        load(online)


def test_columns_that_could_not_be_loaded_are_not_saved(tmp_path: Path) -> None:
    y = sp.csr_matrix(([1], ([0], [0])), shape=(1, MAX_COLUMNS + 1))
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit([[1.0]], y)
    with pytest.raises(ValueError, match="at most 100,000,000 columns of y, got 100,000,001"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_columns_that_are_positions_have_no_file(online: Path) -> None:
    """The file would be empty, and there would be any number of columns."""
    with (online / "new").open("wb") as file:
        written = write_tensors(file, {})
    name = f"columns-{written.content[:32]}.safetensors"
    (online / "new").rename(online / name)
    entry = {"name": name, "bytes": written.n_bytes, "sha256": written.sha256}
    edit(
        online,
        lambda document: (document["files"].update(columns=entry), document.update(n_columns=MAX_COLUMNS)),
    )
    assert "columns are positions, which have no file" in with_little_memory(online)


def test_a_label_that_is_no_column_is_refused(online: Path) -> None:
    edit(online, lambda document: document.update(n_columns=2))
    with pytest.raises(ModelFileError, match="a label is no column"):
        load(online)


# -- texts and mixes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ngram_range", "char_ngram_range"])
def test_n_grams_of_any_length_are_refused(tmp_path: Path, name: str) -> None:
    """A text of 36,000 characters took three minutes."""
    Tagger(LabelTreeClassifier(random_state=0)).fit(["a boat", "the sea"], [["boat"], ["sea"]]).save(tmp_path)
    edit(tmp_path, lambda document: document["text"]["settings"].update({name: [1, 2**31 - 1]}))
    with pytest.raises(ModelFileError, match=f"{name}' must be a pair of integers from 1 to 100"):
        load(tmp_path)
    with pytest.raises(ValueError, match=f"{name}' must be a pair of integers from 1 to 100"):
        TextVectorizer(**{name: (1, 101)}).fit(["a boat"])
    TextVectorizer(**{name: (1, 100)}).fit(["a boat"])


def test_a_mix_that_could_not_be_loaded_cannot_be_made() -> None:
    model = OneVsRestClassifier(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    assert len(labeltree.mix([model] * 100).members_) == 100
    with pytest.raises(ValueError, match="a mix has at most 100 models, got 101"):
        labeltree.mix([model] * 101)
