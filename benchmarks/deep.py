"""Neural networks under label trees: their precision alone and mixed, the cost of the output layer, and latency.

python -m benchmarks.deep quality --data tate --method encoder --encoder DIR --part dev
python -m benchmarks.deep levels --encoder DIR --labels 131072
python -m benchmarks.deep output --labels 131072 1048576
python -m benchmarks.deep utilisation --data tate --encoder DIR
python -m benchmarks.deep latency --data tate --encoder DIR

`quality --part dev` trains on training rows and measures on development rows, for choices. `--part test` measures on
test rows, and chooses the weights of the mix on development rows. All but `latency` want a GPU.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.data_sets import catalogues
from benchmarks.data_sets.features import Example
from labeltree import AttentionXMLClassifier, EncoderTreeClassifier, LabelTree, mix
from labeltree.datasets import make_extreme
from labeltree.metrics import precision_at_k
from labeltree.text import Tagger

CUT_OFFS = (1, 3, 5)
#: What settings are added to the defaults for a set: texts of works of art are short.
USUAL: dict[str, dict[str, Any]] = {"tate": {"max_tokens": 64}}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    logging.basicConfig(level=logging.INFO)
    answer = COMMANDS[options.command](options)
    text = json.dumps(answer, indent=1)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=tuple(COMMANDS))
    parser.add_argument("--data", choices=("eurlex57k", "tate"), default="tate")
    parser.add_argument("--method", choices=("encoder", "attentionxml"), default="encoder")
    parser.add_argument("--encoder", default="", help="the directory of a pretrained encoder")
    parser.add_argument(
        "--settings", type=json.loads, default={}, help="parameters of the classifier, as JSON"
    )
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--linear", type=json.loads, default={"n_trees": 3}, help="of the linear member, as JSON"
    )
    parser.add_argument("--labels", type=int, nargs="+", default=[131_072])
    parser.add_argument("--trees", nargs="+", choices=("levels", "flat"), default=["levels", "flat"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--limit", type=int, help="use this many rows only")
    parser.add_argument("--out", type=Path)
    return parser.parse_args(arguments)


def examples(options: argparse.Namespace) -> dict[str, list[Example]]:
    """The parts of a set."""
    read = getattr(catalogues, options.data)
    parts: dict[str, list[Example]] = read(data.sources() / options.data)
    known = {label for labels, _ in parts["train"] for label in labels}
    for part in ("dev", "test"):
        kept = ([label for label in labels if label in known] for labels, _ in parts[part])
        parts[part] = [(labels, text) for labels, (_, text) in zip(kept, parts[part], strict=True) if labels]
    return {part: rows[: options.limit] for part, rows in parts.items()}


def columns(rows: list[Example]) -> tuple[list[str], list[list[str]]]:
    """The texts and the labels of rows."""
    return [text for _, text in rows], [list(labels) for labels, _ in rows]


def classifier(options: argparse.Namespace, **changes: Any) -> Any:
    """The classifier that the options describe."""
    settings = {**USUAL.get(options.data, {}), **options.settings, "n_jobs": -1, **changes}
    if isinstance(settings.get("pretrained"), list):  # a pair of files
        settings["pretrained"] = tuple(settings["pretrained"])
    if options.method == "encoder":
        return EncoderTreeClassifier(options.encoder, random_state=options.seed, **settings)
    return AttentionXMLClassifier(random_state=options.seed, **settings)


def label_names(options: argparse.Namespace) -> dict[str, str]:
    """The names of the labels of tate."""
    if options.data != "tate":
        raise SystemExit(f"name_vectors: the labels of {options.data} have no names here")
    lines = (data.sources() / options.data / "subjects.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {row[0]: row[3] for row in rows}


def precisions(model: Any, texts: list[str], labels: list[list[str]]) -> list[float]:
    """P@1, P@3 and P@5 in percent."""
    top = model.predict_topk(texts, max(CUT_OFFS)).labels.tolist()
    return [round(100 * precision_at_k(labels, top, k=k), 2) for k in CUT_OFFS]


def quality(options: argparse.Namespace) -> dict[str, Any]:
    """The precision of the network; with ``--part test`` also that of a linear tree and of both mixed."""
    parts = examples(options)
    started = time.perf_counter()
    names = {"label_names": label_names(options)} if options.settings.get("name_vectors") else {}
    deep = classifier(options).fit(*columns(parts["train"]), **names)
    answer = {
        "settings": options.settings,
        "seed": options.seed,
        "seconds": round(time.perf_counter() - started, 1),
        "report": deep.training_report_,
        "gigabytes": peak_gigabytes(),
        "dev": precisions(deep, *columns(parts["dev"])),
    }
    if options.part == "test":
        linear = Tagger().set_params(
            classifier__random_state=options.seed,
            classifier__n_jobs=-1,
            vectorizer__n_jobs=-1,
            **{f"classifier__{name}": value for name, value in options.linear.items()},
        )
        linear.fit(*columns(parts["train"]))
        mixed = mix([linear, deep]).weigh_for("ndcg@5", *columns(parts["dev"]))
        test = columns(parts["test"])
        answer |= {
            "weights": mixed.weights_,
            "linear": precisions(linear, *test),
            "deep": precisions(deep, *test),
        }
        answer["mixed"] = precisions(mixed, *test)
    return answer


def peak_gigabytes() -> float | None:
    """The largest amount of memory of the GPU that was in use."""
    import torch

    return round(torch.cuda.max_memory_allocated() / 1e9, 2) if torch.cuda.is_available() else None


# -- the output layer ----------------------------------------------------------------------------------------------


def many_labels(options: argparse.Namespace) -> tuple[list[Example], list[Example]]:
    """A synthetic set whose words are words of the encoder."""
    from labeltree.deep.encoders import read_pretrained
    from labeltree.deep.tokens import TextTokenizer

    vocabulary = TextTokenizer(read_pretrained(options.encoder).tokenizer, 8).vocabulary()
    words = sorted(word for word in vocabulary if word.isascii() and word.isalpha() and word.islower())
    made = make_extreme(options.labels[0], options.rows, n_features=len(words), random_state=0)
    return _texts(made.X_train, made.y_train, words), _texts(made.X_test, made.y_test, words)


def _texts(X: Any, y: Any, words: list[str]) -> list[Example]:
    rng = np.random.default_rng(0)
    rows: list[Example] = []
    for row in range(X.shape[0]):
        own = rng.permutation(X.indices[X.indptr[row] : X.indptr[row + 1]])
        labels = y.indices[y.indptr[row] : y.indptr[row + 1]]
        rows.append(([str(label) for label in labels], " ".join(words[word] for word in own)))
    return rows


def levels(options: argparse.Namespace) -> dict[str, Any]:
    """The precision of a training level by level, beside that of a flat one."""
    train, test = many_labels(options)
    train = [row for row in train if row[0]][: options.limit]
    known = {label for labels, _ in train for label in labels}
    test = [([label for label in labels if label in known], text) for labels, text in test]
    test = [row for row in test if row[0]][: options.limit]
    answer: dict[str, Any] = {"rows": len(train), "labels": len(known)}
    for name in options.trees:
        started = time.perf_counter()
        model = classifier(options, tree={"levels": "auto"}.get(name, name)).fit(*columns(train))
        answer[name] = {
            "seconds": round(time.perf_counter() - started, 1),
            "fit_seconds": model.fit_seconds_,
            "gigabytes": peak_gigabytes(),
            "tree": repr(model.tree_),
            "precision": precisions(model, *columns(test)),
        }
        print(name, answer[name], file=sys.stderr, flush=True)
    return answer


def output(options: argparse.Namespace) -> dict[str, Any]:
    """What a step of the output layer costs in time and memory: a wide tree as "auto" makes it, beside a flat one."""
    return {str(n_labels): output_costs(n_labels, options) for n_labels in options.labels}


def output_costs(n_labels: int, options: argparse.Namespace) -> dict[str, Any]:
    """The costs of the trees over some number of labels, and the share of the wide one in those of the flat one."""
    n_clusters = 2 ** math.ceil(math.log2(n_labels / 64))
    parent = np.concatenate([[-1], np.zeros(n_clusters), 1 + np.arange(n_labels) % n_clusters])
    label = np.concatenate([np.full(1 + n_clusters, -1), np.arange(n_labels)])
    wide = LabelTree.from_parents(parent.astype(np.int32), label.astype(np.int32))
    trees = {"levels": wide, "flat": LabelTree.flat(n_labels)}
    costs: dict[str, Any] = {name: output_cost(trees[name], options) for name in options.trees}
    if len(costs) == 2:
        costs["share"] = {
            unit: round(costs["levels"][unit] / costs["flat"][unit], 3)
            for unit in costs["flat"]
            if costs["flat"][unit]
        }
    print(n_labels, costs, file=sys.stderr, flush=True)
    return costs


def output_cost(tree: Any, options: argparse.Namespace) -> dict[str, float]:
    """Milliseconds of a step and megabytes of the output layer alone, over hidden vectors that are given."""
    import torch

    from labeltree.deep.extras import device_named
    from labeltree.deep.levels import PositiveNodes, TreeLevels
    from labeltree.deep.networks.output_layers import NodeVectorLayer
    from labeltree.deep.training.cascade import Cascade
    from labeltree.deep.training.row_adam import RowAdam
    from labeltree.labels.reading import read_labels

    device, n_rows, dimension = device_named("auto"), 256, 384
    torch.manual_seed(0)
    shape = TreeLevels.of(tree)
    before = _in_use(device)
    layer = NodeVectorLayer(shape.sizes, dimension).to(device)
    cascade = Cascade(shape, 10, False, device)
    rng = np.random.default_rng(0)

    class Output:
        def scores(self, hidden: Any, tier: int, blocks: Any = None, /) -> Any:
            return layer(hidden, tier, blocks)

    optimizers: list[Any] = [torch.optim.AdamW([layer.tiers[0]], lr=1e-3, fused=device.type == "cuda")]
    if shape.n_tiers > 1:
        optimizers.append(RowAdam(list(layer.tiers)[1:], lr=1e-3))
    batches = []
    for _ in range(4):
        drawn = [sorted(set(rng.integers(0, tree.n_labels, 5).tolist())) for _ in range(n_rows)]
        own = read_labels([*drawn, list(range(tree.n_labels))]).take(np.arange(n_rows))
        hidden = torch.randn(n_rows, dimension, device=device, requires_grad=True)
        batches.append((hidden, cascade.targets(PositiveNodes.of(tree, own)).to(device)))

    def step(hidden: Any, targets: Any) -> None:
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        hidden.grad = None
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            loss = cascade.loss(Output(), hidden, targets, shape.n_tiers)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()

    for _ in range(3):
        for batch in batches:
            step(*batch)
    _reset(device)
    started = _now(device)
    for number in range(options.steps):
        step(*batches[number % len(batches)])
    seconds = _now(device) - started
    return {
        "output_ms": round(1000 * seconds / options.steps, 3),
        "output_megabytes": round((_peak(device) - before) / 1e6, 1),
    }


def _in_use(device: Any) -> int:
    import torch

    return int(torch.cuda.memory_allocated()) if device.type == "cuda" else 0


def _peak(device: Any) -> int:
    import torch

    return int(torch.cuda.max_memory_allocated()) if device.type == "cuda" else 0


def _reset(device: Any) -> None:
    import torch

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()


def _now(device: Any) -> float:
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


# -- utilisation and latency ---------------------------------------------------------------------------------------


def utilisation(options: argparse.Namespace) -> dict[str, Any]:
    """Tokens per second of one epoch of training, beside a plain loop of the same encoder with a flat output layer."""
    import torch
    from torch import nn

    from labeltree.deep.encoders import read_pretrained
    from labeltree.deep.extras import device_named
    from labeltree.deep.networks.encoder_network import PooledEncoder
    from labeltree.deep.tokens import TextTokenizer
    from labeltree.labels.reading import read_labels

    device = device_named("auto")
    texts, lists = columns(examples(options)["train"])
    labels = read_labels(lists)
    settings = classifier(options)
    pretrained = read_pretrained(options.encoder)
    rows = TextTokenizer(pretrained.tokenizer, settings.max_tokens).read(texts)
    n_tokens, size = len(rows.tokens), settings.batch_size
    body = PooledEncoder(pretrained.body, pretrained.pooling).to(device)
    head = nn.Linear(body.dimension, labels.n_labels).to(device)
    optimizer = torch.optim.AdamW(
        [*body.parameters(), *head.parameters()], lr=1e-4, fused=device.type == "cuda"
    )
    matrix = labels.matrix()
    answer: dict[str, Any] = {"tokens": n_tokens, "parameters": sum(w.numel() for w in body.parameters())}
    body.train()
    order = np.random.default_rng(0).permutation(rows.n_rows)
    for attempt in range(2):  # the first warms up
        started, seen = _now(device), 0
        stop = rows.n_rows if attempt else min(20 * size, rows.n_rows)
        for begin in range(0, stop, size):
            some = order[begin : begin + size]
            tokens, sizes = rows.take(some).padded(0)
            is_token = (np.arange(tokens.shape[1]) < sizes[:, np.newaxis]).astype(np.int64)
            target = torch.from_numpy(matrix[some].toarray()).to(device)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
                hidden = body(torch.from_numpy(tokens).to(device), torch.from_numpy(is_token).to(device))
                scores = head(hidden)
            nn.functional.binary_cross_entropy_with_logits(scores.float(), target).backward()
            optimizer.step()
            seen += int(sizes.sum())
        answer["plain_tokens_per_second"] = round(seen / (_now(device) - started))
    # What comes before and after the epochs does not count.
    short, long = (classifier(options, epochs=n).fit(texts, lists).fit_seconds_["training"] for n in (1, 3))
    answer["our_tokens_per_second"] = round(2 * n_tokens / (long - short))
    return answer


def latency(options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of one short text on one core: the encoder alone, and the mix with a linear tree.

    Each as torch runs it, and as onnxruntime does: in float32 and in int8, with the precision on test rows.
    """
    options.limit = options.limit or 2000
    parts = examples(options)
    deep = classifier(options, n_jobs=1, device="cpu").fit(*columns(parts["train"]))
    linear = Tagger().set_params(classifier__random_state=0).fit(*columns(parts["train"]))
    answer = {}
    with tempfile.TemporaryDirectory() as folder:
        models = {"torch": deep}
        for name, int8 in (("onnx", False), ("onnx int8", True)):
            deep.export_onnx(Path(folder) / name, int8=int8)
            models[name] = type(deep).load(Path(folder) / name)
        for name, model in models.items():
            mixed = mix([linear, model])
            precision = {"precision": precisions(model, *columns(parts["test"]))}
            answer[name] = precision | _latencies(model, mixed, columns(parts["test"])[0][:100])
    return answer


def _latencies(model: Any, mixed: Any, texts: list[str]) -> dict[str, float]:
    asked: dict[str, Callable[[str], Any]] = {
        "encoder": lambda text: model.transform([text]),
        "alone": lambda text: model.predict_topk([text], 5),
        "mixed": lambda text: mixed.predict_topk([text], 5),
    }
    times: dict[str, list[float]] = {name: [] for name in asked}
    for text in texts[:10] + texts:
        for name, ask in asked.items():
            started = time.perf_counter()
            ask(text)
            times[name].append(time.perf_counter() - started)
    middle = {name: float(np.median(found[10:])) for name, found in times.items()}
    ratio = round(middle["mixed"] / middle["encoder"], 3)
    return {
        **{f"{name} ms": round(1000 * value, 2) for name, value in middle.items()},
        "mixed / encoder": ratio,
    }


COMMANDS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "quality": quality,
    "levels": levels,
    "output": output,
    "utilisation": utilisation,
    "latency": latency,
}

if __name__ == "__main__":
    sys.exit(main())
