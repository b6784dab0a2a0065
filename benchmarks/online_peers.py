"""The systems that are measured on a stream, and what they learn with.

Every system appears twice: ours as it comes and with a wider tree, the others with the settings that were most precise
on the development rows of eurlex57k and with the fastest that did not give up much. They were chosen after one to
three passes over 5,000 to 45,000 training rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.peers import OURS, PEERS, Peer

_NAPKINXC_TREE = {"tree_type": "onlineBestScore", "arity": 2, "max_leaves": 16}


def _labeltree(**settings: Any) -> Peer:
    return Peer((), "", "labeltree_online_system.py", settings=settings)


def _vowpalwabbit(options: str) -> Peer:
    return Peer(
        PEERS["vowpalwabbit"].packages,
        PEERS["vowpalwabbit"].environment,
        "vowpalwabbit_online_system.py",
        inputs=("vowpalwabbit",),
        settings={"options": f"--kary_tree 16 {options}"},
        note="is told the number of labels and has its tree from the start; its rows are parsed before it is timed, "
        "and it learns from its cache, which a second thread reads",
    )


def _napkinxc(**settings: Any) -> Peer:
    return Peer(
        PEERS["napkinxc"].packages,
        PEERS["napkinxc"].environment,
        "napkinxc_online_system.py",
        # Timed like this its copy of the rows and the files it writes do not count.
        messages=("learn_s", "Training online", "99%"),
        settings={**_NAPKINXC_TREE, "loss": "log", **settings},
        note="its complete trees end in a segmentation fault",
    )


STREAM_PEERS: Mapping[str, Peer] = {
    OURS: _labeltree(),
    "labeltree-wide": _labeltree(arity=64),
    "vowpalwabbit": _vowpalwabbit("--adaptive --invariant --learning_rate 1 --bit_precision 28"),
    "vowpalwabbit-sgd": _vowpalwabbit("--sgd --learning_rate 50 --bit_precision 28"),
    "napkinxc": _napkinxc(optimizer="adagrad", eta=1.0, adagrad_eps=0.1),
    "napkinxc-sgd": _napkinxc(optimizer="sgd", eta=30.0),
}
