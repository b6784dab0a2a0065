import json
from importlib.util import find_spec

import pytest
from benchmarks.peers import PEERS
from benchmarks.picture import COLOURS, PANELS, main
from benchmarks.summary import COSTS
from tests.benchmarks.results import sample_rows


def test_every_system_has_a_colour_and_every_panel_a_figure():
    assert list(COLOURS) == list(PEERS)
    assert len(set(COLOURS.values())) == len(PEERS)
    assert set(PANELS) <= set(COSTS)


def test_the_picture_is_drawn_or_the_reason_is_told(tmp_path):
    results, picture = tmp_path / "results.json", tmp_path / "results.png"
    rows = [row.as_json() for row in sample_rows()]
    results.write_text(json.dumps({"title": "a title", "rows": rows}))
    if find_spec("matplotlib") is None:
        with pytest.raises(SystemExit, match="needs matplotlib"):
            main([str(results), str(picture)])
        return
    assert main([str(results), str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
