"""Makes the golden models: small saved models of every kind, and what they predict.

The models of a format version are kept for ever, and every later version of the library must read them.
So this script leaves alone what is there and writes only what is missing::

    python -m tests.golden.make
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone

from labeltree import (
    ExtremeTextClassifier,
    FastTextClassifier,
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTree,
    LabelTreeClassifier,
    MixedModel,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    PfastreXMLClassifier,
    mix,
)
from labeltree.text import Tagger, TextVectorizer

GOLDEN = Path(__file__).parent
N_FEATURES = 8
N_LABELS = 6


@dataclass(frozen=True)
class Case:
    """What a golden model is trained on, with which parameters, and how its weights are stored."""

    y: Any
    weights: str = "float32"
    parameters: dict[str, Any] = field(default_factory=dict)
    with_feature_names: bool = False
    mixed: bool = False
    calibration: str | None = None


def features() -> np.ndarray:
    """Twelve rows, two for each label, apart enough to be told from each other."""
    rng = np.random.default_rng(1)
    X = np.repeat(np.eye(N_LABELS, N_FEATURES), 2, axis=0) + 0.2 * rng.random((2 * N_LABELS, N_FEATURES))
    return X.astype(np.float32).round(3)


def cases() -> dict[str, Case]:
    """The golden models by name: the weight types, and the kinds of labels."""
    of_row = np.repeat(np.arange(N_LABELS), 2)
    indicator = sp.csr_matrix((np.ones(len(of_row)), (np.arange(len(of_row)), of_row)))
    texts = ["apple", "blåbær", "cherry, sour", "", "梅", "fig\nfresh"]
    two_trees = {"n_trees": 2, "arity": 2, "max_leaves": 2, "random_state": 0}
    given = LabelTree.from_nested([[0, 1], [2, [3, 4]], 5])

    def lists(labels: list[Any]) -> list[list[Any]]:
        return [[labels[i], labels[(i + 1) % N_LABELS]] for i in of_row]

    return {
        "float32": Case(indicator, "float32", two_trees),
        "bfloat16": Case(indicator, "bfloat16", two_trees),
        "int8": Case(indicator, "int8", two_trees),
        "dense": Case(indicator.toarray().astype(int)),
        "text": Case(lists(texts), with_feature_names=True),
        "integers": Case(lists([-5, 7, 40, 10**12, 3, 0])),
        "floats": Case(lists([0.5, -1.25, 1e300, 3.0, 0.1, 2.0])),
        "multiclass-text": Case(np.array(["a", "bb", "å", "梅", "eeeee", "f"])[of_row]),
        "multiclass-int32": Case(np.array([3, 1, 4, 15, 9, 26], dtype=np.int32)[of_row]),
        "multiclass-float64": Case(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])[of_row]),
        "multiclass-bool": Case(of_row > 2),
        "frequent-labels": Case(
            lists(texts), "float32", {"arity": 2, "max_leaves": 2, "frequent_share": 0.3}
        ),
        "given-tree-logistic": Case(indicator, "float32", {"tree": given, "loss": "logistic"}),
    }


def dense_cases() -> dict[str, Case]:
    """Models of version 2: some features are dense."""
    indicator = cases()["float32"].y
    two_trees = {"n_trees": 2, "arity": 2, "max_leaves": 2, "random_state": 0}
    return {
        "dense-float32": Case(indicator, "float32", two_trees),
        "dense-bfloat16": Case(indicator, "bfloat16", two_trees),
        "dense-int8": Case(indicator, "int8", two_trees),
        "mixed": Case(indicator, "float32", two_trees, mixed=True),
    }


def joint_cases() -> dict[str, Case]:
    """Models of version 2: some blocks are joint."""
    indicator = cases()["float32"].y
    joint = {"loss": "logistic", "siblings": "joint", "arity": 2, "max_leaves": 2, "random_state": 0}
    return {
        "joint-float32": Case(indicator, "float32", joint),
        "joint-bfloat16": Case(indicator, "bfloat16", joint),
        "joint-int8": Case(indicator, "int8", joint),
        "joint-mixed": Case(indicator, "int8", joint, mixed=True),
    }


def calibrated_cases() -> dict[str, Case]:
    """Models of version 4: they are calibrated."""
    joint = joint_cases()["joint-mixed"]
    narrow = {**joint.parameters, "frequent_share": 0.0}
    return {
        "calibrated-isotonic": replace(cases()["float32"], calibration="isotonic"),
        "calibrated-platt": replace(cases()["text"], calibration="platt"),
        "calibrated-joint": replace(joint, parameters=narrow, calibration="isotonic"),
    }


def reranked_cases() -> dict[str, Case]:
    """Models of version 9: label classifiers rank what the trees propose."""
    reranked = {"n_trees": 2, "arity": 2, "max_leaves": 2, "random_state": 0, "rerank": 3}
    indicator = cases()["float32"].y
    return {
        "reranked-float32": Case(indicator, "float32", reranked),
        "reranked-bfloat16": Case(indicator, "bfloat16", reranked),
        "reranked-int8": Case(indicator, "int8", reranked),
        "reranked-mixed": Case(indicator, "int8", reranked, mixed=True),
        "reranked-calibrated": Case(cases()["text"].y, "float32", reranked, calibration="isotonic"),
    }


def packed_cases() -> dict[str, Case]:
    """Models of version 13: the features of their blocks are packed."""
    two_trees = {**cases()["int8"].parameters, "prune": 0.0}
    texts = cases()["text"]
    return {
        "int8": Case(cases()["int8"].y, "int8", two_trees),
        "bfloat16": Case(cases()["int8"].y, "bfloat16", two_trees),
        "float32": replace(texts, parameters=two_trees),
        "mixed": Case(texts.y, "int8", two_trees, mixed=True),
        "joint-mixed": joint_cases()["joint-mixed"],
        "reranked": reranked_cases()["reranked-mixed"],
        "calibrated": replace(cases()["int8"], calibration="isotonic"),
    }


def mixed_features() -> np.ndarray:
    """The features, and beside them eight that are mostly 0."""
    rng = np.random.default_rng(2)
    sparse = rng.random((2 * N_LABELS, 8)) * (rng.random((2 * N_LABELS, 8)) < 0.2)
    # What is dense beside something sparse has numbers of both signs.
    return np.hstack([sparse.round(3), features() - 0.1]).astype(np.float32).round(3)


def online_cases() -> dict[str, Case]:
    """Models of version 3: online trees, their weights in every form, by every learner."""
    texts, indicator = cases()["text"].y, cases()["float32"].y
    return {
        "map-adagrad": Case(texts, parameters={"arity": 2}),
        "map-sgd": Case(indicator, parameters={"arity": 3, "solver": "sgd", "policy": "best_fit"}),
        "dense-fobos": Case(cases()["integers"].y, parameters={"weights": "dense", "solver": "fobos"}),
        "hashed": Case(
            cases()["multiclass-text"].y,
            parameters={
                "weights": "hashed",
                "memory_mb": 0.005,
                "expected_labels": 10,
                "policy": "random",
                "arity": 2,
            },
        ),
        "shared": Case(
            indicator, parameters={"weights": "shared", "memory_mb": 0.01, "loss": "squared_hinge"}
        ),
        "named-features": Case(texts, with_feature_names=True),
    }


def later_online_cases() -> dict[str, Case]:
    """Models of version 9: online trees that save where AdaGrad starts."""
    texts = cases()["text"].y
    return {
        "map-adagrad": Case(texts, parameters={"arity": 2}),
        "initial-accumulator": Case(texts, parameters={"loss": "squared_hinge", "initial_accumulator": 0.25}),
    }


def given_tree_cases() -> dict[str, Case]:
    """Models of version 12: online trees that start with a given tree, or take no new labels."""
    indicator = cases()["float32"].y
    fixed = {"tree": LabelTree.from_nested([[0, 3], [1, [2, 4]], 5]), "policy": "fixed"}
    return {
        "fixed": Case(indicator, parameters=fixed),
        "grown": Case(
            cases()["integers"].y, parameters={"tree": LabelTree.from_nested([[0, 2], 1]), "arity": 3}
        ),
        "fixed-large-accumulator": Case(indicator, parameters={**fixed, "loss": "squared_hinge"}),
    }


def several_tree_cases() -> dict[str, Case]:
    """Models of version 13: several online trees."""
    indicator, texts = cases()["float32"].y, cases()["text"].y
    trees = [LabelTree.from_nested(nested) for nested in ([[0, 3], [1, [2, 4]], 5], [[0, 1, 2], [3, 4, 5]])]
    shared = {"weights": "shared", "memory_mb": 0.02, "n_trees": 2, "policy": "random", "arity": 2}
    return {
        "random": Case(texts, parameters={"n_trees": 3, "policy": "random", "arity": 2}),
        "shared": Case(indicator, parameters=shared),
        "given": Case(indicator, parameters={"n_trees": 2, "tree": trees, "policy": "fixed"}),
    }


def decided_cases() -> dict[str, tuple[Case, str]]:
    """Models of version 4, batch and online, and what they decide for."""
    return {
        "one-threshold": (cases()["text"], "micro_f1"),
        "threshold-per-label": (cases()["int8"], "macro_f1"),
        "top-k": (cases()["integers"], "precision@2"),
        "online-one-threshold": (online_cases()["map-sgd"], "micro_f1"),
        "online-threshold-per-label": (online_cases()["named-features"], "macro_f1"),
    }


def example_cases() -> dict[str, Case]:
    """Models of version 5: trees over examples."""
    small = {"n_trees": 4, "C": 20.0, "max_leaf": 2, "random_state": 0}
    return {
        "fastxml": Case(cases()["float32"].y, parameters=small),
        "fastxml-text": Case(cases()["text"].y, parameters=small, with_feature_names=True),
        "fastxml-decided": Case(cases()["integers"].y, parameters=small),
        "pfastrexml": Case(cases()["text"].y, parameters={**small, "gamma": 10.0, "alpha": 0.7}),
        "pfastrexml-mixed": Case(cases()["multiclass-text"].y, parameters=small, mixed=True),
    }


def make_missing_examples(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name, case in example_cases().items():
        if (directory / name).exists():
            continue
        X = mixed_features() if case.mixed else features()
        names = [f"feature {j}" for j in range(X.shape[1])]
        rows = pd.DataFrame(X, columns=names) if case.with_feature_names else X
        kind = PfastreXMLClassifier if name.startswith("pfastrexml") else FastXMLClassifier
        model: Any = kind(**case.parameters).fit(rows, case.y)
        if name.endswith("decided"):
            model.decide_for("macro_f1", rows, case.y)
        model.save(directory / name)
        found = model.predict_topk(rows, k=3)
        predicted = model.predict(rows)
        expected = {
            "estimator": kind.__name__,
            "classes": model.classes_.tolist(),
            "label_counts": model.label_counts_.tolist(),
            "nodes": [shape.n_nodes for shape in model.example_trees_.shapes()],
            "feature_names": names if case.with_feature_names else None,
            "X": X.tolist(),
            "labels": found.labels.tolist(),
            "probabilities": found.probabilities.tolist(),
            "predicted": predicted.toarray().tolist() if sp.issparse(predicted) else list(predicted),
        }
        (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


#: What the taggers are trained on.
TEXTS = ["A boat at SEA", "the sea, the blåbær", "cats & dogs", "a dog's life", "Ein Boot, der Hund"]
TEXT_LABELS = [["sea", "boat"], ["sea"], ["cat", "dog"], ["dog"], ["boat", "dog"]]


def tagger_cases() -> dict[str, Tagger]:
    """Models of version 6: taggers, with every way to make features of texts, and of linear blocks."""
    words, one_vs_rest = LabelTreeClassifier(random_state=0), OneVsRestClassifier(random_state=0)
    softmax = HierarchicalSoftmaxClassifier(arity=2, max_leaves=2, random_state=0)
    return {
        "words": Tagger(words),
        "words-and-characters": Tagger(one_vs_rest, TextVectorizer(char_ngram_range=(2, 3), norm="l1")),
        "hashed": Tagger(softmax, TextVectorizer(n_features=64, ngram_range=(1, 2))),
        "hashed-decided": Tagger(words, TextVectorizer(n_features=64, use_idf=False, stop_words="english")),
        "characters": Tagger(words, TextVectorizer(analyzer="char", ngram_range=(2, 2), sublinear_tf=True)),
    }


def later_tagger_cases() -> dict[str, Tagger]:
    """Taggers of version 8: with settings of texts that came later."""
    stems = TextVectorizer(fields={"text": 1.0}, stemmer="german", stop_words="german", ngram_range=(1, 2))
    own_words = TextVectorizer(fields={"text": 1.0}, tokenizer="tests.tokenizers:split_at_spaces")
    fields = TextVectorizer(fields={"title": 2.0, "text": 0.5}, sublinear_tf=True)
    trees = FastXMLClassifier(n_trees=4, C=20.0, max_leaf=2, random_state=0)
    return {
        "fields": Tagger(LabelTreeClassifier(random_state=0), fields),
        "fields-fastxml": Tagger(trees, fields),
        "stemmed": Tagger(LabelTreeClassifier(random_state=0), stems),
        "own-words": Tagger(LabelTreeClassifier(random_state=0), own_words),
    }


def newest_tagger_cases() -> dict[str, Tagger]:
    """Taggers of version 9: with buckets, and with words that white space separates."""
    words = TextVectorizer(analyzer="whitespace", lowercase=False, ngram_range=(1, 2))
    buckets = TextVectorizer(buckets=64, ngram_range=(1, 2), char_ngram_range=(3, 3), stop_words="english")
    return {
        "whitespace": Tagger(OneVsRestClassifier(random_state=0), words),
        "buckets": Tagger(OneVsRestClassifier(random_state=0), buckets),
    }


def vector_cases() -> dict[str, tuple[Any, Case]]:
    """Models of version 10: word vectors, untrained classifiers and what they are trained on."""
    small = {"dimension": 5, "random_state": 0, "batch_size": 4}
    words = ExtremeTextClassifier(
        **small, epochs=80, dropout=0.0, arity=2, max_leaves=2, frequent_share=0.0, vector_type="float32"
    )
    plain = FastTextClassifier(**small, epochs=80, learning_rate=0.3, vector_type="float32")
    given = LabelTree.from_nested([[0, 1], [2, [3, 4]], 5])
    texts, indicator = cases()["text"].y, cases()["float32"].y
    return {
        "extremetext-int8": (words, Case(texts, "int8", with_feature_names=True)),
        "extremetext-bfloat16": (words, Case(cases()["integers"].y, "bfloat16", mixed=True)),
        "extremetext-given-tree": (
            clone(words).set_params(tree=given, loss="softmax", pooling="mean"),
            Case(cases()["multiclass-text"].y),
        ),
        "extremetext-calibrated": (words, Case(texts, "int8", calibration="isotonic")),
        "fasttext-softmax": (plain, Case(cases()["multiclass-int32"].y, "int8")),
        "fasttext-hs": (clone(plain).set_params(loss="hs"), Case(indicator)),
        "fasttext-ova": (clone(plain).set_params(loss="ova"), Case(texts, "bfloat16")),
    }


def make_missing_vectors(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name, (untrained, case) in vector_cases().items():
        if (directory / name).exists():
            continue
        X = mixed_features() if case.mixed else features()
        names = [f"feature {j}" for j in range(X.shape[1])]
        rows = pd.DataFrame(X, columns=names) if case.with_feature_names else X
        trained = untrained.fit(rows, case.y)
        if case.calibration is not None:
            trained.calibrate(rows, case.y, method=case.calibration)
        trained.save(directory / name, weights=case.weights)
        model = type(trained).load(directory / name)
        found, predicted = model.predict_topk(rows, k=3), model.predict(rows)
        expected = {
            "estimator": type(model).__name__,
            "weights": case.weights,
            "classes": model.classes_.tolist(),
            "label_counts": model.label_counts_.tolist(),
            "tree": model.tree_.to_nested(),
            "feature_names": names if case.with_feature_names else None,
            "X": X.tolist(),
            "hidden": model.transform(rows).tolist(),
            "labels": found.labels.tolist(),
            "probabilities": found.probabilities.tolist(),
            "predicted": predicted.toarray().tolist()
            if sp.issparse(predicted)
            else np.asarray(predicted, object).tolist(),
        }
        (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


def vector_tagger_cases() -> dict[str, Tagger]:
    """Taggers of version 10: by method, with the vectorizer of the method, and decided."""
    return {
        f"tagger-{name}": Tagger(method=method).set_params(
            classifier__dimension=5,
            classifier__epochs=60,
            classifier__batch_size=2,
            classifier__random_state=0,
        )
        for name, method in {"extremetext": "extremetext", "fasttext-decided": "fasttext"}.items()
    }


#: What the taggers of version 8 are trained on.
FIELDED_TEXTS = [{"title": text.split()[0], "text": text} for text in TEXTS[:-1]] + [TEXTS[-1]]


def make_missing_taggers(directory: Path, taggers: dict[str, Tagger], texts: list[Any]) -> None:
    directory.mkdir(exist_ok=True)
    for name, tagger in taggers.items():
        if (directory / name).exists():
            continue
        tagger.fit(texts, TEXT_LABELS)
        if name.endswith("decided"):
            tagger.decide_for("micro_f1", texts, TEXT_LABELS)
        tagger.save(directory / name)
        found = tagger.predict_topk(texts, k=3)
        expected = {
            "estimator": type(tagger.classifier_).__name__,
            "texts": texts,
            "labels": found.labels.tolist(),
            "probabilities": found.probabilities.tolist(),
            "predicted": tagger.predict(texts),
        }
        (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


def make_missing_decided(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name, (case, metric) in decided_cases().items():
        if (directory / name).exists():
            continue
        model: Any
        if name.startswith("online"):
            rows, model = rows_of(case), OnlineLabelTreeClassifier(random_state=0, **case.parameters)
        else:
            rows, model = features(), LabelTreeClassifier(**{"prune": 0.01, **case.parameters})
        model.fit(rows, case.y).decide_for(metric, rows, case.y).save(directory / name)
        found = model.predict(rows)
        expected = {
            "metric": metric,
            "threshold": np.asarray(model.decision_.threshold).tolist(),
            "k": model.decision_.k,
            "predicted": found if isinstance(found, list) else found.toarray().tolist(),
        }
        (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


def rows_of(case: Case) -> Any:
    """What an online model learns: rows of an array, or dictionaries."""
    if not case.with_feature_names:
        return features()
    return [{f"feature {j}": value for j, value in enumerate(row)} for row in features().tolist()]


def trees_of(model: OnlineLabelTreeClassifier) -> dict[str, Any]:
    return {"trees": [tree.to_nested() for tree in model.trees_]}


def make_missing_online(directory: Path, named: dict[str, Case]) -> None:
    directory.mkdir(exist_ok=True)
    for name, case in named.items():
        if (directory / name).exists():
            continue
        model = OnlineLabelTreeClassifier(random_state=0, **case.parameters)
        for _ in range(5):
            model.partial_fit(rows_of(case), case.y)
        model.save(directory / name)
        then = model.predict_topk(rows_of(case), k=3)
        model.partial_fit(rows_of(case), case.y)
        later = model.predict_topk(rows_of(case), k=3)
        expected = {
            "classes": model.classes_.tolist(),
            "n_examples": model.n_examples_,
            **({"tree": model.tree_.to_nested()} if model.n_trees == 1 else trees_of(model)),
            "labels": [then.labels.tolist(), later.labels.tolist()],
            "probabilities": [then.probabilities.tolist(), later.probabilities.tolist()],
        }
        (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


def mixes() -> tuple[np.ndarray, dict[str, MixedModel]]:
    """Rows, and mixes by name."""
    rng = np.random.default_rng(7)
    X = np.round(rng.random((40, 6)), 3).astype(np.float32)
    names = ["ant", "bee", "cat", "dog", "emu"]
    y = [[names[j] for j in np.argsort(-row[:5])[: 1 + i % 2]] for i, row in enumerate(X)]
    shape = {"arity": 2, "max_leaves": 2, "frequent_share": 0.0}
    tree = LabelTreeClassifier(**shape, random_state=0).fit(X, y).calibrate(X, y, method="platt")
    flat = OneVsRestClassifier(random_state=0).fit(X, y)
    voting = FastXMLClassifier(n_trees=2, max_leaf=4, random_state=0).fit(X, y)
    return X[:5], {
        "three-kinds": mix([tree, flat, voting], [1.0, 2.0, 0.5]),
        "decided": mix([tree, flat]).decide_for("macro_f1", X, y),
    }


def make_missing_mixes(directory: Path) -> None:
    X, models = mixes()
    for name, model in models.items():
        if (directory / name).exists():
            continue
        model.save(directory / name)
        top = model.predict_topk(X, 3)
        expected = {
            "X": X.tolist(),
            "classes": model.classes_.tolist(),
            "weights": model.weights_,
            "members": [type(member).__name__ for member in model.members_],
            "labels": top.labels.tolist(),
            "probabilities": top.probabilities.tolist(),
            "predicted": model.predict(X),
        }
        text = json.dumps(expected, ensure_ascii=False)
        (directory / f"{name}.json").write_text(text + "\n", encoding="utf-8")


#: The names of some labels of the models of version 8; the others have none.
LABEL_NAMES = {"T1": "cats", "T2": "dögs and puppies", "T4": "ünïcode: 猫"}


def named_models() -> tuple[np.ndarray, dict[str, Any]]:
    """Rows, and models of version 8: some of their labels have names."""
    X, y = features(), [[f"T{label}"] for label in np.repeat(np.arange(N_LABELS), 2)]
    tree = LabelTreeClassifier(random_state=0, prune=0.01).fit(X, y)
    models = {
        "label-tree": tree,
        "fastxml": FastXMLClassifier(n_trees=2, max_leaf=2, random_state=0).fit(X, y),
        "online": OnlineLabelTreeClassifier(random_state=0).fit(X, y),
        "mix": mix([tree, OneVsRestClassifier(random_state=0).fit(X, y)]),
    }
    for model in models.values():
        model.label_names_ = LABEL_NAMES
    return X, models


def make_missing_named(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    X, models = named_models()
    for name, model in models.items():
        if (directory / name).exists():
            continue
        model.save(directory / name)
        top = model.predict_topk(X, 3)
        expected = {
            "X": X.tolist(),
            "estimator": type(model).__name__,
            "label_names": LABEL_NAMES,
            "labels": top.labels.tolist(),
            "probabilities": top.probabilities.tolist(),
        }
        text = json.dumps(expected, ensure_ascii=False)
        (directory / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    make_missing_named(GOLDEN / "version-8")
    make_missing_mixes(GOLDEN / "version-7")
    batch = {
        1: cases(),
        2: {**dense_cases(), **joint_cases()},
        4: calibrated_cases(),
        9: reranked_cases(),
        13: packed_cases(),
    }
    for version, named in batch.items():
        make_missing(GOLDEN / f"version-{version}", named)
    make_missing_online(GOLDEN / "version-3", online_cases())
    make_missing_online(GOLDEN / "version-9", later_online_cases())
    make_missing_online(GOLDEN / "version-12", given_tree_cases())
    make_missing_online(GOLDEN / "version-13", several_tree_cases())
    make_missing_decided(GOLDEN / "version-4")
    make_missing_examples(GOLDEN / "version-5")
    make_missing_taggers(GOLDEN / "version-6", tagger_cases(), TEXTS)
    make_missing_taggers(GOLDEN / "version-8", later_tagger_cases(), FIELDED_TEXTS)
    make_missing_taggers(GOLDEN / "version-9", newest_tagger_cases(), TEXTS)
    make_missing_vectors(GOLDEN / "version-10")
    make_missing_taggers(GOLDEN / "version-10", vector_tagger_cases(), TEXTS)


def make_missing(directory: Path, named: dict[str, Case]) -> None:
    directory.mkdir(exist_ok=True)
    for name, case in named.items():
        if (directory / name).exists():
            continue
        X = mixed_features() if case.mixed else features()
        names = [f"feature {j}" for j in range(X.shape[1])]
        rows = pd.DataFrame(X, columns=names) if case.with_feature_names else X
        model = LabelTreeClassifier(**{"prune": 0.01, "weights": case.weights, **case.parameters}).fit(
            rows, case.y
        )
        if case.calibration is not None:
            model.calibrate(rows, case.y, method=case.calibration)
        model.save(directory / name, weights=case.weights)
        found = LabelTreeClassifier.load(directory / name).predict_topk(rows, k=3)
        expected = {
            "classes": model.classes_.tolist(),
            "classes_dtype": model.classes_.dtype.str,
            "label_kind": model.label_kind_,
            "label_counts": model.label_counts_.tolist(),
            "n_samples_fit": model.n_samples_fit_,
            "trees": [tree.to_nested() for tree in model.trees_],
            "feature_names": names if case.with_feature_names else None,
            "X": X.tolist(),
            "labels": found.labels.tolist(),
            "probabilities": found.probabilities.tolist(),
        }
        (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
