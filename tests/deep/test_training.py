"""The training of networks: repeated, killed and resumed, stopped early, with weights and on bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.labelled_texts import labelled_texts

torch: Any = pytest.importorskip("torch")

from labeltree import AttentionXMLClassifier, EncoderTreeClassifier, LabelTree  # noqa: E402
from labeltree.deep.batches import random_batches  # noqa: E402
from labeltree.deep.tokens import TextTokenizer, TokenRows, learn_words  # noqa: E402
from labeltree.metrics import precision_at_k  # noqa: E402

TEXTS, LABELS = labelled_texts(120)
TREE = LabelTree.from_nested([[0, 1], [2, [3, 4]]])
SMALL: dict[str, Any] = {
    "dimension": 8,
    "hidden": 8,
    "shared": 8,
    "batch_size": 16,
    "learning_rate": 3e-2,
    "node_rate": 3e-2,
    "word_dropout": 0.0,
    "dropout": 0.0,
    "validation": 0.0,
    "min_count": 1,
    "device": "cpu",
    "random_state": 0,
    "verbose": -1,
}


def weights_of(model: Any) -> list[Any]:
    return [
        value.detach().numpy()
        for nodes in model.model_.forest.weights
        for value in nodes.scorer.network.state_dict().values()
    ]


def assert_same(one: Any, other: Any) -> None:
    for a, b in zip(weights_of(one), weights_of(other), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_same_seed_gives_the_same_model() -> None:
    small = {**SMALL, "dropout": 0.5, "validation": 0.1}
    models = [AttentionXMLClassifier(epochs=2, tree=TREE, **small).fit(TEXTS, LABELS) for _ in range(2)]
    assert_same(*models)
    other = AttentionXMLClassifier(epochs=2, tree=TREE, **{**SMALL, "random_state": 1}).fit(TEXTS, LABELS)
    assert not np.array_equal(weights_of(models[0])[0], weights_of(other)[0])


def test_training_leaves_random_numbers_of_others_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    AttentionXMLClassifier(epochs=1, **SMALL).fit(TEXTS[:30], LABELS[:30])
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("tree", ["flat", TREE], ids=["flat", "tree"])
def test_labels_that_words_tell_are_learned(tree: Any) -> None:
    texts, labels = labelled_texts(300)
    more, truth = labelled_texts(60, seed=1)
    model = AttentionXMLClassifier(epochs=14, tree=tree, **SMALL).fit(texts, labels)
    assert precision_at_k(truth, model.predict_topk(more, 1).labels.tolist(), k=1) > 0.9
    explanation = model.explain("A violin near the harbour.", "music")
    best = max(explanation.highlights, key=lambda highlight: highlight.amount)
    assert "A violin near the harbour."[best.begin : best.end] == "violin"


def test_training_stops_early_and_keeps_the_best_epoch() -> None:
    settings = {**SMALL, "learning_rate": 0.2, "node_rate": 0.2, "average": 0.0}
    model = AttentionXMLClassifier(epochs=40, patience=2, **{**settings, "validation": 0.2}).fit(
        TEXTS, LABELS
    )
    (report,) = model.training_report_
    assert report["n_passes"] == min(report["best_epoch"] + 2, 40)
    assert report["n_passes"] < 40


def test_training_does_not_stop_before_all_levels_are_trained() -> None:
    settings = {**SMALL, "validation": 0.2, "learning_rate": 1e-6, "node_rate": 1e-6}
    model = AttentionXMLClassifier(epochs=24, patience=2, tree=TREE, **settings).fit(TEXTS, LABELS)
    (report,) = model.training_report_
    # A quarter of the epochs brings in level after level; the next one is the first that counts.
    assert report["best_epoch"] >= 7
    assert report["n_passes"] == report["best_epoch"] + 2


def test_texts_of_weight_0_do_not_count() -> None:
    wrong = [["sea"] for _ in TEXTS]
    weight = [1.0] * len(TEXTS) + [0.0] * len(TEXTS)
    model = AttentionXMLClassifier(epochs=15, **SMALL).fit(TEXTS * 2, LABELS + wrong, weight)
    assert precision_at_k(LABELS, model.predict_topk(TEXTS, 1).labels.tolist(), k=1) > 0.9


def test_texts_without_labels_teach_the_root() -> None:
    texts, labels = [*TEXTS, *["nothing to say here"] * 60], [*LABELS, *[[]] * 60]
    model = AttentionXMLClassifier(epochs=15, tree=TREE, **SMALL).fit(texts, labels)
    assert model.predict(["nothing to say here"]) == [[]]
    assert model.explain("nothing to say here", "sea").paths[0][0].probability < 0.3


@pytest.mark.parametrize("text", ["", "   ", "xyzzy", "é" * 5000])
def test_any_text_has_an_answer(trained: dict[str, Any], text: str) -> None:
    for model in trained.values():
        top = model.predict_topk([text, "a boat"], 2)
        assert np.isfinite(top.probabilities).all()
        # A text alone has the answer that it has among others, but for rounding.
        np.testing.assert_allclose(
            top.probabilities[:1], model.predict_topk([text], 2).probabilities, rtol=1e-4
        )


def test_the_questions_agree(trained: dict[str, Any]) -> None:
    for model in trained.values():
        some = TEXTS[:7]
        top = model.predict_topk(some, 5)
        every = model.predict_proba(some, top_k=None).toarray()
        columns = [model.classes_.tolist().index(label) for label in top.labels[:, 0]]
        np.testing.assert_allclose(every[np.arange(7), columns], top.probabilities[:, 0], rtol=1e-5)
        np.testing.assert_allclose(every.max(axis=1), top.probabilities[:, 0], rtol=1e-5)
        pairs = model.predict_pairs(some, np.arange(7), top.labels[:, 0].tolist())
        np.testing.assert_allclose(pairs, top.probabilities[:, 0], rtol=1e-5)
        first = next(iter(model.iter_labels(some[0])))
        assert first[0] == top.labels[0, 0]
        explained = model.explain(some[0], top.labels[0, 0])
        assert explained.probability == pytest.approx(float(top.probabilities[0, 0]), rel=1e-4)


# -- checkpoints ---------------------------------------------------------------------------------------------------


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labeltree.deep.training.trainer import Trainer

    settings = {**SMALL, "epochs": 4, "tree": TREE, "validation": 0.1, "dropout": 0.5}
    whole = AttentionXMLClassifier(**settings).fit(TEXTS, LABELS)
    step = Trainer._step
    seen = []

    def interrupted(self: Any, *arguments: Any) -> None:
        seen.append(1)
        if len(seen) == 20:  # within the third epoch
            raise KeyboardInterrupt
        step(self, *arguments)

    monkeypatch.setattr("labeltree.deep.training.trainer.CHECKPOINT_SECONDS", 0.0)  # after every batch
    monkeypatch.setattr(Trainer, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        AttentionXMLClassifier(checkpoint=tmp_path / "state", **settings).fit(TEXTS, LABELS)
    monkeypatch.setattr(Trainer, "_step", step)
    resumed = AttentionXMLClassifier(checkpoint=tmp_path / "state", **settings).fit(TEXTS, LABELS)
    assert_same(whole, resumed)
    assert whole.training_report_ == resumed.training_report_


_KILLED = """
import json, sys
from labeltree import AttentionXMLClassifier
settings, texts, labels, state = json.load(open(sys.argv[1]))
AttentionXMLClassifier(checkpoint=state, **settings).fit(texts, labels)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_killed_training_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    settings = {**SMALL, "epochs": 6, "hidden": 32, "dimension": 32}
    state, arguments = tmp_path / "state", tmp_path / "arguments.json"
    arguments.write_text(json.dumps([settings, TEXTS, LABELS, str(state)]))
    process = subprocess.Popen([sys.executable, "-c", _KILLED, str(arguments)])
    deadline = time.monotonic() + 120
    chunk = state / "tree-0" / "chunk-000000.safetensors"
    while not chunk.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert chunk.exists()
    resumed = AttentionXMLClassifier(checkpoint=state, **settings).fit(TEXTS, LABELS)
    assert_same(AttentionXMLClassifier(**settings).fit(TEXTS, LABELS), resumed)


def test_a_checkpoint_needs_a_seed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a checkpoint needs an integer random_state"):
        AttentionXMLClassifier(checkpoint=tmp_path).fit(TEXTS, LABELS)


def test_the_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    small = {**SMALL, "epochs": 1, "checkpoint": tmp_path}
    AttentionXMLClassifier(**small).fit(TEXTS[:20], LABELS[:20])
    with pytest.raises(ValueError, match=r"belongs to another run, with .*hidden=8 instead of 9"):
        AttentionXMLClassifier(**{**small, "hidden": 9}).fit(TEXTS[:20], LABELS[:20])
    with pytest.raises(ValueError, match="belongs to another run, with another data"):
        AttentionXMLClassifier(**small).fit(TEXTS[:21], LABELS[:21])
    with pytest.raises(ValueError, match="belongs to another run, with another network, another tree"):
        AttentionXMLClassifier(tree=TREE, **small).fit(TEXTS[:20], LABELS[:20])


# -- bad input -----------------------------------------------------------------------------------------------------


def test_rows_of_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="AttentionXMLClassifier reads texts: pass a list of strings"):
        AttentionXMLClassifier().fit(np.ones((2, 3)), [["a"], ["b"]])


def test_a_text_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="text 1 must be a string, got an int"):
        AttentionXMLClassifier(epochs=1).fit(["a", 7], [["a"], ["b"]])


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("device", "tpu", "'device' must be 'auto', 'cpu'"),
        ("hidden", 0, "'hidden' must be an integer of at least 1"),
        ("average", 1.0, "'average' must be a finite number of at least 0"),
        ("tree", "oak", "'tree' must be one of 'auto'"),
    ],
)
def test_a_wrong_parameter_is_refused(parameter: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AttentionXMLClassifier(**{parameter: value}).fit(["a"], [["b"]])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_told() -> None:
    with pytest.raises(
        ValueError, match="asks for a GPU, but torch sees 0 of them: use device='cpu' or 'auto'"
    ):
        AttentionXMLClassifier(device="cuda").fit(["a"], [["b"]])


def test_memory_that_does_not_suffice_says_what_to_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("labeltree.deep.training.trainer.Trainer._step", full)
    with pytest.raises(MemoryError, match=r"lower batch_size \(now 16\), max_tokens \(now 500\)"):
        AttentionXMLClassifier(epochs=1, **SMALL).fit(TEXTS, LABELS)


def test_no_encoder_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no config\.json"):
        EncoderTreeClassifier(tmp_path, device="cpu").fit(["a"], [["b"]])


# -- names of labels, words, batches -------------------------------------------------------------------------------


def test_names_of_labels_are_where_vectors_of_nodes_start(tiny_encoder: Path) -> None:
    from labeltree.deep.encoder_tree import mean_of_labels

    vectors = np.eye(5, 6, dtype=np.float32)
    means = mean_of_labels(TREE, vectors)
    np.testing.assert_allclose(means[TREE.leaf_of_label], vectors)
    np.testing.assert_allclose(means[1], (vectors[0] + vectors[1]) / np.sqrt(2), rtol=1e-6)
    settings: dict[str, Any] = {"epochs": 1, "learning_rate": 1e-9, "node_rate": 1e-9, "device": "cpu"}
    model = EncoderTreeClassifier(tiny_encoder, name_vectors=True, random_state=0, **settings)
    named = model.fit(TEXTS, LABELS, label_names={"sea": "boat"}).node_vectors_
    plain = model.fit(TEXTS, LABELS).node_vectors_
    sea, food = (model.tree_.leaf_of_label[model.classes_.tolist().index(name)] for name in ("sea", "food"))
    assert not np.allclose(named[sea], plain[sea], atol=1e-3)
    np.testing.assert_allclose(named[food], plain[food], atol=1e-5)


def test_words_are_learned_by_frequency() -> None:
    texts = ["The cat, the CAT! and 2 dogs", "the cat"]
    tokenizer = TextTokenizer(learn_words(texts, max_words=2, min_count=1), max_tokens=6)
    assert tokenizer.vocabulary() == {"[PAD]": 0, "[UNK]": 1, "cat": 2, "the": 3}
    assert tokenizer.read(texts).tokens.tolist() == [3, 2, 3, 2, 1, 1, 3, 2]  # 'dogs' is cut off
    assert tokenizer.spans("The cat.") == [(0, 3), (4, 7)]


def test_batches_have_every_row_once_and_rows_of_similar_length() -> None:
    sizes = np.random.default_rng(0).integers(1, 100, size=1003)
    batches = random_batches(sizes, 16, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(1003))
    spread = np.mean([np.ptp(sizes[rows]) for rows in batches])
    assert spread < 10
    rows = TokenRows.of([[1, 2], [], [3]])
    assert rows.take(np.array([2, 0, 1])).padded(9)[0].tolist() == [[3, 9], [1, 2], [9, 9]]
