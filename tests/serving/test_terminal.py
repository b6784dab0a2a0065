"""What `labeltree serve` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.command_line import run
from tests.servers import TOKEN
from tests.small_models import small_model


def test_the_address_and_the_models_are_printed(models: dict[str, Path], tmp_path: Path) -> None:
    """By a server that ends at once, because nothing of it can learn as it was told to."""
    (tmp_path / "tokens").write_text(TOKEN)
    learn = ("--learn", "--token-file", tmp_path / "tokens", "--port", 0)
    given = (models["numbers"], f"paintings={models['tags']}", models["fastxml"])
    url, *served = run("serve", *given, *learn, exit_code=1).stdout.splitlines()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
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


@pytest.mark.parametrize("option", ["--max-body-mb", "--max-head-kb"])
def test_an_infinite_size_is_refused(option: str) -> None:
    refused = run("serve", "model", option, "inf", exit_code=2)
    assert f"Invalid value for '{option}'" in refused.stderr
