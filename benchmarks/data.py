"""The files the systems are measured on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parent.parent / "build" / "benchmarks"


def prepare(name: str) -> tuple[Path, Path]:
    """Paths of train.txt and test.txt of a data set, made once from its texts.

    `name` is a folder that has them, or a set in the folder that LABELTREE_DATA names.
    """
    folder = Path(name)
    if not (folder / "train.txt").exists():
        source = Path(os.environ.get("LABELTREE_DATA", "../shared/data")).resolve()
        folder = CACHE / name
        if not (folder / "train.txt").exists():
            if not (source / "make_xmlc.py").exists():
                raise SystemExit(
                    f"no data: neither {name}/train.txt nor {source}/make_xmlc.py is there; set LABELTREE_DATA"
                )
            subprocess.run([sys.executable, source / "make_xmlc.py", name, folder], check=True)
    return folder / "train.txt", folder / "test.txt"
