"""Pretrained encoders: read from a directory or a hub, kept as JSON and tensors, and run by torch or onnxruntime."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.extras import device_named, import_extra
from labeltree.deep.tokens import TokenRows
from labeltree.validation import n_threads

#: Texts that are encoded together.
ROWS_PER_BATCH = 64
#: Entries of a configuration that name code, kernels or formats of files: none of them is ever heeded.
_NOT_KEPT = (
    "auto_map",
    "attn_implementation",
    "quantization_config",
    "torch_dtype",
    "dtype",
    "architectures",
)
#: The file by which a model of sentence-transformers tells its pooling.
_POOLING_FILE = "1_Pooling/config.json"


@dataclass(frozen=True)
class Pretrained:
    """A pretrained encoder.

    Attributes
    ----------
    body : module
        The model of ``transformers``.
    tokenizer : str
        The JSON of its tokenizer.
    pooling : {"mean", "first"}
        How it makes a vector of a text, if it says so; else the mean.
    longest : int
        The largest number of tokens that it can read.
    """

    body: Any
    tokenizer: str
    pooling: str
    longest: int


def read_pretrained(name: str | os.PathLike[str]) -> Pretrained:
    """Read an encoder from a directory, or from the hub if there is no such directory. No code of it is run.

    Raises
    ------
    ValueError
        If there is none, or it has no fast tokenizer.
    """
    transformers = import_extra("transformers", "a pretrained encoder")
    path = os.fspath(name)
    try:
        body = transformers.AutoModel.from_pretrained(path, trust_remote_code=False, use_safetensors=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    except (OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"encoder: {path!r} is neither a directory with a pretrained encoder (config.json, model.safetensors, "
            f"tokenizer.json) nor a name on the hub that can be reached: {first}"
        ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(f"encoder: {path!r} has no fast tokenizer (tokenizer.json), which labeltree needs")
    if not hasattr(body.config, "hidden_size"):
        raise ValueError(f"encoder: {path!r} does not tell the dimension of its vectors (hidden_size)")
    longest = min(
        int(tokenizer.model_max_length), int(getattr(body.config, "max_position_embeddings", 512) or 512)
    )
    return Pretrained(body.float(), tokenizer.backend_tokenizer.to_str(), _pooling_in(Path(path)), longest)


def _pooling_in(directory: Path) -> str:
    """The pooling of a model of sentence-transformers."""
    try:
        settings = json.loads((directory / _POOLING_FILE).read_text(encoding="utf-8"))
        return "first" if settings.get("pooling_mode_cls_token") else "mean"
    except (OSError, ValueError, AttributeError):
        return "mean"


def configuration(body: Any) -> dict[str, Any]:
    """Return the configuration of a model of ``transformers``, as JSON, without what could name code."""
    return _plain(json.loads(body.config.to_json_string(use_diff=False)))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if not name.startswith("_") and name not in _NOT_KEPT and name != "transformers_version"
    }


def empty_body(config: Mapping[str, Any]) -> Any:
    """Return a model of ``transformers`` with this configuration, its weights not yet set. No code of it is run."""
    transformers = import_extra("transformers", "a pretrained encoder")
    settings = _plain(config)
    kind = settings.pop("model_type", None)
    if not isinstance(kind, str):
        raise ValueError("the configuration of the encoder has no model_type")
    try:
        made = transformers.AutoConfig.for_model(kind, **settings)
        return transformers.AutoModel.from_config(made, trust_remote_code=False).float()
    except Exception as error:  # whatever a configuration of any kind can make go wrong
        raise ValueError(f"the configuration of the encoder is not one that can be used: {error}") from None


class VectorEncoder(Protocol):
    """Makes a vector of the tokens of each text."""

    @property
    def dimension(self) -> int: ...

    def vectors(self, tokens: NDArray[np.int64], is_token: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return a vector for each row of tokens, which are filled up to the same length."""


class TorchEncoder:
    """An encoder that torch runs.

    Parameters
    ----------
    module : PooledEncoder
    device : str
        As for `device_named`.
    n_jobs : int, optional
        Number of threads on a CPU.
    """

    def __init__(self, module: Any, device: str = "auto", n_jobs: int | None = None) -> None:
        self.device = device_named(device)
        self.module = module.to(self.device).eval()
        self.n_jobs = n_jobs

    @property
    def dimension(self) -> int:
        return int(self.module.dimension)

    def vectors(self, tokens: NDArray[np.int64], is_token: NDArray[np.int64]) -> NDArray[np.float32]:
        from labeltree.deep.torch_threads import computing

        with computing(self.device, n_threads(self.n_jobs)) as torch:
            inputs = [torch.from_numpy(array).to(self.device) for array in (tokens, is_token)]
            found: NDArray[np.float32] = self.module(*inputs).float().cpu().numpy()
        return found


def encode(encoder: VectorEncoder, rows: TokenRows, padding: int) -> NDArray[np.float32]:
    """Return a vector for each row; rows of similar length are encoded together."""
    vectors = np.empty((rows.n_rows, encoder.dimension), dtype=np.float32)
    order = np.argsort(-rows.sizes, kind="stable")
    for begin in range(0, rows.n_rows, ROWS_PER_BATCH):
        some = order[begin : begin + ROWS_PER_BATCH]
        tokens, sizes = rows.take(some).padded(padding)
        is_token = (np.arange(tokens.shape[1]) < sizes[:, np.newaxis]).astype(np.int64)
        vectors[some] = encoder.vectors(tokens, is_token)
    return vectors
