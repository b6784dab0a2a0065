"""Where an encoder is to be found: checked before any text is read."""

from __future__ import annotations

import os
import re

#: A name on the hub, with or without an owner.
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


def check_encoder_place(name: str | os.PathLike[str]) -> None:
    """Raise `ValueError` unless there is a directory with an encoder, or the name may be one on the hub."""
    path = os.fspath(name)
    if os.path.isfile(path):
        fault = "is a file"
    elif os.path.isdir(path):
        if os.path.exists(os.path.join(path, "config.json")):
            return
        fault = "has no config.json"
    elif _HUB_NAME.fullmatch(path) and not path.startswith("."):
        return
    else:
        fault = "does not exist"
    raise ValueError(
        f"encoder: {path!r} {fault}: pass the directory of a pretrained encoder (config.json, model.safetensors, "
        "tokenizer.json), or its name on the hub"
    )
