"""docs/releasing.md: what it says to write into pyproject.toml makes all links of the README absolute."""

from __future__ import annotations

import re

import pytest
from tests.pages import DOCS, README, blocks_in, links


def test_with_an_address_all_links_and_pictures_of_the_readme_lead_there() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    (block,) = blocks_in(DOCS / "releasing.md", "toml")
    written = tomllib.loads(block)
    text = README.read_text(encoding="utf-8")
    for each in written["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    source = written["project"]["urls"]["Source"]
    targets = re.findall(r"(!?)\[[^\]]+\]\(([^)]*)\)", text)
    assert len(targets) > len(links(README)) > 10  # and those that lead elsewhere
    assert [target for _, target in targets if not target.startswith("https://")] == []
    pictures = [target for mark, target in targets if mark]
    assert pictures == [f"{source}/raw/main/docs/pictures/tags.png"]
    assert f"({source}/blob/main/docs/start.md)" in text
