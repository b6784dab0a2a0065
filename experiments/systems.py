"""Every published system that has a preset, with its published settings; fills the table of docs/systems.md.

python -m experiments.systems                    # about half an hour on two cores; resumes
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.runner.command_line import main
from experiments.runner.figures import PRECISIONS
from experiments.runner.sources import ROOT
from experiments.runner.stored import read_page
from experiments.runner.table import Row, Table
from experiments.runner.tables import RESULTS
from labeltree.kinds import KINDS

DATA = "eurlex57k"
PAGE = ROOT / "docs" / "systems.md"

#: What a system does that its preset leaves to the call: these two learn from a stream, in one pass.
_CALLS: Mapping[str, Mapping[str, Any]] = {"plt_vw": {"epochs": 1}, "cpt": {"epochs": 1}}

#: What the page says of its figures once they are of this table.
ABOUT = """\
The figures are P@1, P@3 and P@5 on the test rows of `eurlex57k` of exactly these presets, with one seed.
`python -m experiments.systems` [measures them](../experiments/results/systems.md) and writes them here."""


def settings_of(kind: Any, preset: str) -> dict[str, Any]:
    """The parameters of a preset that are not defaults of the class."""
    usual = kind().get_params()
    made = getattr(kind, preset)(**_CALLS.get(preset, {})).get_params()
    return {name: value for name, value in made.items() if value != usual[name]}


TABLE = Table(
    name="systems",
    title="Published systems",
    paper="names these systems; `rivals` has those that it compares, with its settings.",
    here="1-vs-all (`dismec`) is the best, Bonsai and PPDSparse are 0.8 points of P@1 behind, three trees of Parabel "
    "1.2 and the one of napkinXC 1.8. Trees that know nothing of the features (`xmlc_plt`, `plt_vw`), those that grow "
    "(`cpt`), softmax and trees over rows are 3 to 6 points behind, PfastreXML 12: it is made for rare labels. "
    "`extremetext` and `fasttext` have the rates and passes of their programs, which were not tuned for this set.",
    rows=[
        Row(preset, settings_of(kind.load(), preset), system=kind.estimator, seeds=1, baseline=False)
        for kind in KINDS
        for preset in kind.presets
    ],
    data=(DATA,),
    notes=[
        "A row is a preset of [Published systems](../../docs/systems.md) with nothing else set: no parameter is tuned "
        "on this set. `plt_vw` and `cpt` make one pass. `cpt` is for one label per row; here rows have several, "
        "and its tree grows by the rule that extends CPT's to them.",
        "A system that takes more than half an hour is stopped. Times are processor time, of all threads together.",
    ],
)


def cells_of(path: Path) -> dict[str, str]:
    """By preset: its figures on the page of this table, or why it has none."""
    failures = re.findall(r"^- (\w+): not here, because: (.*)$", path.read_text(), re.M)
    figures = {
        line.name: ", ".join(f"{100 * line.means[name].value:.1f}" for name in PRECISIONS)
        for line in read_page(path)[DATA]
    }
    return {**dict(failures), **figures}


def fill(page: str, cells: Mapping[str, str]) -> str:
    """The page of the systems with these cells; the figure of a system that has none stays as it is."""
    for preset, cell in cells.items():
        page = re.sub(rf"^(\| .* \| `{preset}` \| .* \| )[^|]*( \|)$", rf"\g<1>{cell}\2", page, flags=re.M)
    if cells.keys() >= {row.name for row in TABLE.rows}:
        page = re.sub(r"^The figures are P@1.*?(?=\n\n)", ABOUT, page, flags=re.M | re.S)
    return page


def run(arguments: Sequence[str]) -> int:
    """Run what is missing, and write both pages."""
    status = main([TABLE.name, *arguments])
    path = RESULTS / f"{TABLE.name}.md"
    if path.exists():
        PAGE.write_text(fill(PAGE.read_text(), cells_of(path)))
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
