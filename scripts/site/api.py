"""What the API reference shows: an extension of Griffe, which reads the sources for mkdocstrings."""

from __future__ import annotations

import copy
from typing import Any

import griffe

#: Public to other modules of the package, but not for users.
INTERNAL = {
    *(
        "adopt",
        "can_be_mixed",
        "check_parameters",
        "constraints",
        "default_rate",
        "fit_arguments",
        "growing_model",
    ),
    *(
        "grow",
        "kept_parameters",
        "label_kind_",
        "link_of",
        "make_plan",
        "make_search",
        "native",
        "normalize_",
    ),
    *(
        "open_workplace",
        "plan_of",
        "reads_texts",
        "reranking",
        "seeds",
        "stored_parameters",
        "task_memory",
        "train",
    ),
    *("train_network", "trained_link", "weight_of_trees", "settings", "model_", "job", "define"),
    *("is_defined", "add_arrays", "widen", "csr_arrays"),
}


class PublicMembers(griffe.Extension):
    """Shows functions that are assigned in the body of a class as its methods, and hides internal ones."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        for cls in _classes(pkg):
            for name, member in list(cls.members.items()):
                if name in INTERNAL:
                    del cls.members[name]
                elif (
                    member.is_attribute and not member.is_alias and isinstance(member.value, griffe.ExprName)
                ):
                    function = _function(cls.module, member.value.name, pkg)
                    if function is not None:
                        cls.set_member(name, copy.copy(function))


def _classes(module: griffe.Module) -> list[griffe.Class]:
    found = []
    for member in module.members.values():
        if member.is_alias:
            continue
        if member.is_module:
            found += _classes(member)
        elif member.is_class:
            found.append(member)
    return found


def _function(module: griffe.Module, name: str, package: griffe.Module) -> griffe.Function | None:
    """Return the function that a name stands for in a module of the package, if it is one."""
    try:
        found = package[module.resolve(name).removeprefix(f"{package.path}.")]
        found = found.final_target if found.is_alias else found
    except (KeyError, griffe.GriffeError):
        return None
    return found if found.is_function else None
