"""`labeltree info`, `explain` and `convert`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows

from labeltree import LabelTreeClassifier
from labeltree.cli import data_file
from labeltree.data import read_libsvm, read_xmlc


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inspection")
    train = write_rows(folder / "train.txt", make_rows(1_200, seed=1))
    write_rows(folder / "test.txt", make_rows(20, seed=2))
    (folder / "labels.txt").write_text("".join(f"L{i}\n" for i in range(N_LABELS)))
    (folder / "features.txt").write_text("".join(f"word{i}\n" for i in range(N_FEATURES)))
    model = LabelTreeClassifier(2, random_state=0, max_leaves=3, arity=2, frequent_share=0)
    model.fit(*read_xmlc(train)).save(folder / "model")
    return folder


class TestInfo:
    def test_json(self, folder: Path) -> None:
        model = LabelTreeClassifier.load(folder / "model")
        report = run_json("info", folder / "model")
        assert report["estimator"] == "LabelTreeClassifier"
        assert (report["rows"], report["features"], report["labels"]) == (1_200, N_FEATURES, N_LABELS)
        of_training = {"memory_gb": None, "checkpoint": None}  # a model does not keep them
        assert {**report["parameters"], "weights": report["weights"], **of_training} == model.get_params()
        assert [tree["nodes"] for tree in report["trees"]] == [tree.n_nodes for tree in model.trees_]
        assert [tree["weights"] for tree in report["trees"]] == [w.n_weights for w in model.weights_]
        assert report["verified"] is False

    def test_text(self, folder: Path) -> None:
        words = " ".join(run("info", folder / "model").stdout.split())
        assert f"1,200 rows, {N_FEATURES} features" in words
        assert f"labels {N_LABELS} (0, 1, 2, …)" in words
        assert "max_leaves=3" in words
        assert "calibrated by fit, isotonic" in words
        assert "tree 2" in words

    def test_drawing(self, folder: Path) -> None:
        names = ("--label-names", folder / "labels.txt")
        drawing = run("info", folder / "model", "--tree", *names).stdout
        message = run("info", folder / "model", *names, exit_code=2).stderr
        assert "names labels in the drawing: add --tree" in message
        assert f"root ({N_LABELS} labels)" in drawing
        assert all(re.search(rf"\bL{i}\b", drawing) for i in range(N_LABELS))
        model = LabelTreeClassifier.load(folder / "model")
        report = run_json("info", folder / "model", "--tree", "--max-nodes", 3)
        assert report["tree"] == model.tree_.draw(max_nodes=3)

    def test_verify(self, folder: Path, tmp_path: Path) -> None:
        assert "all checksums are right" in run("info", folder / "model", "--verify").stdout
        damaged = tmp_path / "model"
        damaged.mkdir()
        for file in (folder / "model").iterdir():
            (damaged / file.name).write_bytes(file.read_bytes())
        victim = max(damaged.iterdir(), key=lambda file: file.stat().st_size)
        content = bytearray(victim.read_bytes())
        content[-5] ^= 1
        victim.write_bytes(bytes(content))
        run("info", damaged)
        assert victim.name in run("info", damaged, "--verify", exit_code=1).stderr


class TestExplain:
    def test_json(self, folder: Path) -> None:
        model = LabelTreeClassifier.load(folder / "model")
        X, _ = read_xmlc(folder / "test.txt")
        report = run_json(
            "explain", folder / "model", folder / "test.txt", "--row", 7, "--label", 4, "--top", 2
        )
        expected = model.explain(X[7], 4, n_features=2)
        assert (report["row"], report["label"]) == (7, 4)
        assert report["probability"] == pytest.approx(expected.probability)
        for steps, path in zip(report["trees"], expected.paths, strict=True):
            assert [step["node"] for step in steps] == [step.node for step in path]
            assert np.prod([step["probability"] for step in steps]) == pytest.approx(
                path[-1].probability_so_far
            )
            assert [[f["feature"] for f in step["features"]] for step in steps] == [
                [c.feature for c in step.contributions] for step in path
            ]

    def test_best_label_with_names(self, folder: Path) -> None:
        names = ["--label-names", folder / "labels.txt", "--feature-names", folder / "features.txt"]
        X, _ = read_xmlc(folder / "test.txt")
        best = int(LabelTreeClassifier.load(folder / "model").predict_topk(X[0], 1).labels[0, 0])
        text = run("explain", folder / "model", folder / "test.txt", *names).stdout
        assert f"label {best} (L{best}) of row 0: probability" in text
        assert text.count("root: ") == 2
        assert re.search(r"word\d+ \+\d", text)
        report = run_json("explain", folder / "model", folder / "test.txt", *names)
        assert report["name"] == f"L{best}"
        assert report["trees"][0][-1]["features"][0]["feature"].startswith("word")

    def test_row_of_a_later_block(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = run_json("explain", folder / "model", folder / "test.txt", "--row", 19)
        monkeypatch.setattr(data_file, "BLOCK_BYTES", 30)
        assert run_json("explain", folder / "model", folder / "test.txt", "--row", 19) == expected

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--row", 20], "has 20 rows, counted from 0"),
            (["--label", "no"], "'no' is not a label of this model"),
        ],
    )
    def test_mistakes(self, folder: Path, options: list[object], message: str) -> None:
        result = run("explain", folder / "model", folder / "test.txt", *options, exit_code=2)
        assert message in " ".join(result.stderr.replace("│", " ").split())


class TestConvert:
    @pytest.mark.parametrize("middle", ["data.svm", "data.libsvm.xz", "data.txt.gz", "data.zst"])
    def test_there_and_back(self, folder: Path, tmp_path: Path, middle: str) -> None:
        sizes = ["--n-features", N_FEATURES, "--n-labels", N_LABELS] if "svm" in middle else []
        result = run("convert", folder / "test.txt", tmp_path / middle)
        assert f"20 rows, {N_FEATURES} features" in " ".join(result.stdout.split())
        run("convert", tmp_path / middle, tmp_path / "back.txt", *sizes)
        assert (tmp_path / "back.txt").read_bytes() == (folder / "test.txt").read_bytes()

    def test_standard_input_and_formats(self, folder: Path, tmp_path: Path) -> None:
        text = write_rows(tmp_path / "x", make_rows(20, seed=2), header=False, first_feature=1).read_bytes()
        run("convert", "-", tmp_path / "out", "--format", "libsvm", "--to", "libsvm", input=text)
        for found, expected in zip(read_libsvm(tmp_path / "out"), read_libsvm(tmp_path / "x"), strict=True):
            assert (found != expected).nnz == 0

    def test_model(self, folder: Path, tmp_path: Path) -> None:
        run("convert", folder / "model", tmp_path / "small", "--weights", "int8")
        small = run_json("info", tmp_path / "small")
        assert small["weights"] == "int8"
        run("convert", folder / "model", tmp_path / "large", "--weights", "float32")
        assert small["model_bytes"] < run_json("info", tmp_path / "large")["model_bytes"]
        values = [
            run_json("evaluate", path, folder / "test.txt")["metrics"]["PSP@1"]
            for path in (folder / "model", tmp_path / "small")
        ]
        assert values[0] == pytest.approx(values[1], abs=0.05)

    @pytest.mark.parametrize(
        ("source", "target", "options", "message"),
        [
            ("model", "small", [], "give the type of weights"),
            ("test.txt", "out.txt", ["--weights", "int8"], "is not the directory of a model"),
            ("test.txt", "-", [], "expected the name of a file"),
        ],
    )
    def test_mistakes(
        self, folder: Path, tmp_path: Path, source: str, target: str, options: list[str], message: str
    ) -> None:
        to = target if target == "-" else str(tmp_path / target)
        result = run("convert", folder / source, to, *options, exit_code=2)
        assert message in " ".join(result.stderr.replace("│", " ").split())
