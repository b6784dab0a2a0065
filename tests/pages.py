"""The pages of the documentation: their links, their headings and their code."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.servers import BEARER, ServerProcess

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
#: Where the pages say that a server listens.
ADDRESS = "http://127.0.0.1:8000"

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]*)\)")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)


def pages() -> list[Path]:
    """Return all pages that readers see. Some of the folders are not in a source distribution."""
    patterns = ("*.md", "docs/**/*.md", "experiments/**/*.md", "integrations/*/README.md")
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def name_of(page: Path) -> str:
    """Return the name of a page, for messages and as the id of a test."""
    return page.relative_to(ROOT).as_posix()


def code_blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and the text of every block of code; the language of a plain one is empty."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [
        (language, re.sub(f"^{indent}", "", code, flags=re.MULTILINE)) for indent, language, code in found
    ]


def blocks_in(page: Path, language: str) -> list[str]:
    """Return the blocks of code in one language."""
    return [code for name, code in code_blocks(page) if name == language]


def code_spans(page: Path) -> list[str]:
    """Return the code within the sentences of a page."""
    return [code for _, code in _SPAN.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))]


def links(page: Path) -> list[str]:
    """Return the targets of all links and pictures, other than those to other sites."""
    text = _SPAN.sub("code", _COMMENT.sub("", _BLOCK.sub("", page.read_text(encoding="utf-8"))))
    targets = [target for _, target in _LINK.findall(text)]
    # Pictures with a link around them
    targets += [target for words, _ in _LINK.findall(text) for _, target in _LINK.findall(words)]
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings, as the code host and the site make them.

    They number a repeated heading in different ways, so that only the first one has an anchor here.
    """
    return {
        anchor_of(heading) for heading in _HEADING.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))
    }


def anchor_of(heading: str) -> str:
    words = _LINK.sub(r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def answer_of_curl(server: ServerProcess, words: list[str]) -> str:
    """Do what curl does with these words, at the port that the server has here, and return the answer."""
    (url,) = [word for word in words if word.startswith(ADDRESS)]
    body = json.loads(words[words.index("--json") + 1])
    answer = server.client.post(url.removeprefix(ADDRESS), json=body, headers=BEARER)
    assert answer.status_code == 200, answer.text
    return answer.text
