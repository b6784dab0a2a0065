"""What the sub-commands of `labeltree rival` are: the same command for other estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.parameters import TEXT_PANELS, is_given, with_parameters


@dataclass(frozen=True)
class Rival:
    """A method: the name of its command and of its estimator, and what its help page says."""

    name: str
    estimator: str
    help: str


RIVALS = (
    Rival(
        "softmax",
        "HierarchicalSoftmaxClassifier",
        """Train hierarchical softmax on labelled rows and save it.

        At every node of a tree of labels a softmax decides which child to go to. Made for one label per row; rows with
        several are learned as if one had been picked at random.

        [bold]Examples[/bold]

            labeltree rival softmax train.txt --model softmax.labeltree
            labeltree rival softmax train.txt --model softmax.labeltree --tree huffman --arity 2
        """,
    ),
    Rival(
        "one-vs-rest",
        "OneVsRestClassifier",
        """Train one linear classifier per label on all rows and save them.

        As DiSMEC: precise, and slow where labels are many; with --solver sparse as PPDSparse, which leaves fewer
        weights and is faster where rows are many. With --checkpoint a run that was stopped goes on when it is started
        again with the same options.

        [bold]Examples[/bold]

            labeltree rival one-vs-rest train.txt --model flat.labeltree
            labeltree rival one-vs-rest train.txt --model flat.labeltree --solver sparse --l1 0.1
            labeltree rival one-vs-rest train.txt --model flat.labeltree --checkpoint flat.checkpoint --random-state 0
        """,
    ),
    Rival(
        "fastxml",
        "FastXMLClassifier",
        """Train FastXML on labelled rows and save it.

        An ensemble of trees over examples: every node sends a row to one of two sides by a sparse linear separator, so
        that the rows of a side have similar labels; a leaf votes for the labels of its rows.

        [bold]Examples[/bold]

            labeltree rival fastxml train.txt --model fastxml.labeltree
            labeltree rival fastxml train.txt --model fastxml.labeltree --n-trees 20
        """,
    ),
    Rival(
        "pfastrexml",
        "PfastreXMLClassifier",
        """Train PfastreXML on labelled rows and save it.

        FastXML for rare labels: these count more in the splits and the leaves, and the labels that the trees propose
        are ranked anew by how near a row is to the rows of a label.

        [bold]Examples[/bold]

            labeltree rival pfastrexml train.txt --model pfastrexml.labeltree
            labeltree rival pfastrexml train.txt --model pfastrexml.labeltree --alpha 0.9
        """,
    ),
)


def rival_command(rival: Rival) -> Callable[..., None]:
    """The command that trains a rival, with the parameters of its estimator as options."""

    @with_parameters(*TEXT_PANELS["Texts"], defaults=True, estimator="TextVectorizer")
    @with_parameters(estimator=rival.estimator)
    def command(
        context: typer.Context,
        data: options.Data,
        model: Annotated[
            Path,
            typer.Option(
                metavar="DIR", help="Where the model goes: a directory, made or replaced at the very end."
            ),
        ],
        format: options.TrainingFormat = "auto",
        one_based: options.OneBased = None,
        n_features: options.NFeatures = None,
        n_labels: options.NLabels = None,
        json: options.Json = False,
        **parameters: Any,
    ) -> None:
        import labeltree
        from labeltree.cli.console import print_json, print_next, standard_output, titled
        from labeltree.cli.figures import (
            Stopwatch,
            bytes_text,
            directory_bytes,
            peak_memory_bytes,
            seconds_text,
        )
        from labeltree.cli.trained_model import untrained
        from labeltree.cli.training_rows import read_training_rows
        from labeltree.cli.tree.hierarchy import fit_for_columns, tree_parameter
        from labeltree.model_file.directory import check_replaceable

        text_parameters = {name: parameters.pop(name) for name in TEXT_PANELS["Texts"]}
        given_text_parameters = {name for name in text_parameters if is_given(context, name)}
        tree_text = parameters.get("tree")
        if tree_text is not None:
            parameters["tree"] = tree_parameter(tree_text)
        classifier = untrained(getattr(labeltree, rival.estimator), parameters)
        check_replaceable(model)
        stopwatch = Stopwatch()
        with stopwatch.phase("reading"):
            rows = read_training_rows(
                data, format, one_based, n_features, n_labels, text_parameters, given_text_parameters
            )
        if tree_text is not None and rows.vectorizer is None:
            classifier.tree = fit_for_columns(classifier.tree, None, rows.y.shape[1], rows.first_label)
        with stopwatch.phase("training"):
            rows.fit(classifier)
        with stopwatch.phase("saving"):
            classifier.save(model)
        if json:
            told = {} if tree_text is None else {"tree": tree_text}
            print_json(
                {
                    "model": str(model),
                    "model_bytes": directory_bytes(model),
                    "estimator": rival.estimator,
                    "data": data,
                    "rows": rows.X.shape[0],
                    "features": rows.X.shape[1],
                    "labels": len(classifier.classes_),
                    "parameters": {**classifier.get_params(), **told},
                    "training_report": classifier.training_report_,
                    "seconds": stopwatch.seconds,
                    "peak_memory_bytes": peak_memory_bytes(),
                }
            )
            return
        console = standard_output()
        console.print(rows.describe(classifier, seconds_text(stopwatch.seconds["reading"])))
        console.print(f"trained in {seconds_text(stopwatch.seconds['training'])}")
        console.print(titled(model, f": {rival.estimator}, {bytes_text(directory_bytes(model))}"))
        print_next(f"labeltree evaluate {model} TEST_DATA")

    command.__name__ = rival.name.replace("-", "_")
    return command
