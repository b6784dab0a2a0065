"""The tree of labels and its search, with the mouse and with keys."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from tests.browser.conftest import LARGE_LABEL


def open_options(page: Page) -> list[str]:
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_be_visible()
    return options.locator(".name").all_inner_texts()


def test_nodes_are_asked_for_when_they_are_opened(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator("#labels-count")).to_have_text("5 labels")
    node = page.locator("[aria-expanded=false][role=treeitem]").first
    n_labels = int(node.locator(".size").inner_text().split()[0])
    node.locator(".node").first.click()
    opened = page.locator("[aria-expanded=true][role=treeitem]").first
    expect(opened.get_by_role("treeitem")).to_have_count(2)
    assert len(asked) == 1
    for _ in range(n_labels):  # until all is open
        closed = opened.locator("[aria-expanded=false]")
        if closed.count():
            closed.first.locator(".node").first.click()
            expect(opened.locator("[aria-busy]")).to_have_count(0)
    expect(opened.locator("[role=treeitem]:not([aria-expanded]):not(.more)")).to_have_count(n_labels)
    n_asked = len(asked)
    opened.locator(".node").first.click()
    expect(opened.get_by_role("treeitem").locator("visible=true")).to_have_count(0)
    page.locator("#tree [aria-expanded=false] .node").first.click()
    assert len(asked) == n_asked  # what was open once is known


def test_counts_are_those_of_the_training_examples(page: Page) -> None:
    counts = page.request.get("v1/models/words/labels").json()["labels"]
    page.fill("#query", "sea")
    assert open_options(page) == ["sea"]
    wanted = next(one["count"] for one in counts if one["label"] == "sea")
    expect(page.locator("#found .count")).to_have_text(str(wanted))
    page.keyboard.press("Enter")
    expect(page.locator(".sought .count")).to_have_text(str(wanted))


def test_search_opens_the_path_to_a_label(page: Page) -> None:
    page.locator("h1").click()
    page.keyboard.press("/")
    query = page.get_by_role("combobox", name="Search labels")
    expect(query).to_be_focused()
    page.keyboard.type("C")
    assert open_options(page)[0] == "city"
    expect(query).to_have_attribute("aria-expanded", "true")
    expect(query).to_have_attribute("aria-activedescendant", "found-0")
    page.keyboard.press("ArrowDown")
    expect(query).to_have_attribute("aria-activedescendant", "found-1")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(query).to_have_attribute("aria-expanded", "false")
    sought = page.locator(".sought")
    expect(sought).to_be_focused()
    expect(sought.locator(".name")).to_have_text("city")
    path = page.request.get("v1/models/words/tree/path?label=city").json()["nodes"]
    expect(sought).to_have_attribute("aria-level", str(len(path) - 1))


def test_escape_leaves_the_search(page: Page) -> None:
    query = page.locator("#query")
    query.focus()
    page.keyboard.press("ArrowDown")  # without a word: the most frequent
    assert len(open_options(page)) == 5
    page.keyboard.press("Escape")
    expect(page.locator("#found-box")).to_be_hidden()
    page.keyboard.type("nowhere")
    expect(page.locator("#found-total")).to_have_text("No label has this in its name.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(query).to_have_value("")
    expect(query).to_be_focused()


def test_the_tree_is_walked_with_keys(page: Page) -> None:
    page.locator("#query").focus()
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    expect(focused).to_have_attribute("aria-posinset", "1")
    if focused.get_attribute("aria-expanded") is None:  # of two nodes, one is a label
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("aria-level", "2")
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_attribute("aria-posinset", "2")
    page.keyboard.press("ArrowLeft")
    if focused.get_attribute("aria-level") == "2":
        page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-level", "1")
    page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("End")
    expect(focused).to_have_attribute("aria-posinset", "2")
    page.keyboard.press("Home")
    expect(focused).to_have_attribute("aria-posinset", "1")
    assert page.locator("#tree [tabindex='0']").count() == 1


def test_very_many_children_come_a_page_at_a_time(page: Page) -> None:
    page.select_option("#model", "numbers")
    items = page.locator("[role=treeitem]:not(.more)")
    expect(items).to_have_count(50)
    expect(page.locator(".more")).to_have_text("Show more of the other 70")
    items.first.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(items).to_have_count(100)
    expect(page.locator(":focus")).to_have_attribute("aria-posinset", "51")
    page.fill("#query", str(LARGE_LABEL))
    assert open_options(page) == [str(LARGE_LABEL)]
    page.keyboard.press("Enter")
    expect(page.locator(".sought .name")).to_have_text(str(LARGE_LABEL))
    expect(items).to_have_count(101)  # it is shown before its page is
    page.locator(".more").click()
    expect(items).to_have_count(120)
    expect(page.locator(".more")).to_be_hidden()
