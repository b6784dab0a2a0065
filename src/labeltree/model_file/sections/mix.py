"""The section of a mix: its members, each with all of its own sections, in one flat directory."""

from __future__ import annotations

from typing import Any

from labeltree.errors import ModelFileError
from labeltree.kinds import kind_named
from labeltree.mixing.mixed_model import check_number
from labeltree.model_file.document import FORMAT_VERSIONS, Draft, Stored
from labeltree.model_file.sections import decision, label_names

#: The field by which such a model is recognised.
FILES = "members"
#: Mixes came with this version of the format.
VERSION = 7
_MEMBER_VERSIONS = tuple(version for version in FORMAT_VERSIONS if version != VERSION)


def write(draft: Draft, model: Any) -> None:
    """Add a mix; raises `ValueError` if one of its members cannot be saved."""
    from labeltree.model_file.saving import draft_of

    members = []
    for number, (member, weight) in enumerate(zip(model.members_, model.weights_, strict=True), 1):
        name = type(member).__name__
        if kind_named(name) is None:  # nobody could load it
            raise ValueError(
                f"model {number} of the mix is of the class {name}, which labeltree does not have: use pickle"
            )
        try:
            own = draft_of(member)
        except ModelFileError as error:  # it was loaded from a damaged file
            raise ModelFileError(f"model {number} of the mix: {error}") from error
        except ValueError as error:
            raise ValueError(f"model {number} of the mix: {error}") from error
        members.append({"weight": weight, "format_version": own.version, **own.ordered()})
    decision.write(draft, model.decision_)
    label_names.write(draft, model.model_.label_names, model.classes_.tolist())
    # A mix is not older than its members.
    draft.add(max(VERSION, *(member["format_version"] for member in members)), members=members)


def _members(stored: Stored) -> tuple[list[Stored], list[float]]:
    entries = stored.fields.take(FILES, list)
    check_number(len(entries))  # before any is read: each may name the same large files
    members, weights = [], []
    for number, entry in enumerate(entries, 1):
        where = f"member {number}"
        if not isinstance(entry, dict) or type(entry.get("weight")) not in (int, float):
            raise ValueError(f"{where} must be a JSON object with a weight, got {str(entry)[:100]}")
        version = entry.get("format_version")
        if not isinstance(version, int) or isinstance(version, bool) or version not in _MEMBER_VERSIONS:
            raise ValueError(f"{where}: format_version must be one of {_MEMBER_VERSIONS}, got {version!r}")
        own = {name: value for name, value in entry.items() if name not in ("weight", "format_version")}
        members.append(Stored(own, version, stored.directory, stored.verify, where))
        weights.append(float(entry["weight"]))
    return members, weights


def read(cls: type[Any], stored: Stored, without_network: bool = False) -> Any:
    """Return the mix of all members; without their networks, if it is only to be described."""
    members, weights = _members(stored)
    decided, named = decision.take(stored), label_names.take(stored)
    stored.needs(max(VERSION, *(member.version for member in members)))
    stored.finish()
    mixed = cls([_open(member, without_network) for member in members], weights)
    if decided.is_there:
        mixed.decision_ = decided.read(len(mixed.classes_))
    mixed.label_names_ = named.read(mixed.classes_.tolist())
    return mixed


def _open(member: Stored, without_network: bool) -> Any:
    from labeltree.model_file.loading import open_model, section_in

    has_network = without_network and section_in(member).describe(member).get("runtime") is not None
    return open_model(member, without_network=True) if has_network else open_model(member)


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo`: those of the first member, with the trees of all."""
    from labeltree.model_file.loading import section_in

    members, weights = _members(stored)
    decision.take(stored)
    named = label_names.take(stored)
    stored.needs(max(VERSION, *(member.version for member in members)))
    stored.finish()
    described = [section_in(member).describe(member) for member in members]
    types = {entry["weights"] for entry in described}
    return {
        **described[0],
        "parameters": {"members": [member.estimator for member in members], "weights": weights},
        "weights": types.pop() if len(types) == 1 else "mixed",
        "trees": [tree for entry in described for tree in entry["trees"]],
        "training_report": [report for entry in described for report in entry["training_report"]],
        "calibration": None,
        "rerank": 0,
        "runtime": next((entry["runtime"] for entry in described if entry.get("runtime")), None),
        "has_label_names": named.file is not None,
    }
