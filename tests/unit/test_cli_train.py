"""`labeltree train`, against the same training in Python."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows, write_texts

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.training import linear_learner
from labeltree.training.solvers import SOLVER_PARAMETERS


@pytest.fixture(autouse=True)
def trials_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials need many rows, which tests do not have the time for."""
    monkeypatch.setattr(linear_learner, "FEWEST_ROWS", 200)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("data") / "train.txt", make_rows(300, seed=1))


def assert_same_answers(model: Any, path: Path, data: Path) -> None:
    X, _ = read_xmlc(data)
    for expected, found in zip(
        model.predict_topk(X, 3), LabelTreeClassifier.load(path).predict_topk(X, 3), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_reranking(data: Path, tmp_path: Path) -> None:
    report = run_json("train", data, "--model", tmp_path / "model", "--rerank", 4, "--random-state", 0)
    assert report["seconds"]["label_classifiers"] > 0
    model = LabelTreeClassifier(rerank=4, random_state=0).fit(*read_xmlc(data))
    assert_same_answers(model, tmp_path / "model", data)
    X, _ = read_xmlc(data)
    explained = run_json("explain", tmp_path / "model", data, "--row", 2, "--top", 3)
    expected = model.explain(X[2], explained["label"], n_features=3)
    assert explained["probability"] == expected.probability
    assert explained["classifier"]["proposed"]
    assert explained["classifier"]["score"] == expected.classifier.score
    assert [f["amount"] for f in explained["classifier"]["features"]] == [
        c.amount for c in expected.classifier.contributions
    ]
    text = run("explain", tmp_path / "model", data, "--row", 2).stdout
    assert f"classifier of the label: {expected.probability:.4f}" in text


def test_trains_the_model_that_python_trains(data: Path, tmp_path: Path) -> None:
    options = ["--n-trees", 2, "--arity", 3, "--max-leaves", 2, "--C", 0.5, "--no-bias", "--random-state", 7]
    result = run("train", data, "--model", tmp_path / "model", *options)
    model = LabelTreeClassifier(n_trees=2, arity=3, max_leaves=2, C=0.5, bias=False, random_state=7)
    assert_same_answers(model.fit(*read_xmlc(data)), tmp_path / "model", data)
    words = " ".join(result.stdout.split())
    assert f"300 rows, {N_FEATURES} features, {N_LABELS} labels" in words
    least, most = sorted(tree.n_nodes for tree in model.trees_)
    nodes = f"{most} nodes" if least == most else f"{least} to {most} nodes"
    assert f"2 trees of {nodes}, " in words
    assert f"labeltree evaluate {tmp_path / 'model'}" in result.stdout


def test_trees_that_differ(data: Path, tmp_path: Path) -> None:
    result = run(
        "train", data, "--model", tmp_path / "model", "--n-trees", 2, "--tree", "flat,huffman", "--arity", 2
    )
    words = " ".join(result.stdout.split())
    huffman = LabelTreeClassifier.load(tmp_path / "model").trees_[1]
    assert f"2 trees of {1 + N_LABELS} to {huffman.n_nodes} nodes, 1 to {huffman.depth} levels, " in words


def test_json(data: Path, tmp_path: Path) -> None:
    report = run_json("train", data, "--model", tmp_path / "model", "--n-trees", 2, "--random-state", 0)
    assert (report["rows"], report["features"], report["labels"]) == (300, N_FEATURES, N_LABELS)
    assert report["model_bytes"] == sum(file.stat().st_size for file in (tmp_path / "model").iterdir())
    assert set(report["seconds"]) == {"reading", "clustering", "trial", "training", "saving"}
    assert all(seconds >= 0 for seconds in report["seconds"].values())
    model = LabelTreeClassifier.load(tmp_path / "model")
    assert report["parameters"] == {**model.get_params(), "C": "auto"}
    assert report["C"] == model.C
    assert report["parameters"]["n_jobs"] == -1
    trees = [(tree["nodes"], tree["depth"], tree["arity"]) for tree in report["trees"]]
    assert trees == [(tree.n_nodes, tree.depth, tree.arity) for tree in model.trees_]
    assert report["trees"][0]["n_columns"] == model.training_report_[0]["n_columns"]


@pytest.mark.parametrize(
    "solver",
    [
        {"solver": "descent", "C": 2.0, "tol": 0.01, "max_iter": 9},
        {"solver": "sgd", "learning_rate": 0.3, "epochs": 2, "regularization": 1e-4},
    ],
    ids=lambda solver: solver["solver"],
)
def test_every_parameter_is_taken(data: Path, tmp_path: Path, solver: dict[str, Any]) -> None:
    given = {
        "n_trees": 2, "tree": "unbalanced_kmeans", "max_arity": 6, "arity": 4, "max_leaves": 3, "max_depth": 5,
        "frequent_share": 0.2, "collapse": 2, "label_vectors": "both", "label_vector_prune": 0.02,
        "loss": "logistic", "link": "sigmoid", "label_weight": "propensity",
        "prune": 0.05, "weights": "bfloat16",
        "normalize": False, "bias": False, "search": "beam", "beam": 4, "normalize_siblings": True,
        "tree_weight": [1.0, 2.0], "missing_estimates": "zero",
        "n_jobs": 1, "random_state": 3, "verbose": -1, **solver,
    }  # fmt: skip
    defaults = LabelTreeClassifier().get_params()
    # rerank does not go with label_weight: test_reranking has it.
    others = {"node_estimator", "rerank", "memory_gb", "checkpoint"}  # the last two have tests of their own
    assert given.keys() | set(SOLVER_PARAMETERS) | others == defaults.keys()
    options: list[Any] = []
    for name, value in given.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{'' if value else 'no-'}{flag}")
        else:
            for single in value if isinstance(value, list) else [value]:
                options += [f"--{flag}", single]
    run("train", data, "--model", tmp_path / "model", *options)
    model = LabelTreeClassifier.load(tmp_path / "model")
    # The only link of a loss is its default, which a loaded model calls "auto".
    assert model.trained_link() == given["link"]
    assert model.get_params() == {**defaults, **given, "link": "auto"}


@pytest.mark.parametrize("options", [[], ["--C", "auto"]], ids=["default", "auto"])
def test_what_is_chosen_is_told(data: Path, tmp_path: Path, options: list[str]) -> None:
    arguments = ["train", data, "--model", tmp_path / "model", *options, "--random-state", 0]
    expected = LabelTreeClassifier(random_state=0).fit(*read_xmlc(data)).C_
    assert isinstance(expected, list)
    assert run_json(*arguments)["C"] == expected
    text = " ".join(run(*arguments).stdout.split())
    assert f"C chosen: {', '.join(f'{c:g}' for c in np.atleast_1d(expected))}" in text


def test_options_override_the_preset(data: Path, tmp_path: Path) -> None:
    run("train", data, "--model", tmp_path / "model", "--preset", "parabel", "--n-trees", 1, "--beam", 10)
    expected = LabelTreeClassifier.parabel(n_trees=1, n_jobs=-1, random_state=0)
    assert LabelTreeClassifier.load(tmp_path / "model").get_params() == expected.get_params()


def test_a_default_that_is_given_overrides_the_preset(data: Path, tmp_path: Path) -> None:
    run("train", data, "--model", tmp_path / "model", "--preset", "parabel", "--arity", 32)
    assert LabelTreeClassifier.load(tmp_path / "model").arity == 32


@pytest.mark.parametrize("text", ["[[0,1,2,3,4,5],[6,7,[8,9,10,11]]]", "to_json"])
def test_own_tree(data: Path, tmp_path: Path, text: str) -> None:
    tree = LabelTree.from_nested([[0, 1, 2, 3, 4, 5], [6, 7, [8, 9, 10, 11]]])
    (tmp_path / "tree.json").write_text(tree.to_json() if text == "to_json" else text)
    report = run_json("train", data, "--model", tmp_path / "model", "--tree", tmp_path / "tree.json")
    assert LabelTreeClassifier.load(tmp_path / "model").tree_ == tree
    assert report["parameters"]["tree"] == str(tmp_path / "tree.json")


@pytest.mark.parametrize("name", ["train.svm", "train.libsvm.gz", "train.txt.gz", "-", "other"])
def test_inputs(data: Path, tmp_path: Path, name: str) -> None:
    rows = make_rows(300, seed=1)
    is_libsvm = "svm" in name or name == "other"
    plain = write_rows(tmp_path / "plain", rows, header=not is_libsvm, first_feature=int(is_libsvm))
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(plain.read_bytes()))
    elif name != "-":
        plain.rename(path)
    options = ["--format", "libsvm"] if name == "other" else []
    # The libsvm format does not say how many features and labels there are.
    options += ["--n-features", N_FEATURES, "--n-labels", N_LABELS] if is_libsvm else []
    source, text = ("-", plain.read_bytes()) if name == "-" else (path, None)
    run("train", source, "--model", tmp_path / "model", "--random-state", 0, *options, input=text)
    model = LabelTreeClassifier(random_state=0).fit(*read_xmlc(data))
    assert_same_answers(model, tmp_path / "model", data)


def test_one_based_ids(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1,2 1:1\n2 2:1\n1 3:1\n")
    report = run_json("train", tmp_path / "train.txt", "--model", tmp_path / "model", "--one-based")
    assert (report["features"], report["labels"]) == (3, 2)


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_weights(data: Path, tmp_path: Path, weights: str) -> None:
    report = run_json("train", data, "--model", tmp_path / "model", "--weights", weights)
    assert report["weights"] == weights
    stored = json.loads((tmp_path / "model" / "model.json").read_text())
    assert stored["weights"] == weights


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--arity", 1], "the parameter 'arity' must be an integer"),
            (["--loss", "hinge"], "hinge"),
            (["--loss", "logistic", "--link", "exp3"], "link 'exp3' does not work with loss 'logistic'"),
            (["--C", "much"], "the parameter 'C' must be 'auto', a finite number"),
            (["--C", "-1"], "the parameter 'C' must be 'auto', a finite number"),
            (["--label-weight", "frequency"], "frequency"),
            (["--method", "label-tree", "--preset", "fasttext"], "has the presets parabel"),
            (["--tree", "no-such-file.json"], "is neither a file nor one of complete"),
            (["--n-trees", "many"], "'--n-trees'"),
            (["--frobnicate"], "No such option"),
        ],
    )
    def test_wrong_options_are_told_before_anything_is_read(
        self, tmp_path: Path, options: list[object], message: str
    ) -> None:
        result = run("train", "no-such-data.txt", "--model", tmp_path / "model", *options, exit_code=2)
        assert message in " ".join(result.stderr.replace("│", " ").split())
        assert not (tmp_path / "model").exists()

    def test_model_is_required(self, data: Path) -> None:
        assert "--model" in run("train", data, exit_code=2).stderr

    def test_target_that_is_something_else_is_told_before_training(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("precious")
        result = run("train", "no-such-data.txt", "--model", tmp_path, exit_code=1)
        assert "is not a model" in result.stderr
        assert (tmp_path / "notes.txt").read_text() == "precious"

    def test_bad_tree_file(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "tree.json").write_text("[[0, 0]]")
        result = run(
            "train", data, "--model", tmp_path / "model", "--tree", tmp_path / "tree.json", exit_code=1
        )
        assert f"{tmp_path / 'tree.json'}: " in result.stderr

    def test_rows_without_labels_only(self, tmp_path: Path) -> None:
        (tmp_path / "train.txt").write_text("2 3 4\n 1:1\n 2:1\n")
        result = run("train", tmp_path / "train.txt", "--model", tmp_path / "model", exit_code=1)
        assert result.stderr == "labeltree: y has no label in any row: there is nothing to learn\n"


def test_a_list_of_trees_says_how_many(data: Path, tmp_path: Path) -> None:
    report = run_json("train", data, "--model", tmp_path / "model", "--tree", "kmeans,huffman")
    assert (report["parameters"]["n_trees"], report["parameters"]["tree"]) == (2, "kmeans,huffman")
    report = run_json(
        "train", data, "--model", tmp_path / "m", "--tree", "flat,huffman", "--preset", "parabel"
    )
    assert report["parameters"]["n_trees"] == 2
    wrong = run(
        "train", data, "--model", tmp_path / "n", "--tree", "flat,huffman", "--n-trees", 3, exit_code=2
    )
    assert "expected --n-trees 3 trees, got 2" in wrong.output


def test_the_tree_of_a_preset_and_the_c_of_a_solver_are_told(data: Path, tmp_path: Path) -> None:
    report = run_json("train", data, "--model", tmp_path / "model", "--preset", "bonsai")
    assert report["parameters"]["tree"] == "unbalanced_kmeans"
    assert run_json("train", data, "--model", tmp_path / "model", "--solver", "sgd")["C"] is None


def files_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize("method", ["label-tree", "fastxml", "one-vs-rest"])
def test_the_same_command_gives_the_same_bytes(data: Path, tmp_path: Path, method: str) -> None:
    options: list[object] = [
        "--method",
        method,
        *(["--arity", 2, "--max-leaves", 2] if method == "label-tree" else []),
    ]
    for name in ("one", "other"):
        run("train", data, "--model", tmp_path / name, *options)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    run("train", data, "--model", tmp_path / "seed", *options, "--random-state", 1)
    assert files_of(tmp_path / "seed") != files_of(tmp_path / "one")


class TestReplacing:
    def refused(self, *arguments: object) -> str:
        path = Path(str(arguments[3]))
        before = files_of(path)
        message = run(*arguments, exit_code=1).stderr
        assert files_of(path) == before
        assert "nothing was written: choose another directory, or add --overwrite" in message
        run(*arguments, "--overwrite")
        assert files_of(path) != before
        return message

    def test_a_model_of_the_same_kind_is_replaced(self, data: Path, tmp_path: Path) -> None:
        run("train", data, "--model", tmp_path / "model")
        run("train", data, "--model", tmp_path / "model", "--n-trees", 2)
        assert len(LabelTreeClassifier.load(tmp_path / "model").trees_) == 2

    def test_an_online_model_is_kept(self, data: Path, tmp_path: Path) -> None:
        run("learn", data, "--model", tmp_path / "model")
        message = self.refused("train", data, "--model", tmp_path / "model")
        assert "another kind, an OnlineLabelTreeClassifier that has learned 300 examples" in message

    def test_a_model_of_another_method_is_kept(self, data: Path, tmp_path: Path) -> None:
        run("train", data, "--model", tmp_path / "model", "--method", "fastxml", "--n-trees", 2)
        message = self.refused("train", data, "--model", tmp_path / "model")
        assert "has a model of another kind, a FastXMLClassifier;" in message
        self.refused("train", data, "--model", tmp_path / "model", "--method", "one-vs-rest")

    def test_a_model_of_texts_is_kept(self, data: Path, tmp_path: Path) -> None:
        texts = write_texts(tmp_path / "texts.jsonl", 40, seed=0)
        run("train", texts, "--model", tmp_path / "model")
        run("train", texts, "--model", tmp_path / "model")
        assert "has a model of texts;" in self.refused("train", data, "--model", tmp_path / "model")
        assert "has a model of numbers;" in self.refused("train", texts, "--model", tmp_path / "model")

    def test_it_is_told_before_the_data_are_read(self, data: Path, tmp_path: Path) -> None:
        run("learn", data, "--model", tmp_path / "model")
        result = run("train", "no-such-file.txt", "--model", tmp_path / "model", exit_code=1)
        assert "add --overwrite" in result.stderr

    def test_a_directory_that_cannot_be_written_to(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        below = run("train", "no-such-file.txt", "--model", tmp_path / "file" / "model", exit_code=1)
        monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
        beside = run("train", "no-such-file.txt", "--model", tmp_path / "new" / "model", exit_code=1)
        for result, place in ((below, tmp_path / "file"), (beside, tmp_path)):
            assert f"a model cannot be saved there, because {place} cannot be written to" in result.stderr


def test_limits_checkpoints_and_workers_do_not_change_the_model(data: Path, tmp_path: Path) -> None:
    def train(*options: object) -> bytes:
        run("train", data, "--model", tmp_path / "model", *options)
        return (tmp_path / "model" / "model.json").read_bytes()

    whole = train()
    assert train("--memory-gb", 1) == whole
    assert train("--workers", 2, "--checkpoint", tmp_path / "run") == whole
    assert (tmp_path / "run" / "tree-1").is_dir()
    too_little = run("train", data, "--model", tmp_path / "model", "--memory-gb", 0.01, exit_code=1)
    assert "memory_gb=0.01 does not suffice: this training needs at least" in too_little.stderr
