"""Reading pretrained encoders: no code of theirs is run, their pooling is heeded, random numbers stay."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.labelled_texts import labelled_texts

torch: Any = pytest.importorskip("torch")
pytest.importorskip("transformers")

from labeltree import EncoderTreeClassifier  # noqa: E402
from labeltree.deep.encoders import read_pretrained  # noqa: E402

TEXTS, LABELS = labelled_texts(20)


@pytest.fixture
def encoder(tiny_encoder: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))


def change(encoder: Path, **entries: Any) -> None:
    file = encoder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **entries}))


def test_entries_that_name_code_are_not_heeded(encoder: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    (encoder / "evil.py").write_text(f"open({str(marker)!r}, 'w')\nclass Model: ...\n")
    plain = read_pretrained(encoder).body.state_dict()
    change(
        encoder,
        auto_map={"AutoModel": "evil.Model", "AutoConfig": "evil.Model"},
        attn_implementation="evil/kernel",
        trust_remote_code=True,
        quantization_config={"quant_method": "evil"},
    )
    found = read_pretrained(encoder).body.state_dict()
    assert not marker.exists()
    assert all(torch.equal(plain[name], found[name]) for name in plain)


def test_weights_in_a_pickle_are_not_read(encoder: Path, tmp_path: Path) -> None:
    (encoder / "model.safetensors").unlink()
    (encoder / "pytorch_model.bin").write_bytes(b"\\x80\\x04.")
    with pytest.raises(ValueError, match="is neither a directory with a pretrained encoder"):
        read_pretrained(encoder)


def test_an_architecture_that_may_load_other_files_is_refused(encoder: Path) -> None:
    change(encoder, model_type="llava")
    with pytest.raises(ValueError, match="has the architecture 'llava', which labeltree does not support"):
        read_pretrained(encoder)


@pytest.mark.parametrize(
    ("settings", "pooling"),
    [
        (None, "mean"),
        ({"pooling_mode_cls_token": True}, "first"),
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ([1], "mean"),
    ],
)
def test_the_encoder_says_how_it_pools(encoder: Path, settings: Any, pooling: str) -> None:
    if settings is not None:
        (encoder / "1_Pooling").mkdir()
        (encoder / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    assert read_pretrained(encoder).pooling == pooling


def test_missing_weights_are_drawn_from_the_seed(encoder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(encoder / "model.safetensors")
    lost = [name for name in weights if "pooler" in name]
    assert lost
    save_file(
        {name: weights[name] for name in weights if name not in lost},
        encoder / "model.safetensors",
        {"format": "pt"},
    )
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    models = [
        EncoderTreeClassifier(encoder, epochs=1, device="cpu", random_state=0, verbose=-1).fit(TEXTS, LABELS)
        for _ in range(2)
    ]
    assert torch.equal(torch.rand(2), expected)
    one, other = (model.model_.reader.encoder.module.state_dict() for model in models)
    assert all(torch.equal(one[name], other[name]) for name in one)
    np.testing.assert_array_equal(models[0].transform(TEXTS[:2]), models[1].transform(TEXTS[:2]))
    assert capfd.readouterr().err == ""


def test_an_encoder_without_a_tokenizer_is_refused(encoder: Path) -> None:
    for file in encoder.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ValueError, match=r"encoder: .* tokenizer"):
        read_pretrained(encoder)


def test_weights_that_are_missing_are_told(encoder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(encoder / "model.safetensors")
    lost = next(name for name in weights if "attention" in name)
    save_file(
        {name: weights[name] for name in weights if name != lost},
        encoder / "model.safetensors",
        {"format": "pt"},
    )
    with pytest.raises(ValueError, match=r"has no weights for .*attention"):
        read_pretrained(encoder)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", b"damaged"),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b"[]"),
        ("tokenizer_config.json", b"[]"),
        ("config.json", b"[]"),
        ("config.json", b"{}"),
    ],
)
def test_damaged_files_are_told(encoder: Path, file: str, content: bytes) -> None:
    (encoder / file).write_bytes(content)
    with pytest.raises(ValueError, match="encoder: "):
        read_pretrained(encoder)


def test_half_of_a_character_is_told(trained: dict[str, Any]) -> None:
    for model in trained.values():
        with pytest.raises(
            ValueError, match=r"text 1 has half of a character \(a lone surrogate\) at position 2"
        ):
            model.predict_topk(["a boat", "a \udcff boat"])
