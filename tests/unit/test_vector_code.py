"""The same training with every instruction set that can run here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.documents import documents
from tests.reference.search import decoded

from labeltree import LabelTree, LabelTreeClassifier, _native
from labeltree.tree_weights import TreeWeights

# Trains both losses on given data with blocks of several widths and saves all weights, and a tree it made.
TRAINER = """
import sys
import numpy as np, scipy.sparse as sp
from labeltree import LabelTree, LabelTreeClassifier, _native
given = np.load(sys.argv[1])
X, y, groups = (sp.csr_matrix(given[name]) for name in ("X", "y", "groups"))
tree = LabelTree.from_json(str(given["tree"]))
found = {"code": _native.vector_code()}
for loss in ("squared_hinge", "logistic"):
    model = LabelTreeClassifier(
        tree=tree, loss=loss, C=1.0, tol=1e-5, max_iter=5000, prune=0.0, random_state=0
    ).fit(X, y)
    found |= {f"{loss} {name}": array for name, array in model.weights_[0].arrays.items()}
made = LabelTreeClassifier(arity=20, max_leaves=3, random_state=0).fit(groups, np.eye(60)).tree_
found["made"] = made.to_json()
np.savez(sys.argv[2], **found)
"""


def run(program: str, *arguments: Path, code: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, "LABELTREE_ISA": code}, stderr=subprocess.PIPE)


def test_instruction_sets_agree_to_rounding(tmp_path: Path) -> None:
    X, y = documents(200, 60, 60, unlabelled=0.1)
    tree = LabelTree.from_nested([*range(40), [40, 41, 42], [*range(43, 50)], [*range(50, 60)]])
    # Labels in twenty groups of three that share nothing with each other: every k-means finds them.
    groups = np.repeat(np.eye(20), 3, axis=0) + 0.01 * np.eye(60, 20)
    task = tmp_path / "task.npz"
    np.savez(task, X=X.toarray(), y=y.toarray(), groups=groups, tree=tree.to_json())

    codes = _native.available_vector_code()
    answers = [tmp_path / f"{code}.npz" for code in codes]
    started = [run(TRAINER, task, answer, code=code) for code, answer in zip(codes, answers, strict=True)]
    for process in started:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error.decode()
    found = [np.load(answer) for answer in answers]
    assert [str(answer["code"]) for answer in found] == codes

    for loss in ("squared_hinge", "logistic"):
        weights = []
        for answer in found:
            arrays = {name.split()[1]: answer[name] for name in answer.files if name.startswith(loss)}
            W, bias = decoded(TreeWeights(tree, arrays), X.shape[1])
            weights.append(np.hstack([W, bias[:, None]]))
        for other in weights[1:]:
            np.testing.assert_allclose(other, weights[0], rtol=1e-3, atol=2e-4)
    assert len({str(answer["made"]) for answer in found}) == 1


def test_an_instruction_set_that_is_not_there_is_refused() -> None:
    program = "from labeltree import _native; _native.vector_code()"
    process = run(program, code="mmx")
    _, error = process.communicate(timeout=60)
    assert process.returncode != 0
    expected = "LABELTREE_ISA=mmx cannot be used here; expected one of " + ", ".join(
        _native.available_vector_code()
    )
    assert expected in error.decode()


def test_the_best_instruction_set_is_the_default() -> None:
    wanted = os.environ.get("LABELTREE_ISA") or _native.available_vector_code()[0]
    assert _native.vector_code() == wanted
    assert LabelTreeClassifier().fit(np.eye(3), ["a", "b", "c"]).predict(np.eye(3)).tolist() == [
        "a",
        "b",
        "c",
    ]
