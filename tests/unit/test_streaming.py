"""Learning from a stream: what is passed over, what is learned, and when the model is saved."""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labeltree import OnlineLabelTreeClassifier
from labeltree.data import DataFormatError, read_stream
from labeltree.model.top_labels import TopLabels
from labeltree.online.streaming import learn


class Chain:
    """A model whose state depends on every example and on their order, and which remembers where it was saved."""

    def __init__(self) -> None:
        self.state = ""
        self.saved_at: list[int] = []

    def partial_fit(self, X: Any, y: Any) -> Chain:
        rows = X if isinstance(X, list) else [row.toarray().tolist() for row in csr_matrix(X)]
        for features, labels in zip(rows, y if isinstance(y, list) else y.tolist(), strict=True):
            self.state = hashlib.sha256(repr((self.state, features, labels)).encode()).hexdigest()
            self.n_examples_ = getattr(self, "n_examples_", 0) + 1
        return self

    def predict_then_learn(self, X: Any, y: Any, k: int) -> TopLabels:
        before = getattr(self, "n_examples_", 0)
        self.partial_fit(X, y)
        return TopLabels(np.arange(before, self.n_examples_)[:, None], np.ones((len(y), k), np.float32))

    def save(self, path: Any) -> None:
        self.saved_at.append(self.n_examples_)
        document = {"state": self.state, "n": self.n_examples_, "start": getattr(self, "stream_start_", 0)}
        Path(path).write_text(json.dumps(document))

    @staticmethod
    def load(path: Path) -> Chain:
        document = json.loads(path.read_text())
        model = Chain()
        model.state, model.n_examples_ = document["state"], document["n"]
        model.stream_start_ = document["start"]  # type: ignore[attr-defined] # as `learn` sets it
        return model


def examples(begin: int, end: int) -> tuple[list[dict[str, int]], list[list[int]]]:
    return [{"f": i} for i in range(begin, end)], [[i] for i in range(begin, end)]


def stream_of(n_examples: int, sizes: list[int], fail_at: int | None = None) -> Any:
    """Batches of these sizes, over and over; one that begins at `fail_at` or later fails."""
    begin, number = 0, 0
    while begin < n_examples:
        if fail_at is not None and begin >= fail_at:
            raise ConnectionError("the line is dead")
        end = min(begin + sizes[number % len(sizes)], n_examples)
        yield examples(begin, end)
        begin, number = end, number + 1


sizes_of_batches = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@given(st.integers(0, 40), sizes_of_batches, st.integers(1, 12), st.integers(1, 12) | st.none())
def test_saved_at_exact_numbers_of_examples(
    tmp_path_factory: pytest.TempPathFactory, n: int, sizes: list[int], every: int, watch_every: int | None
) -> None:
    path = tmp_path_factory.getbasetemp() / "chain.json"
    model, seen = Chain(), []

    def watch(y: Any, predicted: TopLabels) -> None:
        assert [[label] for label in predicted.labels[:, 0].tolist()] == y
        seen.append(model.n_examples_)

    options: Any = {"watch": watch, "watch_every": watch_every}
    assert learn(model, stream_of(n, sizes), checkpoint=path, checkpoint_every=every, **options) == n
    assert model.state == Chain().partial_fit(*examples(0, n)).state
    assert model.saved_at == sorted({*range(every, n + 1, every), *([n] if n else [])})
    if watch_every:
        assert set(range(watch_every, n + 1, watch_every)) <= set(seen)


@given(st.integers(1, 40), st.data())
def test_resuming_from_any_checkpoint_gives_the_same_model(
    tmp_path_factory: pytest.TempPathFactory, n: int, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "chain.json"
    path.unlink(missing_ok=True)
    for _ in range(data.draw(st.integers(1, 3))):
        model = Chain.load(path) if path.exists() else Chain()
        fail_at = data.draw(st.integers(0, n))
        with suppress(ConnectionError):
            learn(model, stream_of(n + 1, data.draw(sizes_of_batches), fail_at), checkpoint=path)
    model = Chain.load(path) if path.exists() else Chain()
    learn(model, stream_of(n + 1, data.draw(sizes_of_batches)), checkpoint=path)
    assert model.state == Chain.load(path).state == Chain().partial_fit(*examples(0, n + 1)).state


def test_streams_one_after_another(tmp_path: Path) -> None:
    """A new stream is known as one from its first checkpoint on, which comes before its first example."""
    path = tmp_path / "chain.json"
    learn(Chain(), stream_of(7, [3]), checkpoint=path)
    with pytest.raises(ConnectionError):
        learn(Chain.load(path), stream_of(5, [2], fail_at=0), checkpoint=path, new_stream=True)
    with pytest.raises(ConnectionError):
        learn(Chain.load(path), stream_of(5, [2], fail_at=4), checkpoint=path)
    model = Chain.load(path)
    assert model.n_examples_ == 11
    assert learn(model, stream_of(5, [2]), checkpoint=path) == 1
    assert model.state == Chain().partial_fit(*examples(0, 7)).partial_fit(*examples(0, 5)).state


def test_nothing_is_left_to_learn() -> None:
    model = Chain().partial_fit(*examples(0, 7))
    assert learn(model, stream_of(7, [2])) == 0


def test_stream_that_is_too_short() -> None:
    model = Chain().partial_fit(*examples(0, 7))
    with pytest.raises(
        ValueError, match=r"has learned 7 examples of this stream, but it has only 5; .* set new_stream"
    ):
        learn(model, stream_of(5, [2]))


def test_files_and_matrices(tmp_path: Path) -> None:
    text = b"0,2 0:1\n1 2:1\n"
    (tmp_path / "rows.txt").write_bytes(text)
    models = [Chain() for _ in range(3)]
    learn(models[0], tmp_path / "rows.txt")
    learn(models[1], io.BytesIO(text))
    learn(models[2], read_stream(io.BytesIO(text), batch_size=1))
    assert models[0].state == models[1].state
    assert [model.n_examples_ for model in models] == [2, 2, 2]
    learn(models[0], [(np.eye(3), np.array([4, 5, 6]))], new_stream=True, checkpoint_every=2)
    assert models[0].n_examples_ == 5


def test_what_is_before_a_bad_line_is_saved(tmp_path: Path) -> None:
    model = Chain()
    with pytest.raises(DataFormatError, match="<stream>:3: "):
        learn(model, io.BytesIO(b"1 1:1\n2 2:1\n3 x\n4 4:1\n"), checkpoint=tmp_path / "chain.json")
    assert model.saved_at == [2]


def test_what_was_learned_is_saved_when_the_watcher_fails(tmp_path: Path) -> None:
    def watch(y: Any, predicted: TopLabels) -> None:
        raise BrokenPipeError

    model = Chain()
    with pytest.raises(BrokenPipeError):
        learn(model, stream_of(9, [4]), checkpoint=tmp_path / "chain.json", watch=watch)
    assert model.saved_at == [4]


def test_a_model_that_fails_is_not_saved(tmp_path: Path) -> None:
    class Half(Chain):
        def partial_fit(self, X: Any, y: Any) -> Chain:
            if getattr(self, "n_examples_", 0):
                raise MemoryError
            return super().partial_fit(X, y)

    model = Half()
    with pytest.raises(MemoryError):
        learn(model, stream_of(9, [4]), checkpoint=tmp_path / "chain.json")
    assert model.saved_at == []


@pytest.mark.parametrize("watched", [True, False])
def test_what_is_before_an_example_that_is_refused_is_saved(tmp_path: Path, watched: bool) -> None:
    model = OnlineLabelTreeClassifier(weights="hashed", memory_mb=0.1, expected_labels=5)
    watch = (lambda y, predicted: None) if watched else None
    with pytest.raises(ValueError, match="expected_labels"):
        learn(model, stream_of(9, [4]), checkpoint=tmp_path / "model", watch=watch)
    assert OnlineLabelTreeClassifier.load(tmp_path / "model").n_examples_ == 5


@pytest.mark.parametrize("name", ["checkpoint_every", "watch_every"])
def test_wrong_arguments(name: str) -> None:
    with pytest.raises(ValueError, match=f"expected {name} of at least 1, got 0"):
        learn(Chain(), [], **{name: 0})  # type: ignore[arg-type] # mypy does not see which
