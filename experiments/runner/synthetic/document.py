"""The study as tables of a Markdown page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from experiments.runner.document import per_cent
from experiments.runner.figures import Mean
from experiments.runner.synthetic.scales import Found
from experiments.runner.synthetic.study import SETTINGS, Comparison, Outcome, PaperLine

_PAPER: Mapping[str, PaperLine] = {setting.name: setting.paper for setting in SETTINGS}


def precision_table(outcomes: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """P@1 of both models on the test rows below the ceiling, and who won."""
    yield from _head(
        ["", "ceiling", "label tree", "softmax", "tree over softmax", "wins", "ties", "losses", "p-value"]
    )
    for name, runs in outcomes.items():
        compared = Comparison.of([run.tree for run in runs], [run.softmax for run in runs])
        cells = [
            per_cent(Mean.of([getattr(run, figure) for run in runs]))
            for figure in ("ceiling", "tree", "softmax")
        ]
        yield _line([name, *cells, _signed(compared.difference, per_cent), *_test(compared)])


def regret_table(outcomes: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """What both models lose to the ceiling, by the true probabilities of their first labels."""
    yield from _head(
        [
            "",
            "label tree",
            "softmax",
            "tree over softmax",
            "wins",
            "ties",
            "losses",
            "p-value",
            "rows without labels",
        ]
    )
    for name, runs in outcomes.items():
        compared = Comparison.of([run.tree_expected for run in runs], [run.softmax_expected for run in runs])
        cells = [
            _fine(Mean.of([run.ceiling - getattr(run, figure) for run in runs]))
            for figure in ("tree_expected", "softmax_expected")
        ]
        unlabelled = per_cent(Mean.of([run.unlabelled for run in runs]))
        yield _line([name, *cells, _signed(compared.difference, _fine), *_test(compared), unlabelled])


def paper_table() -> Iterator[str]:
    """What the paper prints."""
    yield from _head(["", "label tree", "softmax", "wins", "ties", "losses", "p-value"])
    papers = {name.partition(",")[0]: line for name, line in _PAPER.items()}
    for name, line in papers.items():
        levels = [f"{value:.2f} ± {error:.2f}" for value, error in (line.tree, line.softmax)]
        yield _line([name, *levels, *map(str, line.counts), _p_value(line.p_value)])


def scale_table(found: Mapping[str, Found]) -> Iterator[str]:
    """The scales that would give the paper's levels."""
    yield from _head(["", "paper, label tree", "scale", "ceiling there"])
    for name, at in found.items():
        value, error = _PAPER[name].tree
        scale = "none" if at.scale is None else f"{at.scale:.3g}"
        yield _line([name, f"{value:.2f} ± {error:.2f}", scale, per_cent(at.ceiling)])


def sweep_table(sweep: Mapping[float, Mapping[str, Sequence[Outcome]]]) -> Iterator[str]:
    """Ceiling and P@1 of both models by scale."""
    names = next(iter(sweep.values()))
    figures = {"ceiling": "ceiling", "tree": "label tree", "softmax": "softmax"}
    yield from _head(["scale", *(f"{name}: {shown}" for name in names for shown in figures.values())])
    for scale, outcomes in sweep.items():
        means = [
            Mean.of([getattr(run, figure) for run in runs])
            for runs in outcomes.values()
            for figure in figures
        ]
        yield _line([f"{scale:g}", *(f"{100 * mean.value:.1f}" for mean in means)])


def _test(compared: Comparison) -> list[str]:
    return [str(compared.wins), str(compared.ties), str(compared.losses), _p_value(compared.p_value)]


def _signed(mean: Mean, shown: Callable[[Mean], str]) -> str:
    return ("+" if mean.value > 0 else "") + shown(mean)


def _fine(mean: Mean) -> str:
    """In per cent, with the three decimals that small regrets need."""
    return f"{100 * mean.value:.3f}" + ("" if mean.error is None else f" ± {100 * mean.error:.3f}")


def _p_value(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2g}" if value >= 1e-3 else f"{value:.1e}"


def _head(columns: list[str]) -> Iterator[str]:
    yield _line(columns)
    yield _line(["---"] * len(columns))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
