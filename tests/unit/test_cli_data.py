"""`labeltree data`."""

from __future__ import annotations

import pytest
from tests.archive_server import TEST, TINY, TRAIN, serving
from tests.command_line import run, run_json

from labeltree.datasets.repository.catalogue import CATALOGUE


@pytest.fixture
def site(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("LABELTREE_DATA_HOME", str(tmp_path))
    monkeypatch.setitem(CATALOGUE, "tiny-2", TINY)
    with serving() as site:
        monkeypatch.setenv("LABELTREE_DATA_MIRROR", site.mirrors())
        yield site


def test_the_list_has_all_sets_with_their_sizes(site):
    text = run("data", "list").stdout
    for name, known in CATALOGUE.items():
        (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
        assert line.split()[1:] == [
            f"{n:,}" for n in (known.n_train, known.n_test, known.n_features, known.n_labels)
        ]


def test_the_list_knows_what_is_there(site, tmp_path):
    def state():
        sets = {
            row["name"]: (row["fetched"], row["damaged"]) for row in run_json("data", "list")["data_sets"]
        }
        assert set(sets) == set(CATALOGUE)
        return sets["tiny-2"]

    assert state() == (False, False)
    run("data", "fetch", "tiny-2")
    assert state() == (True, False)
    assert run("data", "list").stdout.splitlines()[-1].endswith("fetched")
    (tmp_path / "tiny-2" / "train.txt").write_bytes(b"")
    assert state() == (False, True)
    assert run("data", "list").stdout.splitlines()[-1].endswith("damaged")


def test_fetching_says_where_the_files_are_and_how_to_go_on(site, tmp_path):
    text = run("data", "fetch", "Tiny-2").stdout
    assert f"{tmp_path}/tiny-2/train.txt: 31 B" in text
    assert f"{tmp_path}/tiny-2/test.txt: {len(TEST)} B" in text
    assert f"Next: labeltree train {tmp_path}/tiny-2/train.txt --model MODEL" in text
    assert (tmp_path / "tiny-2" / "train.txt").read_bytes() == TRAIN


def test_fetching_for_machines(site, tmp_path):
    files = {"train": f"{tmp_path}/tiny-2/train.txt", "test": f"{tmp_path}/tiny-2/test.txt"}
    sizes = {"train_bytes": len(TRAIN), "test_bytes": len(TEST)}
    assert run_json("data", "fetch", "tiny-2") == {"name": "tiny-2", **files, **sizes}
    assert run_json("data", "path", "tiny-2") == {"name": "tiny-2", **files}


def test_options_of_fetching(site, tmp_path, monkeypatch):
    monkeypatch.delenv("LABELTREE_DATA_MIRROR")
    arguments = ("tiny-2", "--cache", tmp_path / "elsewhere")
    run("data", "fetch", *arguments, "--mirror", f"{site.address}/mirror", "--timeout", 5)
    assert run("data", "path", *arguments).stdout == f"{tmp_path}/elsewhere/tiny-2\n"
    run("data", "fetch", *arguments, "--mirror", f"{site.address}/mirror")
    assert len(site.requests) == 1
    run("data", "fetch", *arguments, "--mirror", f"{site.address}/mirror", "--redownload")
    assert len(site.requests) == 2


def test_a_model_can_be_trained_on_what_was_fetched(site, tmp_path):
    run("data", "fetch", "tiny-2")
    folder = run("data", "path", "tiny-2").stdout.strip()
    assert run_json("train", f"{folder}/train.txt", "--model", tmp_path / "model")["rows"] == 3


def test_failures_are_one_line_and_an_exit_code(site):
    site.files.clear()
    for command, message in {
        "path tiny-2": "tiny-2 has not been fetched: run 'labeltree data fetch tiny-2'",
        "fetch tiny-2": "/mirror/tiny-2.zip: the server answered 404 Not Found",
        "fetch tiny-3": "expected one of the data sets eurlex-4k, ",
        "path tiny-3": "did you mean 'tiny-2'?",
    }.items():
        error = run("data", *command.split(), exit_code=1).stderr
        assert message in error
        assert error.startswith("labeltree: ")
        assert error.count("\n") == 1
