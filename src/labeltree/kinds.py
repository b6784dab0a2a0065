"""The kinds of models: the only registry. A new kind is its package, an entry here and a section in `model_file`.

Nothing is imported before it is needed: the command line reads this file to show its help pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

#: Options by the heading that they have on a help page.
Panels = Mapping[str, tuple[str, ...]]

_TREE = (
    "n_trees",
    "tree",
    "max_arity",
    "arity",
    "max_leaves",
    "max_depth",
    "frequent_share",
    "collapse",
    "label_vectors",
    "label_vector_prune",
)
_RUN = ("n_jobs", "random_state", "verbose")
_DEEP_TRAINING = (
    "epochs",
    "batch_size",
    "learning_rate",
    "node_rate",
    "warm_up",
    "candidates",
    "validation",
    "patience",
    "average",
)


@dataclass(frozen=True)
class Kind:
    """One kind of model.

    Attributes
    ----------
    estimator : str
        The name of its class, which its model files have.
    module : str
        The module of the class.
    section : str
        The module in `labeltree.model_file.sections` that writes and reads its forest.
    format_version : int
        The version of the model format that such models came with.
    method : str, optional
        The word for `labeltree train --method`, if that can train it.
    panels : dict
        Its options on the command line.
    help : str
        What `labeltree train --method M --help` says about it.
    presets : tuple of str
        The class methods that make it with the settings of published systems: the words for ``--preset``.
    text : dict
        The parameters of `TextVectorizer` that suit it best, where they are not the defaults.
    reads_texts : bool
        Whether it is trained on texts as they are, without a vectorizer.
    """

    estimator: str
    module: str
    section: str
    format_version: int
    method: str | None = None
    panels: Panels = field(default_factory=dict)
    help: str = ""
    presets: tuple[str, ...] = ()
    text: Mapping[str, Any] = field(default_factory=dict)
    reads_texts: bool = False

    def load(self) -> type[Any]:
        """Import the estimator."""
        cls: type[Any] = getattr(import_module(self.module), self.estimator)
        return cls


KINDS = (
    Kind(
        "LabelTreeClassifier",
        "labeltree.classifier",
        "linear_trees",
        1,
        "label-tree",
        {
            "The tree": _TREE,
            "The node classifiers": (
                "loss",
                "link",
                "penalty",
                "siblings",
                "C",
                "label_weight",
                "tol",
                "max_iter",
                "prune",
                "weights",
                "normalize",
                "bias",
                "rerank",
            ),
            "Incremental learning": (
                "solver",
                "learning_rate",
                "rate_schedule",
                "initial_accumulator",
                "epochs",
                "regularization",
            ),
            "The search for labels": (
                "search",
                "beam",
                "tree_weight",
                "missing_estimates",
                "normalize_siblings",
            ),
            "The run": ("memory_gb", "checkpoint", *_RUN),
        },
        "A probabilistic label tree: the default.",
        ("parabel", "bonsai", "napkinxc", "xmlc_plt"),
    ),
    Kind(
        "HierarchicalSoftmaxClassifier",
        "labeltree.rivals.softmax.classifier",
        "linear_trees",
        1,
        "softmax",
        {
            "The tree": _TREE,
            "The node classifiers": ("C", "tol", "max_iter", "prune", "weights", "normalize", "bias"),
            "The search for labels": ("search", "beam", "tree_weight", "missing_estimates"),
            "The run": _RUN,
        },
        "Hierarchical softmax: a softmax at every node of a label tree chooses the child. For one label per row.",
        ("learned_tree",),
    ),
    Kind(
        "OneVsRestClassifier",
        "labeltree.rivals.one_vs_rest.classifier",
        "linear_trees",
        1,
        "one-vs-rest",
        {
            "The classifiers": (
                "solver",
                "loss",
                "link",
                "C",
                "l1",
                "tol",
                "max_iter",
                "prune",
                "weights",
                "negatives",
                "n_negatives",
                "normalize",
                "bias",
            ),
            "The run": ("checkpoint", *_RUN),
        },
        "One linear classifier per label, as DiSMEC; as PPDSparse with --solver sparse. Precise, and slow for many "
        "labels.",
        ("dismec", "ppdsparse", "pdsparse"),
    ),
    Kind(
        "FastXMLClassifier",
        "labeltree.rivals.fastxml.classifier",
        "example_trees",
        5,
        "fastxml",
        {
            "The trees": ("n_trees", "max_leaf", "leaf_labels"),
            "The separators": ("C", "max_iter", "tol", "normalize", "bias"),
            "The run": _RUN,
        },
        "FastXML: an ensemble of trees that divide the rows; a leaf votes for the labels of its rows.",
        ("fastxml",),
    ),
    Kind(
        "PfastreXMLClassifier",
        "labeltree.rivals.fastxml.classifier",
        "example_trees",
        5,
        "pfastrexml",
        {
            "The trees": ("n_trees", "max_leaf", "leaf_labels"),
            "Rare labels": ("propensity_A", "propensity_B", "gamma", "alpha"),
            "The separators": ("C", "max_iter", "tol", "normalize", "bias"),
            "The run": _RUN,
        },
        "PfastreXML: FastXML for rare labels, which count more. They are also ranked by their distance from a row.",
        ("pfastrexml", "pfastxml"),
    ),
    Kind(
        "OnlineLabelTreeClassifier",
        "labeltree.online.classifier",
        "online_tree",
        3,
        None,  # 'labeltree learn' trains it
        {
            "The tree": ("policy", "n_trees", "tree", "arity", "alpha"),
            "Weights and memory": ("weights", "memory_mb", "expected_labels"),
            "The node classifiers": (
                "loss",
                "link",
                "solver",
                "learning_rate",
                "initial_accumulator",
                "regularization",
                "normalize",
                "bias",
            ),
            "The search for labels": ("search", "beam", "normalize_siblings"),
            "The run": ("n_jobs", "random_state"),
        },
        "A label tree that learns from a stream.",
        ("plt_vw", "cpt"),
    ),
    Kind(
        "ExtremeTextClassifier",
        "labeltree.embedding.extremetext",
        "embedding",
        10,
        "extremetext",
        {
            "The vectors": ("dimension", "pooling", "dropout", "pretrained", "frozen", "vector_type", "bias"),
            "The tree": tuple(name for name in _TREE if name != "n_trees"),
            "The training": (
                "loss",
                "solver",
                "learning_rate",
                "rate_schedule",
                "epochs",
                "batch_size",
                "regularization",
                "hard_negatives",
                "initial_accumulator",
                "epsilon",
                "normalize",
            ),
            "The search for labels": ("search", "beam", "normalize_siblings"),
            "The run": _RUN,
        },
        "extremeText: vectors of words, learned together with vectors of the nodes of a label tree.",
        ("extremetext",),
    ),
    Kind(
        "FastTextClassifier",
        "labeltree.embedding.fasttext",
        "embedding",
        10,
        "fasttext",
        {
            "The vectors": ("dimension", "pretrained", "frozen", "vector_type", "bias"),
            "The training": ("loss", "solver", "learning_rate", "epochs", "batch_size", "regularization"),
            "The run": _RUN,
        },
        "fastText's supervised classifier: softmax, hierarchical softmax or one-vs-all. Words are "
        "separated by white space, and their counts are not weighted.",
        ("fasttext",),
        {"analyzer": "whitespace", "lowercase": False, "use_idf": False, "norm": None},
    ),
    Kind(
        "AttentionXMLClassifier",
        "labeltree.deep.attention_xml",
        "attention",
        11,
        "attentionxml",
        {
            "The words": ("max_words", "min_count", "max_tokens", "dimension", "pretrained"),
            "The network": ("hidden", "shared", "word_dropout", "dropout"),
            "The tree": ("n_trees", "tree", "arity", "max_leaves"),
            "The training": (*_DEEP_TRAINING, "checkpoint"),
            "The search for labels": ("search", "beam", "normalize_siblings"),
            "The run": ("device", *_RUN),
        },
        "AttentionXML: a BiLSTM over words, and an attention vector for each node of a shallow label tree. For texts; "
        "needs the extra torch, and a GPU for more than some thousand texts.",
        reads_texts=True,
    ),
    Kind(
        "EncoderTreeClassifier",
        "labeltree.deep.encoder_tree",
        "encoder",
        11,
        "encoder",
        {
            "The encoder": ("encoder", "pooling", "max_tokens", "dropout"),
            "The tree": ("tree", "arity", "max_leaves", "name_vectors"),
            "The training": (*_DEEP_TRAINING, "checkpoint"),
            "The search for labels": ("search", "beam", "normalize_siblings"),
            "The run": ("device", *_RUN),
        },
        "A pretrained encoder of texts, fine-tuned with a label tree as its output layer. For texts; needs --encoder "
        "and the extra torch.",
        reads_texts=True,
    ),
    Kind("MixedModel", "labeltree.mixing.mixed_model", "mix", 7, help="Several models that answer as one."),
)

_BY_ESTIMATOR = {kind.estimator: kind for kind in KINDS}
METHODS = {kind.method: kind for kind in KINDS if kind.method is not None}


def kind_named(estimator: str) -> Kind | None:
    """Return the kind of a class of estimators by the name of the class."""
    return _BY_ESTIMATOR.get(estimator)


def kind_of(cls: type) -> Kind:
    """Return the kind of a class, or of the class that it is derived from."""
    for parent in cls.__mro__:
        if parent.__name__ in _BY_ESTIMATOR:
            return _BY_ESTIMATOR[parent.__name__]
    raise TypeError(f"{cls.__name__} is not a kind of model that labeltree knows")
