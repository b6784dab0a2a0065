"""docs/systems.md: every call and every command of the page runs, and every preset is on it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, write_rows

import labeltree
from labeltree.data import read_xmlc
from labeltree.kinds import KINDS
from labeltree.model_file import load
from labeltree.trees import complete_tree

PAGE = (Path(__file__).parents[2] / "docs" / "systems.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CALLS = [line for language, code in BLOCKS[1:] if language == "python" for line in code.splitlines()]
COMMANDS = [line for language, code in BLOCKS if not language for line in code.splitlines()]
PRESETS = {preset: kind for kind in KINDS for preset in kind.presets}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("data") / "train.txt", make_rows(150, seed=1))


def classes_of(y: Any) -> list[int]:
    """The first label of each row, for calls with one label per row."""
    return [int(row.indices[0]) for row in y]


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str, data: Path) -> None:
    X, y = read_xmlc(data)
    assert X.shape == (150, N_FEATURES)
    names: dict[str, Any] = {"X": X, "y": y, "classes": classes_of(y)}
    exec(BLOCKS[0][1], names)
    model = eval(call, names)
    labels = model.predict_topk(X, k=1).labels[:, 0]
    # Each row has a few of 12 labels: a model that learned nothing would be right for one row of six.
    assert np.mean([y[row, int(label)] for row, label in enumerate(labels)]) > 0.3


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_bytes(data.read_bytes())
    words = shlex.split(command)
    run(*words[1:])
    preset, given = words[words.index("--preset") + 1], words[words.index("--preset") + 2 :]
    kind = PRESETS[preset]
    options = dict(zip(given[::2], given[1::2], strict=True))
    parameters = {name[2:].replace("-", "_"): float(value) for name, value in options.items()}
    integers = {"n_trees", "epochs"}
    expected = getattr(kind.load(), preset)(
        **{name: int(value) if name in integers else value for name, value in parameters.items()},
        n_jobs=-1,
        random_state=0,
    )
    saved = load(tmp_path / words[words.index("--model") + 1])
    assert type(saved) is type(expected)
    for name, value in expected.get_params().items():
        if name not in ("n_jobs", "verbose", "learning_rate", "link", "C"):  # saved as they were chosen
            assert getattr(saved, name) == value, name


def test_every_preset_is_on_the_page() -> None:
    for preset, kind in PRESETS.items():
        assert any(f"{kind.estimator}.{preset}(" in call for call in CALLS), preset
        assert any(f"--preset {preset}" in command for command in COMMANDS), preset
        assert f"| `{preset}` |" in PAGE
    assert {call.split(".")[0].split("(")[0] for call in CALLS} <= set(labeltree.__all__)
    assert N_LABELS == 12


@pytest.mark.parametrize("alpha", [0.1, 0.4, 0.8])
def test_cpt_inserts_labels_as_published(alpha: float) -> None:
    """Every new class becomes the sibling of the leaf to which Beygelzimer et al.'s rule leads, with its log2."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 8))
    model = labeltree.OnlineLabelTreeClassifier.cpt(alpha=alpha)
    seen: set[int] = set()
    n_right = n_left = 0
    for label in rng.integers(40, size=300).tolist():
        row = centres[label] + rng.normal(size=8) / 2
        if label in seen or len(seen) == 0:
            model.partial_fit([row], [label])
            seen.add(label)
            continue
        tree, classes, node = model.tree_, model.classes_.tolist(), 0
        while not tree.is_leaf[node]:
            if len(tree.children(node)) == 1:  # the only label
                node = tree.children(node)[0]
                continue
            left, right = tree.children(node)
            below = classes[tree.labels_under(right)[0]]
            step = model.explain(row, below).paths[0][tree.depth_of_node[right]]
            sizes = [len(tree.labels_under(child)) for child in (left, right)]
            goes_right = (1 - alpha) * 2 * (step.probability - 0.5) + alpha * np.log2(sizes[0] / sizes[1]) > 0
            node = right if goes_right else left
            n_right, n_left = n_right + goes_right, n_left + (not goes_right)
        expected = classes[tree.label[node]]
        model.partial_fit([row], [label])
        seen.add(label)
        tree, classes = model.tree_, model.classes_.tolist()
        parent = tree.parent[tree.leaf_of_label[classes.index(label)]]
        assert {classes[i] for i in tree.labels_under(parent)} == {label, expected}
    assert len(seen) == 40
    assert min(n_right, n_left) > 30


def test_a_stream_resumes_with_its_preset(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    run("learn", data, "--model", model, "--preset", "cpt", "--alpha", 0.3)
    run("learn", data, "--model", model, "--preset", "cpt", "--alpha", 0.3)
    assert load(model).n_examples_ == 150
    wrong = run("learn", data, "--model", model, "--preset", "cpt", exit_code=2)
    assert "the model in" in " ".join(wrong.stderr.replace("│", " ").split())
    run("learn", data, "--model", model, "--preset", "plt_vw", exit_code=2)
    run("learn", data, "--model", model, "--preset", "plt_vw", "--memory-mb", 1, "--fresh")
    assert load(model).weights == "shared"


def test_the_methods_of_two_presets_are_not_mixed(data: Path, tmp_path: Path) -> None:
    arguments = ["train", data, "--model", tmp_path / "model", "--preset", "dismec"]
    wrong = run(*arguments, "--method", "fastxml", exit_code=2)
    assert "--method fastxml has the presets fastxml, got dismec" in " ".join(
        wrong.stderr.replace("│", " ").split()
    )
    assert not (tmp_path / "model").exists()


def test_plt_vw_takes_a_tree_by_frequency(data: Path, tmp_path: Path) -> None:
    """As the page says, with the commands of the page."""
    run("tree", "build", data, "--tree", "complete", "--arity", 2, "--out", tmp_path / "tree.json")
    arguments = ["learn", data, "--model", tmp_path / "model", "--preset", "plt_vw", "--memory-mb", 1]
    run(*arguments, "--tree", tmp_path / "tree.json")
    _, y = read_xmlc(data)
    tree = load(tmp_path / "model").tree_
    assert tree == complete_tree(y.getnnz(axis=0), arity=2)
    depth = tree.depth_of_node[tree.leaf_of_label]
    assert (np.diff(depth[np.argsort(-y.getnnz(axis=0), kind="stable")]) >= 0).all()
