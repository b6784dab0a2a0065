"""Networks in model files: what is saved is what is loaded."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.deep.conftest import LABELS, METHODS, TEXTS  # noqa: E402
from tests.deep.saved_networks import answers, same  # noqa: E402

import labeltree  # noqa: E402
from labeltree.model_file import load, read_info  # noqa: E402
from labeltree.text import Tagger  # noqa: E402

each = pytest.mark.parametrize("method", METHODS)


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
    assert (info.format_version, info.runtime) == (13, "torch")


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
