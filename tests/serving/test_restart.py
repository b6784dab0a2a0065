"""A server that is started while the one before it still saves learns nothing twice and loses nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.servers import serving
from tests.serving.conftest import online_model
from tests.serving.lessons import example, learned, send, settings, state

from labeltree import ModelFileError
from labeltree.model_file import load
from labeltree.model_file.journal import Journal
from labeltree.model_file.lock import ModelLock
from labeltree.serving import Service

EXAMPLES = [example(i) for i in range(6)]


@pytest.fixture
def before(path: Path) -> Iterator[ExitStack]:
    """A server that has learned examples; it saves its model when it is closed."""
    with ExitStack() as server:
        client, _ = server.enter_context(serving(settings(path)))
        assert send(client, *EXAMPLES).json()["n_examples"] == 10
        yield server


def check_learned_once(path: Path) -> None:
    """A server that is started now has learned all, once, and goes on to learn."""
    with serving(settings(path)) as (client, service):
        assert state(service.registry["online"].model) == state(learned(online_model(), EXAMPLES))
        assert send(client, example(6)).json()["n_examples"] == 11


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_none_may_start_until_the_one_before_is_done(
    path: Path, before: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when the model is saved but its examples are still in the journal, too."""
    is_saved, may_end, remove = threading.Event(), threading.Event(), Journal.remove_parts_before

    def wait_and_remove(journal: Journal, n_examples: int) -> None:
        is_saved.set()
        assert may_end.wait(60)
        remove(journal, n_examples)

    monkeypatch.setattr(Journal, "remove_parts_before", wait_and_remove)
    closing = threading.Thread(target=before.close)
    closing.start()
    try:
        assert is_saved.wait(60)
        monkeypatch.setattr(ModelLock.__init__, "__defaults__", (0.3,))
        with pytest.raises(ModelFileError, match=r"learns into this model \(labeltree serve --learn\)"):
            Service(settings(path))
    finally:
        may_end.set()
        closing.join()
    check_learned_once(path)


def test_a_model_that_is_replaced_while_it_is_loaded_is_loaded_again(
    path: Path, before: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_slowly(directory: Path, *options: Any) -> Any:
        monkeypatch.undo()
        model = load(directory, *options)
        before.close()
        return model

    monkeypatch.setattr("labeltree.serving.registry.load", load_slowly)
    check_learned_once(path)


def test_a_model_that_is_replaced_before_its_journal_is_locked_is_loaded_again(
    path: Path, before: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock_late(directory: Path, purpose: str) -> ModelLock:
        monkeypatch.undo()
        before.close()
        return ModelLock(directory, purpose)

    monkeypatch.setattr("labeltree.serving.service.ModelLock", lock_late)
    check_learned_once(path)
