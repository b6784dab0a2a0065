"""Saving is atomic and does no harm: after any interruption there is the old model or the new one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.small_models import small_data, small_model

from labeltree import (
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    ModelFileError,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    PfastreXMLClassifier,
)
from labeltree.model_file import document, load

X, _ = small_data()


@pytest.fixture(scope="module")
def old():
    return small_model(seed=0)


@pytest.fixture(scope="module")
def new():
    return small_model(seed=1)


def is_model(directory, model):
    found, expected = load(directory, verify=True).predict_topk(X), model.predict_topk(X)
    return np.array_equal(found.probabilities, expected.probabilities)


class Interruption(BaseException):
    pass


class Interrupter:
    """Counts the calls that change the disk and interrupts one, before or after it has done its work."""

    def __init__(self, monkeypatch, at=0, before=True):
        self.calls, self.at, self.before = 0, at, before
        for name in ("replace", "fsync", "unlink"):
            monkeypatch.setattr(os, name, self.wrap(getattr(os, name)))

    def wrap(self, call):
        def interrupted(*arguments, **keywords):
            self.calls += 1
            if self.calls == self.at and self.before:
                raise Interruption
            answer = call(*arguments, **keywords)
            if self.calls == self.at:
                raise Interruption
            return answer

        return interrupted


def test_a_new_model_replaces_the_old_and_its_files(old, new, tmp_path):
    old.save(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    new.save(tmp_path)
    assert is_model(tmp_path, new)
    left = {path.name for path in tmp_path.iterdir()}
    assert len(left) == len(names)
    assert left & names == {"model.json"}


def test_a_file_of_the_same_content_stays(old, tmp_path):
    old.save(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    old.save(tmp_path, weights="int8")
    left = {path.name for path in tmp_path.iterdir()}
    assert {name.split("-")[0] for name in left & names} == {"model.json", "labels"}


@pytest.mark.parametrize("before", [True, False])
def test_an_interruption_anywhere_leaves_the_old_model_or_the_new(old, new, tmp_path, before):
    with pytest.MonkeyPatch.context() as monkeypatch:
        counter = Interrupter(monkeypatch)
        old.save(tmp_path / "first")
        new.save(tmp_path / "first")
        n_calls = counter.calls
    assert n_calls > 20
    seen = set()
    for at in range(1, n_calls + 1):
        directory = tmp_path / f"{at}"
        with pytest.MonkeyPatch.context() as monkeypatch:
            Interrupter(monkeypatch, at, before)
            with contextlib.suppress(Interruption):
                old.save(directory)
                new.save(directory)
                pytest.fail("nothing was interrupted")
        if not directory.exists():  # the first save removes what it has made
            seen.add("nothing")
            continue
        if not (directory / "model.json").exists():
            seen.add("nothing")
            assert list(directory.iterdir()) == []
            new.save(directory)
            continue
        seen.add("old" if is_model(directory, old) else "new")
        assert is_model(directory, old) or is_model(directory, new)
        new.save(directory)
        assert is_model(directory, new)
        assert len(list(directory.iterdir())) == 4
    assert seen == {"nothing", "old", "new"}


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from tests.small_models import small_model

old, new = small_model(seed=0), small_model(seed=1)
at = 0
finished = False
while not finished:
    at += 1
    directory = os.path.join(sys.argv[1], str(at))
    old.save(directory)
    child = os.fork()
    if child == 0:
        calls = 0
        def killing(call):
            def killed(*arguments, **keywords):
                global calls
                calls += 1
                if calls == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **keywords)
            return killed
        for name in ("replace", "fsync", "unlink"):
            setattr(os, name, killing(getattr(os, name)))
        new.save(directory)
        os._exit(0)
    finished = os.waitpid(child, 0)[1] == 0
print(at)
"""


def test_a_kill_anywhere_leaves_the_old_model_or_the_new(old, new, tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path), str(Path(__file__).parents[1])]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    n_saves = int(process.stdout.split()[-1])
    assert n_saves > 10
    seen = []
    for at in range(1, n_saves + 1):
        directory = tmp_path / f"{at}"
        assert is_model(directory, old) or is_model(directory, new)
        seen.append(is_model(directory, new))
        # The next save removes what the killed one has left.
        new.save(directory)
        assert is_model(directory, new)
        assert len(list(directory.iterdir())) == 4
    assert seen == sorted(seen)
    assert not seen[0]
    assert seen[-1]


def test_a_full_disk_leaves_the_old_model(old, new, tmp_path, monkeypatch):
    old.save(tmp_path)
    before = sorted(tmp_path.iterdir())

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("labeltree.model_file.directory.write_tensors", full)
    with pytest.raises(
        OSError, match="No space left on device for the model: nothing was replaced; make room"
    ) as raised:
        new.save(tmp_path)
    assert (raised.value.errno, raised.value.filename) == (28, str(tmp_path))
    assert sorted(tmp_path.iterdir()) == before
    assert is_model(tmp_path, old)


def test_whoever_has_the_old_model_open_keeps_it(old, new, tmp_path):
    old.save(tmp_path)
    opened = load(tmp_path)
    new.save(tmp_path)
    assert np.array_equal(opened.predict_topk(X).probabilities, old.predict_topk(X).probabilities)
    opened.save(tmp_path)  # and may even put it back
    assert is_model(tmp_path, old)
    load(tmp_path).save(tmp_path)
    assert is_model(tmp_path, old)


def test_a_reader_that_is_overtaken_by_a_save_reads_the_new_model(old, new, tmp_path, monkeypatch):
    old.save(tmp_path)
    open_inside = document.open_inside

    def overtaken(directory, name):
        monkeypatch.setattr(document, "open_inside", open_inside)
        new.save(tmp_path)  # between the look into model.json and the look into the first file
        return open_inside(directory, name)

    monkeypatch.setattr(document, "open_inside", overtaken)
    assert is_model(tmp_path, new)


def test_other_things_in_the_directory_are_left_alone(old, new, tmp_path):
    old.save(tmp_path)
    for name in ("README.md", "tree-0-mine.safetensors", ".saving-x.tmp"):
        (tmp_path / name).write_text("mine")
    new.save(tmp_path)
    assert is_model(tmp_path, new)
    for name in ("README.md", "tree-0-mine.safetensors", ".saving-x.tmp"):
        assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("content", [None, "{}", "not JSON", '{"format": "other"}'])
def test_a_directory_of_something_else_is_refused(old, tmp_path, content):
    if content is None:
        (tmp_path / "thesis.tex").write_text("mine")
    else:
        (tmp_path / "model.json").write_text(content)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match="exists and is not a model of labeltree; nothing was written"):
        old.save(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_is_refused(old, tmp_path):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(ModelFileError, match="is not a directory"):
        old.save(tmp_path / "model")
    assert (tmp_path / "model").read_text() == "mine"


def test_a_model_of_a_newer_version_may_be_replaced(old, tmp_path):
    (tmp_path / "model.json").write_text('{"format": "labeltree", "format_version": 99}')
    old.save(tmp_path)
    assert is_model(tmp_path, old)


def test_files_can_be_read_by_those_who_may_read_the_directory(old, tmp_path):
    old.save(tmp_path / "a")
    mask = os.umask(0)
    os.umask(mask)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()} == {0o666 & ~mask}


@pytest.mark.parametrize(
    ("cls", "wrong"),
    [
        (LabelTreeClassifier, {"C": -1}),
        (LabelTreeClassifier, {"search": "nonsense"}),
        (LabelTreeClassifier, {"n_jobs": 0}),
        (OneVsRestClassifier, {"max_iter": 0}),
        (HierarchicalSoftmaxClassifier, {"beam": 0}),
        (PfastreXMLClassifier, {"gamma": -1.0}),
        (OnlineLabelTreeClassifier, {"arity": -1}),
    ],
)
def test_a_model_that_could_not_be_opened_again_is_not_saved(cls, wrong, old, tmp_path):
    old.save(tmp_path / "model")
    model = cls(random_state=0).fit(*small_data())
    right = {name: model.get_params()[name] for name in wrong}
    model.set_params(**wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model.save(tmp_path / "model")
    assert is_model(tmp_path / "model", old)
    model.set_params(**right).save(tmp_path / "model")
    assert is_model(tmp_path / "model", model)


class TreeThatOverflowed:
    """An online tree whose weights are no numbers any more."""

    def __init__(self, tree, name, value):
        self.tree, self.name, self.value = tree, name, value

    def __getattr__(self, name):
        return getattr(self.tree, name)

    def state(self):
        state = self.tree.state()
        state[self.name][-1] = self.value
        return state


@pytest.mark.parametrize(
    ("name", "value"), [("weight", np.nan), ("weight", -np.inf), ("square", -1.0), ("square", np.nan)]
)
def test_an_online_model_that_load_would_refuse_is_not_saved(tmp_path, name, value):
    path = tmp_path / "online"
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit([{"a": 1.0}, {"b": 1.0}], [["x"], ["y"]])
    model.save(path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    model.partial_fit([{"a": 1.0}], [["z"]])
    model._model.trees[0] = TreeThatOverflowed(model._model.trees[0], name, value)
    with pytest.raises(ModelFileError, match=f"values in '{name}' that are not finite"):
        model.save(path)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    assert load(path).n_examples_ == 2


def test_sums_of_squares_may_be_infinite(tmp_path):
    """They make steps of length 0, and `load` accepts them."""
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit([{"a": 1.0}, {"b": 1.0}], [["x"], ["y"]])
    model._model.trees[0] = TreeThatOverflowed(model._model.trees[0], "square", np.inf)
    model.save(tmp_path / "online")
    assert load(tmp_path / "online").n_examples_ == 2


def test_a_model_that_load_would_refuse_is_not_saved(old, tmp_path):
    old.save(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    broken = small_model(seed=1)
    broken.label_counts_[0] = 10**9
    with pytest.raises(ModelFileError, match=r"could not be opened again, so nothing was written: .*labels"):
        broken.save(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
