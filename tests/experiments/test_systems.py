"""The table of published systems has all presets as they are, and fills the page of them."""

import re
from pathlib import Path

from experiments import systems
from experiments.runner.document import page
from experiments.runner.figures import summarise
from experiments.runner.table import BASELINE, BASELINE_C, BASELINE_OF_DESCENT

import labeltree
from labeltree import LabelTreeClassifier

PAGE = systems.PAGE.read_text()
COSTS = {"train_cpu_s": 1.0, "batch_cpu_ms": 0.1, "model_mb": 2.0}


def test_rows_are_the_presets_with_nothing_else_set():
    presets = [row.name for row in systems.TABLE.rows]
    assert len(presets) == len(set(presets)) == 15
    for row in systems.TABLE.rows:
        kind = getattr(labeltree, row.system)
        made = kind(**row.all_parameters()).get_params()
        one_pass = {"epochs": 1} if row.name in ("plt_vw", "cpt") else {}
        assert made == getattr(kind, row.name)(**one_pass).get_params(), row.name
        assert not row.c_is_tuned


def test_the_baseline_is_the_preset_of_napkinxc_with_fewer_passes():
    baseline = {**BASELINE, **BASELINE_OF_DESCENT, "C": BASELINE_C["logistic"], "link": "sigmoid"}
    preset = LabelTreeClassifier.napkinxc().get_params()
    # Binary trees of the two kinds are the same.
    expected = {**preset, "tree": "kmeans", "link": "sigmoid", "max_iter": 20}
    assert LabelTreeClassifier(**baseline).get_params() == expected


def test_the_page_of_the_systems_is_filled_from_that_of_the_table(tmp_path: Path):
    figures = {"P@1": 0.9123, "P@3": 0.8, "P@5": 0.7006, **COSTS}
    names = [row.name for row in systems.TABLE.rows]
    rows = [(name, [figures], "") for name in names if name not in ("fastxml", "parabel")]
    rows += [("fastxml", [], "stopped after 1800 s"), ("parabel", [], "")]
    path = tmp_path / "systems.md"
    path.write_text(page(systems.TABLE, {systems.DATA: summarise(rows)}, []))
    before = re.sub(
        r"^The figures are P@1.*?(?=\n\n)", "The figures are P@1\nof others.", PAGE, flags=re.M | re.S
    )
    filled = systems.fill(before, systems.cells_of(path))
    lines = {
        line.split("`")[1]: line for line in filled.splitlines() if line.startswith("| [") and "`" in line
    }
    assert lines.keys() == set(names)
    assert lines["napkinxc"].endswith(" | a label tree with exact search | 91.2, 80.0, 70.1 |")
    assert lines["fastxml"].endswith(" | stopped after 1800 s |")
    assert lines["parabel"] in before  # not run
    assert systems.ABOUT not in filled
    path.write_text(
        page(systems.TABLE, {systems.DATA: summarise([*rows[:-1], ("parabel", [figures], "")])}, [])
    )
    filled = systems.fill(before, systems.cells_of(path))
    assert filled.count(systems.ABOUT) == 1
    assert "of others" not in filled
    assert len(filled.splitlines()) == len(before.splitlines())
