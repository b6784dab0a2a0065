"""Models on disk: a directory with ``model.json`` and safetensors files; docs/model-format.md describes it.

Saving is atomic, opening maps the weights instead of reading them, and nothing that a file says is believed: anything
wrong with it raises `ModelFileError`.
"""

from labeltree.model_file.information import ModelInfo, TreeInfo, read_info
from labeltree.model_file.loading import load
from labeltree.model_file.saving import save

__all__ = ["ModelInfo", "TreeInfo", "load", "read_info", "save"]
