"""Archives of data sets: those that the repository has, damaged ones, hostile ones."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import random
import stat
import tarfile
import zipfile
from dataclasses import replace

import pytest
from tests.archive_server import TEST, TINY, TRAIN, taped, zipped

from labeltree.datasets.repository import archive as archive_module
from labeltree.datasets.repository.unpacking import unpack
from labeltree.errors import DownloadError

HALVES = {"Tiny/tiny_train.txt": TRAIN, "Tiny/tiny_test.txt": TEST}
ROWS = b"5 4 2\n0 0:1\n1 0:1\n0,1 1:0.5 3:2\n 2:1\n0 3:1\n"
SPLIT = {
    "Tiny/Tiny_data.txt": ROWS,
    "Tiny/tiny_trSplit.txt": b"1 2\n3 4\n4 1\n",
    "Tiny/tiny_tstSplit.txt": b"2 3\n5 5\n",
}
TAPES = ("w", "w:gz", "w:bz2", "w:xz")
COMPRESSIONS = {"deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}


def unpacked(content: bytes, tmp_path, data_set=TINY):
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (tmp_path / "archive").write_bytes(content)
    unpack(tmp_path / "archive", data_set, folder)
    return (folder / "train.txt").read_bytes(), (folder / "test.txt").read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        zipped(HALVES),
        zipped(HALVES, compression=zipfile.ZIP_DEFLATED),
        zipped(HALVES, compression=zipfile.ZIP_BZIP2),
        taped(HALVES, "w"),
        taped(HALVES, "w:gz"),
        taped(HALVES, "w:bz2"),
        taped(HALVES, "w:xz"),
        zipped({"tiny_train.txt": TRAIN, "a/b/tiny_test.txt": TEST, "readme.txt": b"", "a/": b""}),
        zipped({**HALVES, "__MACOSX/Tiny/tiny_train.txt": b"?", "Tiny/._tiny_test.txt": b"?"}),
        zipped({name.replace("/", "\\"): content for name, content in HALVES.items()}),
    ],
)
def test_training_and_test_rows_are_found_in_any_archive(content, tmp_path):
    assert unpacked(content, tmp_path) == (TRAIN, TEST)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_older_archives_are_split_by_the_first_column_of_row_numbers(ending, tmp_path):
    files = {name: content.replace(b"\n", ending) for name, content in SPLIT.items()}
    assert unpacked(zipped(files), tmp_path) == (TRAIN, TEST)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "unpacked"]


def test_the_last_row_of_an_older_archive_may_lack_its_end(tmp_path):
    files = {name: content.removesuffix(b"\n") for name, content in SPLIT.items()}
    assert unpacked(zipped(files), tmp_path) == (TRAIN, TEST)


@pytest.mark.parametrize(
    "numbers", [b"0\n1\n2\n", b"1\n2\n6\n", b"", b"one\n", b"1\n2\n3.5\n", b"9" * 30, b"\xff"]
)
def test_row_numbers_that_are_none(numbers, tmp_path):
    with pytest.raises(DownloadError, match="the archive is damaged"):
        unpacked(zipped({**SPLIT, "Tiny/tiny_trSplit.txt": numbers}), tmp_path)


def test_another_data_set_is_not_taken_for_this_one(tmp_path):
    message = (
        r"another data set: expected train.txt to begin with '3 4 9' \(rows, .* of Tiny-2\), got b'3 4 2'"
    )
    with pytest.raises(DownloadError, match=message):
        unpacked(zipped(), tmp_path, replace(TINY, n_labels=9))


def test_a_split_of_another_length_is_not_taken_for_this_one(tmp_path):
    with pytest.raises(DownloadError, match=r"expected test.txt to begin with '2 4 2'"):
        unpacked(zipped({**SPLIT, "Tiny/tiny_tstSplit.txt": b"2\n"}), tmp_path)


def test_an_archive_with_other_files(tmp_path):
    message = (
        r"expected Tiny_data.txt and .* or tiny_train.txt and tiny_test.txt in the archive, got a.txt, b.txt"
    )
    with pytest.raises(DownloadError, match=message):
        unpacked(zipped({"b.txt": b"", "x/a.txt": b""}), tmp_path)


@pytest.mark.parametrize("content", [b"", b"3 4 2\n", bz2.compress(TRAIN), b"PK\x03\x04" + bytes(100)])
def test_what_is_no_archive(content, tmp_path):
    with pytest.raises(DownloadError, match=r"expected a zip or tar archive, got a file that begins with b"):
        unpacked(content, tmp_path)


@pytest.mark.parametrize("kind", ["stored", *COMPRESSIONS, *TAPES])
def test_damaged_archives_are_told_as_such(kind, tmp_path):
    files = {name: content + random.Random(0).randbytes(3000) for name, content in HALVES.items()}
    whole = taped(files, kind) if kind in TAPES else zipped(files, compression=COMPRESSIONS.get(kind, 0))
    rng = random.Random(1)
    n_noticed = 0
    for _ in range(80):
        damaged = bytearray(whole[: rng.randrange(1, len(whole))] if rng.random() < 0.3 else whole)
        for _ in range(5):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        (tmp_path / "archive").write_bytes(damaged)
        try:
            unpack(tmp_path / "archive", TINY, tmp_path)
        except DownloadError:  # and nothing else
            n_noticed += 1
    assert n_noticed > (10 if kind == "w" else 70)  # tar itself knows checksums of headers only


def test_names_that_lead_elsewhere_lead_nowhere(tmp_path):
    files = {"../../tiny_train.txt": TRAIN, "/etc/tiny_test.txt": TEST, "..": b"", "../evil": b""}
    assert unpacked(zipped(files), tmp_path) == (TRAIN, TEST)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "archive",
        "test.txt",
        "train.txt",
        "unpacked",
    ]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_tar_archives_are_no_files(kind, tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("tiny_train.txt")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
        entry = tarfile.TarInfo("tiny_test.txt")
        entry.size = len(TEST)
        archive.addfile(entry, io.BytesIO(TEST))
    with pytest.raises(DownloadError, match=r"got tiny_test.txt$"):
        unpacked(buffer.getvalue(), tmp_path)


def test_links_in_zip_archives_are_no_files(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("tiny_train.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("tiny_test.txt", TEST)
    with pytest.raises(DownloadError, match=r"got tiny_test.txt$"):
        unpacked(buffer.getvalue(), tmp_path)


def test_two_files_of_one_name(tmp_path):
    with pytest.raises(DownloadError, match=r"expected one tiny_train.txt in the archive, got 2"):
        unpacked(zipped({**HALVES, "b/tiny_train.txt": TRAIN}), tmp_path)


@pytest.mark.parametrize(
    "make",
    [lambda files: zipped(files, compression=zipfile.ZIP_DEFLATED), lambda files: taped(files, "w:gz")],
)
def test_bombs_do_not_go_off(make, tmp_path):
    bomb = make({**HALVES, "zeros": bytes(20_000_000)})
    with pytest.raises(
        DownloadError, match=r"expected at most [\d,]+ bytes in the archive, got 20,\d{3},\d{3}"
    ):
        unpacked(bomb, tmp_path)


def long_name(n_bytes: int) -> bytes:
    entry = tarfile.TarInfo("././@LongLink")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, n_bytes
    return entry.tobuf(format=tarfile.GNU_FORMAT) + b"a" * n_bytes + bytes(-n_bytes % 512)


@pytest.mark.parametrize("names", [long_name(20_000_000), long_name(512) * 3000], ids=["long", "many"])
def test_names_in_tar_archives_are_no_bombs(names, tmp_path):
    (tmp_path / "data.tar.gz").write_bytes(gzip.compress(names + bytes(1024)))
    with (
        pytest.raises(DownloadError, match=r"cannot be read|expected a zip"),
        archive_module.open_archive(tmp_path / "data.tar.gz"),
    ):
        pass


def test_a_file_is_never_longer_than_it_claims(tmp_path):
    """A zip archive whose directory claims less than the compressed stream gives."""
    honest = zipped(
        {"tiny_train.txt": TRAIN + bytes(100_000), "tiny_test.txt": TEST}, compression=zipfile.ZIP_DEFLATED
    )
    size = len(TRAIN) + 100_000
    lying = honest.replace(size.to_bytes(4, "little"), len(TRAIN).to_bytes(4, "little"))
    assert lying != honest
    with pytest.raises(DownloadError, match=r"damaged|cannot be read"):
        unpacked(lying, tmp_path)
    assert (tmp_path / "unpacked" / "train.txt").stat().st_size <= len(TRAIN)


def test_archives_with_passwords(tmp_path):
    content = bytearray(zipped())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        content[at + flags] |= 1
    with pytest.raises(DownloadError, match="password required"):
        unpacked(bytes(content), tmp_path)


def test_archives_of_very_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module, "_MAX_MEMBERS", 5)
    many = {**HALVES, **{f"{number}": b"" for number in range(10)}}
    for content in (zipped(many), taped(many)):
        (tmp_path / "archive").write_bytes(content)
        with pytest.raises(DownloadError, match="at most 5 files"):
            unpack(tmp_path / "archive", TINY, tmp_path)


def test_a_file_that_has_no_room(tmp_path, monkeypatch):
    usage = archive_module.shutil.disk_usage(tmp_path)._replace(free=3)
    monkeypatch.setattr(archive_module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(OSError, match=r"tiny_train.txt needs 31 bytes, but only 3 are free") as raised:
        unpacked(zipped(), tmp_path)
    assert raised.value.errno == errno.ENOSPC
