"""`labeltree demo`."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from labeltree.cli import options
from labeltree.cli.options import option

N_GROUPS = 6


def demo(
    model: Annotated[Path | None, option("Keep the trained model in this directory.", metavar="DIR")] = None,
    json: options.Json = False,
) -> None:
    """Train and test a model on the catalogue of the Tate galleries.

    The galleries tagged 58,801 artworks with 16,000 subjects. The model learns to predict the subjects from the
    captions of nine artworks in ten, and is tested on the rest. This takes less than half a minute.

    [bold]Examples[/bold]

        labeltree demo
        labeltree demo --model tate.labeltree
        labeltree tag tate.labeltree "A fishing boat in the harbour"
    """
    from labeltree import LabelTreeClassifier
    from labeltree.cli.artworks import ask
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.data_file import Rows
    from labeltree.cli.evaluation import Evaluation
    from labeltree.cli.train import describe_training
    from labeltree.datasets import load_tate
    from labeltree.model_file.directory import check_replaceable
    from labeltree.model_file.waiting import check_nothing_waits
    from labeltree.text import Tagger, TextVectorizer

    if model is not None:
        check_replaceable(model)
        check_nothing_waits(model)
    console = standard_output()
    console.quiet = json
    catalogue = load_tate()
    texts, labels = catalogue.texts_test, catalogue.labels_test
    tagger = Tagger(
        LabelTreeClassifier(random_state=0, n_jobs=-1), TextVectorizer(sublinear_tf=True, n_jobs=-1)
    ).fit(catalogue.texts_train, catalogue.labels_train)
    classifier = tagger.classifier_
    classifier.label_names_ = catalogue.subject_names
    console.print(titled("The catalogue of the Tate galleries", " (CC0, comes with labeltree)"))
    console.print(
        f"{len(catalogue.texts_train):,} captions to learn from, {len(texts):,} to test; "
        f"{classifier.n_features_in_:,} words, {len(classifier.classes_):,} subjects"
    )
    console.print(describe_training(classifier) + "\n")

    with tempfile.TemporaryDirectory() if model is None else nullcontext(model) as directory:
        tagger.save(directory)
        rows = Rows(tagger.vectorizer_.transform(texts), labels, texts)
        evaluation = Evaluation.measure(classifier, Path(directory), rows)
    if model is None:  # hints are about a model that can be changed
        evaluation = replace(evaluation, hints=[])
    console.print(evaluation, crop=False)

    artworks = ask(tagger, catalogue)
    console.print(titled("\nFive of the test artworks", ", with their most specific subjects; ✓ is right"))
    for artwork in artworks:
        console.print()
        console.print(artwork)

    console.print(titled("\nHow the tree groups subjects", ": the most frequent in some of its clusters"))
    for line in _groups(classifier, [catalogue.subject_names[i] for i in classifier.classes_.tolist()]):
        console.print(f"  {line}", no_wrap=True, overflow="ellipsis")

    console.print()
    if json:
        print_json(
            {
                "model": None if model is None else str(model),
                "seconds": classifier.fit_seconds_,
                **evaluation.to_json(),
                "artworks": [artwork.to_json() for artwork in artworks],
            }
        )
    elif model is None:
        print_next("labeltree train --help")
    else:
        print_next(f'labeltree tag {model} "A fishing boat in the harbour"')


def _groups(classifier: Any, names: list[str]) -> list[str]:
    """Return a line for each of the first clusters below the root, with its most frequent labels."""
    tree, counts = classifier.tree_, classifier.label_counts_
    lines = []
    clusters = [child for child in tree.children(0) if not tree.is_leaf[child]]
    for child in clusters[:N_GROUPS]:
        labels = tree.labels_under(child)
        most_frequent = labels[(-counts[labels]).argsort(kind="stable")][:20]
        shown = " · ".join(names[label] for label in most_frequent)
        lines.append(f"{len(labels):>4,} subjects: {shown}")
    return lines
