"""Projects of the backend: training, suggestions and evaluation."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import annif.backend
import labeltree_annif
import pytest
from annif.corpus import Document
from annif.exception import NotInitializedException, OperationFailedException
from labeltree_annif.backend import LabelTreeBackend
from opening import Annif, open_project
from things import lines, uri

MODEL = Path("data", "projects", "tree", "labeltree-model")


def suggested(output: str) -> list[str]:
    return re.findall(r"<http://example.org/(\w+)>", output)


def score(run: Annif, project: str, metric: str = "F1@5") -> float:
    found = re.search(rf"^{metric}:\s+([\d.]+)", run("eval", project, "more.tsv").output, re.MULTILINE)
    assert found is not None
    return float(found[1])


def digest(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())  # they contain hashes of the contents
    return hashlib.sha256(" ".join([*names, (folder / "model.json").read_text()]).encode()).hexdigest()


def test_it_is_registered_when_imported() -> None:
    assert annif.backend.get_backend("labeltree") is LabelTreeBackend
    assert annif.backend._backend_fns["labeltree"] is labeltree_annif._labeltree


@pytest.mark.parametrize("project", ["tree", "online"])
def test_train_suggest_and_eval(run: Annif, project: str) -> None:
    assert "False" in run("list-projects").output
    run("suggest", project, text="a purring kitten", fails=True)
    run("train", project, "train.tsv")
    assert "Trained:           True" in run("show-project", project).output
    assert suggested(run("suggest", project, "--limit", "1", text="Whiskers! The kitten purrs.").output) == [
        "cat"
    ]
    assert len(suggested(run("suggest", project, "--limit", "3", text="an anchor").output)) == 3
    assert score(run, project, "NDCG") > 0.95
    assert score(run, project, "Precision@1") > 0.95


def test_scores_are_probabilities_and_texts_without_known_words_get_none(run: Annif) -> None:
    run("train", "tree", "train.tsv")
    project = open_project("tree")
    known, unknown, empty = project.suggest([Document("a loaf of flour"), Document("xyzzy"), Document("")])
    assert {project.subjects[hit.subject_id].uri for hit in known} >= {uri("bread")}
    assert all(0 < hit.score <= 1 for hit in known)
    assert (len(unknown), len(empty)) == (0, 0)


def test_cached_training_uses_other_parameters(run: Annif) -> None:
    told = run("train", "tree", "--cached", fails=True).output
    assert "labeltree-train.npz not found" in told
    run("train", "tree", "train.tsv")
    first = digest(MODEL)
    run("train", "tree", "--cached")
    assert digest(MODEL) == first, "the same data and parameters give the same model"
    run(
        "train",
        "tree",
        "--cached",
        "--jobs",
        "1",
        "-b",
        "labeltree.n_trees=2",
        "-b",
        "labeltree.loss=logistic",
    )
    assert digest(MODEL) != first
    model = open_project("tree").backend._load()
    assert (model.n_trees, model.loss) == (2, "logistic")
    assert score(run, "tree") > 0.4


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (["C=x"], "'C' must be 'auto'"),
        (["arity=2.5"], "'arity' must be an integer"),
        (["loss=hinges"], "'loss' must be one of"),
        (["policy=random"], "a project with online=false has no parameter policy"),
        (["online=true", "max_leaves=20"], "a project with online=true has no parameter max_leaves"),
    ],
)
def test_wrong_parameters_are_refused_before_training(run: Annif, parameters: list[str], told: str) -> None:
    options = [option for parameter in parameters for option in ("-b", f"labeltree.{parameter}")]
    output = run("train", "tree", "train.tsv", *options, fails=True).output
    assert "Misconfigured project 'tree'" in output
    assert told in output
    assert not MODEL.exists()


def test_parameters_of_toml_have_types(run: Annif) -> None:
    common = 'language="en"\nbackend="labeltree"\nanalyzer="simple"\nvocab="things"\n'
    Path("projects.toml").write_text(f"[typed]\n{common}C=0.5\nnormalize=false\nn_trees=2\n")
    Path("projects.cfg").rename("old.cfg")
    run("train", "typed", "train.tsv")
    model = open_project("typed", "projects.toml").backend._load()
    assert (model.C, model.normalize, model.n_trees) == (0.5, False, 2)


def test_documents_without_words_or_subjects_are_left_out(run: Annif) -> None:
    Path("some.tsv").write_text(f"{lines(0, 3)}a kitten\t\n123\t<{uri('cat')}>\n")
    output = run("train", "tree", "some.tsv").output
    assert "leaving out 2 documents" in output
    Path("none.tsv").write_text("a kitten\t\na puppy\t\n")
    assert "none of the 2 documents has both" in run("train", "tree", "none.tsv", fails=True).output
    Path("numbers.tsv").write_text(f"12 34\t<{uri('cat')}>\n")
    assert "empty vocabulary" in run("train", "tree", "numbers.tsv", fails=True).output
    Path("empty.tsv").write_text("")
    assert "no documents" in run("train", "tree", "empty.tsv", fails=True).output


def test_one_subject_is_enough(run: Annif) -> None:
    Path("one.tsv").write_text(f"a kitten purrs\t<{uri('cat')}>\nwhiskers of a kitten\t<{uri('cat')}>\n")
    run("train", "tree", "one.tsv")
    assert suggested(run("suggest", "tree", text="a kitten").output) == ["cat"]


def test_an_interrupted_training_is_noticed(run: Annif, monkeypatch: pytest.MonkeyPatch) -> None:
    run("train", "tree", "train.tsv")
    project = open_project("tree")
    project.initialize()
    Path("other.tsv").write_text(lines(5, 4) + f"completely different vocabulary\t<{uri('cat')}>\n")
    with monkeypatch.context() as patch:
        patch.setattr("labeltree_annif.backend.save", interrupt)
        with pytest.raises(KeyboardInterrupt):
            open_project("tree").train(corpus(project, "other.tsv"))
    # A process that has loaded the project keeps its model and its vectorizer; a new one says what is wrong.
    assert len(project.suggest([Document("a kitten purrs")])[0]) > 0
    with pytest.raises(NotInitializedException, match="train the project again"):
        open_project("tree").suggest([Document("a kitten")])
    run("train", "tree", "--cached")
    assert suggested(run("suggest", "tree", "-l", "1", text="a kitten").output) == ["cat"]


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def corpus(project: object, path: str) -> object:
    from annif.cli_util import open_documents

    return open_documents((path,), project.subjects, "en", None)  # type: ignore[attr-defined]


def test_a_damaged_model_is_refused(run: Annif) -> None:
    run("train", "tree", "train.tsv")
    (MODEL / "model.json").write_text("{")
    assert (
        "Operation failed backend 'labeltree'" in run("suggest", "tree", text="a kitten", fails=True).output
    )
    with pytest.raises(OperationFailedException, match="not JSON"):
        open_project("tree").backend.initialize()


def test_threads_share_a_project(run: Annif) -> None:
    run("train", "tree", "train.tsv")
    project = open_project("tree")
    texts = ["a kitten purrs", "an anchor on deck", "flour and yeast", "a locomotive"] * 8

    def best(text: str) -> str:
        hits = list(project.suggest([Document(text)])[0])
        return str(project.subjects[hits[0].subject_id].uri)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(best, texts))
    assert found == [uri(name) for name in ("cat", "ship", "bread", "train")] * 8


def test_a_process_notices_that_another_has_trained(run: Annif) -> None:
    Path("dogs.tsv").write_text("".join(row for row in lines(0, 6).splitlines(True) if "dog" in row))
    run("train", "tree", "dogs.tsv")
    project = open_project("tree")
    assert len(project.suggest([Document("an anchor")])[0]) == 0
    run("train", "tree", "train.tsv")
    hits = list(project.suggest([Document("an anchor")])[0])
    assert project.subjects[hits[0].subject_id].uri == uri("ship")
