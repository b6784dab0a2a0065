"""The pages that Google Drive shows instead of a large file: it cannot be scanned for viruses, download anyway?"""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit


def looks_like_page(beginning: bytes) -> bool:
    """Whether bytes begin an HTML page; no archive begins like that."""
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml"))


class WebPage:
    """What a page has that matters: where its download button leads, and what it is called.

    Examples
    --------
    >>> page = WebPage(
    ...     b'<title>Drive</title><form id="download-form" action="/download">'
    ...     b'<input type="hidden" name="confirm" value="t"></form>',
    ...     "https://example.org/uc?id=1",
    ... )
    >>> page.title, page.download_address
    ('Drive', 'https://example.org/download?confirm=t')
    """

    def __init__(self, content: bytes, address: str) -> None:
        parser = _Parser()
        parser.feed(content.decode("utf-8", errors="replace"))
        self.title = " ".join("".join(parser.title).split())
        self.download_address = _target(parser, address)


def _target(parser: _Parser, address: str) -> str | None:
    """Where the form of today's pages, or the link of older ones, leads."""
    if parser.action is not None:
        parts = urlsplit(urljoin(address, parser.action))
        query = "&".join(filter(None, (parts.query, urlencode(parser.fields))))
        target = urlunsplit(parts._replace(query=query))
    elif parser.link is not None:
        target = urljoin(address, parser.link)
    else:
        return None
    return target if urlsplit(target).scheme in ("http", "https") else None


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.title: list[str] = []
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self.link: str | None = None
        self._in_title = False
        self._in_form = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "title":
            self._in_title = True
        elif tag == "form" and attributes.get("id") in ("download-form", "downloadForm"):
            self.action = attributes.get("action") or ""
            self._in_form = True
        elif tag == "input" and self._in_form and attributes.get("name"):
            self.fields[str(attributes["name"])] = attributes.get("value") or ""
        elif tag == "a" and attributes.get("id") == "uc-download-link":
            self.link = attributes.get("href")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == "form":
            self._in_form = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
