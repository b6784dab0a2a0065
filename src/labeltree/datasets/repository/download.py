"""Downloads a file over HTTP, with retries and resumption."""

from __future__ import annotations

import http.client
import logging
import random
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import labeltree
from labeltree.errors import DownloadError

from .drive_page import WebPage, looks_like_page
from .partial_file import PartialFile

logger = logging.getLogger(__name__)

Report = Callable[[int, int | None], None]

#: Maximum number of attempts in a row that bring no byte.
ATTEMPTS = 5
#: The first pause between attempts. Each further pause is twice as long.
PAUSE_SECONDS = 1.0
_MAX_PAUSE_SECONDS = 60.0

_BLOCK_BYTES = 1 << 18
_PAGE_BYTES = 1 << 20
_MAX_PAGES = 3  # a confirmation may lead to the file by way of another page

_RETRY_STATUSES = {408, 425, 429, 500, 502, 503, 504}
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


class _RetryError(Exception):
    """A failure that may not happen again."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects from HTTPS to HTTP: only encryption protects the first download, before checksums exist."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _refuse_downgrade(req.full_url, newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_downgrade(address: str, target: str) -> None:
    if address.startswith("https:") and not target.startswith("https:"):
        raise DownloadError(f"{address}: redirects to {target}, which is not encrypted")


def download(address: str, path: Path, *, timeout: float, report: Report) -> None:
    """Download a file to `path`, and resume an earlier download that was interrupted.

    Parameters
    ----------
    address : str
        URL of the file. Google Drive's page that asks for a confirmation is confirmed.
    path : Path
        The file to write. An incomplete download is kept beside it, with ``.part`` appended to its name.
    timeout : float
        Number of seconds without a byte after which the connection is closed.
    report : callable
        Called with the number of bytes so far and the total, or None if it is unknown.

    Raises
    ------
    DownloadError
        If the server refuses, sends a web page, or fails `ATTEMPTS` times in a row.
    OSError
        If the disk has no space for the file.
    """
    failures = 0
    with PartialFile(path.with_name(f"{path.name}.part")) as partial:
        while True:
            before = partial.tell()
            try:
                _transfer(address, partial, timeout, report)
                partial.finish(path)
                return
            except _RetryError as error:
                failures = 1 if partial.tell() > before else failures + 1
                if failures == ATTEMPTS:
                    raise DownloadError(f"{address}: {error}, {ATTEMPTS} times in a row") from None
                pause = error.pause
                if pause is None:
                    pause = PAUSE_SECONDS * 2 ** (failures - 1) * random.uniform(0.8, 1.2)
                logger.info("%s: %s; retrying in %.1f s", address, error, pause)
                time.sleep(pause)


def _transfer(address: str, partial: PartialFile, timeout: float, report: Report) -> None:
    """Download the rest of the file over one connection; raise `_RetryError` if another attempt may succeed."""
    try:
        _receive(address, partial, timeout, report)
    except urllib.error.HTTPError as error:
        with error:
            _handle_status(address, error, partial)
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise DownloadError(f"{address}: {error.reason}") from None
        raise _RetryError(f"no connection ({error.reason})") from None
    except (http.client.HTTPException, TimeoutError, ConnectionError, ssl.SSLError) as error:
        raise _RetryError(f"the connection broke ({error or type(error).__name__})") from None
    size, total = partial.tell(), partial.total
    if total is not None and size > total:  # two responses that do not fit together
        partial.restart()
        raise _RetryError(f"expected {total:,} bytes, got {size:,}")
    if total is not None and size < total:
        raise _RetryError(f"the connection was cut off after {size:,} of {total:,} bytes")


def _receive(address: str, partial: PartialFile, timeout: float, report: Report) -> None:
    """Request the rest of the file, by way of pages that ask for a confirmation, and write it."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), _SafeRedirects)
    opener.addheaders = [("User-Agent", f"labeltree/{labeltree.__version__}")]
    location = address
    for _ in range(_MAX_PAGES):
        request = urllib.request.Request(location)
        if partial.tell():
            request.add_header("Range", f"bytes={partial.tell()}-")
            if partial.validator is not None:
                request.add_header("If-Range", partial.validator)
        with opener.open(request, timeout=timeout) as response:
            block = response.read(_BLOCK_BYTES)
            if response.status != 206 and looks_like_page(block):
                page = WebPage(block + response.read(_PAGE_BYTES), response.url)
                if page.download_address is None:
                    title = f" ({page.title})" if page.title else ""
                    raise DownloadError(
                        f"{address}: expected an archive, got a web page{title}: the file may have moved, require an "
                        f"account, or have been requested too often today"
                    )
                _refuse_downgrade(location, page.download_address)
                location = page.download_address
                continue
            _expect(partial, response)
            while block:
                partial.write(block)
                report(partial.tell(), partial.total)
                block = response.read(_BLOCK_BYTES)
            return
    raise DownloadError(f"{address}: expected an archive, got {_MAX_PAGES} web pages in a row")


def _expect(partial: PartialFile, response: Any) -> None:
    """Prepare the file for a response with all or the rest of its bytes."""
    tag = response.headers.get("ETag")
    is_strong = tag is not None and not tag.startswith("W/")
    validator = tag if is_strong else response.headers.get("Last-Modified")
    if response.status != 206:
        partial.restart()
        length = response.headers.get("Content-Length", "")
        partial.expect(validator, int(length) if length.isdigit() else None)
        return
    begin, total = _content_range(response.headers)
    if begin != partial.tell() or (partial.total is not None and total != partial.total):
        partial.restart()
        raise _RetryError("the server continued with another file")
    partial.expect(validator or partial.validator, total)


def _handle_status(address: str, error: urllib.error.HTTPError, partial: PartialFile) -> None:
    """Raise an error for the HTTP status, unless it says that the file is already complete."""
    if error.code == 416:
        _, partial.total = _content_range(error.headers)
        if partial.total != partial.tell():
            partial.restart()
            raise _RetryError("the server has fewer bytes than were downloaded")
        return
    reason = f"the server answered {error.code} {error.reason}".rstrip()
    if error.code not in _RETRY_STATUSES:
        raise DownloadError(f"{address}: {reason}")
    wait = error.headers.get("Retry-After", "")
    raise _RetryError(reason, min(float(wait), _MAX_PAUSE_SECONDS) if wait.isdigit() else None)


def _content_range(headers: Any) -> tuple[int | None, int | None]:
    """Return the first byte and the total number of bytes of a Content-Range header, or None if it has none."""
    match = _RANGE.fullmatch(headers.get("Content-Range", ""))
    begin, total = (match[1], match[3]) if match else (None, "*")
    return None if begin is None else int(begin), None if total == "*" else int(total)
