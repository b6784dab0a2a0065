"""The systems that are measured, and where each is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data import CACHE

OURS = "labeltree"


@dataclass(frozen=True)
class Peer:
    """How a system is installed and what must be known to read its figures.

    Attributes
    ----------
    packages : tuple of tuples of str
        What pip installs, in steps; nothing for labeltree, which is taken from the environment that runs this.
    environment : str
        The name of its virtual environment.
    script : str
        Its file in `benchmarks/systems`.
    inputs : tuple of str
        The forms of the training data that it needs beside the text file; see `benchmarks/inputs.py`.
    ensembles : bool
        Whether it trains several trees; if not, it is run once, whatever the numbers of trees.
    reads_text : bool
        Whether its loading time is that of a reader of the text format.
    messages : tuple of three str, optional
        A figure in seconds, and what the system writes on standard error when that time begins and when it ends.
    settings : mapping
        What its script is told beside what all are.
    note : str
        What the table says about it.
    """

    packages: tuple[tuple[str, ...], ...]
    environment: str
    script: str
    inputs: tuple[str, ...] = ()
    ensembles: bool = False
    reads_text: bool = False
    messages: tuple[str, str, str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


_NAPKINXC = (("numpy", "scipy"), ("napkinxc",))
_FASTTEXT = (("numpy", "scipy"), ("fasttext-numpy2",))  # the original does not work with NumPy 2
#: Time without reading the file, with the tree: what fastText and its relatives write before and after it.
_LEARNING = ("learn_s", "Number of labels", "words/sec")
#: Learning rate and passes are those of fastText's tutorial on several labels.
_TUTORIAL = {"dim": 100, "lr": 0.5, "epoch": 25}
_READY_MADE = "reads no text files: its loading time is that of a ready-made .npz"
_WORDS = (
    "knows no weights of features: a feature is a word; learning rate 0.5, 25 passes; reads its own text format "
    "as it trains"
)

PEERS: dict[str, Peer] = {
    OURS: Peer((), "", "labeltree_system.py", ensembles=True, reads_text=True),
    "omikuji": Peer(
        (("numpy", "scipy"), ("omikuji",)),
        "omikuji",
        "omikuji_system.py",
        ensembles=True,
        reads_text=True,
        note="predicts one row at a time, in batches too; builds its trees while it trains them",
    ),
    "napkinxc": Peer(
        _NAPKINXC,
        "napkinxc",
        "napkinxc_system.py",
        ensembles=True,
        reads_text=True,
        messages=("tree_s", "Building tree", "Saving tree"),
        note="squared hinge, C = 1; saves as it trains; with several trees, reads every tree again in every call",
    ),
    "napkinxc-hsm": Peer(
        _NAPKINXC,
        "napkinxc",
        "napkinxc_rival_system.py",
        reads_text=True,
        settings={
            "kind": "HSM",
            "parameters": {"arity": 16, "pick_one_label_weighting": True, "ensemble": 3, "liblinear_c": 12},
        },
        note="hierarchical softmax, several labels by the pick-one-label heuristic; 3 trees of arity 16; C = 12, as of "
        "label trees in the study",
    ),
    "napkinxc-br": Peer(
        _NAPKINXC,
        "napkinxc",
        "napkinxc_rival_system.py",
        reads_text=True,
        settings={
            "kind": "BR",
            "parameters": {
                "loss": "squaredHinge",
                "liblinear_c": 1,
                "liblinear_eps": 0.01,
                "liblinear_max_iter": 1000,
                "weights_threshold": 0.01,
            },
        },
        note="1-vs-all, with DiSMEC's parameters",
    ),
    "pecos": Peer(
        # It wants torch for parts that are not measured: the CPU build is enough.
        (("torch==2.13.0",), ("numpy", "scipy", "setuptools<81"), ("libpecos",)),
        "pecos",
        "pecos_system.py",
        inputs=("features", "labels"),
        ensembles=True,
        note=f"{_READY_MADE}; beam search of width 10",
    ),
    "vowpalwabbit": Peer(
        (("numpy", "scipy"), ("vowpalwabbit",)),
        "vowpalwabbit",
        "vowpalwabbit_system.py",
        inputs=("vowpalwabbit",),
        note="--plt, 16 children, 3 passes; learns in one thread; reads its own text format as it trains",
    ),
    "fasttext-hs": Peer(
        _FASTTEXT,
        "fasttext",
        "fasttext_system.py",
        inputs=("fasttext",),
        messages=_LEARNING,
        settings={"loss": "hs", **_TUTORIAL},
        note=f"hierarchical softmax; {_WORDS}",
    ),
    "fasttext-ova": Peer(
        _FASTTEXT,
        "fasttext",
        "fasttext_system.py",
        inputs=("fasttext",),
        messages=_LEARNING,
        settings={"loss": "ova", **_TUTORIAL},
        note=f"one-vs-all; {_WORDS}",
    ),
    "extremetext": Peer(
        # Its own build file needs old tools, and Python 3.11 or older.
        (
            ("numpy<2", "scipy", "pybind11<2.12", "setuptools<66", "wheel"),
            ("--no-build-isolation", "extremetext"),
        ),
        "extremetext",
        "extremetext_system.py",
        inputs=("extremetext",),
        messages=_LEARNING,
        settings={"arity": 2, "maxLeaves": 100, "dim": 100, "lr": 0.2, "epoch": 10, "l2": 0.001},
        note="a dense representation, learned along; dim 100, learning rate 0.2, 10 passes, l2 0.001; reads its own "
        "text format as it trains; has no seed",
    ),
    "sklearn": Peer(
        (("numpy", "scipy", "scikit-learn"),),
        "sklearn",
        "sklearn_system.py",
        inputs=("features", "labels"),
        note=f"OneVsRestClassifier(LinearSVC()); {_READY_MADE}",
    ),
}


class InstallationError(Exception):
    """A peer could not be installed; the message is what pip said last."""


def python_of(peer: Peer) -> str:
    """The Python that has the peer, installed on first use."""
    if not peer.packages:
        return sys.executable
    folder = CACHE / "environments" / peer.environment
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        for packages in peer.packages:
            _run([str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *packages])
        ready.touch()
    return str(python)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise InstallationError(done.stdout.strip()[-2000:])


def script_of(peer: Peer) -> Path:
    return Path(__file__).parent / "systems" / peer.script
