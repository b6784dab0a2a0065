import lzma

import pytest
from benchmarks import data


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


def test_a_set_that_is_not_there(source):
    with pytest.raises(SystemExit, match="set LABELTREE_DATA"):
        data.prepare("nothing")
