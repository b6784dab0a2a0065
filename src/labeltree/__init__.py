"""Extreme multi-label classification with probabilistic label trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeltree.classifier import LabelTreeClassifier
    from labeltree.deep.attention_xml import AttentionXMLClassifier
    from labeltree.deep.encoder_tree import EncoderTreeClassifier
    from labeltree.embedding.extremetext import ExtremeTextClassifier
    from labeltree.embedding.fasttext import FastTextClassifier
    from labeltree.engines.context import engine
    from labeltree.errors import DataFormatError, LabelTreeError, ModelFileError
    from labeltree.mixing import MixedModel, mix
    from labeltree.online import OnlineLabelTreeClassifier
    from labeltree.rivals.fastxml import FastXMLClassifier, PfastreXMLClassifier
    from labeltree.rivals.one_vs_rest import OneVsRestClassifier
    from labeltree.rivals.softmax import HierarchicalSoftmaxClassifier
    from labeltree.trees import LabelTree

__version__ = "0.1.0"

__all__ = [
    "AttentionXMLClassifier",
    "DataFormatError",
    "EncoderTreeClassifier",
    "ExtremeTextClassifier",
    "FastTextClassifier",
    "FastXMLClassifier",
    "HierarchicalSoftmaxClassifier",
    "LabelTree",
    "LabelTreeClassifier",
    "LabelTreeError",
    "MixedModel",
    "ModelFileError",
    "OneVsRestClassifier",
    "OnlineLabelTreeClassifier",
    "PfastreXMLClassifier",
    "__version__",
    "engine",
    "mix",
]

# Names are imported when first used: scikit-learn takes a second, and `labeltree --help` does not need it.
_HOMES = {
    "AttentionXMLClassifier": "labeltree.deep.attention_xml",
    "DataFormatError": "labeltree.errors",
    "EncoderTreeClassifier": "labeltree.deep.encoder_tree",
    "ExtremeTextClassifier": "labeltree.embedding.extremetext",
    "FastTextClassifier": "labeltree.embedding.fasttext",
    "FastXMLClassifier": "labeltree.rivals.fastxml",
    "HierarchicalSoftmaxClassifier": "labeltree.rivals.softmax",
    "LabelTree": "labeltree.trees",
    "LabelTreeClassifier": "labeltree.classifier",
    "LabelTreeError": "labeltree.errors",
    "MixedModel": "labeltree.mixing",
    "ModelFileError": "labeltree.errors",
    "OneVsRestClassifier": "labeltree.rivals.one_vs_rest",
    "OnlineLabelTreeClassifier": "labeltree.online",
    "PfastreXMLClassifier": "labeltree.rivals.fastxml",
    "engine": "labeltree.engines.context",
    "mix": "labeltree.mixing",
}
_SUBPACKAGES = (
    "calibration",
    "data",
    "datasets",
    "decisions",
    "deep",
    "engines",
    "exchange",
    "metrics",
    "model_file",
    "online",
    "report",
    "rivals",
    "serving",
    "text",
    "training",
    "trees",
    "tuning",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _SUBPACKAGES:
        value = import_module(f"labeltree.{name}")
    else:
        raise AttributeError(f"module 'labeltree' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})
