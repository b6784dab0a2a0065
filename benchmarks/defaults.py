"""Are the defaults the best choice? All sets, with the defaults, each C of a grid, and other packages, in one table.

python -m benchmarks.defaults --sets tate debian-depends git-files=../git --seeds 3 --out defaults.md
python -m benchmarks.defaults --setting 'flat={"arity": 100}' --setting 'old={"C": 1.0}' --no-peers --no-grid
python -m benchmarks.defaults --estimator ExtremeTextClassifier --sets tate --setting 'wide={"dimension": 500}'
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import labeltree
from benchmarks.defaults_table import DEFAULT, FIXED, LEGEND, SetTable, summary
from benchmarks.development import Parts, keep_rows, prepare_parts
from benchmarks.peers import OURS, PEERS
from benchmarks.trials import Outcome, Setting, Trial, run
from labeltree import LabelTreeClassifier

GRID = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
USUAL_PEERS = ("pecos", "napkinxc", "omikuji")
USUAL_SETS = (
    "bibtex",
    "delicious",
    "eurlex57k",
    "tate",
    "extreme-5k-20k",
    "extreme-50k-100k",
    "debian-depends",
    "debian-tags",
    "wordnet-words",
    "wordnet-hypernyms",
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    settings = [
        Setting(DEFAULT, estimator=options.estimator),
        *options.grid,
        *options.setting,
        *options.peers,
    ]
    all_parts = [prepare_parts(name) for name in options.sets]
    if options.rows:
        all_parts = [keep_rows(parts, options.rows) for parts in all_parts]
    tables = []
    texts = [LEGEND, ""]
    print(*texts, sep="\n", flush=True)
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        started = [(parts, start(pool, parts, settings, options)) for parts in all_parts]
        for parts, trials in started:
            outcomes: dict[str, list[Outcome]] = {setting.name: [] for setting in settings}
            for trial, outcome in trials:
                outcomes[trial.setting.name].append(outcome())
            tables.append(SetTable(parts, options.on, outcomes))
            texts.append(tables[-1].markdown())
            print(texts[-1], flush=True)
    texts.append(summary(tables, [c.name for c in options.grid], [peer.name for peer in options.peers]))
    print(texts[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(texts) + "\n", encoding="utf-8")
        figures = {table.parts.name: table.figures for table in tables}
        options.out.with_suffix(".json").write_text(json.dumps(figures, indent=1))
    return 0


def start(
    pool: ProcessPoolExecutor, parts: Parts, settings: Sequence[Setting], options: argparse.Namespace
) -> list[tuple[Trial, Callable[[], Outcome]]]:
    """Begin the trials of a set, all settings with a seed before the next seed; return functions that wait for them.

    Trials of an earlier run are not run again.
    """
    trials = []
    for seed in range(max(options.seeds, options.peer_seeds)):
        for setting in settings:
            if seed < (options.peer_seeds if setting.peer else options.seeds):
                trials.append(Trial(parts, options.on, setting, seed))
    return [(trial, _started(pool, trial, options.fresh)) for trial in trials]


def _started(pool: ProcessPoolExecutor, trial: Trial, fresh: bool) -> Callable[[], Outcome]:
    stored = None if fresh else trial.stored()
    if stored is not None:
        return lambda: stored
    future: Future[Outcome] = pool.submit(run, trial)
    future.add_done_callback(lambda _: print(_description(trial), file=sys.stderr, flush=True))
    return future.result


def _description(trial: Trial) -> str:
    return f"{trial.parts.name}: {trial.setting.name}, seed {trial.seed}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument(
        "--sets",
        nargs="+",
        default=USUAL_SETS,
        metavar="SET",
        help="folders with train.txt, dev.txt and test.txt, names that benchmarks/development.py knows, or NAME=PATH "
        f"of a git repository; {', '.join(USUAL_SETS)} by default",
    )
    parser.add_argument(
        "--on", choices=("dev", "test"), default="dev", help="rows to measure on; dev by default"
    )
    parser.add_argument("--seeds", type=int, default=3, help="number of models of each setting; 3 by default")
    parser.add_argument(
        "--peer-seeds", type=int, default=1, help="number of models of each peer; 1 by default"
    )
    parser.add_argument("--rows", type=int, help="draw this many training rows of each set; all by default")
    parser.add_argument(
        "--estimator",
        default=LabelTreeClassifier.__name__,
        metavar="CLASS",
        help="class of labeltree to train; LabelTreeClassifier by default. Others have no grid of C and no peers by "
        "default",
    )
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=JSON", type=_setting,
                        help="parameters of the class to compare; may be repeated")  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE", help="JSON file with parameters by name")
    parser.add_argument("--grid", nargs="*", type=float, metavar="C", help="values of C to compare")
    parser.add_argument("--no-grid", dest="grid", action="store_const", const=(), help="compare C=1 only")
    parser.add_argument("--peers", nargs="+", choices=[p for p in PEERS if p != OURS])
    parser.add_argument(
        "--no-peers", dest="peers", action="store_const", const=(), help="compare no packages"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="trials at once, each with one thread"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run the trials again that an earlier run has stored"
    )
    parser.add_argument(
        "--out", type=Path, help="Markdown file to write, with a JSON file of its figures beside it"
    )
    options = parser.parse_args(arguments)
    for name in ("jobs", "seeds", "peer_seeds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(options, name)}")
    if options.estimator not in labeltree.__all__:
        parser.error(f"--estimator must be a class of labeltree, got {options.estimator}")
    is_tree = options.estimator == LabelTreeClassifier.__name__
    if options.grid is None:
        options.grid = GRID if is_tree else ()
    if options.peers is None:
        options.peers = USUAL_PEERS if is_tree else ()
    options.grid = [Setting(f"C={c:g}", {"C": c}) for c in options.grid]
    options.setting += list(_settings_of(options.settings))
    options.peers = [Setting(name, peer=name) for name in options.peers]
    names = [setting.name for setting in (*options.grid, *options.setting, *options.peers)]
    if len({DEFAULT, *names}) <= len(names):
        parser.error(f"settings must have different names, got {', '.join([DEFAULT, *names])}")
    if is_tree and FIXED not in names:
        options.grid.insert(0, Setting(FIXED, {"C": 1.0}))  # its training time is the unit
    for ours in (options.grid, options.setting):
        ours[:] = [replace(setting, estimator=options.estimator) for setting in ours]
    return options


def _setting(text: str) -> Setting:
    name, _, parameters = text.partition("=")
    try:
        values = json.loads(parameters)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(
            f"expected NAME=JSON such as 'flat={{\"arity\": 100}}', got {text!r}: {error}"
        ) from None
    if not isinstance(values, dict):
        raise argparse.ArgumentTypeError(f"expected an object of parameters after {name}=, got {parameters}")
    return Setting(name, values)


def _settings_of(path: Path | None) -> Iterator[Setting]:
    if path:
        for name, parameters in json.loads(path.read_text()).items():
            yield Setting(name, parameters)


if __name__ == "__main__":
    sys.exit(main())
