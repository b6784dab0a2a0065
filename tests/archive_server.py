"""A web server with archives of data sets, for tests, which can misbehave in all the ways that real ones do."""

from __future__ import annotations

import io
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from labeltree.datasets.repository.catalogue import Halves, RepositorySet, SplitRows

TRAIN = b"3 4 2\n0 0:1\n0,1 1:0.5 3:2\n 2:1\n"
TEST = b"2 4 2\n1 0:1\n0 3:1\n"

#: A set that is small enough for tests.
TINY = RepositorySet(
    "Tiny-2",
    n_train=3,
    n_test=2,
    n_features=4,
    n_labels=2,
    addresses=(),
    layouts=(
        SplitRows("Tiny_data.txt", "tiny_trSplit.txt", "tiny_tstSplit.txt"),
        Halves("tiny_train.txt", "tiny_test.txt"),
    ),
)


def zipped(files: Mapping[str, bytes] | None = None, **options: Any) -> bytes:
    """A zip archive; by default that of the small set."""
    if files is None:
        files = {"Tiny/tiny_train.txt": TRAIN, "Tiny/tiny_test.txt": TEST}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, options.get("compression"))
    return buffer.getvalue()


def taped(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    """A tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@dataclass
class Site:
    """What the server has, how it behaves, and what it was asked."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, bytes] = field(default_factory=dict)
    #: Answers to be given first, before files are: a status, or a function of the handler.
    first: list[int | Callable[[Any], None]] = field(default_factory=list)
    #: Numbers of bytes after which the next connections are cut off.
    cuts: list[int] = field(default_factory=list)
    knows_ranges: bool = True
    validator: str | None = '"1"'
    says_length: bool = True
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    cookies: list[str | None] = field(default_factory=list)

    def mirrors(self, content: bytes | None = None, name: str = "tiny-2") -> str:
        """Have the archive of a set, and return the address to name as mirror."""
        self.files[f"/mirror/{name}.zip"] = zipped() if content is None else content
        return f"{self.address}/mirror"


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        site = self.site
        site.requests.append((self.path, self.headers.get("Range")))
        site.cookies.append(self.headers.get("Cookie"))
        if site.first:
            answer = site.first.pop(0)
            return answer(self) if callable(answer) else self.send_error(answer)
        if self.path in site.pages:
            return self.answer(200, site.pages[self.path], {"Content-Type": "text/html"})
        content = site.files.get(self.path)
        if content is None:
            return self.send_error(404)
        headers = {} if site.validator is None else {"ETag": site.validator}
        begin = self._begin() if site.knows_ranges else 0
        if begin >= len(content):
            return self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        return self.answer(206 if begin else 200, content[begin:], headers)

    def answer(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        if self.site.says_length:
            self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: self.site.cuts.pop(0)] if self.site.cuts else content)

    def _begin(self) -> int:
        wanted = self.headers.get("Range")
        condition = self.headers.get("If-Range")
        if wanted is None or (condition is not None and condition != self.site.validator):
            return 0
        return int(wanted.removeprefix("bytes=").removesuffix("-"))


@contextmanager
def serving() -> Iterator[Site]:
    """A server of its own."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        site = Site(f"http://127.0.0.1:{server.server_port}")
        handler.site = site  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
