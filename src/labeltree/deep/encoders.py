"""Pretrained encoders: read from a directory or a hub, kept as JSON and tensors, and run by torch or onnxruntime."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.batches import batches_by_length
from labeltree.deep.extras import NOT_FINITE, device_named, import_extra
from labeltree.deep.module_arrays import arrays_of, check_shapes, fill
from labeltree.deep.tokens import TokenRows
from labeltree.errors import ModelFileError

#: Texts that are encoded together.
ROWS_PER_BATCH = 64
#: The architectures that a classifier can have: encoders of texts, which load nothing else. Others might.
ARCHITECTURES = (
    "albert",
    "bert",
    "camembert",
    "convbert",
    "deberta",
    "deberta-v2",
    "distilbert",
    "electra",
    "ernie",
    "eurobert",
    "gte",
    "megatron-bert",
    "mobilebert",
    "modernbert",
    "mpnet",
    "nomic_bert",
    "nystromformer",
    "roberta",
    "roberta-prelayernorm",
    "roformer",
    "squeezebert",
    "xlm-roberta",
    "xlm-roberta-xl",
)
#: Architectures whose positions begin after the number of the padding token.
_LATE_POSITIONS = ("camembert", "mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl")
#: Entries of a configuration that name code, kernels, formats of files or answers: none of them is ever heeded.
_NOT_KEPT = (
    "auto_map",
    "attn_implementation",
    "quantization_config",
    "torch_dtype",
    "dtype",
    "architectures",
    "id2label",
    "label2id",
    "num_labels",
    "output_attentions",
    "output_hidden_states",
    "problem_type",
    "reference_compile",
    "return_dict",
    "torchscript",
    "transformers_version",
    "trust_remote_code",
)
#: A tokenizer of fewer tokens is one that transformers makes where there is none.
FEWEST_TOKENS = 20
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
    path, known = os.fspath(name), {"trust_remote_code": False}
    try:
        with _quiet(transformers):
            said = transformers.AutoConfig.from_pretrained(path, **known)
            _check_architecture(path, said.model_type)
            # Made anew of plain numbers and words: what might name code or kernels is gone before weights are read.
            settings = _plain(said.to_dict())
            config = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
            body, report = transformers.AutoModel.from_pretrained(
                path, config=config, use_safetensors=True, dtype="float32", output_loading_info=True, **known
            )
            _check_weights(path, report["missing_keys"])
            tokenizer = transformers.AutoTokenizer.from_pretrained(path, config=config, **known)
            pooling = _pooling_of(transformers, path)
    except Exception as error:  # whatever the files of an encoder can make go wrong
        if isinstance(error, ValueError) and str(error).startswith("encoder:"):
            raise
        first = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"encoder: {path!r} is neither a directory with a pretrained encoder (config.json, model.safetensors, "
            f"tokenizer.json) nor a name on the hub that can be reached: {first}"
        ) from error
    if not getattr(tokenizer, "is_fast", False) or len(tokenizer) < FEWEST_TOKENS:
        raise ValueError(f"encoder: {path!r} has no fast tokenizer (tokenizer.json), which labeltree needs")
    longest = longest_text(body.config)
    if isinstance(tokenizer.model_max_length, int) and tokenizer.model_max_length > 2:
        longest = min(longest, tokenizer.model_max_length)
    return Pretrained(body.float(), tokenizer.backend_tokenizer.to_str(), pooling, longest)


def _check_weights(path: str, missing: Collection[str]) -> None:
    """Raise `ValueError` if weights are missing; a pooler is not used, and often left out."""
    lost = sorted(name for name in missing if "pooler" not in name)
    if lost:
        raise ValueError(
            f"encoder: {path!r} has no weights for {lost[0]}{f' and {len(lost) - 1} more' if lost[1:] else ''}: "
            "model.safetensors is damaged, or belongs to another config.json"
        )


def _check_architecture(path: str, kind: str) -> None:
    if kind not in ARCHITECTURES:
        raise ValueError(
            f"encoder: {path!r} has the architecture {kind!r}, which labeltree does not support: use an encoder of "
            f"texts, one of {', '.join(ARCHITECTURES)}"
        )


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Let transformers show no progress bars and no reports of its own for a while."""
    logging = transformers.utils.logging
    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def longest_text(config: Any) -> int:
    """Return the largest number of tokens that an encoder with this configuration can read."""
    positions = int(getattr(config, "max_position_embeddings", None) or 512)
    if config.model_type in _LATE_POSITIONS:
        positions -= int(config.pad_token_id or 0) + 1
    return positions


def _pooling_of(transformers: Any, path: str) -> str:
    """The pooling of a model of sentence-transformers, in a directory or on the hub; the mean if it says nothing."""
    try:
        file = transformers.utils.hub.cached_file(
            path, _POOLING_FILE, _raise_exceptions_for_missing_entries=False
        )
        if file is None:
            return "mean"
        settings = json.loads(Path(file).read_text(encoding="utf-8"))
        return "first" if settings.get("pooling_mode_cls_token") else "mean"
    except (OSError, ValueError, AttributeError):
        return "mean"


def configuration(body: Any) -> dict[str, Any]:
    """Return the configuration of a model of ``transformers``, as JSON, without what could name code."""
    return _plain(json.loads(body.config.to_json_string(use_diff=False)))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in values.items() if not name.startswith("_") and name not in _NOT_KEPT
    }


def make_body(config: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float32]]) -> Any:
    """Return a model of ``transformers`` with this configuration and these weights. No code of others is run.

    Raises
    ------
    ValueError
        If the configuration cannot be used, or demands other weights.
    """
    transformers, torch = (import_extra(name, "a pretrained encoder") for name in ("transformers", "torch"))
    settings = _plain(config)
    kind = settings.pop("model_type", None)
    if kind not in ARCHITECTURES:
        raise ValueError(
            f"the architecture of the encoder must be one of {', '.join(ARCHITECTURES)}, got {kind!r}"
        )
    for name, value in settings.items():
        # Every layer has weights. A number that is too large would take all the time and memory there is.
        if "layer" in name and isinstance(value, int) and not 0 <= value <= len(arrays):
            raise ValueError(
                f"the configuration of the encoder has {name}={value}, but there are {len(arrays)} tensors"
            )
    try:
        made = transformers.AutoConfig.for_model(kind, **settings)
        with torch.device("meta"):  # shapes alone, without memory
            shapes = transformers.AutoModel.from_config(made, trust_remote_code=False)
    except Exception as error:  # whatever a configuration of any kind can make go wrong
        raise ValueError(f"the configuration of the encoder cannot be used: {error}") from error
    check_shapes(shapes, arrays)
    with _without_random_weights():
        body = transformers.AutoModel.from_config(made, trust_remote_code=False).float()
    return fill(body, arrays)


def _without_random_weights() -> Any:
    """Return the context in which a model is made without random weights, which take seconds."""
    try:
        module = import_module("transformers.initialization")
    except ImportError:  # transformers 4
        module = import_module("transformers.modeling_utils")
    return module.no_init_weights()


class VectorEncoder(Protocol):
    """Makes a vector of the tokens of each text."""

    n_jobs: int | None

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
        from labeltree.deep.torch_context import computing

        with computing(self.device, self.n_jobs) as torch:
            inputs = [torch.from_numpy(array).to(self.device) for array in (tokens, is_token)]
            found: NDArray[np.float32] = self.module(*inputs).float().cpu().numpy()
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        body = self.module.body
        return _restored, (configuration(body), arrays_of(body), self.module.pooling, self.n_jobs)


def _restored(
    config: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float32]], pooling: str, n_jobs: int | None
) -> TorchEncoder:
    """Return an encoder that was pickled, on the device that is there now."""
    return torch_encoder(make_body(config, arrays), pooling, "auto", n_jobs)


def torch_encoder(body: Any, pooling: str, device: str, n_jobs: int | None) -> TorchEncoder:
    """Return an encoder with this body."""
    from labeltree.deep.networks.encoder_network import PooledEncoder

    return TorchEncoder(PooledEncoder(body, pooling), device, n_jobs)


def check_encoder(encoder: VectorEncoder, dimension: int) -> None:
    """Encode two tokens; raise `ValueError` if that fails, or if the vector is not of this dimension."""
    two = np.zeros((1, 2), dtype=np.int64)
    try:
        found = encoder.vectors(two, two + 1)
    except Exception as error:  # whatever a network from a file can make go wrong
        raise ValueError(f"the encoder does not work: {error}") from error
    if found.shape != (1, dimension) or found.dtype != np.float32:
        raise ValueError(
            f"the encoder makes {found.dtype} of shape {found.shape} of one text, but its vector must be float32 of "
            f"dimension {dimension}"
        )


def encode(encoder: VectorEncoder, rows: TokenRows, padding: int) -> NDArray[np.float32]:
    """Return a vector for each row; rows of similar length are encoded together."""
    vectors = np.empty((rows.n_rows, encoder.dimension), dtype=np.float32)
    for some in batches_by_length(rows.sizes, ROWS_PER_BATCH):
        tokens, sizes = rows.take(some).padded(padding)
        is_token = (np.arange(tokens.shape[1]) < sizes[:, np.newaxis]).astype(np.int64)
        vectors[some] = encoder.vectors(tokens, is_token)
    if not np.isfinite(vectors).all():
        raise ModelFileError(NOT_FINITE)
    return vectors
