"""Readable names of labels on the page, and bars that leave the numbers readable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Visit, serve
from tests.labelled_texts import labelled_texts

from labeltree import LabelTreeClassifier
from labeltree.text import Tagger

TEXT = "A boat in the harbour, the tide and a cat"


@pytest.fixture(scope="module")
def named_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a model whose labels are URIs; all but one have a name."""
    folder = tmp_path_factory.mktemp("named")
    texts, labels = labelled_texts()
    coded = [[f"http://x/{label}" for label in row] for row in labels]
    tagger = Tagger(LabelTreeClassifier(arity=2, max_leaves=2, frequent_share=1, random_state=0))
    tagger.fit(texts, coded)
    tagger.label_names_ = {
        label: f"<b>{label[9:].upper()}</b>" for label in tagger.classes_ if label != "http://x/city"
    }
    path: Path = folder / "tags"
    tagger.save(path)
    with serve({"tags": path}, folder / "log") as server:
        yield server.url


@pytest.fixture
def named(browser: Browser, named_url: str) -> Iterator[Page]:
    with browser.new_context(base_url=named_url, viewport={"width": 1280, "height": 900}) as context:
        visit = Visit(context.new_page(), named_url)
        visit.page.goto(named_url)
        expect(visit.page.get_by_role("treeitem").first).to_be_visible()
        yield visit.page
        assert visit.complaints == []


def test_names_are_shown_with_the_label_beside_them(named: Page) -> None:
    named.fill("#text", TEXT)
    first = named.locator(".tag .name").first
    expect(first).to_have_text("<b>SEA</b> http://x/sea")
    expect(first.locator(".code")).to_have_text("http://x/sea")
    expect(named.locator(".tag .name", has_text="http://x/city")).to_have_text("http://x/city")
    expect(named.locator(".tree")).to_contain_text("<b>SEA</b>")
    named.locator(".tag").first.click()
    expect(named.locator("#why-title")).to_have_text("Why <b>SEA</b> http://x/sea")
    expect(named.locator(".step .where .name").last).to_have_text("<b>SEA</b> http://x/sea")


def test_labels_are_found_by_name_and_shown_in_the_tree(named: Page) -> None:
    named.locator(".search input").fill("b>anim")
    option = named.locator(".found li")
    expect(option.locator(".name")).to_have_text("<b>ANIMAL</b> http://x/animal")
    option.click()
    expect(named.locator(".sought .name")).to_have_text("<b>ANIMAL</b> http://x/animal")


def test_the_end_of_a_bar_does_not_cross_the_numbers(page: Page) -> None:
    page.fill("#text", TEXT)
    expect(page.locator(".tag").first).to_be_visible()
    page.wait_for_timeout(250)  # bars take a while to move
    bars = page.locator(".tag").evaluate_all(
        """tags => tags.map(tag => {
          const fill = tag.querySelector(".fill"), style = getComputedStyle(fill);
          const [bar, number] = [fill, tag.querySelector(".number")].map(part => part.getBoundingClientRect());
          const thickness = parseFloat(style.borderBottomWidth);
          return {
            sides: [style.borderLeftWidth, style.borderRightWidth, style.borderTopWidth],
            isMarked: thickness > 0,
            isBelow: bar.bottom - thickness >= number.bottom,
          };
        })"""
    )
    assert bars
    for bar in bars:
        assert bar == {"sides": ["0px", "0px", "0px"], "isMarked": True, "isBelow": True}
