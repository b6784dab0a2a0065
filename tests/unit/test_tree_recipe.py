"""The tree parameters of LabelTreeClassifier: every word, sequences of them, and how they are saved."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.command_line import run
from tests.documents import documents

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.data import write_xmlc
from labeltree.model_file import load
from labeltree.trees import TREE_WORDS, complete_tree, huffman_tree, kmeans_tree, random_tree
from labeltree.trees.builders import BUILDERS, builder

pytestmark = pytest.mark.native

X, Y = documents(120, 60, 30)
COUNTS = np.asarray(Y.sum(axis=0)).ravel()


def seeds(random_state: int, n: int) -> list[int]:
    """Trees take their seeds from one stream."""
    return np.random.RandomState(random_state).randint(2**31 - 1, size=n).tolist()


def test_words_are_builders() -> None:
    how: dict[str, Any] = {"arity": 3, "max_leaves": 4}
    trees = {
        "kmeans": kmeans_tree(X, Y, **how, balanced=True, random_state=7),
        "exact_kmeans": kmeans_tree(X, Y, **how, balanced=True, even_levels=False, random_state=7),
        "unbalanced_kmeans": kmeans_tree(X, Y, **how, random_state=7),
        "learned": LabelTreeClassifier(tree="learned", **how, random_state=7).build_tree(X, Y),
        "complete": complete_tree(COUNTS, 3),
        "huffman": huffman_tree(COUNTS, 3),
        "random": random_tree(30, 3, 4, random_state=seeds(7, 1)[0]),
        "flat": LabelTree.flat(30),
    }
    for word, tree in trees.items():
        model = LabelTreeClassifier(tree=word, **how, random_state=7).fit(X, Y)
        assert model.tree_ == tree
        assert model.predict_topk(X, k=3).labels.shape == (120, 3)
        collapsed = LabelTreeClassifier(tree=word, **how, collapse=2, random_state=7).fit(X, Y).tree_
        assert collapsed == tree.collapse(2)
    assert len({tree.to_json() for tree in trees.values()}) == 8
    assert sorted(trees) == list(TREE_WORDS)


def test_help_pages_name_all_builders() -> None:
    text = " ".join(run("train", "--help-all").stdout.replace("│", " ").split())
    assert f"Here: {', '.join(TREE_WORDS)}, a tree (.json)" in text


def test_a_builder_is_registered_by_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILDERS, "ordered", BUILDERS["flat"])  # is removed after the test

    @builder("ordered", extra=1)
    def ordered_tree(n_labels: int, arity: int, extra: int) -> LabelTree:
        assert (arity, extra) == (3, 1)
        return LabelTree.flat(n_labels)

    assert LabelTreeClassifier(tree=["ordered"], arity=3).build_tree(X, Y) == LabelTree.flat(30)
    with pytest.raises(TypeError, match="no tree parameter or input has the name 'n_leaves'"):
        builder("other")(lambda n_leaves: LabelTree.flat(n_leaves))
    assert "other" not in BUILDERS


@pytest.mark.parametrize(
    "parameters",
    [
        {"label_vectors": "cooccurrence", "label_vector_prune": 0.2},
        {"label_vectors": "both", "frequent_share": 0.2, "max_depth": 3},
        {"label_vectors": np.random.default_rng(0).random((30, 4))},
        {"label_vectors": sp.random(30, 50, 0.2, "csr", random_state=0), "normalize": False},
    ],
    ids=lambda parameters: str(list(parameters)),
)
def test_the_builder_gives_the_tree_that_the_classifier_grows(parameters: dict[str, Any]) -> None:
    how: dict[str, Any] = {"arity": 3, "max_leaves": 4, "frequent_share": 0.0, "random_state": 5}
    parameters = {**how, **parameters}
    weight = np.random.default_rng(1).random(120)
    grown = LabelTreeClassifier(**parameters).fit(X, Y, sample_weight=weight).tree_
    assert kmeans_tree(X, Y, **parameters, sample_weight=weight) == grown
    assert kmeans_tree(X, Y, **parameters, sample_weight=weight, n_jobs=3) == grown
    assert kmeans_tree(X, Y, **how, sample_weight=weight) != grown


def test_labels_of_any_kind_are_in_the_order_of_the_classes() -> None:
    names = [[f"label {j}" for j in row.indices] for row in Y]
    model = LabelTreeClassifier(max_leaves=4, arity=2, random_state=0).fit(X, names)
    assert kmeans_tree(X, names, max_leaves=4, arity=2, random_state=0) == model.tree_


def test_every_tree_of_a_sequence_is_made_its_own_way() -> None:
    own = random_tree(30, 5, 5, random_state=3)
    model = LabelTreeClassifier(
        4, tree=("kmeans", own, "random", "huffman"), arity=4, max_leaves=5, random_state=2
    ).fit(X, Y)
    expected = [
        LabelTreeClassifier(4, tree="kmeans", arity=4, max_leaves=5, random_state=2).fit(X, Y).trees_[0],
        own,
        random_tree(30, 4, 5, random_state=seeds(2, 4)[2]),
        huffman_tree(COUNTS, 4),
    ]
    assert model.trees_ == expected


@pytest.mark.parametrize(
    "tree", [["kmeans", "random"], ("huffman", LabelTree.flat(30)), [LabelTree.flat(30), "complete"]], ids=str
)
def test_sequences_survive(tree: Any, tmp_path: Path) -> None:
    model = LabelTreeClassifier(2, tree=tree, random_state=0).fit(X, Y)
    model.save(tmp_path)
    loaded = load(tmp_path)
    assert loaded.tree == list(tree)
    assert loaded.trees_ == model.trees_
    for twin in (clone(loaded), pickle.loads(pickle.dumps(loaded)), clone(model)):
        assert twin.fit(X, Y).trees_ == model.trees_


def test_a_sequence_that_is_not_of_the_model_is_not_saved(tmp_path: Path) -> None:
    model = LabelTreeClassifier(2, tree=["kmeans", "random"]).fit(X, Y).set_params(tree=["kmeans"])
    with pytest.raises(ValueError, match="'tree' has 1 entries, but the model has 2 trees"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_given_label_vectors_are_not_saved(kind: Any, tmp_path: Path) -> None:
    model = LabelTreeClassifier(label_vectors=kind(np.eye(30)), max_leaves=5, random_state=0).fit(X, Y)
    assert clone(model).fit(X, Y).tree_ == model.tree_
    model.save(tmp_path)
    loaded = load(tmp_path)
    assert loaded.label_vectors is None
    assert loaded.tree_ == model.tree_
    np.testing.assert_array_equal(loaded.predict_topk(X).probabilities, model.predict_topk(X).probabilities)
    with pytest.raises(ValueError, match="a saved model does not keep the vectors"):
        loaded.fit(X, Y)
    assert loaded.set_params(label_vectors=np.eye(30)).fit(X, Y).tree_ == model.tree_


class Alphabet:
    """A source of trees: labels by their first letter."""

    def label_tree(self, classes: Any) -> LabelTree:
        letters = sorted({name[0] for name in classes})
        return LabelTree.from_nested(
            [[j for j, name in enumerate(classes) if name[0] == letter] for letter in letters]
        )


def test_trees_from_a_source(tmp_path: Path) -> None:
    names = [["ape", "bee"], ["ant"], ["bat", "ant"], ["bee"]]
    expected = LabelTree.from_nested([[0, 1], [2, 3]])
    one = LabelTreeClassifier(tree=Alphabet()).fit(X[:4], names)
    assert one.tree_ == expected
    one.save(tmp_path / "one")
    assert load(tmp_path / "one").tree == expected
    two = LabelTreeClassifier(2, tree=Alphabet()).fit(X[:4], names)
    two.save(tmp_path / "two")
    assert load(tmp_path / "two").tree == two.trees_ == [expected, expected]
    mixed = LabelTreeClassifier(2, tree=["flat", Alphabet()]).fit(X[:4], names)
    mixed.save(tmp_path / "mixed")
    assert load(tmp_path / "mixed").tree == ["flat", expected]


def test_a_source_must_give_all_labels() -> None:
    class Small:
        def label_tree(self, classes: Any) -> LabelTree:
            return LabelTree.flat(2)

    with pytest.raises(ValueError, match="the given tree has 2 labels, but y has 30"):
        LabelTreeClassifier(tree=Small()).fit(X, Y)


def test_the_command_line_knows_words_files_and_lists(tmp_path: Path) -> None:
    write_xmlc(tmp_path / "train.txt", X, Y)
    (tmp_path / "own.json").write_text(LabelTree.flat(30).to_json())
    for text, n_trees, expected in [
        ("huffman", 1, "huffman"),
        ("complete", 2, "complete"),
        (f"random,{tmp_path / 'own.json'}", 2, ["random", LabelTree.flat(30)]),
    ]:
        model = tmp_path / "model"
        run("train", tmp_path / "train.txt", "--model", model, "--tree", text, "--n-trees", n_trees)
        assert load(model).tree == expected
