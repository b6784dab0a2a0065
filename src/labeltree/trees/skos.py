"""Concepts from a SKOS vocabulary, by rdflib."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

from labeltree.errors import DataFormatError


def is_skos(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a SKOS vocabulary, by its name."""
    return os.fspath(path).lower().endswith((".ttl", ".rdf", ".jsonld", ".nt", ".skos"))


def read_skos(path: str | os.PathLike[str], language: str, format: str | None) -> dict[str, list[str]]:
    """Read an RDF file; see ``Taxonomy.from_skos``.

    Returns the texts of all concepts, in the order of their URIs, by kind of text. A missing text is empty.
    """
    try:
        import rdflib
        from rdflib.namespace import RDF, SKOS
        from rdflib.plugin import PluginException
        from rdflib.util import guess_format
    except ImportError as error:
        raise ImportError(
            "SKOS vocabularies are read by rdflib, which is not installed: pip install 'labeltree[skos]'"
        ) from error

    name = os.fspath(path)
    graph = rdflib.Graph()
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            # Users need not see the warnings of rdflib's parsers about rdflib.
            warnings.simplefilter("ignore", DeprecationWarning)
            graph.parse(file, format=format or guess_format(name) or "turtle")
    except OSError:
        raise
    except PluginException:
        raise ValueError(f"format {format!r} is not one that rdflib reads") from None
    except Exception as error:  # the errors of rdflib's parsers have no common class
        reason = " ".join(str(error).split())
        raise DataFormatError(f"rdflib cannot read this: {reason}", name) from error

    broader: dict[Any, set[Any]] = {concept: set() for concept in graph.subjects(RDF.type, SKOS.Concept)}
    for lower, upper in graph.subject_objects(SKOS.broader):
        broader.setdefault(lower, set()).add(upper)
    for upper, lower in graph.subject_objects(SKOS.narrower):
        broader.setdefault(lower, set()).add(upper)
    for upper in {upper for uppers in broader.values() for upper in uppers}:
        broader.setdefault(upper, set())
    if not broader:
        raise DataFormatError("expected resources of the type skos:Concept, got none", name)

    # A graph has no order; the order of the URIs is always the same.
    concepts = sorted(broader, key=str)
    local_names = [_local_name(str(concept)) for concept in concepts]
    names = [_preferred(graph.objects(concept, SKOS.prefLabel), language) for concept in concepts]
    notations = [min(graph.objects(concept, SKOS.notation), key=str, default="") for concept in concepts]
    return {
        "id": [str(concept) for concept in concepts],
        "parent": [str(min(broader[concept], key=str, default="")) for concept in concepts],
        "name": [name or local_name for name, local_name in zip(names, local_names, strict=True)],
        "last part of the URI": local_names,
        "notation": [str(notation) for notation in notations],
    }


def _preferred(labels: Any, language: str) -> str:
    """Return the label in the language or a variant of it, else without a language, else in the first language."""

    def rank(label: Any) -> tuple[bool, bool, bool, str, str]:
        tag = (getattr(label, "language", None) or "").lower()
        wanted = language.lower()
        return tag != wanted, not tag.startswith(f"{wanted}-"), tag != "", tag, str(label)

    return str(min(labels, key=rank, default="")).strip()


def _local_name(uri: str) -> str:
    return re.split(r"[/#]", uri.rstrip("/#"))[-1]
