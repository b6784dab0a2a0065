"""Every link within the documentation leads to a file that exists, and to a heading that is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import DOCS, ROOT, anchor_of, anchors, links, name_of, pages


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            broken.append(f"{link}: there is no such file")
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target)):
            broken.append(f"{link}: there is no such heading")
        elif not target.is_relative_to(ROOT):
            broken.append(f"{link}: outside of the repository")
    assert not broken, "\n".join([name_of(page), *broken])


def test_every_page_is_in_the_contents() -> None:
    contents = DOCS / "contents.md"
    linked = {(DOCS / link).resolve() for link in links(contents)}
    missing = {page for page in pages() if page.is_relative_to(DOCS)} - linked - {contents}
    assert not {name_of(page) for page in missing if page.parent.name != "reference"}
    assert DOCS / "reference" / "index.md" in linked


def test_there_are_links() -> None:
    assert sum(len(links(page)) for page in pages()) > 200


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("How it works", "how-it-works"),
        ("`--tune`, or [tune](tuning.md)?", "--tune-or-tune"),
        ("One example: AdaGrad, SGD", "one-example-adagrad-sgd"),
    ],
)
def test_anchors_are_those_of_the_code_host(heading: str, anchor: str) -> None:
    assert anchor_of(heading) == anchor
