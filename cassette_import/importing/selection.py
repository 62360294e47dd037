"""Selections: which modules a list of names and patterns selects."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from importlib import machinery
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any, Final, Literal

from cassette_import.interpreter.records import Record

__all__ = ["OURSELVES", "Decision", "Selection", "decide", "is_pattern", "title_of"]

# ---- selections: which modules a list of names and patterns selects

OURSELVES: Final = __name__.partition(".")[0]
"""The name of this package, which is never selected."""


class Selection:
    """The modules that a list of names selects, without those that a list of exceptions names.

    A name selects the module and everything below it, an `fnmatch` pattern each full name that it matches.
    """

    def __init__(self, packages: Iterable[str], exclude: Iterable[str] = ()) -> None:
        self.packages: Final = tuple(packages)
        self.exclude: Final = tuple(exclude)
        self._selects = _Test(self.packages)
        # Rewriting this package would need the code of the rewriter itself (checklist F12).
        self._excludes = _Test((*self.exclude, OURSELVES))

    def matches(self, module_name: str) -> bool:
        """Whether a name or pattern selects the module, even if it is excluded."""
        return self._selects(module_name)

    def covers(self, module_name: str) -> bool:
        """Whether a name or pattern selects the module, and none excludes it."""
        return self._selects(module_name) and not self._excludes(module_name)


def is_pattern(name: str) -> bool:
    """Whether a name is an `fnmatch` pattern."""
    return any(character in name for character in "*?[")


class _Test:
    """Whether some name or pattern matches a module. Each import of an unselected module pays for one call."""

    def __init__(self, names: Iterable[str]) -> None:
        names = tuple(names)
        self._beginnings = tuple([f"{name}." for name in names if not is_pattern(name)])
        patterns = [fnmatch.translate(name) for name in names if is_pattern(name)]
        self._pattern = re.compile("|".join(patterns), re.DOTALL) if patterns else None  # to compile one takes long

    def __call__(self, module_name: str) -> bool:
        if f"{module_name}.".startswith(self._beginnings):
            return True
        return self._pattern is not None and self._pattern.match(module_name) is not None


# ---- decisions: whether a module is rewritten or left alone, and for which reason


class Decision(Record):
    """What is done to a module, and why. Loader and finder are the ones that Python itself would use."""

    name: str
    action: Literal["rewritten", "left alone"]
    reason: str = ""
    origin: str | None = None
    loader: str = ""
    finder: str = ""


def decide(name: str, spec: ModuleSpec, finder: str = "") -> Decision:
    """What to do with the module of a spec, whether it has been imported already or not. `finder` has found it."""
    loader: Any = spec.loader
    filename = spec.origin
    if filename is None and hasattr(loader, "get_filename"):
        try:
            filename = loader.get_filename(name)
        except ImportError:
            pass
    if loader is None and spec.submodule_search_locations is not None:
        loader = machinery.NamespaceLoader  # importlib sets it too, but later
    reason = _reason_against(loader, filename)
    return Decision(name, "left alone" if reason else "rewritten", reason, filename, title_of(loader), finder)


_WITHOUT_SOURCE: Final[tuple[tuple[type, str], ...]] = (
    (machinery.BuiltinImporter, "built-in module"),
    (machinery.FrozenImporter, "frozen module"),
    (machinery.ExtensionFileLoader, "extension module"),
    (machinery.SourcelessFileLoader, "no source, only bytecode"),
    (machinery.NamespaceLoader, "namespace package"),
)
"""Types of loaders whose modules have no source, each with the reason in reports."""


def _reason_against(loader: Any, filename: str | None) -> str:
    """Why a module cannot be rewritten (checklist F7, F14, C13); empty if it can."""
    for kind, reason in _WITHOUT_SOURCE:
        if issubclass(_type(loader), kind):
            return reason
    if filename is None:
        return f"its loader, {title_of(loader)}, names no file" if loader else "made without a file"
    if filename.endswith(tuple(machinery.BYTECODE_SUFFIXES)):  # in a zip file (checklist F8)
        return "no source, only bytecode"
    if _transforms_source(loader):
        return f"its loader, {title_of(loader)}, compiles something else than the source"
    if filename.endswith(tuple(machinery.SOURCE_SUFFIXES)) or hasattr(loader, "get_source"):
        return ""
    return f"its loader, {title_of(loader)}, shows no source" if loader else "no source"


def _transforms_source(loader: Any) -> bool:
    """Whether a loader compiles source in its own way: rewriting the source would lose what it adds (checklist F5)."""
    method = getattr(_type(loader), "source_to_code", None)
    return method is not None and method.__module__.partition(".")[0] not in (
        "importlib",
        "_frozen_importlib_external",
    )


def title_of(thing: Any) -> str:
    """How reports call a loader or finder."""
    kind = _type(thing)
    if issubclass(kind, SourceFileLoader) and kind.__module__.partition(".")[0] == OURSELVES:
        kind = SourceFileLoader  # cassette_import's loader takes its place
    if thing is None or kind.__module__.startswith("_frozen_importlib"):
        return "" if thing is None else kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def _type(thing: Any) -> type:
    """The type of a loader or finder. Some loaders and finders are classes."""
    return thing if isinstance(thing, type) else type(thing)
