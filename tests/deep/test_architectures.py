"""Every architecture that an encoder may have is trained with a checkpoint, saved and loaded."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.deep.conftest import LABELS, TEXTS  # noqa: E402

from labeltree import EncoderTreeClassifier  # noqa: E402
from labeltree.deep.encoders import ARCHITECTURES  # noqa: E402
from labeltree.model_file import load  # noqa: E402

#: The size of a network of most kinds.
SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
#: What some kinds need beside it, or instead.
OWN: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 8},
    "convbert": {"embedding_size": 16, "num_attention_heads": 4, "conv_kernel_size": 3},
    "deberta": {"pooler_hidden_size": 16, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "deberta-v2": {"pooler_hidden_size": 16, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "distilbert": {"hidden_dim": 32},
    "electra": {"embedding_size": 8},
    "eurobert": {"num_key_value_heads": 2, "head_dim": 8},
    "mobilebert": {"embedding_size": 8, "intra_bottleneck_size": 8, "num_feedforward_networks": 2},
    "modernbert": {"cls_token_id": 2, "sep_token_id": 3, "local_attention": 8},
    "nomic_bert": {"head_dim": 8},
    "nystromformer": {"conv_kernel_size": 3},
    "roformer": {"embedding_size": 8},
    "squeezebert": {"embedding_size": 16},
}


def make_encoder(kind: str, like: Path, path: Path) -> Path:
    """Save a random encoder of a kind, with the tokenizer of another."""
    shutil.copytree(like, path, ignore=shutil.ignore_patterns("config.json", "model.safetensors"))
    n_tokens = transformers.AutoConfig.from_pretrained(like).vocab_size
    settings = {**SMALL, "vocab_size": n_tokens, **OWN.get(kind, {})}
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        config = transformers.AutoConfig.for_model(kind, **settings)
        transformers.AutoModel.from_config(config).save_pretrained(path)
    return path


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_it_is_trained_saved_and_loaded(kind: str, tiny_encoder: Path, tmp_path: Path) -> None:
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip("this version of transformers does not have it")
    encoder = make_encoder(kind, tiny_encoder, tmp_path / "encoder")
    before = encoder_weights(encoder)
    model = EncoderTreeClassifier(
        encoder,
        epochs=1,
        batch_size=8,
        learning_rate=1e-2,
        node_rate=1e-2,
        max_tokens=32,
        checkpoint=tmp_path / "checkpoint",
        device="cpu",
        random_state=0,
    ).fit(TEXTS[:24], LABELS[:24])
    after = model.model_.reader.encoder.module.body.get_input_embeddings().weight.detach().numpy()
    assert np.abs(after - before).max() > 1e-4
    resumed = model.transform(TEXTS)
    np.testing.assert_array_equal(model.fit(TEXTS[:24], LABELS[:24]).transform(TEXTS), resumed)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model", verify=True)
    np.testing.assert_array_equal(loaded.transform(TEXTS), resumed)
    wanted, found = model.predict_topk(TEXTS, k=3), loaded.predict_topk(TEXTS, k=3)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_array_equal(found.probabilities, wanted.probabilities)


def encoder_weights(path: Path) -> Any:
    """Return the vectors of the tokens of a pretrained encoder."""
    body = transformers.AutoModel.from_pretrained(path)
    return body.get_input_embeddings().weight.detach().numpy()
