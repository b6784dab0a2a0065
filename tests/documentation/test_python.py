"""The Python code of the pages runs from top to bottom, or at least has no errors of syntax."""

from __future__ import annotations

import ast
import doctest
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.documentation.page_data import PREPARED
from tests.documents import documents
from tests.labelled_texts import labelled_texts
from tests.pages import DOCS, code_blocks, code_spans, name_of, pages

import labeltree
from labeltree import LabelTreeClassifier
from labeltree.data import write_xmlc
from labeltree.text import Tagger, TextVectorizer, WordVectorizer
from labeltree.trees import LabelTree, Taxonomy

#: Pages with code that does not run here, and why. Tests of their own run that of the README and of some others.
NOT_RUN = {
    "README.md": "tests/unit/test_readme.py",
    "docs/systems.md": "tests/documentation/test_systems.py",
    "docs/serving.md": "tests/documentation/test_serving.py",
    "docs/start.md": "tests/documentation/test_start.py",
    "docs/tutorial.md": "tests/documentation/test_tutorial.py",
    "docs/datasets.md": "it needs a network",
    "docs/deep.md": "it needs torch",
    "docs/scaling.md": "it needs a cluster",
    "experiments/README.md": "a part of a script",
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def python_blocks(page: Path) -> list[tuple[str, str]]:
    return [(language, code) for language, code in code_blocks(page) if language in ("python", "pycon")]


#: Without the page that shows a part of a file of Annif.
PAGES = [page for page in pages() if python_blocks(page) and "integrations" not in page.parts]


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    """What the pages take for granted: data by their usual names, and trained models."""
    X, y = documents(1400, n_labels=40)
    texts, tags = labelled_texts(200)
    given = {"X": X, "y": y, "texts": texts, "tags": tags, "labels": tags}
    for part, rows in {"train": slice(1100), "valid": slice(1100, 1250), "test": slice(1250, None)}.items():
        given |= {f"X_{part}": X[rows], f"y_{part}": y[rows]}
    model = LabelTreeClassifier(random_state=0).fit(given["X_train"], given["y_train"])
    given |= {
        "model": model,
        "old": model,
        "new": model,
        "probabilities": model.predict_proba(given["X_valid"]),
    }
    given |= {"label_counts": y.getnnz(axis=0), "n_rows": y.shape[0]}
    return {**given, "np": np, "Path": Path, "LabelTreeClassifier": LabelTreeClassifier, "Tagger": Tagger}


@pytest.fixture
def names(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names, and an empty directory with a data file."""
    monkeypatch.chdir(tmp_path)
    write_xmlc("train.txt", given["X_train"], given["y_train"])
    return dict(given)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_parses(page: Path) -> None:
    for language, code in python_blocks(page):
        if language == "python":
            compile(code, name_of(page), "exec")
        else:
            assert doctest.DocTestParser().get_examples(code), code


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) not in NOT_RUN], ids=name_of)
def test_python_runs(page: Path, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = PREPARED.get(name_of(page))
    names = names if prepare is None else prepare(names, monkeypatch)
    for language, code in python_blocks(page):
        if language == "python":
            exec(compile(code, name_of(page), "exec"), names)
        else:
            test = doctest.DocTestParser().get_doctest(code, names, name_of(page), name_of(page), 0)
            told: list[str] = []
            failed = (
                doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append, clear_globs=False).failed
            )
            names |= test.globs
            assert failed == 0, "".join(told)


def test_pages_that_do_not_run_exist() -> None:
    assert (
        set(NOT_RUN) | set(PREPARED) <= {name_of(page) for page in pages()}
        or not (DOCS.parent / "experiments").exists()
    )


def calls_in_sentences(page: Path) -> list[tuple[str, set[str]]]:
    """Return the classes of this library that a page calls within sentences, and the names of the arguments."""
    found = []
    for span in code_spans(page):
        try:
            parsed = ast.parse(span.replace("…", "..."))
        except SyntaxError:
            continue
        for call in ast.walk(parsed):
            if isinstance(call, ast.Call) and (name := ast.unparse(call.func).removeprefix("labeltree.")):
                found.append((name, {word.arg for word in call.keywords if word.arg is not None}))
    return found


#: What pages call by a short name, with the arguments that it takes. Presets take those of their class.
CALLABLES: dict[str, Any] = {
    **{name: getattr(labeltree, name) for name in labeltree.__all__ if name.endswith("Classifier")},
    **{cls.__name__: cls for cls in (Tagger, TextVectorizer, WordVectorizer, Taxonomy, LabelTree)},
    **{
        f"model.{name}": getattr(LabelTreeClassifier, name)
        for name in ("predict_topk", "predict_proba", "decide_for")
    },
}


@pytest.mark.parametrize("page", [page for page in pages() if page.name != "CHANGELOG.md"], ids=name_of)
def test_calls_have_arguments_that_exist(page: Path) -> None:
    for name, arguments in calls_in_sentences(page):
        cls, _, preset = name.partition(".")
        called = CALLABLES.get(name)
        if called is None and preset.isidentifier() and cls in CALLABLES:
            assert hasattr(CALLABLES[cls], preset), f"{name} does not exist"
            takes_others = any(
                parameter.kind is parameter.VAR_KEYWORD
                for parameter in signature(getattr(CALLABLES[cls], preset)).parameters.values()
            )
            called = CALLABLES[cls] if takes_others else getattr(CALLABLES[cls], preset)
        if called is not None:
            unknown = arguments - set(signature(called).parameters)
            assert not unknown, f"{name_of(page)}: {name} has no {', '.join(sorted(unknown))}"


def test_there_are_calls_in_sentences() -> None:
    named = [name for page in pages() for name, arguments in calls_in_sentences(page) if arguments]
    assert sum(name in CALLABLES for name in named) > 50
