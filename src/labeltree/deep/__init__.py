"""Neural networks under label trees. The classifiers need the extra ``torch``; saved ones can do with ``onnx``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeltree.deep.attention_xml import AttentionXMLClassifier
    from labeltree.deep.encoder_tree import EncoderTreeClassifier
    from labeltree.deep.onnx_export import export_onnx
    from labeltree.deep.out_of_fold import out_of_fold_vectors

__all__ = ["AttentionXMLClassifier", "EncoderTreeClassifier", "export_onnx", "out_of_fold_vectors"]

# Imported when first used: the modules of this package import each other.
_HOMES = {
    "AttentionXMLClassifier": "attention_xml",
    "EncoderTreeClassifier": "encoder_tree",
    "export_onnx": "onnx_export",
    "out_of_fold_vectors": "out_of_fold",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
