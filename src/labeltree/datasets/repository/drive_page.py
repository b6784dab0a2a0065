"""Web pages that Google Drive sends instead of a large file, to ask for a confirmation."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit


def looks_like_page(beginning: bytes) -> bool:
    """Return whether bytes begin an HTML page; no archive begins like one."""
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml"))


class WebPage(HTMLParser):
    """The title of a page and the target of its download button.

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
        super().__init__()
        self.title = ""
        self._target: str | None = None
        self._fields: dict[str, str] = {}
        self._element = ""  # the title or the form that is being read
        self.feed(content.decode("utf-8", errors="replace"))
        self.title = " ".join(self.title.split())
        self._address = address

    @property
    def download_address(self) -> str | None:
        """URL of the form on current pages or of the link on older ones; None if the page has neither."""
        if self._target is None:
            return None
        target = urlsplit(urljoin(self._address, self._target))
        query = "&".join(filter(None, (target.query, urlencode(self._fields))))
        return target._replace(query=query).geturl() if target.scheme in ("http", "https") else None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "title":
            self._element = tag
        elif tag == "form" and attributes.get("id") in ("download-form", "downloadForm"):
            self._element = tag
            self._target = attributes.get("action", "")
        elif tag == "input" and self._element == "form" and attributes.get("name"):
            self._fields[attributes["name"]] = attributes.get("value", "")
        elif tag == "a" and attributes.get("id") == "uc-download-link" and self._target is None:
            self._target = attributes.get("href")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._element:
            self._element = ""

    def handle_data(self, data: str) -> None:
        if self._element == "title":
            self.title += data
