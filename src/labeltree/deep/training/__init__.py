"""The training of networks, level by level. These modules import torch."""
