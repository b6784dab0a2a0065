"""Fetching one file over HTTP: in pieces, again and again until it is whole, or never."""

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
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import labeltree
from labeltree.errors import DownloadError

from .drive_page import WebPage, looks_like_page
from .partial_file import PartialFile

logger = logging.getLogger(__name__)

Report = Callable[[int, int | None], None]

#: So often in a row it may fail without a single byte.
ATTEMPTS = 5
#: The first pause; each is twice as long as the one before.
PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0

_BLOCK_BYTES = 1 << 18
_PAGE_BYTES = 1 << 20
_PAGES = 3  # a confirmation leads to a file, perhaps by way of another page

_PASSING_CODES = {408, 425, 429, 500, 502, 503, 504}
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


class _PassingError(Exception):
    """Something that may be better next time."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """What begins encrypted must not go on in the open: until there are checksums, nothing else vouches for it."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _refuse_downgrade(req.full_url, newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_downgrade(address: str, target: str) -> None:
    if address.startswith("https:") and not target.startswith("https:"):
        raise DownloadError(f"{address}: it leads to {target}, which is not encrypted")


def download(address: str, path: Path, *, timeout: float, report: Report) -> None:
    """Fetch a file to `path`, going on where an earlier try was cut off.

    Parameters
    ----------
    address : str
        Where it is. A page that asks for confirmation, as Google Drive's, is confirmed.
    path : Path
        The file; what has come so far is beside it, in a file with ``.part`` behind its name.
    timeout : float
        Seconds without a single byte after which the connection is given up.
    report : callable
        Told how many bytes have come, and of how many if that is known.

    Raises
    ------
    DownloadError
        When the server refuses, sends a web page, or fails `ATTEMPTS` times in a row.
    OSError
        When there is no room for it.
    """
    failures = 0
    with PartialFile(path.with_name(f"{path.name}.part")) as partial:
        while True:
            before = partial.size
            try:
                _transfer(address, partial, timeout, report)
                partial.finish(path)
                return
            except _PassingError as error:
                failures = 1 if partial.size > before else failures + 1
                if failures == ATTEMPTS:
                    raise DownloadError(f"{address}: {error}, {ATTEMPTS} times in a row") from None
                pause = error.pause
                if pause is None:
                    pause = PAUSE_SECONDS * 2 ** (failures - 1) * random.uniform(0.8, 1.2)
                logger.info("%s: %s; trying again in %.1f s", address, error, pause)
                time.sleep(pause)


def _transfer(address: str, partial: PartialFile, timeout: float, report: Report) -> None:
    """One connection: from what there is to the end."""
    try:
        opened = _open(address, partial, timeout)
        if opened is None:
            return
        response, block = opened
        with response:
            while block:
                partial.write(block)
                report(partial.size, partial.total)
                block = response.read(_BLOCK_BYTES)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(address, error) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise DownloadError(f"{address}: {error.reason}") from None
        raise _PassingError(f"no connection ({error.reason})") from None
    except (http.client.HTTPException, TimeoutError, ConnectionError, ssl.SSLError) as error:
        raise _PassingError(f"the connection broke ({error or type(error).__name__})") from None
    if partial.total is None:
        return
    if partial.size > partial.total:  # two answers that do not fit together
        came, announced = partial.size, partial.total
        partial.restart()
        raise _PassingError(f"{came:,} bytes came where {announced:,} were announced")
    if partial.size < partial.total:
        raise _PassingError(f"the connection was cut off after {partial.size:,} of {partial.total:,} bytes")


def _open(address: str, partial: PartialFile, timeout: float) -> tuple[Any, bytes] | None:
    """The answer with the file, and its first block; None when there is nothing more to come."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()), _SafeRedirects)
    opener.addheaders = [("User-Agent", f"labeltree/{labeltree.__version__}")]
    place = address
    for _ in range(_PAGES):
        request = urllib.request.Request(place)
        if partial.size:
            request.add_header("Range", f"bytes={partial.size}-")
            if partial.validator is not None:
                request.add_header("If-Range", partial.validator)
        try:
            response = opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            if error.code != 416:
                raise
            with error:
                _beyond_the_end(partial, error.headers)
            return None
        try:
            block = response.read(_BLOCK_BYTES)
            if response.status == 206:
                _go_on(partial, response.headers)
                return response, block
            if not looks_like_page(block):
                partial.restart()
                length = response.headers.get("Content-Length", "")
                partial.expect(_validator(response.headers), int(length) if length.isdigit() else None)
                return response, block
            page = WebPage(block + response.read(_PAGE_BYTES), response.url)
        except BaseException:
            response.close()
            raise
        response.close()
        if page.download_address is None:
            raise DownloadError(
                f"{address}: expected an archive, got a web page{f' ({page.title})' if page.title else ''}: the file "
                f"may have moved, need an account, or have been asked for too often today"
            )
        _refuse_downgrade(place, page.download_address)
        place = page.download_address
    raise DownloadError(f"{address}: expected an archive, got one web page after the other")


def _go_on(partial: PartialFile, headers: Any) -> None:
    """See that an answer with the rest of a file is the rest of this one."""
    answer = _RANGE.fullmatch(headers.get("Content-Range", ""))
    begin, total = (answer[1], answer[3]) if answer else (None, None)
    known = int(total) if total is not None and total.isdigit() else None
    if begin is None or int(begin) != partial.size or (partial.total is not None and known != partial.total):
        partial.restart()
        raise _PassingError("the server went on with another file")
    partial.expect(_validator(headers) or partial.validator, known)


def _beyond_the_end(partial: PartialFile, headers: Any) -> None:
    """There is no rest: all has come, or it was of another file."""
    answer = _RANGE.fullmatch(headers.get("Content-Range", ""))
    if answer is None or answer[3] != str(partial.size):
        partial.restart()
        raise _PassingError("the server has less than had come")
    partial.total = partial.size


def _validator(headers: Any) -> str | None:
    """A strong entity tag or else the time of the last change."""
    tag: str | None = headers.get("ETag")
    if tag is not None and not tag.startswith("W/"):
        return tag
    changed: str | None = headers.get("Last-Modified")
    return changed


def _refusal(address: str, error: urllib.error.HTTPError) -> Exception:
    reason = f"the server answered {error.code} {error.reason}".rstrip()
    if error.code not in _PASSING_CODES:
        return DownloadError(f"{address}: {reason}")
    wait = error.headers.get("Retry-After", "") if error.headers else ""
    return _PassingError(reason, min(float(wait), _LONGEST_PAUSE_SECONDS) if wait.isdigit() else None)
