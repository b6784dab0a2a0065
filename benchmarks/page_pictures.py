"""The pictures of the page of the server and of a report: `python -m benchmarks.page_pictures`.

Trains on the bundled catalogue, serves the model, and takes pictures with Chromium, by playwright, into docs/pictures.
Needs the dependency groups test and bench.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from labeltree import LabelTreeClassifier
from labeltree.datasets import load_tate
from labeltree.text import Tagger

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TEXT = "A fishing boat in a storm off the coast of Brittany. Waves break over the harbour wall while a woman waits."
CHOSEN = "storm"
PORT = 8765


def train(folder: Path) -> None:
    """A tagger of the catalogue, and its test texts in a file."""
    tate = load_tate()
    names = [[tate.subject_names[subject] for subject in row] for row in tate.labels_train]
    Tagger(LabelTreeClassifier(random_state=0, n_jobs=-1)).fit(tate.texts_train, names).save(folder / "tate")
    with (folder / "test.jsonl").open("w", encoding="utf-8") as file:
        for text, subjects in zip(tate.texts_test, tate.labels_test, strict=True):
            labels = [tate.subject_names[subject] for subject in subjects]
            file.write(json.dumps({"text": text, "labels": labels}) + "\n")


@contextmanager
def served(model: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "labeltree", "serve", str(model), "--port", str(PORT)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def show_tags(page: Page, url: str, n_tags: int, chosen: str = CHOSEN) -> None:
    page.goto(f"{url}/#k={n_tags}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.get_by_role("textbox", name="Text").fill(TEXT)
    page.locator(".tag", has=page.get_by_text(chosen, exact=True)).click()
    expect(page.get_by_role("region", name=f"Why {chosen}").locator("mark").first).to_be_visible()
    page.wait_for_timeout(1000)  # bars have grown to their length


def make_small(path: Path) -> None:
    """Write a picture again with 256 colours: the eye sees no difference, and it has less than half the size."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    small.save(path, optimize=True)


def main() -> None:
    browser_path = os.environ.get("LABELTREE_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        train(folder)
        evaluate = [
            sys.executable,
            "-m",
            "labeltree",
            "evaluate",
            "tate",
            "test.jsonl",
            "--report",
            "report.html",
        ]
        subprocess.run(evaluate, check=True, cwd=folder)
        # The sandbox needs rights that containers rarely have; only our own pages are shown.
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])

        def new_page(width: int, height: int, scale: float = 1) -> Any:
            return browser.new_page(
                viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme="light"
            )

        with served(folder / "tate") as url:
            tags = new_page(1050, 850, 0.8)  # the README must fit a screen: a few tags, and no head
            show_tags(tags, url, 4, "sea")
            tags.screenshot(path=PICTURES / "tags.png", clip={"x": 0, "y": 90, "width": 1050, "height": 600})
            whole = new_page(1200, 900)
            show_tags(whole, url, 12)
            whole.screenshot(path=PICTURES / "page.png", full_page=True)
        page = new_page(1000, 1300)
        page.goto((folder / "report.html").as_uri())
        page.screenshot(path=PICTURES / "report.png")
        browser.close()
    for name in ("tags", "page", "report"):
        make_small(PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
