"""The modules of packages that are compiled, and those that are left alone, with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cassette_import.frontends.compiling.compiled_modules import Source
from cassette_import.importing.decision import decide
from cassette_import.importing.package_walk import modules_below
from cassette_import.importing.selection import Selection, is_pattern

__all__ = ["SelectedModules", "selected_modules"]


class SelectedModules(NamedTuple):
    """The modules to compile, and the names of others, each with the reason why it is left alone."""

    sources: list[Source]
    left_alone: dict[str, str]


def selected_modules(packages: Sequence[str], exclude: Iterable[str] = ()) -> SelectedModules:
    """The modules that names and patterns select, as `run -p` takes them; nothing is imported.

    Raises
    ------
    NoSuchPackage
        If no finder finds a package.
    ValueError
        If a pattern does not begin with the name of a package.
    """
    selection = Selection(packages, exclude)
    selected = SelectedModules([], {})
    known = set()
    for package in dict.fromkeys(_walked(package) for package in packages):
        for name, spec, _ in modules_below(package):
            if name in known or not selection.covers(name):
                continue
            known.add(name)
            decision = decide(name, spec)
            if spec.loader is None or decision.loader == "NamespaceLoader":
                continue  # there is no code in it
            if decision.action == "left alone":
                selected.left_alone[name] = decision.reason
            elif decision.origin is None or not os.path.isfile(decision.origin):
                selected.left_alone[name] = "its source is in no file of its own, so nothing is cached"
            else:
                is_package = spec.submodule_search_locations is not None
                selected.sources.append(Source(name, decision.origin, is_package))
    return selected


def _walked(name: str) -> str:
    """The package that contains everything that a name or pattern selects."""
    parts = name.split(".")
    plain = next((number for number, part in enumerate(parts) if is_pattern(part)), len(parts))
    if plain == 0:
        raise ValueError(f"{name!r} does not begin with the name of a package")
    return ".".join(parts[:plain])
