"""Several models over the same labels that answer as one."""

from labeltree.mixing.mixed_model import MixedModel, mix

__all__ = ["MixedModel", "mix"]
