"""`labeltree data info` and `labeltree data check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from labeltree.cli import options
from labeltree.cli.options import argument

if TYPE_CHECKING:
    from labeltree.data import Store

Directory = Annotated[Path, argument("STORE", "The directory of a store.")]


def info(store: Directory, json: options.Json = False) -> None:
    """Show what is in a store: its sizes, its words and labels, and the files that it was made of.

    [bold]Examples[/bold]

        labeltree data info train.store
        labeltree data info train.store --json | jq .rows
    """
    from labeltree.cli.console import print_json, printable, standard_output, table_of
    from labeltree.cli.figures import bytes_text
    from labeltree.data import Store
    from labeltree.wording import count_text

    opened = Store(store)
    if json:
        print_json(to_json(opened))
        return
    rows = [("store", f"{store}: {describe_sizes(opened)}")]
    per_row = opened.n_entries / max(opened.n_rows, 1)
    rows.append(("features", f"{count_text(opened.n_entries, 'value')}, {per_row:.1f} per row"))
    if opened.vectorizer is not None:
        settings = opened.vectorizer.state()[0]
        rows.append(("texts", f"{settings['analyzer']} n-grams of {_range_text(settings['ngram_range'])}"))
    if opened.n_labels:
        some = ", ".join(printable(label) for label in opened.classes[:3].tolist())
        rows.append(("labels", f"{some}{', …' if opened.n_labels > 3 else ''}"))
    if opened.label_names:
        rows.append(
            ("names", f"{len(opened.label_names):,} of {opened.n_labels:,} labels have readable names")
        )
    if len(opened.filtered_pairs):
        rows.append(
            ("filter", f"{count_text(len(opened.filtered_pairs), 'pair')} do not count in an evaluation")
        )
    rows.append(("size", bytes_text(opened.n_bytes)))
    for place, source in enumerate(opened.sources):
        about = f"{source['format']}, {bytes_text(source['bytes'])}, {count_text(source['rows'], 'row')}"
        rows.append(("from" if place == 0 else "", f"{printable(source['path'])} ({about})"))
    standard_output().print(table_of(rows))


def check(store: Directory, json: options.Json = False) -> None:
    """Verify a store: compare the checksums of all its arrays, and check all numbers.

    [bold]Examples[/bold]

        labeltree data check train.store
    """
    from labeltree.cli.console import print_json, standard_output, titled
    from labeltree.cli.figures import bytes_text
    from labeltree.data import Store
    from labeltree.progress import phases

    opened = Store(store)
    with phases(-1 if json else 0) as shown:
        opened.verify(shown.follow("comparing checksums"))
    if json:
        print_json({**to_json(opened), "verified": True})
        return
    standard_output().print(
        titled(store, f": {describe_sizes(opened)}, all {bytes_text(opened.n_bytes)} as written"),
        soft_wrap=True,
    )


def describe_sizes(store: Store) -> str:
    """Return the numbers of rows, features and labels."""
    from labeltree.wording import count_text

    per_row = store.n_pairs / max(store.n_rows, 1)
    labels = f"{count_text(store.n_labels, 'label')} ({per_row:.1f} per row)"
    return f"{count_text(store.n_rows, 'row')}, {count_text(store.n_features, 'feature')}, {labels}"


def to_json(store: Store) -> dict[str, Any]:
    """Return what is in a store as JSON."""
    return {
        "store": str(store.path),
        "rows": store.n_rows,
        "features": store.n_features,
        "labels": store.n_labels,
        "values": store.n_entries,
        "pairs": store.n_pairs,
        "texts": store.vectorizer is not None,
        "label_names": len(store.label_names or ()),
        "filtered_pairs": len(store.filtered_pairs),
        "bytes": store.n_bytes,
        "fingerprint": store.fingerprint,
        "sources": store.sources,
    }


def _range_text(ngram_range: list[int]) -> str:
    low, high = ngram_range
    return f"{low}" if low == high else f"{low} to {high}"
