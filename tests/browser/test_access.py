"""Servers that want a token, and ones that fail."""

from __future__ import annotations

import json

from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.conftest import Visit
from tests.servers import TOKEN


def test_a_token_is_asked_for_and_kept_for_the_session(browser: Browser, closed_url: str) -> None:
    with browser.new_context() as context:
        visit = Visit(context.new_page(), closed_url)
        page = visit.page
        page.goto(closed_url)
        dialog = page.get_by_role("dialog", name="This server wants a token")
        expect(dialog).to_be_visible()
        expect(page.get_by_label("Token", exact=True)).to_be_focused()
        page.keyboard.type("a wrong one")
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("the token is not valid for this server")
        page.keyboard.type(TOKEN)
        page.keyboard.press("Enter")
        expect(page.get_by_role("treeitem").first).to_be_visible()
        expect(dialog).to_be_hidden()
        page.fill("#text", "boat")
        expect(page.locator(".tag .name").first).to_have_text("sea")
        visit.forgive("401")
        page.reload()
        expect(page.get_by_role("treeitem").first).to_be_visible()
        assert TOKEN not in page.url
        assert page.evaluate("localStorage.length") == 0
        assert visit.complaints == []


def test_who_has_no_token_may_come_back_with_one(browser: Browser, closed_url: str) -> None:
    with browser.new_context() as context:
        visit = Visit(context.new_page(), closed_url)
        page = visit.page
        page.goto(closed_url)
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator("#problem")).to_contain_text("Authorization")
        page.get_by_role("button", name="Try again").click()
        page.get_by_label("Token", exact=True).fill(TOKEN)
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_role("treeitem").first).to_be_visible()
        expect(page.locator("#problem")).to_be_hidden()
        visit.forgive("401")
        assert visit.complaints == []


def test_a_fault_of_the_server_is_said_where_it_matters(page: Page, visit: Visit) -> None:
    fault = json.dumps({"error": {"code": "internal_error", "message": "the server has a <b>fault</b>"}})
    page.route(
        "**/explain", lambda route: route.fulfill(status=500, body=fault, content_type="application/json")
    )
    page.route("**/tree?*", lambda route: route.fulfill(status=502, body="<html>bad gateway</html>"))
    page.fill("#text", "boat")
    page.locator(".tag").first.click()
    expect(page.locator("#why").get_by_role("alert")).to_have_text("the server has a <b>fault</b>")
    page.locator("#tree [aria-expanded=false] .node").first.click()
    expect(page.locator("#tree-problem")).to_have_text("The server answered with status 502.")
    expect(page.locator("#tree [aria-busy]")).to_have_count(0)
    page.unroute("**/tree?*")
    page.locator("#tree [aria-expanded=false] .node").first.click()
    expect(page.locator("#tree [aria-expanded=true]")).to_have_count(1)
    expect(page.locator("#tree-problem")).to_be_hidden()
    visit.forgive("500")
    visit.forgive("502")


def test_a_slow_answer_never_replaces_a_later_one(page: Page) -> None:
    held: list[Route] = []
    page.route("**/predict", lambda route: held.append(route) if not held else route.continue_())
    page.fill("#text", "cat dog horse")
    for _ in range(1000):
        if held:
            break
        page.wait_for_timeout(20)
    else:
        raise AssertionError("the page sent no request")
    page.fill("#text", "boat harbour")
    expect(page.locator(".tag .name").first).to_have_text("sea")
    held[0].continue_()
    page.wait_for_timeout(200)
    expect(page.locator(".tag .name").first).to_have_text("sea")
