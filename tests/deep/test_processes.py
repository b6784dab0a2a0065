"""Training in several processes that `torchrun` started: the model is that of one process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.labelled_texts import labelled_texts

torch: Any = pytest.importorskip("torch")

from labeltree import AttentionXMLClassifier, EncoderTreeClassifier, LabelTree  # noqa: E402
from labeltree.cli.untrained_model import check_processes  # noqa: E402
from labeltree.deep.extras import device_named  # noqa: E402

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or not torch.distributed.is_gloo_available(),
    reason="torch has no Gloo",
)

TEXTS, LABELS = labelled_texts(61)  # batches that are not shared evenly, and a last one of a single text
NESTED = [[0, 1], [2, [3, 4]]]
RUN: dict[str, Any] = {
    "epochs": 3,
    "batch_size": 12,
    "dropout": 0.0,
    "device": "cpu",
    "random_state": 0,
    "verbose": -1,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "encoder": {**RUN, "learning_rate": 1e-3, "node_rate": 1e-2, "max_tokens": 40},
    "attention": {
        **RUN,
        "dimension": 8,
        "hidden": 8,
        "shared": 8,
        "word_dropout": 0.0,
        "learning_rate": 1e-2,
        "node_rate": 1e-2,
        "min_count": 1,
        "validation": 0.1,
        "patience": 1,
    },
}
#: What each process does: it writes the weights that its trainings end with, then trains on a text of its own.
SCRIPT = """
import os, sys
import numpy as np
sys.path.insert(0, os.getcwd())
from tests.deep.test_processes import LABELS, SETTINGS, TEXTS, trained, weights_of
from labeltree import AttentionXMLClassifier
(_, encoder, folder), rank = sys.argv, os.environ["RANK"]
for method in SETTINGS:
    np.savez(f"{folder}/{method}-{rank}.npz", *weights_of(trained(method, encoder, f"{folder}/state-{method}")))
AttentionXMLClassifier(**SETTINGS["attention"]).fit([*TEXTS[:-1], f"process {rank}"], LABELS)
"""


def trained(method: str, encoder: str | Path, checkpoint: str | None = None) -> Any:
    tree = LabelTree.from_nested(NESTED)
    settings = {**SETTINGS[method], "tree": tree, "checkpoint": checkpoint}
    model = (
        EncoderTreeClassifier(encoder, **settings)
        if method == "encoder"
        else AttentionXMLClassifier(**settings)
    )
    return model.fit(TEXTS, LABELS)


def weights_of(model: Any) -> list[Any]:
    if isinstance(model, EncoderTreeClassifier):
        network = model.model_.reader.encoder.module  # type: ignore[attr-defined]
        return [model.node_vectors_, *(value.numpy() for value in network.state_dict().values())]
    network = model.model_.forest.weights[0].scorer.network
    return [value.numpy() for value in network.state_dict().values()]


def torchrun(*arguments: object, n_processes: int = 2) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={n_processes}",
    ]
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=Path(__file__).parents[2],
        check=False,
    )


@pytest.fixture(scope="module")
def plain_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder without dropout, whose random numbers would differ between processes."""
    from tests.deep.tiny_encoder import make_tiny_encoder

    without = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"), **without)


def test_two_processes_train_the_model_of_one(plain_encoder: Path, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    ended = torchrun(script, plain_encoder, tmp_path)
    # An error of one process ends all.
    assert ended.returncode != 0
    assert "process 1 of 2 has another data than process 0" in ended.stderr
    for method in SETTINGS:
        one, other = (list(np.load(tmp_path / f"{method}-{rank}.npz").values()) for rank in range(2))
        for a, b, alone in zip(one, other, weights_of(trained(method, plain_encoder)), strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, alone, rtol=1e-3, atol=1e-4)
        # One process wrote a checkpoint, which one process alone can resume from: it has nothing left to do.
        resumed = trained(method, plain_encoder, str(tmp_path / f"state-{method}"))
        for a, b in zip(one, weights_of(resumed), strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_first_process_writes_the_model(tmp_path: Path) -> None:
    data = tmp_path / "train.jsonl"
    rows = zip(TEXTS, LABELS, strict=True)
    data.write_text("".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows))
    given = ["--method", "attentionxml", "--epochs", 1, "--hidden", 4, "--shared", 4, "--dimension", 8]
    ended = torchrun("-m", "labeltree", "train", data, "--model", tmp_path / "model", "--json", *given)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert json.loads(ended.stdout)["rows"] == len(TEXTS)  # printed once
    assert AttentionXMLClassifier.load(tmp_path / "model").predict_topk(TEXTS[:1], 1).labels.shape == (1, 1)
    assert {path.name for path in tmp_path.iterdir()} == {"train.jsonl", "model"}


@pytest.fixture
def second_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}
    for name, value in {"TORCHELASTIC_RUN_ID": "run", **numbers}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("second_of_three")
@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"random_state": None}, "torchrun needs an integer random_state"),
        ({"batch_size": 2}, "batch_size=2 cannot be shared by the 3 processes"),
    ],
)
def test_a_training_that_cannot_be_shared_is_refused(parameter: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AttentionXMLClassifier(**{**SETTINGS["attention"], **parameter}).fit(TEXTS, LABELS)


@pytest.mark.usefixtures("second_of_three")
@pytest.mark.parametrize(("n_gpus", "device"), [(1, "auto"), (1, "cuda"), (3, "cuda:0")])
def test_every_process_needs_a_gpu_of_its_own(
    n_gpus: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n_gpus)
    with pytest.raises(ValueError, match=f"one process for each GPU, and torch sees {n_gpus} of them"):
        device_named(device)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert device_named("auto") == torch.device("cuda", 1)


@pytest.mark.usefixtures("second_of_three")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("label-tree", False, None, "texts.jsonl"), "start it without torchrun"),
        (("encoder", True, 60.0, "texts.jsonl"), "search without torchrun first"),
        (("encoder", True, None, "-"), "pass a file"),
    ],
)
def test_a_command_that_cannot_be_shared_is_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(Exception, match=message):
        check_processes(*given)


def test_shares_of_a_batch_have_every_row_once() -> None:
    from labeltree.deep.training.processes import Processes

    processes, rows = Processes(torch.device("cpu")), np.array([4, 0, 7, 5, 2])
    processes.count = 3
    shares = []
    for processes.rank in range(3):
        shares.append(processes.share(rows))
    assert sorted(np.concatenate([own for own, _ in shares])) == sorted(rows)
    assert sum(part for _, part in shares) == pytest.approx(1)
    processes.rank = 2
    own, part = processes.share(rows[:2])
    assert (own.tolist(), part) == ([4], 0.0)
