"""The folder or zip file of a program: its place on `sys.path`, and the modules in it."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder

from cassette_import.interpreter.late_modules import execute_all

__all__ = [
    "add_current_folder",
    "can_be_on_path",
    "current_folders",
    "importable",
    "is_library",
    "make_way_for",
    "origin_of",
    "put_first",
]


def can_be_on_path(path: str) -> bool:
    """Whether the path is a folder or a zip file, from which modules can be imported."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def current_folders() -> list[str]:
    """The current folder, as a list; the list is empty if the folder was deleted. Plain Python runs programs there."""
    try:
        return [os.getcwd()]
    except OSError:
        return []


def put_first(*entry: str) -> None:
    """Replace the first entry of `sys.path`, which is cassette_import's, by this one, or remove it.

    With `python -P` there is none to replace.
    """
    sys.path[: 0 if sys.flags.safe_path else 1] = entry


def add_current_folder() -> None:
    """Add the current folder to `sys.path`, as `python -m` does: the installed command has its own folder there."""
    if not sys.flags.safe_path and "" not in sys.path:
        sys.path[:0] = [folder for folder in current_folders() if folder not in sys.path]


def make_way_for(folder: str) -> None:
    """Forget the imported modules that the folder hides: the program imports its own `random.py`, for example.

    Modules that Python imports before any program begins, because of `.pth` files and `sitecustomize`, stay: the plain
    program finds them too. cassette_import's modules keep what they have imported.
    """
    early = _imported_at_startup()
    for name in importable(folder):
        module = sys.modules.get(name)
        if module is None or name in early or _is_unavoidable(name):
            continue
        if _folder_of(getattr(module, "__spec__", None)) == folder:
            continue
        execute_all()  # while they find what they import
        for loaded in [known for known in sys.modules if known == name or known.startswith(name + ".")]:
            del sys.modules[loaded]


def _imported_at_startup() -> frozenset[str]:
    """The modules imported before `site` was: `sys.modules` has the order in which imports finished."""
    if "site" not in sys.modules:
        return frozenset()
    return frozenset(itertools.takewhile("site".__ne__, sys.modules))


def _is_unavoidable(name: str) -> bool:
    """Whether Python imports this module independently of the files in the program's folder."""
    return (
        name in ("__main__", "encodings", __name__.partition(".")[0])
        or BuiltinImporter.find_spec(name) is not None
        or FrozenImporter.find_spec(name) is not None
    )


def importable(container: str) -> Iterator[str]:
    """The names of the modules in a folder or zip file, judged by the names of its entries."""
    try:
        entries = sorted(os.listdir(container))
    except OSError:  # a zip file
        entries = _members(container)
    for entry in entries:
        name, dot, suffix = entry.partition(".")
        if name.isidentifier() and name != "__main__" and (not dot or suffix == "py"):
            yield name


def _members(path: str) -> list[str]:
    import zipfile  # rarely needed

    try:
        with zipfile.ZipFile(path) as archive:
            return sorted({name.partition("/")[0] for name in archive.namelist()})
    except (OSError, zipfile.BadZipFile):
        return []


def origin_of(name: str) -> str | None:
    """The folder or zip file from which the module is imported; None if Python itself contains it."""
    if _is_unavoidable(name):
        return None
    module = sys.modules.get(name)
    return _folder_of(PathFinder.find_spec(name) if module is None else getattr(module, "__spec__", None))


def _folder_of(spec: ModuleSpec | None) -> str | None:
    """The folder that contains a top-level module."""
    if spec is None:
        return None
    if spec.submodule_search_locations is not None:
        locations = list(spec.submodule_search_locations)
        return os.path.dirname(locations[0]) if len(locations) == 1 else None
    return os.path.dirname(spec.origin) if spec.origin and spec.has_location else None


def is_library(folder: str) -> bool:
    """Whether a folder is the standard library or a `site-packages`, whose modules belong to many programs."""
    return folder == os.path.dirname(os.__file__) or os.path.basename(folder) in (
        "site-packages",
        "dist-packages",
    )
