"""The same training with every instruction set that can run here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.documents import documents

from labeltree import LabelTree, LabelTreeClassifier, _native

# Trains with every loss, weights of labels and every solver on given data with blocks of several widths, on trees that
# it makes, without and with dense features, on online trees, and for a margin; saves all arrays, and what the models
# with dense features answer.
TRAINER = """
import sys
import numpy as np, scipy.sparse as sp
from labeltree import LabelTree, LabelTreeClassifier, OneVsRestClassifier, OnlineLabelTreeClassifier, _native
given = np.load(sys.argv[1])
X, y = sp.csr_matrix(given["X"]), sp.csr_matrix(given["y"])
found = {"code": _native.vector_code()}
shapes = {"given": {"tree": LabelTree.from_json(str(given["tree"]))}, "made": {"arity": 9, "max_leaves": 2}}
for shape, parameters in shapes.items():
    batch = [
        {"loss": loss, "label_weight": weight}
        for loss in ("squared_hinge", "logistic", "squared", "exponential")
        for weight in (None, "propensity")
    ]
    incremental = [
        {"loss": loss, "solver": solver}
        for loss in ("squared_hinge", "logistic")
        for solver in ("adagrad", "sgd", "fobos")
    ]
    sparse = [
        {"loss": loss, "penalty": "l1", "label_weight": weight}
        for loss in ("squared_hinge", "logistic", "squared")
        for weight in (None, "propensity")
    ]
    for learner in batch + incremental + sparse:
        model = LabelTreeClassifier(prune=0.0, random_state=0, **learner, **parameters).fit(X, y)
        arrays = {**model.weights_[0].arrays, "label": model.tree_.label, "child_begin": model.tree_.child_begin}
        found |= {f"{shape} {learner} {name}": array for name, array in arrays.items()}
        mixed = LabelTreeClassifier(random_state=0, **learner, **parameters).fit((X, given["dense"]), y)
        found |= {f"{shape} {learner} mixed {name}": array for name, array in mixed.weights_[0].arrays.items()}
        found[f"{shape} {learner} answers"] = mixed.predict_topk((X, given["dense"]), k=60).probabilities
for learner in incremental:
    for arity in (2, 7, 45):
        state = OnlineLabelTreeClassifier(arity=arity, **learner).partial_fit(X, y)._model.trees[0].state()
        found |= {f"online {arity} {learner} {name}": array for name, array in state.items()}
for solver in ("sparse", "max_margin"):
    model = OneVsRestClassifier(solver=solver, max_iter=3, random_state=0).fit(X, y)
    found |= {f"{solver} {name}": array for name, array in model.weights_[0].arrays.items()}
np.savez(sys.argv[2], **found)
"""


def run(program: str, *arguments: Path, code: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, "LABELTREE_ISA": code}, stderr=subprocess.PIPE)


def test_every_instruction_set_makes_the_same_model_bit_for_bit(tmp_path: Path) -> None:
    X, y = documents(400, 300, 60, unlabelled=0.1)
    tree = LabelTree.from_nested([*range(40), [40, 41, 42], [*range(43, 50)], [*range(50, 60)]])
    task = tmp_path / "task.npz"
    dense = np.random.default_rng(0).standard_normal((400, 21)).astype(np.float32) + y[:, :21].toarray()
    np.savez(task, X=X.toarray(), y=y.toarray(), dense=dense, tree=tree.to_json())

    codes = _native.available_vector_code()
    answers = [tmp_path / f"{code}.npz" for code in codes]
    started = [run(TRAINER, task, answer, code=code) for code, answer in zip(codes, answers, strict=True)]
    for process in started:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error.decode()
    found = [dict(np.load(answer)) for answer in answers]
    assert [str(answer.pop("code")) for answer in found] == codes
    for answer in found[1:]:
        assert answer.keys() == found[0].keys()
        for name, array in answer.items():
            if name.endswith("answers"):  # multiplications are fused with additions where that can be done
                np.testing.assert_allclose(array, found[0][name], rtol=1e-3, atol=1e-6, err_msg=name)
            else:
                np.testing.assert_array_equal(array, found[0][name], err_msg=name)


# Chooses C and fits maps on dense features, whose held-out scores must not be fused, and tells all that it saw.
CHOOSER = """
import json, sys
import numpy as np, scipy.sparse as sp
from labeltree import LabelTreeClassifier, _native
given = np.load(sys.argv[1])
found = {"code": _native.vector_code()}
for loss in ("squared_hinge", "logistic"):
    model = LabelTreeClassifier(loss=loss, arity=5, max_leaves=5, random_state=0)
    model.fit(given["X"], sp.csr_matrix(given["y"]))
    losses = {C: [str(loss) for loss in of_levels] for C, of_levels in model.C_scores_.items()}
    maps = {name: array.tolist() for name, array in model.calibration_.trees[0].items()}
    found[loss] = [model.C_, losses, maps]
open(sys.argv[2], "w").write(json.dumps(found))
"""


def test_every_instruction_set_chooses_the_same_c_on_dense_features(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    y = documents(1_200, 300, 30)[1]
    X = y.toarray() @ generator.standard_normal((30, 67)) + generator.standard_normal((1_200, 67))
    task = tmp_path / "task.npz"
    np.savez(task, X=X.astype(np.float32), y=y.toarray())
    codes = _native.available_vector_code()
    answers = [tmp_path / f"{code}.json" for code in codes]
    started = [run(CHOOSER, task, answer, code=code) for code, answer in zip(codes, answers, strict=True)]
    for process in started:
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error.decode()
    found = [json.loads(answer.read_text()) for answer in answers]
    assert [answer.pop("code") for answer in found] == codes
    assert all(answer == found[0] for answer in found[1:])


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
