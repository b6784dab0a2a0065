"""Tiny models that the tests of files and of ONNX share: training and exporting take seconds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.labelled_texts import labelled_texts

# Threads of torch that wait in a loop for the next operation take the processors from other tests. This is read when
# torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

TEXTS, LABELS = labelled_texts(120)
METHODS = ("encoder", "attention")


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a random encoder."""
    from tests.deep.tiny_encoder import make_tiny_encoder

    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def trained(tiny_encoder: Path) -> dict[str, Any]:
    """A trained classifier of each kind; tests do not change them."""
    from labeltree.deep.attention_xml import AttentionXMLClassifier
    from labeltree.deep.encoder_tree import EncoderTreeClassifier

    run = {"batch_size": 16, "random_state": 0, "verbose": -1, "device": "cpu"}
    encoder = EncoderTreeClassifier(
        tiny_encoder, epochs=8, learning_rate=3e-3, node_rate=5e-2, max_tokens=40, **run
    )
    attention = AttentionXMLClassifier(
        n_trees=2,
        tree="kmeans",
        arity=2,
        max_leaves=2,
        min_count=1,
        dimension=16,
        hidden=8,
        shared=8,
        epochs=10,
        learning_rate=3e-2,
        node_rate=3e-2,
        dropout=0.0,
        word_dropout=0.0,
        validation=0.0,
        average=0.0,
        **run,
    )
    return {"encoder": encoder.fit(TEXTS, LABELS), "attention": attention.fit(TEXTS, LABELS)}


@pytest.fixture(scope="session")
def saved(trained: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The directory of each; tests do not change them."""
    folder = tmp_path_factory.mktemp("saved")
    for method, model in trained.items():
        model.save(folder / method)
    return {method: folder / method for method in trained}


@pytest.fixture(scope="session")
def onnx(trained: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The directory of each as an ONNX graph; tests do not change them."""
    pytest.importorskip("onnxruntime")
    folder = tmp_path_factory.mktemp("onnx")
    for method, model in trained.items():
        model.export_onnx(folder / method)
    return {method: folder / method for method in trained}
