"""`labeltree name`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from labeltree.cli import options
from labeltree.cli.options import argument


def name(
    model: options.Model,
    file: Annotated[
        Path, argument("FILE", "A file with names of labels: a table, a SKOS vocabulary, a list.")
    ],
    language: options.Language = "en",
    json: options.Json = False,
) -> None:
    """Give the labels of a model readable names.

    The names are saved with the model.

    FILE is a table (.csv, .tsv) with a label and its name in each row, a SKOS vocabulary (.ttl, .rdf, .jsonld, .nt,
    .skos), or a list with the names of the labels 0, 1, 2 and so on, one per line. Names of labels that the model does
    not have are ignored. Labels stay as they are: names are shown beside them.

    [bold]Examples[/bold]

        labeltree name tags.labeltree names.csv
        labeltree name tags.labeltree eurovoc.ttl --language fr
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.trained_model import changing, open_model
    from labeltree.labels import read_label_names

    with changing(model, "name") as save:
        classifier = open_model(model)
        labels = classifier.classes_.tolist()
        classifier.label_names_ = read_label_names(file, labels, language=language)
        save(classifier)
    names = classifier.label_names_ or {}
    if json:
        print_json({"model": str(model), "file": str(file), "labels": len(labels), "label_names": len(names)})
        return
    example = next((f", such as {text} for {label}" for label, text in names.items()), "")
    line = titled(model, f": {len(names):,} of {len(labels):,} labels have a name{example}")
    standard_output().print(line, soft_wrap=True)
    print_next(f"labeltree info {model}")
