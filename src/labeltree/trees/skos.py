"""Concepts from a SKOS vocabulary, by rdflib."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any, NamedTuple

from labeltree.errors import DataFormatError


class SkosConcepts(NamedTuple):
    """The concepts of a vocabulary in the order of their URIs; a text is empty where there is none."""

    ids: list[str]
    parents: list[str]
    names: list[str]
    local_names: list[str]
    notations: list[str]


def read_skos(path: str | os.PathLike[str], language: str, format: str | None) -> SkosConcepts:
    """Read an RDF file; see ``Taxonomy.from_skos``."""
    try:
        import rdflib
        from rdflib.namespace import RDF, SKOS
        from rdflib.plugin import PluginException
        from rdflib.util import guess_format
    except ImportError as error:
        raise ImportError(
            "SKOS vocabularies are read by rdflib, which is not installed: pip install rdflib"
        ) from error

    name = os.fspath(path)
    graph = rdflib.Graph()
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            # What rdflib's parsers say of rdflib is not the user's business.
            warnings.simplefilter("ignore", DeprecationWarning)
            graph.parse(file, format=format or guess_format(name) or "turtle")
    except OSError:
        raise
    except PluginException:
        raise ValueError(f"format {format!r} is not one that rdflib reads") from None
    except Exception as error:  # each of rdflib's parsers has errors of its own, of no common class
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

    # A graph has no order; that of the URIs is the same every time.
    concepts = sorted(broader, key=str)
    local_names = [_local_name(str(concept)) for concept in concepts]
    return SkosConcepts(
        ids=[str(concept) for concept in concepts],
        parents=[str(min(broader[concept], key=str, default="")) for concept in concepts],
        names=[
            _preferred(graph.objects(concept, SKOS.prefLabel), language) or local_name
            for concept, local_name in zip(concepts, local_names, strict=True)
        ],
        local_names=local_names,
        notations=[
            str(min(graph.objects(concept, SKOS.notation), key=str, default="")) for concept in concepts
        ],
    )


def _preferred(labels: Any, language: str) -> str:
    """The label in the language (or a variant of it), else in none, else in the first of the alphabet."""

    def rank(label: Any) -> tuple[bool, bool, bool, str, str]:
        tag = (getattr(label, "language", None) or "").lower()
        wanted = language.lower()
        return tag != wanted, not tag.startswith(f"{wanted}-"), tag != "", tag, str(label)

    return str(min(labels, key=rank, default="")).strip()


def _local_name(uri: str) -> str:
    return re.split(r"[/#]", uri.rstrip("/#"))[-1]
