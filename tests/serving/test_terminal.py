"""What `labeltree serve` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.command_line import run
from tests.servers import TOKEN, ServerProcess
from tests.small_models import small_model


@pytest.mark.parametrize("workers", [1, 2])
def test_the_address_and_the_models_are_printed(
    models: dict[str, Path], tmp_path: Path, workers: int
) -> None:
    given = (models["numbers"], f"paintings={models['tags']}", models["fastxml"])
    with ServerProcess(*given, "--workers", workers, log=tmp_path / "log") as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.url)
        server.stop()
        assert server.process.stdout is not None
        served = server.process.stdout.read().decode().splitlines()
    assert served == [
        "numbers: LabelTreeClassifier, 3 labels",
        "paintings: LabelTreeClassifier, 4 labels",
        "fastxml: FastXMLClassifier, 3 labels",
    ]


def test_nothing_is_printed_if_a_model_is_damaged(tmp_path: Path) -> None:
    small_model().save(tmp_path / "small")
    (tmp_path / "small" / "model.json").write_text("{}")
    for workers in (1, 2):
        refused = run("serve", tmp_path / "small", "--workers", workers, "--port", 0, exit_code=1)
        assert refused.stdout == ""
        assert "this is not a model of labeltree" in refused.stderr


def test_nothing_is_printed_if_only_loading_finds_the_damage(tmp_path: Path) -> None:
    small_model().save(tmp_path / "small")
    (labels,) = (tmp_path / "small").glob("labels-*.safetensors")
    labels.write_bytes(labels.read_bytes()[:-1])
    refused = run("serve", tmp_path / "small", "--port", 0, exit_code=1)
    assert refused.stdout == ""
    assert "model.json says that this file has" in refused.stderr


def test_nothing_is_printed_if_no_model_can_learn(models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(TOKEN)
    learn = ("--learn", "--token-file", tmp_path / "tokens", "--port", 0)
    refused = run("serve", models["numbers"], *learn, exit_code=1)
    assert refused.stdout == ""
    assert "none of the models can learn" in refused.stderr


@pytest.mark.parametrize("option", ["--max-body-mb", "--max-head-kb"])
def test_an_infinite_size_is_refused(option: str) -> None:
    refused = run("serve", "model", option, "inf", exit_code=2)
    assert f"Invalid value for '{option}'" in refused.stderr
