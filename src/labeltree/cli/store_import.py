"""`labeltree data import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, file_option, option
from labeltree.cli.parameters import is_given, option_name, text_options, with_parameters

#: Labels of the first rows are looked at for signs of a missing separator.
_ROWS_LOOKED_AT = 1000
#: More files are not listed.
_MOST_LISTED = 20


@with_parameters("n_jobs", defaults=True, texts=True)
@reads_data(sizes=True)
def import_(
    context: typer.Context,
    files: Annotated[
        list[DataFile],
        argument(
            "FILES",
            "Files of texts, or of rows of numbers, or quoted patterns such as 'part-*.jsonl.gz'. Rows are in the "
            "order of the files; those of one pattern are sorted by name. Files ending in .gz, .xz and .zst are "
            "decompressed.",
        ),
    ],
    to: Annotated[
        Path, option("The directory of the store. It is created if it does not exist.", "--to", metavar="DIR")
    ],
    like: Annotated[
        Path | None,
        option(
            "For test rows: the store of the training rows. Texts are read with its words; rows of numbers have at "
            "least its numbers of features and labels.",
            metavar="STORE",
        ),
    ] = None,
    label_names: Annotated[
        Path | None,
        file_option(
            "A file with readable names of labels, which models that are trained on the store keep: a table (.csv, "
            ".tsv), a SKOS vocabulary, the lbl.json of the Extreme Classification Repository, or a list of names."
        ),
    ] = None,
    filter_labels: Annotated[
        Path | None,
        file_option(
            "A file with lines 'row label', counted from 0: pairs that do not count when a model is evaluated on the "
            "store, as in the filter_labels files of the Extreme Classification Repository."
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        option(
            "Replace a store, which stays until the new one is complete, or an unfinished import of other files.",
            "--overwrite",
        ),
    ] = False,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Import data files into a store: a directory of arrays that every command takes in place of a file.

    A store is mapped into memory, not read: commands start at once, and the data may be larger than memory. A model
    that is trained on a store is the same, bit for bit, as one that is trained on the files.

    Files are read in blocks. Memory is needed for a block (about 200 MB) and, with texts, for all their words and
    labels. Texts are read twice, first to count words. If the import is interrupted, give the same command again: it
    resumes after the last block that is safe on disk.

    [bold]Examples[/bold]

        labeltree data import 'part-*.jsonl.gz' --to train.store
        labeltree data import test.jsonl.gz --to test.store --like train.store
        labeltree data import train.txt --to train.store
        labeltree data import records.parquet --to train.store --text title --text abstract --labels subjects
        labeltree data import trn.json.gz --to train.store --label-names lbl.json.gz
        labeltree data import tst.json.gz --to test.store --like train.store --filter-labels filter_labels_test.txt
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.figures import Stopwatch, bytes_text, peak_memory_bytes, seconds_text
    from labeltree.cli.store_information import describe_sizes, to_json
    from labeltree.data import import_files
    from labeltree.progress import phases
    from labeltree.wording import count_text

    first = files[0]
    if first.id is not None:
        raise typer.BadParameter(
            "a store numbers its rows, and keeps no ids: leave it out", param_hint="--id"
        )
    given = {option.name for option in text_options() if is_given(context, option.name)}
    text_parameters = {option.name: parameters.pop(option.name) for option in text_options()}
    settings = _settings(first, text_parameters, given, like)
    stopwatch = Stopwatch()
    bars: dict[str, Any] = {}  # none if the files were imported before
    with stopwatch.phase("importing"), phases(-1 if json else 0) as shown:

        def progress(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = shown.follow(what)
            bars[what](min(done, total), total)

        store = import_files(
            [file.path for file in files],
            to,
            like=like,
            label_names=label_names,
            filter_labels=filter_labels,
            overwrite=overwrite,
            n_jobs=parameters["n_jobs"],
            progress=progress,
            **settings,
        )
    _warn_of_unsplit_labels(first, store)
    if json:
        print_json({**to_json(store), "seconds": stopwatch.seconds, "peak_memory_bytes": peak_memory_bytes()})
        return
    console = standard_output()
    took = f"imported in {seconds_text(stopwatch.seconds['importing'])}" if bars else "already complete"
    about = f": {describe_sizes(store)}, {bytes_text(store.n_bytes)}, {took}"
    console.print(titled(to, about), soft_wrap=True)
    listed = ", ".join(source["path"] for source in store.sources[:_MOST_LISTED])
    more = ", …" if len(store.sources) > _MOST_LISTED else ""
    n_files = count_text(len(store.sources), "file")
    console.print(f"rows of {n_files}, in this order: {listed}{more}", soft_wrap=True)
    print_next(f"labeltree train {to} --model MODEL" if like is None else f"labeltree evaluate MODEL {to}")


def _settings(
    first: DataFile, text_parameters: dict[str, Any], given: set[str], like: Path | None
) -> dict[str, Any]:
    """Return the arguments of `import_files` for files like the first one; wrong options raise `BadParameter`."""
    from labeltree.cli.training_rows import check_options_for
    from labeltree.cli.untrained_model import untrained_vectorizer
    from labeltree.data.store.source_files import find_files

    with first.alike(find_files([first.path])[0]).recognised() as file:
        check_options_for(file, given)
        if file.has_numbers:
            file.check_no_columns()
            sizes = {name: getattr(file, name) for name in ("one_based", "n_features", "n_labels")}
            return {"format": first.format, **sizes}
        if like is not None:
            for name, value in {**dict.fromkeys(given, True), "n_features": file.n_features}.items():
                if value is not None:
                    raise typer.BadParameter(
                        f"the words of texts are those of {like}: leave it out", param_hint=option_name(name)
                    )
        columns = file.columns()
        return {
            "format": first.format,
            "text": columns.text,
            "labels": columns.labels,
            "separator": columns.separator,
            "vectorizer": None if like is not None else untrained_vectorizer(text_parameters, file),
        }


def _warn_of_unsplit_labels(source: DataFile, store: Any) -> None:
    from labeltree.cli.suspicious_data import warn_of_unsplit_labels
    from labeltree.labels.reading import as_lists

    if store.vectorizer is not None and store.n_labels:
        rows = store.take(slice(_ROWS_LOOKED_AT)).labels
        warn_of_unsplit_labels(source, as_lists(rows))
