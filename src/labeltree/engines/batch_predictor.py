"""`BatchPredictor`: predictions in a pipeline of `ray.data`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from labeltree.engines.opened_models import opened_model
from labeltree.engines.protocol import Place


class BatchPredictor:
    """Adds the best labels and their probabilities to batches of rows, for `ray.data.Dataset.map_batches`.

    An actor of Ray opens the model once and maps it, so the actors of a machine share its memory. `ray.data` needs
    ``pip install 'ray[data]'``.

    Parameters
    ----------
    model : path or Place
        A saved model: a path that all machines see, or what `publish` of a `RayEngine` returns.
    column : str
        The column of a batch with texts, or with rows of numbers.
    k : int
        Number of labels for each row.
    **options
        Other parameters of the model's `predict_topk`.

    Examples
    --------
    ::

        import ray
        from labeltree.engines import BatchPredictor

        tagged = ray.data.read_parquet("texts/").map_batches(
            BatchPredictor,
            fn_constructor_args=["/shared/tags.labeltree"],
            fn_constructor_kwargs={"column": "text", "k": 5},
            concurrency=4,
            batch_size=4096,
        )
        tagged.write_parquet("tagged/")

    A batch is a dictionary of arrays, so it can be tried without Ray:

    >>> import tempfile
    >>> from labeltree.text import Tagger
    >>> texts, y = ["a small cat", "a big dog"] * 4, [["cat"], ["dog"]] * 4
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Tagger().fit(texts, y).save(f"{folder}/pets")
    ...     predictor = BatchPredictor(f"{folder}/pets", k=1)
    ...     predictor({"text": np.array(["my cat"])})["labels"].tolist()
    [['cat']]
    """

    def __init__(
        self, model: str | os.PathLike[str] | Place, column: str = "text", k: int = 5, **options: Any
    ) -> None:
        path = model if isinstance(model, str | os.PathLike) else model.path()
        self._model = opened_model(path)
        self._column, self._options = column, {"k": k, **options}

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        if self._column not in batch:
            raise ValueError(f"expected a column {self._column!r} in batches, got {sorted(batch)}")
        rows = np.asarray(batch[self._column])
        X = rows.tolist() if rows.ndim == 1 else rows
        found = self._model.predict_topk(X, **self._options)
        return {**batch, "labels": found.labels, "probabilities": found.probabilities}
