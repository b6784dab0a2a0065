"""Data sets by name: fetched once, checked ever after."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.archive_server import TEST, TINY, TRAIN, serving, zipped

from labeltree import datasets
from labeltree.datasets.repository import download, fetching, partial_file
from labeltree.datasets.repository.cache_folder import cache_folder, locked
from labeltree.datasets.repository.catalogue import CATALOGUE, find
from labeltree.errors import ChecksumError, DownloadError, LabelTreeError

OTHER_TRAIN = TRAIN.replace(b"0:1\n", b"0:2\n", 1)
OTHER = {"tiny_train.txt": OTHER_TRAIN, "tiny_test.txt": TEST}


@pytest.fixture
def site(monkeypatch, tmp_path):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("LABELTREE_DATA_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(CATALOGUE, "tiny-2", TINY)
    with serving() as site:
        monkeypatch.setenv("LABELTREE_DATA_MIRROR", site.mirrors())
        yield site


def folder_of(tmp_path) -> Path:
    return tmp_path / "cache" / "tiny-2"


def test_a_data_set_is_fetched_and_read(site, tmp_path):
    data = datasets.load("Tiny-2")
    assert (data.name, data.title) == ("tiny-2", "Tiny-2")
    assert data.files == (folder_of(tmp_path) / "train.txt", folder_of(tmp_path) / "test.txt")
    assert data.files.train.read_bytes() == TRAIN
    X, y = data.train
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 0, 0], [0, 0.5, 0, 2], [0, 0, 1, 0]])
    np.testing.assert_array_equal(y.toarray(), [[1, 0], [1, 1], [0, 0]])
    assert data.test.X.shape == (2, 4)
    np.testing.assert_array_equal(data.test.y.toarray(), [[0, 1], [1, 0]])
    assert data.train is data.train  # read once
    assert "Tiny-2" in repr(data)


def test_only_the_files_and_their_checksums_are_left(site, tmp_path):
    datasets.fetch("tiny-2")
    names = sorted(path.name for path in folder_of(tmp_path).iterdir())
    assert names == [".lock", "checksums.json", "test.txt", "train.txt"]


def test_what_is_there_is_not_fetched_again_and_needs_no_network(site, tmp_path):
    first = datasets.fetch("tiny-2")
    assert len(site.requests) == 1
    site.files.clear()
    assert datasets.fetch("TINY_2") == datasets.load("tiny-2").files == first
    assert datasets.fetched("tiny-2") == first
    assert len(site.requests) == 1


def test_a_read_only_cache_can_be_used(site, tmp_path, monkeypatch):
    datasets.fetch("tiny-2")

    def refuse(folder):
        raise AssertionError("nothing is to be written")

    monkeypatch.setattr(fetching, "locked", refuse)
    assert datasets.load("tiny-2").train.X.shape == (3, 4)


def test_nothing_fetched(site):
    assert datasets.fetched("tiny-2") is None
    assert not site.requests


def test_a_file_that_is_missing_is_fetched_again(site, tmp_path):
    datasets.fetch("tiny-2").test.unlink()
    assert datasets.fetched("tiny-2") is None
    assert datasets.fetch("tiny-2").test.read_bytes() == TEST


@pytest.mark.parametrize(
    ("damaged", "difference"),
    [
        (OTHER_TRAIN, r"its SHA-256 is [0-9a-f]{12}…, expected [0-9a-f]{12}…"),
        (TRAIN[:-2], "it has 29 bytes, expected 31"),
        (b"", "it has 0 bytes, expected 31"),
    ],
)
def test_files_that_are_damaged_on_disk_are_noticed_and_can_be_had_again(site, tmp_path, damaged, difference):
    train = datasets.fetch("tiny-2").train
    train.write_bytes(damaged)
    with pytest.raises(
        ChecksumError, match=rf"train.txt has changed since it was fetched: {difference}.*redownload=True"
    ):
        datasets.load("tiny-2")
    assert datasets.fetch("tiny-2", redownload=True).train.read_bytes() == TRAIN
    assert datasets.fetch("tiny-2").train.read_bytes() == TRAIN


def test_without_verifying_only_sizes_are_compared(site, tmp_path):
    train = datasets.fetch("tiny-2").train
    train.write_bytes(OTHER_TRAIN)
    assert datasets.fetch("tiny-2", verify=False).train == train
    train.write_bytes(b"")
    with pytest.raises(ChecksumError, match="it has 0 bytes"):
        datasets.fetch("tiny-2", verify=False)


def test_something_else_than_the_first_time_is_refused_and_replaces_nothing(site, tmp_path):
    train = datasets.fetch("tiny-2").train
    record = (folder_of(tmp_path) / "checksums.json").read_bytes()
    site.mirrors(zipped(OTHER))
    message = r"train.txt from http.*/tiny-2.zip differs from the first download, .*remove .*tiny-2 and fetch"
    with pytest.raises(ChecksumError, match=message):
        datasets.fetch("tiny-2", redownload=True)
    assert train.read_bytes() == TRAIN
    assert (folder_of(tmp_path) / "checksums.json").read_bytes() == record
    train.unlink()  # nor is it taken to make up for a loss
    with pytest.raises(ChecksumError):
        datasets.fetch("tiny-2")
    assert sorted(path.name for path in folder_of(tmp_path).iterdir()) == [
        ".lock",
        "checksums.json",
        "test.txt",
    ]


def test_the_same_files_packed_another_way_are_the_same(site, tmp_path):
    datasets.fetch("tiny-2")
    site.mirrors(zipped({"elsewhere/tiny_train.txt": TRAIN, "x/y/tiny_test.txt": TEST, "more": b"?"}))
    assert datasets.fetch("tiny-2", redownload=True).train.read_bytes() == TRAIN


def test_the_record_says_where_the_data_came_from(site, tmp_path):
    datasets.fetch("tiny-2")
    record = json.loads((folder_of(tmp_path) / "checksums.json").read_text())
    sha256 = hashlib.sha256(TRAIN).hexdigest()
    assert record["files"]["train.txt"] == {"bytes": len(TRAIN), "sha256": sha256}
    assert record["address"] == f"{site.address}/mirror/tiny-2.zip"
    assert record["archive"]["bytes"] == len(zipped())


@pytest.mark.parametrize(
    "record", [b"", b"{}", b"[]", b"\xff", b'{"address": 1, "archive": {}, "files": {}}', b"[" * 100_000]
)
def test_a_damaged_record_is_told_as_such(site, tmp_path, record):
    datasets.fetch("tiny-2")
    (folder_of(tmp_path) / "checksums.json").write_bytes(record)
    with pytest.raises(ChecksumError, match=r"checksums.json is damaged.*remove the folder"):
        datasets.fetch("tiny-2")


def test_the_next_address_is_tried(site, tmp_path, monkeypatch):
    site.files |= {"/good": zipped(), "/other": zipped({"readme": b""})}
    site.pages["/page"] = b"<html><title>Sign in</title></html>"
    addresses = tuple(f"{site.address}/{name}" for name in ("gone", "page", "other", "good", "unused"))
    monkeypatch.setitem(CATALOGUE, "tiny-2", replace(TINY, addresses=addresses))
    monkeypatch.delenv("LABELTREE_DATA_MIRROR")
    assert datasets.fetch("tiny-2").train.read_bytes() == TRAIN
    assert [path for path, _ in site.requests] == ["/gone", "/page", "/other", "/good"]
    assert not list(folder_of(tmp_path).glob(".archive*"))
    # Again from where it came from, as the others may have another edition.
    datasets.fetch("tiny-2", redownload=True)
    assert [path for path, _ in site.requests[4:]] == ["/good"]


def test_what_has_come_from_one_address_survives_the_failure_of_another(site, tmp_path, monkeypatch):
    site.files["/good"] = zipped()
    addresses = tuple(f"{site.address}/{name}" for name in ("gone", "good"))
    monkeypatch.setitem(CATALOGUE, "tiny-2", replace(TINY, addresses=addresses))
    monkeypatch.delenv("LABELTREE_DATA_MIRROR")
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    site.first.append(404)
    site.cuts.append(100)
    with pytest.raises(DownloadError, match=r"cut off after 100 of"):
        datasets.fetch("tiny-2")
    datasets.fetch("tiny-2")
    assert site.requests[-1] == ("/good", "bytes=100-")


def test_all_failures_are_told_with_what_to_do(site, monkeypatch):
    addresses = tuple(f"{site.address}/{name}" for name in ("gone", "lost"))
    monkeypatch.setitem(CATALOGUE, "tiny-2", replace(TINY, addresses=addresses))
    message = r"Tiny-2 cannot be fetched: .*/gone: the server answered 404 .*; .*/lost: .* pass a mirror"
    with pytest.raises(DownloadError, match=message) as raised:
        datasets.load("tiny-2", mirror="")
    assert isinstance(raised.value, OSError)
    assert isinstance(raised.value, LabelTreeError)


def test_a_bad_archive_is_not_kept(site, tmp_path):
    site.mirrors(b"no archive")
    with pytest.raises(DownloadError, match="expected a zip or tar archive"):
        datasets.fetch("tiny-2")
    assert [path.name for path in folder_of(tmp_path).iterdir()] == [".lock"]
    site.mirrors()
    assert datasets.fetch("tiny-2").train.read_bytes() == TRAIN


def test_threads_fetch_once(site, caplog):
    site.first.append(lambda handler: (time.sleep(0.3), handler.do_GET())[1])
    barrier = threading.Barrier(6)

    def work(_):
        barrier.wait()
        return datasets.fetch("tiny-2").train.read_bytes()

    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [TRAIN] * 6
    assert len({path for path, _ in site.requests}) == 1
    assert len(site.requests) == 2  # the first is answered by asking once more
    assert "another process fetches into" in caplog.text


def test_processes_wait_for_each_other(site, tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from labeltree.datasets.repository.cache_folder import locked\n"
        "with locked(Path(sys.argv[1])): print('has it', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, folder_of(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "has it\n"
        entered = threading.Event()

        def enter():
            with locked(folder_of(tmp_path)):
                entered.set()

        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.3)
        other.kill()  # a lock does not outlive its process
        assert entered.wait(60)
        thread.join()


def test_a_cache_that_cannot_be_written_to(site, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match=r"Not a directory: .* LABELTREE_DATA_HOME"):
        datasets.fetch("tiny-2", cache=tmp_path / "file")


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "free some space and try again"), (errno.EACCES, "get permission to write")],
)
def test_what_the_system_refuses_is_told_with_what_to_do(site, tmp_path, monkeypatch, number, advice):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fetching, "unpack", refuse)
    with pytest.raises(
        DownloadError, match=rf"tiny-2: {os.strerror(number)}: {advice}.* LABELTREE_DATA_HOME"
    ):
        datasets.fetch("tiny-2")


def test_a_disk_that_fills_up_on_the_way_is_no_reason_to_try_again(site, tmp_path, monkeypatch):
    def refuse(self, block):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(partial_file.PartialFile, "write", refuse)
        with pytest.raises(DownloadError, match="No space left on device: free some space and try again"):
            datasets.fetch("tiny-2")
    assert len(site.requests) == 1
    assert datasets.fetch("tiny-2").train.read_bytes() == TRAIN


def test_an_archive_that_could_not_be_unpacked_for_want_of_room_is_not_fetched_again(site, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as full:
        full.setattr(fetching, "unpack", refuse)
        with pytest.raises(DownloadError, match="try again to resume"):
            datasets.fetch("tiny-2")
    assert datasets.fetch("tiny-2").train.read_bytes() == TRAIN
    assert len(site.requests) == 1


def test_the_cache_is_where_it_was_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("LABELTREE_DATA_HOME", "/data/home")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("/given") == Path("/given")
    assert cache_folder("~/x") == tmp_path / "x"
    assert cache_folder() == Path("/data/home")
    monkeypatch.setenv("LABELTREE_DATA_HOME", "")
    assert cache_folder() == Path("/xdg/labeltree")
    for ignored in ("relative", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == tmp_path / ".cache" / "labeltree"


def test_progress_is_shown_when_asked_for(site, capsys):
    datasets.fetch("tiny-2", verbose=1)
    assert "fetching Tiny-2" in capsys.readouterr().err
    datasets.fetch("tiny-2", redownload=True, verbose=-1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("eurlex4k", "'eurlex-4k'"),
        ("Amazon-300K", "'amazon-3m'"),
        ("wikipedia", "'wikipedia-500k'"),
        ("zzz", None),
    ],
)
def test_unknown_names_get_the_list_and_near_misses(name, guess):
    with pytest.raises(ValueError, match=r"expected one of the data sets eurlex-4k, amazoncat-13k") as raised:
        datasets.load(name)
    assert repr(name) in str(raised.value)
    assert (
        (guess or "did you mean") in str(raised.value) if guess else "did you mean" not in str(raised.value)
    )


@pytest.mark.parametrize(
    ("name", "found"), [(" EURLex-4K", "eurlex-4k"), ("RCV1-2K", "rcv1-x"), ("Wiki10_31k", "wiki10-31k")]
)
def test_names_may_be_written_in_other_ways(name, found):
    assert find(name).name == found


def test_arguments_are_checked(site):
    with pytest.raises(TypeError, match="expected the name of a data set, got int"):
        datasets.load(3)
    with pytest.raises(ValueError, match="expected timeout to be above 0, got 0"):
        datasets.load("tiny-2", timeout=0)
    with pytest.raises(ValueError, match="begins with http:// or https://, got 'ftp://x'"):
        datasets.load("tiny-2", mirror="ftp://x")


def test_the_catalogue_has_the_sizes_of_the_paper():
    rows = {
        "eurlex-4k": (5000, 3993, 15539, 3809),
        "amazoncat-13k": (203882, 13330, 1186239, 306782),
        "wiki10-31k": (101938, 30938, 14146, 6616),
        "delicious-200k": (782585, 205443, 196606, 100095),
        "wikilshtc-325k": (1617899, 325056, 1778351, 587084),
        "wikipedia-500k": (2381304, 501070, 1813391, 783743),
        "amazon-670k": (135909, 670091, 490449, 153025),
        "amazon-3m": (337067, 2812281, 1717899, 742507),
    }
    for name, sizes in rows.items():
        known = CATALOGUE[name]
        assert (known.n_features, known.n_labels, known.n_train, known.n_test) == sizes
    assert datasets.names() == list(CATALOGUE)
    assert datasets.names()[: len(rows)] == list(rows)


def test_every_set_has_addresses_of_its_own_and_a_layout():
    addresses = [address for known in CATALOGUE.values() for address in known.addresses]
    assert len(set(addresses)) == len(addresses)
    for name, known in CATALOGUE.items():
        assert name == known.name == known.title.lower()
        assert known.addresses
        assert known.layouts
        assert all(address.startswith("https://") for address in known.addresses)
