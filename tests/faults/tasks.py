"""Tasks that write files, to be disturbed: what is there before, what is done, and what can be seen afterwards."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.command_line import write_texts
from tests.small_models import small_data, small_model

from labeltree import FastXMLClassifier, LabelTreeClassifier, OnlineLabelTreeClassifier, mix
from labeltree.cli import main
from labeltree.data import (
    Store,
    StoreWriter,
    import_files,
    write_libsvm,
    write_word_vectors,
    write_xmlc,
)
from labeltree.data.store import number_files, text_files, writer
from labeltree.model_file import load
from labeltree.model_file.journal_lines import Lesson
from labeltree.model_file.lock import ModelLock
from labeltree.online.examples import features_of, labels_of
from labeltree.online.journaled_model import JournaledModel
from labeltree.text import Tagger
from labeltree.tuning import write_parameters

X, LABELS = small_data()
Y = [[int(name.rpartition(" ")[2]) for name in row] for row in LABELS]
MODEL, FILE, TOLD, STORE = "model", "file", "told", "store"


@dataclass(frozen=True)
class Task:
    """Something that replaces what is in a folder: a model or a file.

    `prepare` and `act` take the folder. `seen` returns what a reader sees there, None if there is nothing, and raises
    an exception if it is damaged.
    """

    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    seen: Callable[[Path], Any]


def seen_model(folder: Path) -> Any:
    """Return the document of a model that is complete and undamaged."""
    if not (folder / MODEL / "model.json").exists():
        return None
    load(folder / MODEL, verify=True)
    return (folder / MODEL / "model.json").read_bytes()


def seen_file(folder: Path) -> Any:
    """Return the content of a file."""
    found = [path for path in folder.iterdir() if path.name.startswith(FILE)]
    return found[0].read_bytes() if found else None


def nothing(folder: Path) -> None:
    """Prepare nothing."""


def saved(make: Callable[[int], Any]) -> tuple[Task, Task]:
    """Return the tasks that save a model over another, and to a new directory; the number tells the models apart."""
    models = [make(0), make(1)]

    def save(number: int) -> Callable[[Path], None]:
        return lambda folder: models[number].save(folder / MODEL)

    return Task(save(0), save(1), seen_model), Task(nothing, save(1), seen_model)


def online(seed: int) -> Any:
    return OnlineLabelTreeClassifier(random_state=seed).partial_fit(X, LABELS)


def tagger(seed: int) -> Any:
    texts = ["a boat at sea", "the sea", "cats and dogs", "an old dog"]
    return Tagger(LabelTreeClassifier(random_state=seed, arity=2)).fit(
        texts, [["sea"], [f"sea {seed}"], ["cat"], ["dog"]]
    )


def mixed(seed: int) -> Any:
    voting = FastXMLClassifier(n_trees=2, max_leaf=4, random_state=seed).fit(X, LABELS)
    return mix([small_model(seed), voting])


def command(*words: object) -> Callable[[Path], None]:
    """Return a task that runs `labeltree`; words that begin with ``@`` are paths in the folder."""

    def act(folder: Path) -> None:
        sys.argv = [
            "labeltree",
            *(str(folder / w[1:]) if (w := str(word))[:1] == "@" else w for word in words),
        ]
        try:
            main()
        except SystemExit as end:
            if end.code not in (0, None):
                raise OSError(f"exit code {end.code}") from end

    return act


def with_rows(folder: Path) -> None:
    y = np.zeros((len(Y), 12))
    for i, row in enumerate(Y):
        y[i, row] = 1
    write_xmlc(folder / "rows.txt", X, y)


def with_trained_model(folder: Path) -> None:
    with_rows(folder)
    LabelTreeClassifier(random_state=0).fit(X, Y).save(folder / MODEL)


def calibrate(folder: Path) -> None:
    """Change a model in place while its old files are mapped."""
    load(folder / MODEL).calibrate(X, Y, method="platt").save(folder / MODEL)


def with_online_model(folder: Path) -> None:
    OnlineLabelTreeClassifier(random_state=0).partial_fit([{"boat": 1.0}], [["sea"]]).save(folder / MODEL)


def learn(folder: Path) -> None:
    """Learn six examples as a server does, and save the model after three; tell of each that is safe."""
    path = folder / MODEL
    lock = ModelLock(path, "learns")
    with JournaledModel(load(path), path, lock) as opened, (folder / TOLD).open("ab", buffering=0) as told:
        for number in range(6):
            example = {"text": f"boat word{number}", "labels": [f"label {number}"]}
            opened.append([example], [Lesson(1)])
            told.write(b".")
            opened.model.partial_fit(features_of(opened.model, [example]), labels_of([example]))
            if number == 2:
                opened.save()


def seen_lessons(folder: Path) -> Any:
    """Return the labels that a model knows which is opened to learn again."""
    path = folder / MODEL
    lock = ModelLock(path, "learns", wait_seconds=0)
    with JournaledModel(load(path, verify=True), path, lock) as opened:
        return sorted(opened.model.classes_.tolist())


def importing(name: str, *options: str) -> Callable[[Path], None]:
    """Return the task that imports a file into a store, in small blocks that are made safe one by one."""
    act = command("data", "import", f"@{name}", "--to", f"@{STORE}", *options)

    def act_in_small_blocks(folder: Path) -> None:
        number_files.BLOCK_BYTES, text_files.BLOCK_BYTES = 3000, 600
        writer.CHECKPOINT_BYTES = 0
        act(folder)

    return act_in_small_blocks


def with_texts(folder: Path) -> None:
    write_texts(folder / "a.jsonl", 12, 0)


def with_store_of_texts(folder: Path) -> None:
    with_texts(folder)
    import_files(folder / "a.jsonl", folder / STORE)
    with_rows(folder)


def seen_replaced_store(folder: Path) -> Any:
    """Return the files of a store, after the next writer has done the rest of a replacement that was interrupted."""
    if (folder / STORE / ".replacement").exists():
        with contextlib.suppress(FileExistsError):
            StoreWriter(folder / STORE)
    return seen_store(folder)


def seen_store(folder: Path) -> Any:
    """Return the files of a store that is complete and undamaged."""
    path = folder / STORE
    if not (path / "store.json").exists():
        return None
    Store(path).verify()
    return {file.name: file.read_bytes() for file in path.glob("*.bin")}, (path / "store.json").read_bytes()


def written(name: str, write: Callable[[Path, int], None]) -> Task:
    """Return the task that writes a file over another one."""
    return Task(lambda folder: write(folder / name, 0), lambda folder: write(folder / name, 1), seen_file)


def make_tasks() -> dict[str, Task]:
    """Return all tasks by name."""
    tree, new_tree = saved(small_model)
    y = np.eye(3)
    vectors = np.ones((2, 3), dtype=np.float32)
    return {
        "save": tree,
        "save new": new_tree,
        "save online": saved(online)[0],
        "save mix": saved(mixed)[0],
        "save tagger": saved(tagger)[0],
        "calibrate": Task(with_trained_model, calibrate, seen_model),
        "train": Task(
            with_rows, command("train", "@rows.txt", "--model", f"@{MODEL}", "--random-state", 1), seen_model
        ),
        "decide": Task(
            with_trained_model,
            command("decide", f"@{MODEL}", "@rows.txt", "--metric", "macro_f1"),
            seen_model,
        ),
        "convert": Task(
            with_trained_model,
            command("convert", f"@{MODEL}", f"@{MODEL}", "--weights", "bfloat16"),
            seen_model,
        ),
        "learn": Task(with_online_model, learn, seen_lessons),
        "import rows": Task(with_rows, importing("rows.txt"), seen_store),
        "import texts": Task(with_texts, importing("a.jsonl"), seen_store),
        "import over": Task(with_store_of_texts, importing("rows.txt", "--overwrite"), seen_replaced_store),
        "xmlc": written(f"{FILE}.txt", lambda path, n: write_xmlc(path, y + n, y)),
        "xmlc.gz": written(f"{FILE}.txt.gz", lambda path, n: write_xmlc(path, y + n, y)),
        "libsvm.xz": written(f"{FILE}.svm.xz", lambda path, n: write_libsvm(path, y + n, y)),
        "word vectors": written(
            f"{FILE}.vec", lambda path, n: write_word_vectors(path, ["sea", f"boat{n}"], vectors)
        ),
        "parameters": written(f"{FILE}.json", lambda path, n: write_parameters(path, {"n_trees": n + 1})),
        "predict": Task(
            lambda folder: (with_trained_model(folder), (folder / FILE).write_text("old"))[0],
            command("predict", f"@{MODEL}", "@rows.txt", "--output", f"@{FILE}"),
            seen_file,
        ),
    }


def clear(folder: Path) -> None:
    """Empty a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
