"""Tags as one types, k and the threshold, two models side by side."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect
from tests.browser.conftest import HOSTILE, LONGEST_TEXT, Visit

TEXT = "A boat in the harbour, the tide and a cat"


def shares(page: Page, column: int = 0) -> list[float]:
    """How much of each tag is filled, from 0 to 1."""
    page.wait_for_timeout(250)  # bars take a while to move
    bars = page.locator(".column").nth(column).locator(".tag")
    return bars.evaluate_all("tags => tags.map(t => t.querySelector('.fill').offsetWidth / t.clientWidth)")


def probabilities(page: Page, model: str, text: str, k: int = 8) -> list[tuple[str, float]]:
    """What the API says."""
    answer = page.request.post(f"v1/models/{model}/predict", data={"text": text, "k": k}).json()
    return [(tag["label"], tag["probability"]) for tag in answer["predictions"][0]]


def test_tags_appear_as_one_types_with_bars_as_long_as_they_are_probable(page: Page) -> None:
    page.locator("#text").press_sequentially("boat harbour tide", delay=10)
    wanted = probabilities(page, "words", "boat harbour tide")
    names = page.locator(".tag .name")
    expect(names).to_have_text([label for label, _ in wanted])
    assert wanted[0][0] == "sea"
    for found, (_, probability) in zip(shares(page), wanted, strict=True):
        assert abs(found - probability) < 0.02
    page.get_by_role("button", name="Clear").click()
    expect(names).to_have_count(0)
    expect(page.locator("#text")).to_be_focused()


def test_only_the_last_of_many_letters_is_asked_about(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/predict" in request.url else None)
    page.locator("#text").press_sequentially("a boat in the harbour", delay=5)
    expect(page.locator(".tag .name").first).to_have_text("sea")
    assert 1 <= len(asked) < 10


def test_k_and_the_threshold_bound_the_tags_and_are_kept_in_the_address(page: Page) -> None:
    page.fill("#text", TEXT)
    tags = page.locator(".tag")
    wanted = probabilities(page, "words", TEXT)
    expect(tags).to_have_count(len(wanted))
    page.locator("#k").fill("2")
    expect(tags).to_have_count(2)
    page.locator("#k").fill("30")
    page.locator("#threshold").fill("50")
    n_likely = sum(probability >= 0.5 for _, probability in wanted)
    assert 0 < n_likely < len(wanted)
    expect(tags).to_have_count(n_likely)
    expect(page).to_have_url(re.compile(r"#model=words&k=30&threshold=0.5$"))
    assert "boat" not in page.url
    page.reload()
    expect(page.locator("#k")).to_have_value("30")
    expect(page.locator("#threshold")).to_have_value("50")
    page.goto(f"{page.url.partition('#')[0]}#model=pairs&k=3")
    expect(page.locator("#model")).to_have_value("pairs")
    expect(page.locator("#k-value")).to_have_text("3 tags")


def test_two_models_are_compared_and_what_only_one_says_is_marked(page: Page) -> None:
    text = "bread and cheese and soup in the kitchen"
    page.fill("#text", text)
    page.locator("#k").fill("1")
    page.select_option("#other", "pairs")
    columns = page.locator(".column")
    expect(columns).to_have_count(2)
    expect(columns.nth(0).locator(".tag")).to_have_text(re.compile("^food.*only here"))
    expect(columns.nth(1).locator(".tag")).to_have_text(re.compile("^kitchen.*only here"))
    expect(columns.locator("h3")).to_have_text(["words", "pairs"])
    page.fill("#text", "boat tide harbour")
    expect(columns.locator(".tag .name")).to_have_text(["sea", "sea"])
    expect(page.get_by_text("only here").locator("visible=true")).to_have_count(0)
    expect(page).to_have_url(re.compile("other=pairs"))


def test_tags_are_walked_with_the_arrows(page: Page) -> None:
    page.select_option("#other", "pairs")
    page.locator("#text").focus()
    page.keyboard.type(TEXT)
    first, second = (page.locator(".column").nth(i).locator(".tag") for i in range(2))
    expect(second.first).to_be_visible()
    for _ in range(4):  # k, threshold, clear is before the text
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.tag')"):
            break
    expect(first.nth(0)).to_be_focused()
    for key, target in (
        ("ArrowDown", first.nth(1)),
        ("ArrowRight", second.nth(1)),
        ("Home", second.nth(0)),
        ("ArrowLeft", first.nth(0)),
        ("End", first.last),
        ("ArrowDown", first.last),
    ):
        page.keyboard.press(key)
        expect(target).to_be_focused()


def test_labels_stay_text(page: Page) -> None:
    page.fill("#text", "cat and dog and horse and kitten")
    expect(page.locator(".tag .name").first).to_have_text(HOSTILE)
    page.locator(".tag").first.click()
    expect(page.locator("#why-title")).to_contain_text(HOSTILE)
    page.fill("#query", "<img")
    expect(page.get_by_role("listbox").get_by_role("option")).to_contain_text(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.locator(".sought .name").first).to_have_text(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0


def test_a_model_of_numbers_takes_them(page: Page) -> None:
    page.select_option("#model", "numbers")
    expect(page.locator("#input-hint")).to_contain_text("index:value")
    page.fill("#text", "17:1")
    expect(page.locator(".tag .name").first).to_have_text("17")
    page.locator(".tag").first.click()
    expect(page.locator("#why-title")).to_have_text("Why 17")
    expect(page.get_by_role("heading", name="Features that weighed most")).to_be_visible()
    page.fill("#text", "17:red")
    expect(page.locator("#problem")).to_contain_text("17:red")
    page.fill("#text", "119:1")
    expect(page.locator(".tag .name").first).to_have_text(str(2**60 + 1))
    page.locator(".tag").first.click()
    expect(page.locator("#why-title")).to_have_text(f"Why {2**60 + 1}")
    expect(page.locator("#why .step").last).to_contain_text(str(2**60 + 1))


def test_what_the_server_refuses_is_said_and_forgotten(page: Page, visit: Visit) -> None:
    page.fill("#text", "boat " * LONGEST_TEXT)
    expect(page.locator("#problem")).to_contain_text(f"at most {LONGEST_TEXT} characters")
    page.fill("#text", "boat")
    expect(page.locator(".tag .name").first).to_have_text("sea")
    expect(page.locator("#problem")).to_be_hidden()
    visit.forgive("422")


def test_a_server_that_does_not_answer_can_be_tried_again(page: Page, visit: Visit) -> None:
    page.route("**/predict", lambda route: route.abort())
    page.fill("#text", "boat")
    expect(page.locator("#problem")).to_contain_text("does not answer")
    page.unroute("**/predict")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".tag .name").first).to_have_text("sea")
    visit.forgive("ERR_FAILED")
