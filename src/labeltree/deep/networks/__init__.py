"""The networks: each encodes texts, and scores nodes of a tree. These modules import torch."""
