"""Networks in model files: what is saved is what is loaded, and nothing in a file is believed."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.deep.conftest import LABELS, METHODS, TEXTS  # noqa: E402
from tests.unit.test_model_file_fuzz import (  # noqa: E402
    Model,
    change_document,
    change_header,
    change_numbers,
    cut_or_lengthen,
    flip_bits,
    overwrite_range,
)

import labeltree  # noqa: E402
from labeltree.errors import ModelFileError  # noqa: E402
from labeltree.model_file import load, read_info  # noqa: E402
from labeltree.model_file.directory import ModelWriter  # noqa: E402
from labeltree.model_file.tensors import Tensor, map_tensors  # noqa: E402
from labeltree.text import Tagger  # noqa: E402

FILE = {"encoder": "encoder", "attention": "attention-0"}
each = pytest.mark.parametrize("method", METHODS)


def answers(model):
    found = model.predict_topk(TEXTS[:40], k=3)
    return found.labels.tolist(), found.probabilities


def same(first, second):
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


# -- round trips ---------------------------------------------------------------------------------------


@each
def test_it_has_learned(trained, method):
    best = trained[method].predict_topk(TEXTS, k=1).labels[:, 0]
    assert np.mean([label in truth for label, truth in zip(best, LABELS, strict=True)]) > 0.75


@each
@pytest.mark.parametrize("verify", [False, True])
def test_a_loaded_model_gives_the_same_answers_bit_for_bit(trained, saved, method, verify):
    loaded = load(saved[method], verify=verify)
    assert type(loaded) is type(trained[method])
    same(answers(trained[method]), answers(loaded))
    assert loaded.predict(TEXTS[:5]) == trained[method].predict(TEXTS[:5])
    highlights = [model.explain(TEXTS[0], "sea").highlights for model in (trained[method], loaded)]
    assert highlights[0] == highlights[1]


@each
def test_a_model_can_be_saved_again_and_is_the_same_byte_for_byte(saved, method, tmp_path):
    load(saved[method]).save(tmp_path / "again")
    for file in saved[method].iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


@each
@pytest.mark.parametrize(("weights", "tolerance"), [("bfloat16", 0.03), ("int8", 0.05)])
def test_smaller_weights_answer_nearly_the_same_and_stay_small(
    trained, saved, method, weights, tolerance, tmp_path
):
    trained[method].save(tmp_path / "small", weights=weights)
    small = load(tmp_path / "small", verify=True)
    wanted = np.array(
        [label for row in trained[method].predict_topk(TEXTS, k=5).labels for label in sorted(row)]
    )
    found = np.array([label for row in small.predict_topk(TEXTS, k=5).labels for label in sorted(row)])
    np.testing.assert_array_equal(wanted, found)
    np.testing.assert_allclose(
        small.predict_topk(TEXTS, k=1).probabilities,
        trained[method].predict_topk(TEXTS, k=1).probabilities,
        atol=tolerance,
    )
    assert read_info(tmp_path / "small").weights == weights
    small.save(tmp_path / "again")
    assert read_info(tmp_path / "again").weights == weights
    same(answers(small), answers(load(tmp_path / "again")))
    n_bytes = [
        sum(file.stat().st_size for file in path.iterdir()) for path in (tmp_path / "small", saved[method])
    ]
    assert n_bytes[0] < 0.8 * n_bytes[1]


@each
def test_pickles_and_copies_answer_the_same(trained, saved, method):
    for model in (trained[method], load(saved[method])):
        for made in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
            same(answers(model), answers(made))


@each
def test_a_decision_names_and_threads_are_kept(trained, method, tmp_path):
    model = copy.copy(trained[method]).decide_for("micro_f1", TEXTS, LABELS)
    model.label_names_ = {"sea": "The sea"}
    model.set_params(n_jobs=2)
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.decision_.summary() == model.decision_.summary()
    assert dict(loaded.label_names_) == {"sea": "The sea"}
    assert loaded.predict(TEXTS[:9]) == model.predict(TEXTS[:9])
    assert {network.n_jobs for network in loaded.set_params(n_jobs=1)._networks(loaded.model_)} == {1}


def test_a_calibration_is_kept(trained, tmp_path):
    model = copy.copy(trained["encoder"]).calibrate(TEXTS, LABELS, method="platt")
    model.save(tmp_path / "m")
    same(answers(model), answers(load(tmp_path / "m", verify=True)))
    assert read_info(tmp_path / "m").calibration == "platt"


@each
def test_a_mix_with_a_linear_model_is_saved(trained, method, tmp_path):
    tagger = Tagger(labeltree.LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS)
    mixed = labeltree.mix([trained[method], tagger.classifier_], [2.0, 1.0])
    mixed.save(tmp_path / "mix")
    same(answers(mixed), answers(load(tmp_path / "mix", verify=True)))
    info = read_info(tmp_path / "mix")
    assert (info.format_version, info.runtime) == (11, "torch")


@each
def test_info_describes_the_model(saved, method):
    info = read_info(saved[method])
    assert (info.format_version, info.weights, info.n_labels, info.runtime) == (11, "float32", 5, "torch")
    assert len(info.trees) == {"encoder": 1, "attention": 2}[method]
    assert info.trees[0].n_weights > 1000


WITHOUT_TORCH = """
import sys
from tests.deep.absent_packages import hide
hide("torch", "transformers", "tokenizers", "onnxruntime", "onnx")
from labeltree.cli import main
from labeltree.model_file import load, read_info
print(read_info(sys.argv[1]).n_labels)
try:
    load(sys.argv[1])
except ImportError as error:
    print(error)
sys.argv[1:] = ["info", sys.argv[1], "--json"]
main()
"""


@each
def test_without_torch_a_model_is_described_and_the_error_says_what_to_install(saved, method):
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(saved[method])], capture_output=True, text=True, check=True
    )
    first, error, described = found.stdout.split("\n", 2)
    assert first == "5"
    assert "pip install 'labeltree[torch]'" in error
    assert "labeltree export" in error
    assert json.loads(described)["runtime"] == "torch"


def test_reading_an_encoder_prints_nothing(tiny_encoder, capfd):
    from labeltree.deep.encoders import read_pretrained

    read_pretrained(tiny_encoder)
    assert capfd.readouterr() == ("", "")


def test_other_architectures_are_refused_before_training(tmp_path, tiny_encoder):
    from transformers import GPT2Config, GPT2Model

    from labeltree.deep.encoders import read_pretrained

    shutil.copytree(tiny_encoder, tmp_path / "gpt2")
    (tmp_path / "gpt2" / "model.safetensors").unlink()
    GPT2Model(GPT2Config(vocab_size=99, n_embd=8, n_layer=1, n_head=1)).save_pretrained(tmp_path / "gpt2")
    with pytest.raises(ValueError, match="architecture 'gpt2'"):
        read_pretrained(tmp_path / "gpt2")


# -- hostile files -------------------------------------------------------------------------------------


@pytest.fixture
def own(saved, method, tmp_path) -> Path:
    """A copy of a model, to be changed."""
    return Path(shutil.copytree(saved[method], tmp_path / "own"))


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
        ({"training_report": []}, "training_report|"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_wrong_fields_are_refused(own, fields, message, method):
    if fields == {"training_report": []} and method == "encoder":
        pytest.skip("an encoder has one tree")
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


@each
@pytest.mark.parametrize(
    "damage", [flip_bits, cut_or_lengthen, overwrite_range, change_numbers, change_header, change_document]
)
def test_a_damaged_model_is_refused_or_answers(own, method, damage):
    model, rng = DeepModel(own), random.Random(0)
    found = Counter(model.outcome(damage(rng, model)) for _ in range(25))
    assert found["refused"] > 0
    assert model.outcome({}) == "answered"
