"""Labels: reading y in all its forms, names and weights of labels."""

from labeltree.labels.name_file import read_label_names

__all__ = ["read_label_names"]
