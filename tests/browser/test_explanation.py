"""Why a label: marked words, what weighed most, the path; open and closed by keys."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

TEXT = "A cat, a boat 🛥 and a HARBOUR"


def pieces(page: Page, text: str, highlights: list[dict[str, Any]]) -> list[list[Any]]:
    """What the page makes of highlights."""
    script = """async ([text, highlights]) => {
        const { pieces } = await import("/page/highlights.js");
        return pieces(text, highlights).map(piece => [piece.text, piece.amount]);
    }"""
    found: list[list[Any]] = page.evaluate(script, [text, highlights])
    return found


def test_a_tag_is_explained_by_marked_words_and_its_path(page: Page) -> None:
    page.fill("#text", TEXT)
    page.locator(".tag", has_text="sea").click()
    asked = {"text": TEXT, "label": "sea"}
    answer = page.request.post("v1/models/words/explain", data=asked).json()
    card = page.get_by_role("region", name="Why sea")
    expect(card.locator(".marked")).to_have_text(TEXT)
    assert {"boat", "HARBOUR"} <= set(card.locator("mark:not(.against)").all_inner_texts())
    assert set(card.locator("mark.against").all_inner_texts()) & {"cat", "and"}  # words of other tags
    expect(card.locator(".words").first).to_contain_text("HARBOUR")
    steps = card.locator(".step")
    expect(steps).to_have_count(len(answer["paths"][0]))
    assert len(answer["paths"][0]) > 2
    expect(steps.first).to_contain_text("All 5 labels")
    expect(steps.last.locator(".name").first).to_have_text("sea")
    expect(steps.nth(1).locator(".about")).to_contain_text("sea")  # what a node is about
    expect(page.locator("#spoken")).to_contain_text("sea: ")


def test_every_tree_has_its_path(page: Page) -> None:
    page.select_option("#model", "pairs")
    page.fill("#text", TEXT)
    page.locator(".tag", has_text="sea").click()
    card = page.get_by_role("region", name="Why sea")
    expect(card.locator("summary")).to_have_count(2)
    expect(card.locator(".path").nth(0)).to_be_visible()
    expect(card.locator(".path").nth(1)).to_be_hidden()
    card.locator("summary").nth(1).click()
    card.locator(".path").nth(1).locator(".where").last.click()
    expect(page.locator("#tree-number")).to_have_value("1")  # the tree of labels shows the other tree
    expect(page.locator(".sought .name")).to_have_text("sea")


def test_the_explanation_follows_the_text(page: Page) -> None:
    page.fill("#text", "boat")
    page.locator(".tag", has_text="sea").click()
    marks = page.locator("#why mark")
    expect(marks).to_have_text(["boat"])
    page.fill("#text", "an anchor")
    expect(marks).to_have_text(["anchor"])
    page.fill("#text", "")
    expect(page.locator("#why")).to_be_hidden()


def test_enter_explains_and_escape_closes(page: Page) -> None:
    page.fill("#text", "boat")
    tag = page.locator(".tag").first
    tag.focus()
    page.keyboard.press("Enter")
    expect(tag).to_have_attribute("aria-expanded", "true")
    card = page.get_by_role("region", name="Why sea")
    expect(card.locator(".step").first).to_be_visible()
    expect(tag).to_be_focused()  # so that the arrows lead on
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Close the explanation")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(tag).to_be_focused()
    expect(tag).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    expect(card).to_be_visible()
    page.get_by_role("button", name="Close the explanation").click()
    expect(tag).to_be_focused()


def test_a_label_of_the_tree_that_is_no_tag_is_explained_too(page: Page) -> None:
    page.locator("#k").fill("1")
    page.fill("#text", "boat harbour tide")
    expect(page.locator(".tag .name")).to_have_text(["sea"])
    page.fill("#query", "music")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".sought")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Why music")).to_contain_text("by words")


#: Texts, highlights (begin, end, amount), and the pieces with their amounts.
MERGED: list[tuple[str, list[tuple[int, int, float]], list[list[Any]]]] = [
    ("", [], []),
    ("no marks", [], [["no marks", 0]]),
    ("the sea", [(4, 7, 1)], [["the ", 0], ["sea", 1]]),
    ("the sea", [(0, 7, 1), (4, 7, 2)], [["the ", 1], ["sea", 3]]),
    ("abcdef", [(0, 4, 1), (2, 6, -3)], [["ab", 1], ["cd", -2], ["ef", -3]]),
    ("🛥🛥 é", [(1, 2, 1), (3, 4, 2)], [["🛥", 0], ["🛥", 1], [" ", 0], ["é", 2]]),
    ("ab", [(0, 1, 0.1), (0, 1, 0.2)], [["a", 0.1 + 0.2], ["b", 0]]),
    ("ab", [(1, 99, 1)], [["a", 0], ["b", 1]]),
]


def test_highlights_are_merged_where_they_overlap(page: Page) -> None:
    keys = ("begin", "end", "amount")
    for text, highlights, wanted in MERGED:
        assert pieces(page, text, [dict(zip(keys, one, strict=True)) for one in highlights]) == wanted
