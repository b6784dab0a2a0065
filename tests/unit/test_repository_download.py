"""Fetching archives from servers that cut off, forget, ask back, refuse and lie."""

from __future__ import annotations

import random
import time
import urllib.request

import pytest
from tests.archive_server import Site, serving

from labeltree.datasets.repository import download as module
from labeltree.datasets.repository.download import ATTEMPTS, download
from labeltree.datasets.repository.drive_page import WebPage, looks_like_page
from labeltree.errors import DownloadError

CONTENT = random.Random(0).randbytes(700_000)


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    monkeypatch.setenv("no_proxy", "*")
    with serving() as site:
        site.files["/file"] = CONTENT
        yield site


def get(site: Site, tmp_path, path="/file", timeout=10.0):
    seen = []
    target = tmp_path / "file"
    download(site.address + path, target, timeout=timeout, report=lambda *progress: seen.append(progress))
    return target.read_bytes(), seen


def test_a_file_comes_as_it_is_and_leaves_nothing_beside_it(site, tmp_path):
    content, seen = get(site, tmp_path)
    assert content == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_connection_that_is_cut_off_goes_on_where_it_was(site, tmp_path):
    site.cuts += [300_000, 1, 0, 250_000]
    assert get(site, tmp_path)[0] == CONTENT
    begins = [None, "bytes=300000-", "bytes=300001-", "bytes=300001-", "bytes=550001-"]
    assert [asked for _, asked in site.requests] == begins


def test_another_process_goes_on_where_one_gave_up(site, tmp_path):
    site.cuts += [123_456, *[0] * (ATTEMPTS - 1)]
    with pytest.raises(DownloadError, match=r"cut off after 123,456 of 700,000 bytes, 5 times in a row"):
        get(site, tmp_path)
    assert not (tmp_path / "file").exists()
    assert len(site.requests) == ATTEMPTS
    assert get(site, tmp_path)[0] == CONTENT
    assert site.requests[-1][1] == "bytes=123456-"


def test_a_file_that_changed_meanwhile_is_fetched_from_its_beginning(site, tmp_path):
    site.cuts += [300_000, *[0] * (ATTEMPTS - 1)]
    with pytest.raises(DownloadError):
        get(site, tmp_path)
    site.validator, site.files["/file"] = '"2"', bytes(700_000)
    assert get(site, tmp_path)[0] == bytes(700_000)
    assert site.requests[-1] == ("/file", "bytes=300000-")  # asked on a condition, answered with all


def test_without_a_validator_the_size_tells_that_a_file_changed(site, tmp_path):
    site.validator = None
    site.cuts += [300_000, *[0] * (ATTEMPTS - 1)]
    with pytest.raises(DownloadError):
        get(site, tmp_path)
    site.files["/file"] = bytes(500_000)
    assert get(site, tmp_path)[0] == bytes(500_000)


def test_what_is_already_whole_is_not_fetched_again(site, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    (tmp_path / "file.part.json").write_text('{"validator": "\\"1\\"", "total": 700000}')
    assert get(site, tmp_path)[0] == CONTENT
    assert site.requests == [("/file", "bytes=700000-")]


def test_more_than_the_server_has_is_thrown_away(site, tmp_path):
    (tmp_path / "file.part").write_bytes(bytes(800_000))
    (tmp_path / "file.part.json").write_text('{"validator": "\\"1\\"", "total": 900000}')
    assert get(site, tmp_path)[0] == CONTENT


@pytest.mark.parametrize("note", ["", "[1]", "{}", '{"validator": 1, "total": "x"}', "[" * 100_000])
def test_a_part_without_a_note_that_helps_is_thrown_away(site, tmp_path, note):
    (tmp_path / "file.part").write_bytes(bytes(1000))
    (tmp_path / "file.part.json").write_text(note)
    assert get(site, tmp_path)[0] == CONTENT
    assert site.requests == [("/file", None)]


def test_servers_without_ranges_start_again(site, tmp_path):
    site.knows_ranges = False
    site.cuts += [300_000, 400_000]
    assert get(site, tmp_path)[0] == CONTENT
    assert len(site.requests) == 3


def test_servers_that_do_not_say_the_length(site, tmp_path):
    site.says_length = False
    content, seen = get(site, tmp_path)
    assert content == CONTENT
    assert seen[-1] == (len(CONTENT), None)


def test_an_answer_with_another_range_is_not_believed(site, tmp_path):
    site.cuts.append(1000)

    def lie(handler):
        handler.answer(206, b"x" * 50, {"Content-Range": "bytes 5-54/700000"})

    site.first.append(lambda handler: handler.answer(200, CONTENT, {"ETag": '"1"'}))
    site.first.append(lie)
    assert get(site, tmp_path)[0] == CONTENT
    assert [asked for _, asked in site.requests] == [None, "bytes=1000-", None]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_servers_in_trouble_are_asked_again(site, tmp_path, status):
    site.first += [status, status]
    assert get(site, tmp_path)[0] == CONTENT
    assert len(site.requests) == 3


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_servers_that_refuse_are_not_asked_again(site, tmp_path, status):
    site.first.append(status)
    with pytest.raises(DownloadError, match=f"/file: the server answered {status} "):
        get(site, tmp_path)
    assert len(site.requests) == 1


def test_servers_say_when_to_come_back(site, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    for wait in ("7", "100000"):
        site.first.append(lambda handler, wait=wait: handler.answer(503, b"", {"Retry-After": wait}))
    assert get(site, tmp_path)[0] == CONTENT
    assert pauses == [7.0, 60.0]


def test_pauses_grow(site, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr(module, "PAUSE_SECONDS", 1.0)
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    site.first += [500] * ATTEMPTS
    with pytest.raises(DownloadError, match="answered 500 Internal Server Error, 5 times in a row"):
        get(site, tmp_path)
    assert pauses == pytest.approx([1, 2, 4, 8], rel=0.21)


def test_a_server_that_falls_silent_is_given_up(site, tmp_path):
    site.first += [lambda handler: time.sleep(0.3)] * ATTEMPTS
    with pytest.raises(DownloadError, match=r"timed out|connection broke"):
        get(site, tmp_path, timeout=0.05)


def test_nobody_listens(site, tmp_path):
    with serving() as other:
        address = other.address
    with pytest.raises(DownloadError, match="no connection"):
        download(f"{address}/file", tmp_path / "file", timeout=5, report=lambda done, total: None)


FORM = b"""<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>
<p>tags.zip (2.1G) is too large for Google to scan for viruses.</p>
<form id="download-form" action="%s/download" method="get">
<input type="submit" id="uc-download-link" value="Download anyway"/>
<input type="hidden" name="id" value="0B3l"><input type="hidden" name="export" value="download">
<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="6c-4&amp;x"></form>
<form id="other" action="/elsewhere"><input name="q" value="1"></form></body></html>"""


def test_the_page_of_google_drive_is_confirmed_with_its_cookies(site, tmp_path):
    page = FORM % site.address.encode()
    site.first.append(
        lambda handler: handler.answer(
            200, page, {"Content-Type": "text/html", "Set-Cookie": "NID=7; path=/"}
        )
    )
    confirmed = "/download?id=0B3l&export=download&confirm=t&uuid=6c-4%26x"
    site.files[confirmed] = CONTENT
    assert get(site, tmp_path, "/uc?export=download&id=0B3l")[0] == CONTENT
    assert [path for path, _ in site.requests] == ["/uc?export=download&id=0B3l", confirmed]
    assert site.cookies == [None, "NID=7"]


def test_confirmed_files_go_on_where_they_were(site, tmp_path):
    site.pages["/uc"] = FORM % site.address.encode()
    confirmed = "/download?id=0B3l&export=download&confirm=t&uuid=6c-4%26x"
    site.files[confirmed] = CONTENT
    site.cuts += [10_000, 300_000, 10_000]  # pages come whole: they are shorter than that
    assert get(site, tmp_path, "/uc")[0] == CONTENT
    assert site.requests[-1] == (confirmed, "bytes=300000-")


def test_the_link_of_older_pages_is_followed(site, tmp_path):
    site.pages["/uc"] = (
        b'<html><a id="uc-download-link" href="/file?confirm=AbC&amp;id=1">Download anyway</a>'
    )
    site.files["/file?confirm=AbC&id=1"] = CONTENT
    assert get(site, tmp_path, "/uc")[0] == CONTENT


def test_other_pages_are_told_by_their_titles(site, tmp_path):
    site.pages["/file"] = b"\n<!doctype html><title>Google Drive - Quota\n exceeded</title><form action='/'>"
    with pytest.raises(
        DownloadError, match=r"got a web page \(Google Drive - Quota exceeded\): the file may"
    ):
        get(site, tmp_path)
    assert not (tmp_path / "file").exists()


def test_pages_that_lead_to_pages_come_to_an_end(site, tmp_path):
    site.pages["/file"] = b'<html><a id="uc-download-link" href="/file">Download</a>'
    with pytest.raises(DownloadError, match="got 3 web pages in a row"):
        get(site, tmp_path)
    assert len(site.requests) == 3


def test_redirections_are_followed(site, tmp_path):
    site.first.append(lambda handler: handler.answer(303, b"", {"Location": "/file"}))
    assert get(site, tmp_path, "/moved")[0] == CONTENT


def test_what_begins_encrypted_does_not_go_on_in_the_open():
    request = urllib.request.Request("https://data.invalid/file")
    redirects = module._SafeRedirects()
    target = "https://elsewhere.invalid/file"
    followed = redirects.redirect_request(request, None, 302, "Found", {}, target)
    assert followed is not None
    assert followed.full_url == target
    with pytest.raises(
        DownloadError, match=r"redirects to http://elsewhere.invalid/file, which is not encrypted"
    ):
        redirects.redirect_request(request, None, 302, "Found", {}, "http://elsewhere.invalid/file")


def test_a_page_leads_only_to_web_addresses():
    page = WebPage(b'<a id="uc-download-link" href="file:///etc/passwd">', "http://example.org")
    assert page.download_address is None


@pytest.mark.parametrize("beginning", [b"<!DOCTYPE html>", b"\xef\xbb\xbf\n <HTML>", b"<?xml version"])
def test_pages_are_known_by_their_beginning(beginning):
    assert looks_like_page(beginning)


@pytest.mark.parametrize("beginning", [b"PK\x03\x04", b"\x1f\x8b", b"", b"<3"])
def test_archives_are_no_pages(beginning):
    assert not looks_like_page(beginning)


def test_a_full_disk_is_noticed_before_anything_comes(site, tmp_path, monkeypatch):
    from labeltree.datasets.repository import partial_file

    usage = partial_file.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(partial_file.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(OSError, match="expected 700,000 free bytes, got 1,000"):
        get(site, tmp_path)


def test_proxies_of_the_environment_are_used(site, tmp_path, monkeypatch):
    monkeypatch.delenv("no_proxy")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", site.address)
    site.files["http://data.invalid/file"] = CONTENT
    assert urllib.request.getproxies()["http"] == site.address
    download("http://data.invalid/file", tmp_path / "file", timeout=5, report=lambda done, total: None)
    assert (tmp_path / "file").read_bytes() == CONTENT
