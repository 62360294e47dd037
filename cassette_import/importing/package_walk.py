"""The modules of a package, found through the finders, without importing any of them."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from typing import NamedTuple

from cassette_import.importing.finder import locate

__all__ = ["FoundModule", "NoSuchPackage", "modules_below"]


class NoSuchPackage(LookupError):
    """No finder knows a module of this name."""


class FoundModule(NamedTuple):
    """A module that a finder has found; `finder` is the finder's title."""

    name: str
    spec: ModuleSpec
    finder: str


def modules_below(package: str) -> Iterator[FoundModule]:
    """A module and everything below it: each package before its submodules, which are sorted by name.

    Raises
    ------
    NoSuchPackage
        If no finder finds the module.
    """
    spec, finder = locate(package) if all(package.split(".")) else (None, "")
    if spec is None:
        raise NoSuchPackage(f"no finder knows {package!r}; is it spelled as the program imports it, and installed?")
    work = [FoundModule(package, spec, finder)]
    while work:
        found = work.pop()
        yield found
        below = []
        for submodule in _submodules(found.spec.submodule_search_locations or ()):
            name = f"{found.name}.{submodule}"
            spec, finder = locate(name)
            if spec is not None:
                below.append(FoundModule(name, spec, finder))
        work.extend(reversed(below))


def _submodules(folders: Iterable[str]) -> list[str]:
    """The names of the modules in the folders of a package, namespace packages with Python files included."""
    places = list(folders)
    names = {module.name for module in pkgutil.iter_modules(places)}
    for place in places:
        try:
            entries = [entry.name for entry in os.scandir(place) if entry.is_dir()]
        except OSError:  # in a zip file, for example
            continue
        names |= {name for name in entries if name.isidentifier() and _has_modules(os.path.join(place, name))}
    return sorted(names)


def _has_modules(folder: str) -> bool:
    try:
        return any(name.endswith(".py") for name in os.listdir(folder))
    except OSError:
        return False
