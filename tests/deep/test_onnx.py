"""Exports to ONNX: they answer as torch does, without torch, and hostile graphs are refused."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import pickle
import random
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx_package = pytest.importorskip("onnx")
pytest.importorskip("transformers")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

from tests.command_line import run, run_json  # noqa: E402
from tests.deep.conftest import LABELS, METHODS, TEXTS  # noqa: E402
from tests.deep.saved_networks import FILE, DeepModel, answers, change, rewrite, same  # noqa: E402
from tests.unit.test_model_file_fuzz import change_document, change_numbers, overwrite_range  # noqa: E402

import labeltree  # noqa: E402
from labeltree.deep import onnx_export  # noqa: E402
from labeltree.deep.onnx_graph import OnnxGraph, check_graph  # noqa: E402
from labeltree.deep.tokens import TokenRows  # noqa: E402
from labeltree.errors import ModelFileError  # noqa: E402
from labeltree.model_file import load, read_info  # noqa: E402
from labeltree.model_file.tensors import Tensor  # noqa: E402
from labeltree.text import Tagger  # noqa: E402

each = pytest.mark.parametrize("method", METHODS)
#: Texts of all lengths, also without words.
MANY = [*TEXTS, "", "boat", "boat wave", "qqq zzz", "boat " * 200]


@pytest.fixture(scope="module")
def int8(trained, tmp_path_factory) -> dict[str, Path]:
    """The directory of each as a graph of int8; exporting says nothing to the user."""
    folder = tmp_path_factory.mktemp("int8")
    said = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        warnings.simplefilter("always")
        for method, model in trained.items():
            model.export_onnx(folder / method, int8=True)
    assert (said.getvalue(), warned) == ("", [])
    return {method: folder / method for method in trained}


@each
def test_it_answers_as_torch_does(trained, onnx, method):
    loaded = load(onnx[method], verify=True)
    wanted, found = (model.predict_topk(MANY, k=3) for model in (trained[method], loaded))
    np.testing.assert_allclose(found.probabilities, wanted.probabilities, rtol=1e-4, atol=1e-6)
    assert np.mean(found.labels == wanted.labels) > 0.99
    assert loaded.predict(MANY) == trained[method].predict(MANY)
    highlights = loaded.explain(TEXTS[0], "sea").highlights
    expected = trained[method].explain(TEXTS[0], "sea").highlights
    np.testing.assert_allclose([h.amount for h in highlights], [h.amount for h in expected], atol=1e-3)


def test_vectors_of_texts_are_those_of_torch(trained, onnx):
    np.testing.assert_allclose(
        load(onnx["encoder"]).transform(MANY), trained["encoder"].transform(MANY), rtol=1e-4, atol=1e-5
    )


def test_hidden_vectors_of_words_are_those_of_padded_and_packed_rows(trained, onnx):
    """Rows of different lengths, which torch packs and onnxruntime reads by length."""
    forests = [model.model_.forest.weights[1] for model in (trained["attention"], load(onnx["attention"]))]
    rows = TokenRows.of([[2, 3, 4], [], [5], [3, 2], [4, 4, 4], [9, 8, 7, 6, 5, 4, 3]])
    (hidden, is_word), encoded = (nodes.scorer.encode(rows) for nodes in forests)
    for own, found in encoded:
        for row, vectors in zip(own, found, strict=True):
            expected = hidden[row][is_word[row]].numpy()
            np.testing.assert_allclose(vectors, expected, rtol=1e-4, atol=1e-6)
    for tier, size in enumerate(forests[0].levels.sizes):
        every = np.arange(size)
        some = np.random.default_rng(tier).integers(size, size=(rows.n_rows, 2))
        for nodes in (every, some):
            wanted = forests[0].scorer.scores((hidden, is_word), tier, nodes)
            np.testing.assert_allclose(
                forests[1].scorer.scores(encoded, tier, nodes), wanted, rtol=1e-4, atol=1e-5
            )


@each
def test_int8_keeps_nearly_all_best_labels_and_is_smaller(trained, int8, onnx, method):
    loaded = load(int8[method], verify=True)
    wanted, found = (model.predict_topk(TEXTS, k=1).labels[:, 0] for model in (trained[method], loaded))
    assert np.mean(wanted == found) >= 0.95
    sizes = [read_info(path[method]).n_bytes for path in (int8, onnx)]
    assert sizes[0] < sizes[1]


def test_int8_vectors_point_the_same_way(trained, int8):
    wanted, found = (model.transform(TEXTS) for model in (trained["encoder"], load(int8["encoder"])))
    cosine = (wanted * found).sum(axis=1) / np.linalg.norm(wanted, axis=1) / np.linalg.norm(found, axis=1)
    assert cosine.min() > 0.99


WITHOUT_TORCH = """
import json, sys
from tests.deep.absent_packages import hide
hide("torch", "transformers", "onnx", "onnxscript")
from labeltree.model_file import load
from labeltree.text import Tagger
model = load(sys.argv[1], verify=True)
found = model.predict_topk(json.loads(sys.argv[2]), k=2)
print(json.dumps([found.labels.tolist(), found.probabilities.tolist()]))
model.save(sys.argv[3])
assert "torch" not in sys.modules
"""


@each
def test_it_answers_and_is_saved_without_torch(onnx, method, tmp_path):
    arguments = [str(onnx[method]), json.dumps(TEXTS[:9]), str(tmp_path / "again")]
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *arguments], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
    labels, probabilities = json.loads(found.stdout)
    expected = load(onnx[method]).predict_topk(TEXTS[:9], k=2)
    assert labels == expected.labels.tolist()
    np.testing.assert_array_equal(np.array(probabilities, dtype=np.float32), expected.probabilities)
    same(answers(load(tmp_path / "again")), answers(load(onnx[method])))


@each
def test_it_is_saved_copied_and_pickled(onnx, method, tmp_path):
    loaded = load(onnx[method])
    loaded.save(tmp_path / "again")
    for file in onnx[method].iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()
    for made in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)):
        same(answers(made), answers(loaded))
    loaded.save(tmp_path / "small", weights="int8")
    assert read_info(tmp_path / "small").weights == "int8"
    found, wanted = (
        load(path).predict_topk(TEXTS, k=1).labels for path in (tmp_path / "small", onnx[method])
    )
    assert np.mean(found == wanted) > 0.95


def threads_of(model):
    """The numbers of threads of the sessions of onnxruntime."""
    networks = model._networks(model.model_)
    return {network._graph._open().get_session_options().intra_op_num_threads for network in networks}


@each
def test_threads_follow_the_parameter(onnx, method, monkeypatch):
    monkeypatch.setattr("labeltree.deep.onnx_graph.cpu_count", lambda: 4)
    loaded = load(onnx[method])
    before = answers(loaded)
    assert threads_of(loaded) == {1}
    loaded.set_params(n_jobs=2)
    after = answers(loaded)
    assert threads_of(loaded) == {2}
    assert before[0] == after[0]
    np.testing.assert_allclose(before[1], after[1], rtol=1e-4)


def test_a_graph_has_no_paths_of_the_machine_that_made_it(onnx, int8):
    for path in (onnx["encoder"], int8["encoder"]):
        graph = load(path).model_.reader.encoder.graph.tobytes()
        assert b".py" not in graph
        assert b"stack_trace" not in graph


@pytest.mark.parametrize("int8", [False, True])
def test_a_graph_that_answers_otherwise_is_not_written(trained, monkeypatch, int8, tmp_path):
    """One with another vector for each token but the first one."""

    def other(module):
        changed = copy.deepcopy(module)
        with torch.no_grad():
            changed.body.get_input_embeddings().weight[1:] *= -1
        return right(changed)

    right = onnx_export.encoder_graph
    monkeypatch.setattr(onnx_export, "encoder_graph", other)
    message = "with int8 the encoder makes other vectors" if int8 else "answers otherwise"
    with pytest.raises(ValueError, match=message):
        trained["encoder"].export_onnx(tmp_path / "out", int8=int8)
    assert not (tmp_path / "out").exists()


@each
def test_it_is_not_exported_twice(onnx, method, tmp_path):
    with pytest.raises(ValueError, match="exported to ONNX already"):
        load(onnx[method]).export_onnx(tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


def test_it_can_be_trained_again_and_then_torch_runs_it(onnx, tiny_encoder):
    loaded = load(onnx["encoder"]).set_params(epochs=1, encoder=str(tiny_encoder))
    assert loaded.fit(TEXTS[:20], LABELS[:20]).model_.reader.encoder.module is not None


# -- the command ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def linear():
    return Tagger(labeltree.LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS)


def test_the_command_exports(saved, tmp_path):
    printed = run_json("export", saved["attention"], tmp_path / "out", "--int8")
    assert printed["int8"]
    assert printed["out_bytes"] == read_info(tmp_path / "out").n_bytes
    assert run_json("info", tmp_path / "out")["runtime"] == "onnx"
    assert "run by onnxruntime" in run("info", tmp_path / "out", "--verify").stdout
    assert "sea" in run("tag", tmp_path / "out", "boat wave harbour").stdout
    assert "exported to ONNX" in run("export", saved["attention"], tmp_path / "out").stdout  # again


def test_the_command_exports_the_networks_of_a_mix(saved, linear, tmp_path):
    mixed = labeltree.mix([load(saved["attention"]), linear.classifier_], [2.0, 1.0])
    mixed.decide_for("micro_f1", TEXTS, LABELS)
    mixed.label_names_ = {"sea": "The sea"}
    mixed.save(tmp_path / "mix")
    run("export", tmp_path / "mix", tmp_path / "out")
    loaded = load(tmp_path / "out", verify=True)
    np.testing.assert_allclose(
        loaded.predict_topk(TEXTS, k=3).probabilities, mixed.predict_topk(TEXTS, k=3).probabilities, rtol=1e-4
    )
    assert loaded.predict(TEXTS) == mixed.predict(TEXTS)
    assert dict(loaded.label_names_) == {"sea": "The sea"}
    assert read_info(tmp_path / "out").runtime == "onnx"


def test_the_command_refuses_what_has_no_network(saved, onnx, linear, tmp_path):
    linear.save(tmp_path / "linear")
    for source, target, exit_code, message in (
        (tmp_path / "linear", tmp_path / "out", 2, "has no network: there is nothing to export"),
        (onnx["attention"], tmp_path / "out", 1, "exported to ONNX already"),
        (saved["attention"], saved["attention"], 2, "is MODEL"),
    ):
        said = run("export", source, target, exit_code=exit_code).stderr
        assert message in " ".join(said.replace("│", " ").split())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("mine")
    run("export", saved["attention"], tmp_path / "other", exit_code=1)
    assert not (tmp_path / "out").exists()


# -- hostile graphs ------------------------------------------------------------------------------------


def graph_with(*nodes, tensors=()) -> np.ndarray:
    helper = onnx_package.helper
    value = helper.make_tensor_value_info("tokens", onnx_package.TensorProto.INT64, ["rows", "words"])
    made = helper.make_model(
        helper.make_graph(list(nodes), "g", [value], [value], list(tensors)),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    return np.frombuffer(made.SerializeToString(), dtype=np.uint8)


def external(name: str):
    tensor = onnx_package.numpy_helper.from_array(np.zeros(4, dtype=np.float32), name)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx_package.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "secret.bin"
    return tensor


def test_graphs_with_data_in_other_files_are_refused():
    helper = onnx_package.helper
    constant = helper.make_node("Constant", [], ["c"], value=external("v"))
    inner = helper.make_graph([constant], "inner", [], [])
    branch = helper.make_node("If", ["tokens"], ["d"], then_branch=inner, else_branch=inner)
    for graph in (graph_with(tensors=[external("w")]), graph_with(constant), graph_with(branch)):
        with pytest.raises(ValueError, match="in other files"):
            OnnxGraph(graph)


@pytest.mark.parametrize("operation", ["Loop", "Scan"])
def test_graphs_with_loops_are_refused(operation):
    helper = onnx_package.helper
    body = helper.make_graph([], "body", [], [])
    with pytest.raises(ValueError, match=f"loop .{operation}"):
        OnnxGraph(graph_with(helper.make_node(operation, ["tokens"], ["d"], body=body)))


def test_any_bytes_are_refused_or_walked_through(onnx):
    graph = load(onnx["attention"]).model_.forest.weights[0].scorer.graph.tobytes()
    check_graph(memoryview(graph))
    random = np.random.default_rng(0)
    for _ in range(300):
        data = bytearray(graph[: random.integers(1, len(graph))])
        data[random.integers(len(data))] = random.integers(256)
        with contextlib.suppress(ValueError):
            check_graph(memoryview(data))


@each
@pytest.mark.parametrize("kind", ["empty", "noise", "other", "cut"])
def test_wrong_graphs_are_refused(onnx, method, kind, tmp_path):
    own = Path(shutil.copytree(onnx[method], tmp_path / "own"))
    graphs = {
        "empty": np.empty(0, dtype=np.uint8),
        "noise": np.frombuffer(b"\x00\x01 not a graph", dtype=np.uint8),
        "other": graph_with(onnx_package.helper.make_node("Identity", ["tokens"], ["x"])),
    }

    def edit(tensors):
        graph = tensors["graph"].values
        tensors["graph"] = Tensor.of(graphs.get(kind, graph[: len(graph) // 2]))

    rewrite(own, FILE[method], edit)
    with pytest.raises(ModelFileError, match=r"graph|does not work|words must have|makes"):
        load(own)


@each
def test_wrong_fields_of_an_export_are_refused(onnx, saved, method, tmp_path):
    name = "encoder" if method == "encoder" else "network"
    own = Path(shutil.copytree(onnx[method], tmp_path / "own"))
    change(own, **{f"{name}__runtime": "torch"})
    with pytest.raises(ModelFileError):
        load(own)
    own = Path(shutil.copytree(saved[method], tmp_path / "torch"))
    document = json.loads((own / "model.json").read_text())
    settings = (
        {} if method == "encoder" else {key: document[name][key] for key in ("dimension", "hidden", "layers")}
    )
    change(own, **{name: {"runtime": "onnx", **settings}})
    with pytest.raises(ModelFileError, match="graph"):
        load(own)


@each
@pytest.mark.parametrize("damage", [overwrite_range, change_numbers, change_document])
def test_a_damaged_export_is_refused_or_answers_and_prints_nothing(onnx, method, damage, tmp_path, capfd):
    model = DeepModel(Path(shutil.copytree(onnx[method], tmp_path / "own")))
    rng = random.Random(1)
    found = {model.outcome(damage(rng, model)) for _ in range(20)}
    assert found & {"refused", "refused when asked"}
    assert model.outcome({}) == "answered"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n_jobs", ["many", True, 1.5, [2]])
@each
def test_wrong_numbers_of_threads_are_refused(onnx, method, n_jobs, tmp_path):
    own = Path(shutil.copytree(onnx[method], tmp_path / "own"))
    change(own, parameters__n_jobs=n_jobs)
    with pytest.raises(ModelFileError, match="n_jobs"):
        load(own)


def test_a_mixed_tagger_is_exported(trained: dict[str, Any], tmp_path: Path) -> None:
    from labeltree.deep import export_onnx
    from labeltree.text import Tagger

    tagger = Tagger(trained["encoder"], mix="linear", holdout=0.2).fit(TEXTS, LABELS)
    export_onnx(tagger, tmp_path / "model")
    opened = Tagger.load(tmp_path / "model")
    some = TEXTS[:5]
    np.testing.assert_allclose(
        opened.predict_topk(some, 3).probabilities, tagger.predict_topk(some, 3).probabilities, rtol=1e-3
    )
