"""A browser, servers as users start them, and a page that says at the end what went wrong behind the scenes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.labelled_texts import labelled_texts
from tests.servers import ServerProcess

from labeltree import LabelTreeClassifier
from labeltree.text import Tagger, TextVectorizer

try:
    from playwright.sync_api import Browser, Page, expect, sync_playwright
except ImportError:  # the tests then say so
    sync_playwright = None
    collect_ignore_glob = ["test_*.py"]

#: Whoever must not do without these tests sets it.
REQUIRED = "LABELTREE_REQUIRE_BROWSER"

HOSTILE = '<img src="x" onerror="window.hacked = true">'

#: More than JavaScript's numbers can hold.
LARGE_LABEL = 2**60 + 1

LONGEST_TEXT = 2000


def find_browser() -> str | None:
    """Where there is a Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("LABELTREE_BROWSER") or next(filter(None, map(shutil.which, names)), None)


def what_is_missing() -> str | None:
    if sync_playwright is None:
        return "the package playwright is not installed"
    return None if find_browser() else "there is no chromium (on Debian: apt-get install chromium)"


def pytest_collection_finish() -> None:
    missing = what_is_missing()
    if missing and os.environ.get(REQUIRED):
        pytest.exit(f"the page cannot be tested: {missing}, and {REQUIRED} is set", returncode=1)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    missing = what_is_missing()
    if missing:
        terminalreporter.section("THE PAGE WAS NOT TESTED", sep="!", red=True, bold=True)
        terminalreporter.line(f"No test of tests/browser was run: {missing}.", red=True)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    missing = what_is_missing()
    if missing:
        pytest.skip(missing)
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        # The sandbox needs rights that containers rarely have; only our own page is shown.
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two taggers that do not agree about all labels, and a model of numbers with very many children of one node."""
    folder = tmp_path_factory.mktemp("models")
    texts, labels = labelled_texts()
    names = {"animal": HOSTILE}
    deep = LabelTreeClassifier(arity=2, max_leaves=2, frequent_share=1, random_state=0)
    first = [[names.get(label, label) for label in row] for row in labels]
    Tagger(deep).fit(texts, first).save(folder / "words")
    names = {"animal": HOSTILE, "food": "kitchen"}
    second = [[names.get(label, label) for label in row] for row in labels]
    pairs = TextVectorizer(ngram_range=(1, 2))
    Tagger(LabelTreeClassifier(n_trees=2, random_state=0), pairs).fit(texts, second).save(folder / "pairs")
    n = 120
    wide = LabelTreeClassifier(arity=n, max_leaves=n, random_state=0)
    wide.fit(np.eye(n, dtype=np.float32), [[label] for label in (*range(n - 1), LARGE_LABEL)])
    wide.save(folder / "numbers")
    return {name: folder / name for name in ("words", "pairs", "numbers")}


def serve(models: dict[str, Path], log: Path, *options: object) -> ServerProcess:
    words = (f"{name}={path}" for name, path in models.items())
    return ServerProcess(*words, "--max-text", LONGEST_TEXT, *options, log=log)


@pytest.fixture(scope="package")
def url(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that anybody may ask."""
    with serve(models, tmp_path_factory.mktemp("server") / "log") as server:
        yield server.url


@pytest.fixture(scope="package")
def closed_url(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that wants a token for everything."""
    with serve(models, tmp_path_factory.mktemp("server") / "log", "--token-for-all") as server:
        yield server.url


class Visit:
    """A page of the browser, and all that should not have happened in it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.complaints: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._note_elsewhere)

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _note_elsewhere(self, request: Any) -> None:
        if not request.url.startswith(f"{self.url}/"):
            self.complaints.append(f"asked {request.url}")

    def forgive(self, part: str) -> None:
        """Forget complaints that a test provoked; there must have been some."""
        left = [complaint for complaint in self.complaints if part not in complaint]
        assert len(left) < len(self.complaints), self.complaints
        self.complaints = left


@pytest.fixture
def visit(browser: Browser, url: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """An empty page in a fresh session; parametrize it with options of the browser's context."""
    options = getattr(request, "param", {"viewport": {"width": 1280, "height": 900}})
    with browser.new_context(base_url=url, **options) as context:
        visit = Visit(context.new_page(), url)
        yield visit
        assert visit.complaints == []


@pytest.fixture
def page(visit: Visit) -> Page:
    """The page, with its models loaded."""
    visit.page.goto(visit.url)
    expect(visit.page.get_by_role("treeitem").first).to_be_visible()
    return visit.page
