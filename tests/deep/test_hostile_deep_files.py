"""Networks in model files: nothing in a file is believed."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.deep.conftest import METHODS, TEXTS
from tests.deep.saved_networks import FILE, DeepModel, answers, change, rewrite, same
from tests.unit.test_model_file_fuzz import (
    change_document,
    change_header,
    change_numbers,
    cut_or_lengthen,
    flip_bits,
    overwrite_range,
)

from labeltree.errors import ModelFileError
from labeltree.model_file import load
from labeltree.model_file.tensors import Tensor, map_tensors

each = pytest.mark.parametrize("method", METHODS)


@pytest.fixture
def own(saved, method, tmp_path) -> Path:
    """A copy of a model, to be changed."""
    return Path(shutil.copytree(saved[method], tmp_path / "own"))


@each
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format_version": 10}, "version"),
        ({"max_tokens": 0}, "max_tokens must be from 1"),
        ({"max_tokens": 10**6}, "max_tokens must be from 1"),
        ({"max_tokens": None}, "no 'max_tokens'"),
        ({"n_labels": 6}, "label"),
        ({"n_features": 31}, "node_vector must|shape"),
        ({"weights": "int8"}, "expected the tensors|int8 weights"),
        ({"weights": "bfloat16"}, "bfloat16 weights"),
        ({"weights": "float16"}, "weights"),
        ({"files__tokenizer": None}, "tokenizer"),
        ({"parameters__device": 7}, "device"),
        ({"parameters__max_tokens": "many"}, "max_tokens"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_wrong_fields_are_refused(own, fields, message, method):
    change(own, **fields)
    with pytest.raises(ModelFileError, match=message):
        load(own)


@pytest.mark.parametrize("method", ["encoder"])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"encoder__runtime": "pickle"}, "runtime"),
        ({"encoder__pooling": "max"}, "pooling"),
        ({"encoder__pooling": None}, "no 'pooling'"),
        ({"encoder__configuration": 7}, "configuration"),
        ({"encoder__configuration": {}}, "architecture"),
        ({"encoder__surprise": 7}, "surprise"),
        ({"encoder__configuration__model_type": None}, "architecture"),
        ({"encoder__configuration__model_type": ["bert"]}, "architecture"),
        ({"encoder__configuration__model_type": "timm_backbone"}, "architecture"),
        ({"encoder__configuration__model_type": "roberta", "max_tokens": 64}, "reads at most 63"),
        ({"encoder__configuration__model_type": "distilbert"}, "weights"),
        ({"encoder__configuration__hidden_size": 64}, "shape"),
        ({"encoder__configuration__hidden_size": 10**12}, "shape|cannot be used"),
        ({"encoder__configuration__hidden_size": -1}, "cannot be used"),
        ({"encoder__configuration__hidden_size": "a"}, "cannot be used"),
        ({"encoder__configuration__vocab_size": 10**9}, "shape"),
        ({"encoder__configuration__num_hidden_layers": 1}, "unknown"),
        ({"encoder__configuration__num_hidden_layers": 10**9}, "num_hidden_layers=1000000000"),
        ({"encoder__configuration__num_attention_heads": 0}, "cannot be used"),
        ({"encoder__configuration__num_attention_heads": 5}, "cannot be used"),
        ({"encoder__configuration__hidden_act": "os.system"}, "cannot be used"),
        ({"encoder__configuration__max_position_embeddings": 10}, "shape"),
        ({"max_tokens": 65}, "the encoder reads at most 64"),
    ],
)
def test_wrong_configurations_are_refused(own, fields, message):
    change(own, **fields)
    with pytest.raises(ModelFileError, match=message):
        load(own)


@pytest.mark.parametrize("method", ["encoder"])
def test_entries_of_a_configuration_that_name_code_are_ignored(own, saved, tmp_path):
    (own / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    settings = {
        "auto_map": {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"},
        "trust_remote_code": True,
        "attn_implementation": "evil/kernel",
        "_attn_implementation": "evil/kernel",
        "quantization_config": {"quant_method": "evil"},
        "architectures": ["Evil"],
        "torch_dtype": "float16",
        "dtype": "float16",
        "num_labels": 10**12,
        "id2label": {"0": "x"},
        "return_dict": False,
        "output_attentions": True,
    }
    change(own, **{f"encoder__configuration__{name}": value for name, value in settings.items()})
    same(answers(load(own)), answers(load(saved["encoder"])))
    assert not (tmp_path / "ran").exists()


def test_saving_leaves_out_what_names_code(saved):
    kept = json.loads((saved["encoder"] / "model.json").read_text())["encoder"]["configuration"]
    assert kept["model_type"] == "bert"
    assert not {name for name in kept if name.startswith("_")} | (
        kept.keys() & {"auto_map", "architectures", "dtype"}
    )


@pytest.mark.parametrize("method", ["attention"])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network__runtime": "pickle"}, "runtime"),
        ({"network__hidden": 9}, "node_vector"),
        ({"network__hidden": 10**9}, "hidden"),
        ({"network__dimension": 17}, "shape"),
        ({"network__dimension": 0}, "dimension"),
        ({"network__layers": [9]}, "shape"),
        ({"network__layers": []}, "missing|unknown"),
        ({"network__layers": [8, 8]}, "missing"),
        ({"network__layers": [8] * 1000}, "layers"),
        ({"network__layers": ["8"]}, "layers"),
        ({"network__layers": [10**12]}, "layers"),
        ({"network__surprise": 1}, "surprise"),
        ({"network": None}, "network"),
        ({"files__attention": []}, "at least one tree"),
        ({"training_report": []}, "a training_report for each"),
    ],
)
def test_wrong_networks_are_refused(own, fields, message):
    change(own, **fields)
    with pytest.raises(ModelFileError, match=message):
        load(own)


@each
def test_every_tensor_is_needed_and_has_its_shape_and_type(own, method):
    stem, rng = FILE[method], random.Random(0)
    with next(own.glob(f"{stem}-*")).open("rb") as file:
        names = sorted(map_tensors(file).tensors)
    backup = own.parent / "backup"
    shutil.copytree(own, backup)
    for name in names:
        for edit in rng.sample([_removed, _longer, _of_another_type, _with_one_more], 2):
            shutil.rmtree(own)
            shutil.copytree(backup, own)
            rewrite(own, stem, lambda tensors, edit=edit, name=name: edit(tensors, name))
            with pytest.raises(ModelFileError):
                load(own)


def _removed(tensors, name):
    del tensors[name]


def _longer(tensors, name):
    dtype, values = tensors[name]
    tensors[name] = Tensor(dtype, np.concatenate([values, values[:1]]))


def _of_another_type(tensors, name):
    tensors[name] = Tensor("F64", tensors[name].values.astype(np.float64))


def _with_one_more(tensors, name):
    tensors[f"{name}.more"] = tensors[name]


@each
def test_verifying_finds_weights_that_are_not_finite(own, method):
    def edit(tensors):
        name = max(name for name in tensors if name.startswith("network."))
        values = tensors[name].values.copy()
        values.flat[0] = np.nan
        tensors[name] = Tensor.of(values)

    rewrite(own, FILE[method], edit)
    with pytest.raises(ModelFileError, match="not finite"):
        load(own, verify=True)


@each
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        '{"model": 1}',
        "\udcff",
        '{"version": "1.0", "model": {"type": "WordLevel", "vocab": {}}}',
    ],
)
def test_wrong_tokenizers_are_refused(own, text, method):
    def edit(tensors):
        data = text.encode(errors="surrogateescape")
        tensors["json"] = Tensor.of(np.frombuffer(data, dtype=np.uint8))

    rewrite(own, "tokenizer", edit)
    with pytest.raises(ModelFileError):
        load(own)


@each
def test_every_part_of_a_tokenizer_may_be_wrong_and_nothing_else_happens(own, method):
    """A tokenizer with a part of it replaced is refused, or answers, or says that its tokens are unknown."""
    with next(own.glob("tokenizer-*")).open("rb") as file:
        state = json.loads(map_tensors(file).tensors["json"].values.tobytes())
    backup = own.parent / "backup"
    shutil.copytree(own, backup)
    for name in state:
        for value in (None, 7, "x", [], {}, {"type": "Evil"}):
            text = json.dumps({**state, name: value}).encode()
            shutil.rmtree(own)
            shutil.copytree(backup, own)
            rewrite(
                own,
                "tokenizer",
                lambda tensors, text=text: tensors.update(json=Tensor.of(np.frombuffer(text, np.uint8))),
            )
            with contextlib.suppress(ValueError):
                load(own).predict_topk(TEXTS[:3], k=2)


@pytest.mark.parametrize("method", ["encoder"])
def test_tokens_that_the_encoder_does_not_have_are_refused(own):
    def edit(tensors):
        state = json.loads(tensors["json"].values.tobytes())
        state["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [10**6]
        tensors["json"] = Tensor.of(np.frombuffer(json.dumps(state).encode(), np.uint8))

    rewrite(own, "tokenizer", edit)
    with pytest.raises(ModelFileError, match="token of the number 1000000"):
        load(own).predict_topk(TEXTS[:2], k=1)


@each
def test_files_of_others_in_the_directory_are_not_opened(own, saved, method, tmp_path):
    for name in ("pytorch_model.bin", "model.pkl", "tokenizer.json", "config.json", "weights.pt"):
        (own / name).write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    same(answers(load(own)), answers(load(saved[method])))
    assert not (tmp_path / "ran").exists()


@each
def test_a_damaged_file_is_found(own, method):
    file = next(own.glob(f"{FILE[method]}-*"))
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match="checksum"):
        load(own, verify=True)


@each
@pytest.mark.parametrize(
    "damage", [flip_bits, cut_or_lengthen, overwrite_range, change_numbers, change_header, change_document]
)
def test_a_damaged_model_is_refused_or_answers(own, method, damage):
    model, rng = DeepModel(own), random.Random(0)
    found = Counter(model.outcome(damage(rng, model)) for _ in range(25))
    assert found["refused"] > 0
    assert model.outcome({}) == "answered"
