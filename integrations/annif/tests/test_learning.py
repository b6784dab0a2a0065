"""`annif learn`, with online label trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from annif.cli_util import open_documents
from annif.corpus import Document
from annif.exception import NotSupportedException, OperationFailedException
from annif.project import AnnifProject
from opening import Annif, open_project
from things import NEW, WORDS, line, uri

from labeltree.model_file.lock import ModelLock

MODEL = Path("data", "projects", "online", "labeltree-model")


def lesson(path: str, subject: str) -> str:
    """Write documents that say of another subject's words that they are about this one."""
    rows = (
        f"{row.partition(chr(9))[0]}\t<{uri(NEW)}>\n" for row in (line(subject, seed=n) for n in range(40))
    )
    Path(path).write_text("".join(rows))
    return path


def learn(project: AnnifProject, path: str) -> None:
    project.learn(open_documents((path,), project.subjects, "en", None))


def new_score(project: AnnifProject, subject: str) -> float:
    hits = project.suggest([Document(WORDS[subject])])[0]
    return max((hit.score for hit in hits if project.subjects[hit.subject_id].uri == uri(NEW)), default=0.0)


def test_an_online_project_learns_a_new_subject(run: Annif) -> None:
    run("train", "online", "train.tsv")
    text = WORDS["wine"]
    assert uri(NEW) not in run("suggest", "online", text=text).output
    run("learn", "online", lesson("lesson.tsv", "wine"))
    assert uri(NEW) in run("suggest", "online", "--limit", "2", text=text).output
    # Training starts anew, from the same documents as before.
    run("train", "online", "--cached")
    assert uri(NEW) not in run("suggest", "online", text=text).output


def test_a_project_that_is_not_online_refuses(run: Annif) -> None:
    run("learn", "tree", "more.tsv", fails=True)
    run("train", "tree", "train.tsv")
    told = run("learn", "tree", "more.tsv", fails=True).output
    assert "Not supported project 'tree'" in told
    assert "set online=true and train the project" in told


def test_lessons_without_documents_are_refused(run: Annif) -> None:
    run("train", "online", "train.tsv")
    Path("none.tsv").write_text("")
    assert "expected documents, got none" in run("learn", "online", "none.tsv", fails=True).output


def test_no_lesson_of_another_process_is_lost(run: Annif, monkeypatch: pytest.MonkeyPatch) -> None:
    run("train", "online", "train.tsv")
    first, second = open_project("online"), open_project("online")
    for project in (first, second):
        project.initialize()
    n_before = first.backend._load().n_examples_
    lesson("wine.tsv", "wine")
    lesson("ship.tsv", "ship")
    vectors = second.backend.vectors

    def vectors_meanwhile(corpus: object) -> object:
        found = vectors(corpus)
        learn(first, "wine.tsv")
        return found

    monkeypatch.setattr(second.backend, "vectors", vectors_meanwhile)
    learn(second, "ship.tsv")
    for project in (first, second):
        assert min(new_score(project, "wine"), new_score(project, "ship")) > 0.2
        assert project.backend._ready().model.n_examples_ == n_before + 80


def test_a_locked_model_is_not_changed(run: Annif, monkeypatch: pytest.MonkeyPatch) -> None:
    run("train", "online", "train.tsv")
    monkeypatch.setattr("labeltree_annif.backend._WAIT_SECONDS", 0.0)
    project = open_project("online")
    before = (MODEL / "model.json").read_bytes()
    with (
        ModelLock(MODEL, "tests this model"),
        pytest.raises(OperationFailedException, match="tests this model"),
    ):
        learn(project, lesson("wine.tsv", "wine"))
    assert (MODEL / "model.json").read_bytes() == before
    assert new_score(project, "wine") == 0


def test_a_model_of_another_kind_is_named(run: Annif) -> None:
    run("train", "online", "train.tsv", "-b", "labeltree.online=false")
    with pytest.raises(NotSupportedException, match="online=false"):
        learn(open_project("online"), "more.tsv")
