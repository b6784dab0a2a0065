"""`labeltree tree`, against the same in Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.trees import Taxonomy

NAMES = [f"L{i}" for i in range(N_LABELS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    train = write_rows(folder / "train.txt", make_rows(300, seed=1))
    (folder / "labels.txt").write_text("".join(f"{name}\n" for name in NAMES))
    rows = ["low,,low numbers", "high,,high numbers", "L0,low,zero"]
    rows += [f"{name},{'low' if i < 6 else 'high'}," for i, name in enumerate(NAMES[:11]) if i > 0]
    (folder / "taxonomy.csv").write_text("id,parent,name\n" + "".join(f"{row}\n" for row in rows))
    (folder / "tree.json").write_text(LabelTree.from_nested([list(range(6)), list(range(6, 12))]).to_json())
    model = LabelTreeClassifier(2, random_state=0, max_leaves=3, arity=2, frequent_share=0)
    model.fit(*read_xmlc(train)).save(folder / "model")
    return folder


@pytest.fixture
def taxonomy(folder: Path) -> Taxonomy:
    return Taxonomy.from_csv(folder / "taxonomy.csv")


def text_of(*arguments: object, exit_code: int = 0) -> str:
    result = run(*arguments, exit_code=exit_code)
    return " ".join((result.stdout if exit_code == 0 else result.stderr).replace("│", " ").split())


class TestBuild:
    def test_is_the_tree_that_would_be_trained(self, folder: Path, tmp_path: Path) -> None:
        options = ["--arity", 2, "--max-leaves", 3, "--frequent-share", 0, "--random-state", 0]
        text = text_of("tree", "build", folder / "train.txt", "--out", tmp_path / "tree.json", *options)
        tree = LabelTree.from_json((tmp_path / "tree.json").read_text())
        assert tree == LabelTreeClassifier.load(folder / "model").tree_
        X, y = read_xmlc(folder / "train.txt")
        assert str(tree.expected_cost(y, X)) in text
        assert f"a flat tree takes {N_LABELS + 1} nodes a row" in text

    def test_json(self, folder: Path, tmp_path: Path) -> None:
        out = tmp_path / "tree.json"
        report = run_json(
            "tree", "build", folder / "train.txt", "--out", out, "--tree", "huffman", "--arity", 3
        )
        X, y = read_xmlc(folder / "train.txt")
        tree = LabelTreeClassifier(tree="huffman", arity=3).build_tree(X, y)
        assert LabelTree.from_json(out.read_text()) == tree
        assert (report["nodes"], report["depth"], report["arity"]) == (tree.n_nodes, tree.depth, tree.arity)
        assert sum(report["labels_by_depth"]) == report["labels"] == N_LABELS
        assert sum(report["nodes_by_depth"]) == tree.n_nodes
        assert report["cost"]["nodes"] == pytest.approx(tree.training_cost(y).mean())
        assert report["parameters"]["arity"] == 3

    def test_taxonomy(self, folder: Path, tmp_path: Path, taxonomy: Taxonomy) -> None:
        options = [
            "--tree",
            folder / "taxonomy.csv",
            "--label-names",
            folder / "labels.txt",
            "--max-arity",
            4,
        ]
        out = tmp_path / "tree.json"
        text = text_of("tree", "build", folder / "train.txt", "--out", out, *options, "--random-state", 0)
        assert f"11 of {N_LABELS} labels are among 13 concepts, by id" in text
        X, y = read_xmlc(folder / "train.txt")
        model = LabelTreeClassifier(tree=taxonomy.for_columns(NAMES), max_arity=4, random_state=0)
        assert LabelTree.from_json(out.read_text()) == model.build_tree(X, y)

    def test_wrong_options_are_told_before_anything_is_read(self, tmp_path: Path) -> None:
        table = run("tree", "build", "no-such-data.txt", "--out", tmp_path / "tree.csv", exit_code=2).output
        assert "a tree is written as JSON" in " ".join(table.split())
        build = ["tree", "build", "no-such-data.txt", "--out", tmp_path / "tree.json"]
        assert "the parameter 'arity' must be" in text_of(*build, "--arity", 1, exit_code=2)
        assert "only a taxonomy as --tree" in text_of(*build, "--label-names", "labels.txt", exit_code=2)
        assert "build makes one tree, got 2" in text_of(*build, "--tree", "kmeans,huffman", exit_code=2)
        assert "no-such-data.txt: No such file" in text_of(*build, exit_code=1)


class TestTrain:
    def test_labels_by_name(self, folder: Path, tmp_path: Path, taxonomy: Taxonomy) -> None:
        options = ["--tree", folder / "taxonomy.csv", "--label-names", folder / "labels.txt"]
        text = text_of("train", folder / "train.txt", "--model", tmp_path / "model", *options)
        assert f"11 of {N_LABELS} labels are among 13 concepts, by id" in text
        assert LabelTreeClassifier.load(tmp_path / "model").tree_ == taxonomy.label_tree(NAMES)

    @pytest.mark.parametrize("one_based", [False, True])
    def test_labels_by_number(self, tmp_path: Path, one_based: bool) -> None:
        (tmp_path / "train.txt").write_text("1,2 1:1\n2 2:1\n3 3:1\n")
        (tmp_path / "t.csv").write_text("id,parent\na,\n2,a\n3,a\n1,\n")
        options = ["--tree", tmp_path / "t.csv", *(["--one-based"] if one_based else [])]
        run("train", tmp_path / "train.txt", "--model", tmp_path / "model", *options)
        # Without --one-based there is a label 0 as well, which is no concept.
        expected = [[1, 2], 0] if one_based else [[2, 3], 1, 0]
        assert LabelTreeClassifier.load(tmp_path / "model").tree_.to_nested() == expected

    def test_texts_have_the_labels_of_the_taxonomy(self, tmp_path: Path) -> None:
        (tmp_path / "topics.csv").write_text("id,parent,name\n1,,pets\n2,1,cat\n3,1,dog\n4,,ships\n")
        examples = [
            {"text": f"{word} {n}", "labels": [word]} for n in range(5) for word in ("cat", "dog", "ships")
        ]
        (tmp_path / "texts.jsonl").write_text("".join(json.dumps(example) + "\n" for example in examples))
        train = (
            "train",
            tmp_path / "texts.jsonl",
            "--model",
            tmp_path / "model",
            "--tree",
            tmp_path / "topics.csv",
        )
        assert "3 of 3 labels are among 4 concepts, by name" in text_of(*train)
        build = ("tree", "build", tmp_path / "texts.jsonl", "--out", tmp_path / "tree.json", *train[-2:])
        assert "3 of 3 labels are among 4 concepts, by name" in text_of(*build)
        message = run(*build, "--label-names", tmp_path / "topics.csv", exit_code=2).stderr
        assert "names labels that are numbers, but" in " ".join(message.replace("│", " ").split())

    def test_several_trees(self, folder: Path, tmp_path: Path, taxonomy: Taxonomy) -> None:
        trees = f"{folder / 'taxonomy.csv'},{folder / 'tree.json'}"
        options = ["--n-trees", 2, "--tree", trees, "--label-names", folder / "labels.txt"]
        run("train", folder / "train.txt", "--model", tmp_path / "model", *options)
        first, second = LabelTreeClassifier.load(tmp_path / "model").trees_
        assert first == taxonomy.label_tree(NAMES)
        assert second == LabelTree.from_json((folder / "tree.json").read_text())

    def test_skos(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "t.nt").write_text(
            "".join(
                f"<http://x/L{i}> <http://www.w3.org/2004/02/skos/core#broader> <http://x/{i % 2}> .\n"
                for i in range(N_LABELS)
            )
        )
        options = ["--tree", tmp_path / "t.nt", "--label-names", folder / "labels.txt"]
        run("train", folder / "train.txt", "--model", tmp_path / "model", *options)
        tree = LabelTreeClassifier.load(tmp_path / "model").tree_
        assert [set(below) for below in tree.to_nested()] == [set(range(0, 12, 2)), set(range(1, 12, 2))]  # type: ignore[arg-type] # lists of labels

    def test_mistakes(self, folder: Path, tmp_path: Path) -> None:
        train = ["train", folder / "train.txt", "--model", tmp_path / "model", "--tree"]
        text = text_of(*train, folder / "taxonomy.csv", exit_code=1)
        assert "none of the labels ('0', '1', '2', …) is a concept of the taxonomy" in text
        (tmp_path / "few.txt").write_text("L0\n")
        assert "expected 12 names of labels" in text_of(
            *train, folder / "taxonomy.csv", "--label-names", tmp_path / "few.txt", exit_code=1
        )


class TestShow:
    def test_tree(self, folder: Path) -> None:
        result = run("tree", "show", folder / "tree.json", "--label-names", folder / "labels.txt").stdout
        tree = LabelTree.from_json((folder / "tree.json").read_text())
        assert tree.draw(NAMES) in result
        assert "15, 3 of them inner nodes" in result
        assert "└──" not in run("tree", "show", folder / "tree.json", "--max-nodes", 0).stdout

    def test_model_and_its_cost(self, folder: Path) -> None:
        model = LabelTreeClassifier.load(folder / "model")
        X, y = read_xmlc(folder / "train.txt")
        assert model.tree_.draw() in run("tree", "show", folder / "model").stdout
        report = run_json("tree", "show", folder / "model", "--data", folder / "train.txt")
        assert report["kind"] == "model"
        assert report["nodes"] == model.tree_.n_nodes
        assert report["cost"]["nodes"] == pytest.approx(model.tree_.training_cost(y).mean())
        text = text_of("tree", "show", folder / "model", "--data", folder / "train.txt")
        assert str(model.tree_.expected_cost(y, X)) in text

    def test_taxonomy(self, folder: Path, taxonomy: Taxonomy) -> None:
        shown = run("tree", "show", folder / "taxonomy.csv").stdout
        assert "11 of 11 labels are among 13 concepts, by id" in shown
        assert "├── low numbers (6 labels): zero, L1, L2" in shown
        named = run("tree", "show", folder / "taxonomy.csv", "--label-names", folder / "labels.txt").stdout
        tree = taxonomy.label_tree(NAMES)
        assert tree.draw(taxonomy.names_of(NAMES), node_names=taxonomy.node_names(tree, NAMES)) in named
        report = run_json(
            "tree",
            "show",
            folder / "taxonomy.csv",
            "--label-names",
            folder / "labels.txt",
            "--data",
            folder / "train.txt",
        )
        assert (report["concepts"], report["labels_found"], report["found_by"]) == (13, 11, "id")
        _, y = read_xmlc(folder / "train.txt")
        assert report["cost"]["nodes"] == pytest.approx(tree.training_cost(y).mean())

    def test_names_from_a_taxonomy(self, folder: Path) -> None:
        names = ["--label-names", folder / "labels.txt", "--taxonomy", folder / "taxonomy.csv"]
        shown = run("tree", "show", folder / "tree.json", *names).stdout
        assert "├── low numbers (6 labels): zero, L1, L2" in shown
        text = text_of("tree", "show", folder / "taxonomy.csv", *names, exit_code=2)
        assert "taxonomy.csv is a taxonomy itself" in " ".join(text.split())

    def test_root_and_language(self, tmp_path: Path) -> None:
        (tmp_path / "t.tsv").write_text("id\tparent\n4\t1\n5\t4\n6\t4\n")
        assert "root (2 labels): 5, 6" not in run("tree", "show", tmp_path / "t.tsv", "--root", 1).stdout
        assert "4 (2 labels): 5, 6" in run("tree", "show", tmp_path / "t.tsv", "--root", 1).stdout
        assert "t.tsv:2: the parent '1' of '4'" in text_of("tree", "show", tmp_path / "t.tsv", exit_code=1)
        (tmp_path / "t.ttl").write_text(
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . "
            '<a:1> a skos:Concept; skos:prefLabel "cat"@en, "Katze"@de . <a:2> a skos:Concept; skos:prefLabel "x" .'
        )
        assert "cat, x" in run("tree", "show", tmp_path / "t.ttl").stdout
        assert "Katze, x" in run("tree", "show", tmp_path / "t.ttl", "--language", "de").stdout

    @pytest.mark.parametrize("source", ["tree.json", "model", "taxonomy.csv"])
    def test_picture(self, folder: Path, tmp_path: Path, source: str) -> None:
        run("tree", "show", folder / source, "--plot", tmp_path / "tree.png")
        assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
        assert "not supported" in text_of(
            "tree", "show", folder / source, "--plot", tmp_path / "tree.xyz", exit_code=2
        )


class TestImport:
    def test_by_names(self, folder: Path, tmp_path: Path, taxonomy: Taxonomy) -> None:
        out = ["--label-names", folder / "labels.txt", "--out", tmp_path / "tree.json"]
        text = text_of("tree", "import", folder / "taxonomy.csv", *out)
        assert f"11 of {N_LABELS} labels are among 13 concepts, by id" in text
        assert f"labeltree train DATA --tree {tmp_path / 'tree.json'}".split()[-1] in text
        assert LabelTree.from_json((tmp_path / "tree.json").read_text()) == taxonomy.label_tree(NAMES)
        report = run_json("tree", "import", folder / "taxonomy.csv", *out)
        assert (report["concepts"], report["labels_found"], report["found_by"]) == (13, 11, "id")

    def test_by_numbers(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("id,parent\na,\n0,a\n2,a\n3,\n")
        run("tree", "import", tmp_path / "t.csv", "--out", tmp_path / "tree.json")
        assert json.loads((tmp_path / "tree.json").read_text())["label"] == [-1, -1, 3, 1, 0, 2]
        report = run_json(
            "tree", "import", tmp_path / "t.csv", "--n-labels", 6, "--out", tmp_path / "tree.json"
        )
        assert (report["labels"], report["labels_found"]) == (6, 3)

    @pytest.mark.parametrize(
        ("rows", "options", "message"),
        [
            ("a,\n", [], "no id in the taxonomy is a number"),
            ("123456789,\n", [], "go up to 123,456,789"),
            ("1,\n", ["--n-labels", 3, "--label-names", "x"], "--label-names has all labels"),
        ],
    )
    def test_mistakes(self, tmp_path: Path, rows: str, options: list[object], message: str) -> None:
        (tmp_path / "t.csv").write_text(f"id,parent\n{rows}")
        out = tmp_path / "tree.json"
        assert message in text_of("tree", "import", tmp_path / "t.csv", "--out", out, *options, exit_code=2)
        assert "ends in .csv" in text_of("tree", "import", out, "--out", out, exit_code=2)
        assert not out.exists()


class TestExport:
    def test_json(self, folder: Path, tmp_path: Path) -> None:
        text = text_of("tree", "export", folder / "model", "--out", tmp_path / "tree.json")
        tree = LabelTreeClassifier.load(folder / "model").tree_
        assert LabelTree.from_json((tmp_path / "tree.json").read_text()) == tree
        assert f"{tree.n_nodes} nodes, {N_LABELS} labels" in text

    @pytest.mark.parametrize("source", ["model", "tree.json"])
    def test_the_table_is_a_taxonomy_again(self, folder: Path, tmp_path: Path, source: str) -> None:
        run(
            "tree",
            "export",
            folder / source,
            "--out",
            tmp_path / "tree.csv",
            "--label-names",
            folder / "labels.txt",
        )
        table = Taxonomy.from_csv(tmp_path / "tree.csv")
        run("tree", "export", folder / source, "--out", tmp_path / "tree.json")
        assert table.label_tree(range(N_LABELS)) == LabelTree.from_json((tmp_path / "tree.json").read_text())
        assert table.names_of(range(N_LABELS)) == NAMES

    def test_labels_that_are_called_like_nodes(self, tmp_path: Path) -> None:
        model = LabelTreeClassifier(tree=LabelTree.from_nested([[0, 1], 2]))
        model.fit(np.eye(3), [["node 1"], ["node 0"], ["x"]]).save(tmp_path / "model")
        run("tree", "export", tmp_path / "model", "--out", tmp_path / "tree.csv")
        assert Taxonomy.from_csv(tmp_path / "tree.csv").label_tree(model.classes_).to_nested() == [[0, 1], 2]

    def test_graph(self, folder: Path, tmp_path: Path) -> None:
        run(
            "tree",
            "export",
            folder / "tree.json",
            "--out",
            tmp_path / "t.dot",
            "--label-names",
            folder / "labels.txt",
        )
        tree = LabelTree.from_json((folder / "tree.json").read_text())
        assert (tmp_path / "t.dot").read_text() == tree.to_graphviz(NAMES)

    def test_unknown_ending(self, folder: Path, tmp_path: Path) -> None:
        out = tmp_path / "tree.txt"
        text = text_of("tree", "export", folder / "tree.json", "--out", out, exit_code=2)
        assert "expected a name that ends in .json, .csv, .dot" in text


def test_data_of_another_model(folder: Path) -> None:
    assert N_FEATURES > 2
    (folder / "small.json").write_text(LabelTree.flat(3).to_json())
    text = text_of("tree", "show", folder / "small.json", "--data", folder / "train.txt", exit_code=1)
    assert "train.txt" in text
