import lzma
import subprocess

import pytest
from benchmarks import data
from tests.archive_server import TINY, TRAIN, serving

from labeltree.datasets.repository.catalogue import CATALOGUE


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELTREE_DATA", str(tmp_path / "source"))
    monkeypatch.setattr(data, "CACHE", tmp_path / "cache")
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


def test_a_set_of_rows_is_split_on_first_use(source):
    (source / "tags").mkdir()
    rows = [f"{i % 3} {i}:1\n" for i in range(12)]
    rows[7] = " 7:1\n"  # without any label
    with lzma.open(source / "tags" / "tags.txt.xz", "wt") as file:
        file.write("12 20 3\n" + "".join(rows))
    train, test = data.prepare("tags")
    assert test.read_text() == "3 20 3\n" + "".join(rows[i] for i in (0, 5, 10))
    assert train.read_text() == "9 20 3\n" + "".join(rows[i] for i in range(12) if i % 5)
    (source / "tags" / "tags.txt.xz").unlink()
    assert data.prepare("tags") == (train, test)


def test_a_set_is_there_with_all_its_files_or_not_at_all(source, tmp_path):
    (source / "make_xmlc.py").write_text(
        "import pathlib, sys\n"
        "folder = pathlib.Path(sys.argv[2])\n"
        "folder.mkdir()\n"
        "(folder / 'train.txt').write_text('0 1 1\\n')\n"
        "sys.exit(1)\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        data.prepare("laws")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_set_that_is_not_there(source):
    with pytest.raises(SystemExit, match="set LABELTREE_DATA"):
        data.prepare("nothing")


def test_a_set_of_the_repository_is_fetched_unless_there_is_one_of_its_name(source, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "tiny-2", TINY)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("LABELTREE_DATA_HOME", str(tmp_path / "home"))
    with serving() as site:
        monkeypatch.setenv("LABELTREE_DATA_MIRROR", site.mirrors())
        train, test = data.prepare("tiny-2")
    assert train.read_bytes() == TRAIN
    assert test.parent == tmp_path / "home" / "tiny-2"
    assert data.prepare("tiny-2") == (train, test)  # without a server
    (source / "tiny-2").mkdir()
    with lzma.open(source / "tiny-2" / "tiny-2.txt.xz", "wt") as file:
        file.write("2 1 1\n0 0:1\n0 0:1\n")
    assert data.prepare("tiny-2")[0].parent == tmp_path / "cache" / "tiny-2"
