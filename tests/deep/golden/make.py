"""Makes golden models with neural networks, which tests load for ever. Those that are there already stay as they are.

Run it as ``python -m tests.deep.golden.make`` after a change of the format, with torch, transformers and onnx.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.deep.tiny_encoder import make_tiny_encoder
from tests.labelled_texts import labelled_texts

FOLDER = Path(__file__).parent / "version-11"
TEXTS, LABELS = labelled_texts(150)
#: What the models are asked: also texts without words, with words that are unknown, and longer ones than they read.
ASKED = [*labelled_texts(8, seed=1)[0], "", "Blåbær, 猫 & xyzzy", "boat wave harbour " * 30]
#: Each model that torch runs, and the type of its weights; each is exported to ONNX too.
MODELS = {"encoder": "float32", "encoder-int8": "int8", "attention": "float32"}
NAMES = [f"{name}{ending}" for name in MODELS for ending in ("", "-onnx")]


def train(name: str, folder: Path) -> Any:
    """Return a small trained model."""
    from labeltree import AttentionXMLClassifier, EncoderTreeClassifier

    run: dict[str, Any] = {"batch_size": 16, "random_state": 0, "device": "cpu", "max_tokens": 24}
    if name == "attention":
        return AttentionXMLClassifier(
            n_trees=2,
            tree="kmeans",
            arity=2,
            max_leaves=2,
            dimension=16,
            hidden=8,
            shared=8,
            min_count=1,
            epochs=11,
            learning_rate=3e-2,
            node_rate=3e-2,
            dropout=0.0,
            word_dropout=0.0,
            validation=0.0,
            average=0.0,
            **run,
        ).fit(TEXTS, LABELS)
    encoder = make_tiny_encoder(
        folder / "tiny", hidden_size=8, intermediate_size=16, num_hidden_layers=1, max_position_embeddings=32
    )
    return EncoderTreeClassifier(encoder, epochs=15, learning_rate=1e-2, node_rate=5e-2, **run).fit(
        TEXTS, LABELS
    )


def answers(model: Any) -> dict[str, Any]:
    """Return what a model answers."""
    found = model.predict_topk(ASKED, k=3)
    ratio = found.probabilities[:, 1:] / found.probabilities[:, :-1]
    if ratio.max() > 0.998 or np.abs(found.probabilities - 0.5).min() < 1e-3:
        raise ValueError("another processor may round to another order or decision: choose other parameters")
    return {
        "estimator": type(model).__name__,
        "classes": model.classes_.tolist(),
        "label_counts": model.label_counts_.tolist(),
        "trees": [tree.to_nested() for tree in model.trees_],
        "texts": ASKED,
        "labels": found.labels.tolist(),
        "probabilities": found.probabilities.tolist(),
        "predicted": model.predict(ASKED),
    }


def main() -> None:
    from labeltree.model_file import load

    for name, weights in MODELS.items():
        if (FOLDER / name).exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            train(name, Path(folder)).save(FOLDER / name, weights=weights)
        load(FOLDER / name).export_onnx(FOLDER / f"{name}-onnx")
        for made in (name, f"{name}-onnx"):
            text = json.dumps(answers(load(FOLDER / made)), ensure_ascii=False)
            (FOLDER / f"{made}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    main()
