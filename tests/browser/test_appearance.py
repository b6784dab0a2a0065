"""Light and dark, wide and narrow, names for those who do not see it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Visit

TEXT = "A boat in the harbour and a cat, " + "Donaudampfschifffahrtsgesellschaft" * 5

#: Text and what is behind it, as they are named in page.css.
PAIRS = [
    *(
        (ink, ground)
        for ink in ("ink", "soft")
        for ground in ("ground", "card", "sunk", "accent-soft", "fill")
    ),
    ("accent", "card"),
    ("on-accent", "accent"),
    ("warn", "warn-soft"),
    ("warn", "card"),
]

CONTRASTS = """pairs => {
    const probe = document.body.appendChild(document.createElement("i"));
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const luminance = (colour) => {
        probe.style.color = colour;
        canvas.fillStyle = getComputedStyle(probe).color;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(
            (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const strongest = (colour) => `color-mix(in srgb, var(--${colour}) 80%, var(--sunk))`;
    const found = pairs.map(([ink, ground]) => contrast(luminance(`var(--${ink})`), luminance(`var(--${ground})`)));
    const ink = luminance("var(--ink)");
    for (const colour of ["for", "against"]) found.push(contrast(ink, luminance(strongest(colour))));
    return found;
}"""


def background(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


@pytest.mark.parametrize("visit", [{"color_scheme": "dark"}, {"color_scheme": "light"}], indirect=True)
def test_the_theme_is_the_systems_until_one_is_chosen(page: Page) -> None:
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    light, dark = "rgb(244, 246, 244)", "rgb(17, 22, 20)"
    button = page.get_by_role("button", name="Dark mode")
    assert background(page) == (dark if is_dark else light)
    expect(button).to_have_attribute("aria-pressed", str(is_dark).lower())
    button.click()
    assert background(page) == (light if is_dark else dark)
    page.reload()
    expect(button).to_have_attribute("aria-pressed", str(not is_dark).lower())
    assert background(page) == (light if is_dark else dark)


def test_text_has_enough_contrast(page: Page) -> None:
    names = [*PAIRS, "strongest mark for", "strongest mark against"]
    for _ in ("light", "dark"):
        found = page.evaluate(CONTRASTS, PAIRS)
        assert {name: round(ratio, 2) for name, ratio in zip(names, found, strict=True) if ratio < 4.5} == {}
        page.get_by_role("button", name="Dark mode").click()


@pytest.mark.parametrize(
    "visit", [{"viewport": {"width": 360, "height": 640}, "has_touch": True}], indirect=True
)
def test_a_phone_never_scrolls_sideways(page: Page) -> None:
    def is_narrow() -> bool:
        fits: bool = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        return fits

    assert is_narrow()
    page.fill("#text", TEXT)
    page.select_option("#other", "pairs")
    expect(page.locator(".column").nth(1).locator(".tag").first).to_be_visible()
    assert is_narrow()
    page.locator(".tag", has_text="sea").first.tap()
    expect(page.locator("#why .step").first).to_be_visible()
    expect(page.locator("#why-title")).to_be_in_viewport()  # it is brought there
    assert is_narrow()
    page.fill("#query", "<")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".sought")).to_be_visible()
    assert is_narrow()


@pytest.mark.parametrize("visit", [{"reduced_motion": "reduce"}], indirect=True)
def test_nothing_moves_where_it_should_not(page: Page) -> None:
    page.fill("#text", "boat")
    fill = page.locator(".tag .fill").first
    assert fill.evaluate("bar => getComputedStyle(bar).transitionDuration") == "0s"


def test_everything_has_a_name(page: Page) -> None:
    page.fill("#text", "boat")
    page.locator(".tag").first.click()
    expect(page.locator("#why .step").first).to_be_visible()
    tree = page.locator("body").aria_snapshot()
    for named in (
        'combobox "Model"',
        'combobox "Compare with"',
        'button "Dark mode"',
        'textbox "Text"',
        'region "Tags"',
        'region "Why sea"',
        'region "Labels"',
        'combobox "Search labels /"',
        'tree "Labels"',
    ):
        assert named in tree, tree
    unnamed = page.locator("button, input, select, textarea").evaluate_all(
        "all => all.filter(e => !e.closest('[hidden], dialog') && !(e.ariaLabel || e.labels?.length || e.innerText))"
    )
    assert unnamed == []


def test_focus_is_seen_and_reaches_everything(page: Page) -> None:
    page.fill("#text", "boat")
    expect(page.locator(".tag").first).to_be_visible()
    page.locator("#skip").focus()
    reached = []
    for _ in range(20):
        seen = page.evaluate(
            """() => { const e = document.activeElement, line = e.querySelector(":scope > .node") ?? e;
            return [e.id || e.className || e.role || e.tagName, getComputedStyle(line).outlineStyle]; }"""
        )
        reached.append(seen[0])
        if seen[0] == "BODY":
            break
        assert seen[1] != "none", seen
        page.keyboard.press("Tab")
    wanted = ["skip", "model", "other", "quiet", "theme", "clear", "text", "k", "threshold", "tag", "query"]
    assert [name for name in reached if name in wanted] == wanted
    assert "treeitem" in reached


def test_the_description_of_the_api_is_in_the_same_style(browser: Browser, url: str) -> None:
    with browser.new_context(color_scheme="dark", viewport={"width": 360, "height": 640}) as context:
        visit = Visit(context.new_page(), url)
        visit.page.goto(f"{url}/docs")
        assert background(visit.page) == "rgb(17, 22, 20)"
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.complaints == []
