"""Which packages are overdubbed: installing them, undoing it, and telling what became of each module.

Knows names of packages and modules; must not know contexts, or how modules are found and loaded.
"""

from __future__ import annotations

import importlib
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Final, Literal, NamedTuple

from cassette_import.errors import NotOverdubbable
from cassette_import.importing.finder import OURSELVES, Decision, Selection, decide, finder, is_pattern, locate
from cassette_import.interpreter.namespaces import of_module
from cassette_import.specialization.registry import registry

__all__ = ["Installation", "ModuleReport", "install", "installed", "uninstall"]

_lock: Final = threading.RLock()
_installations: list[Installation] = []


class ModuleReport(NamedTuple):
    """What was done to one module, and why.

    `specialised` tells for which variants a function has a body, `left_alone` why a function has none.
    """

    name: str
    action: Literal["rewritten", "left alone"]
    reason: str
    origin: str | None
    loader: str
    specialised: Mapping[str, list[str]]
    left_alone: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.name}: {self.action}" + (f" ({self.reason})" if self.reason else "")


class Installation:
    """What one call of `install` did, and the means to undo it: by `uninstall()`, or as a context manager."""

    def __init__(self, packages: tuple[str, ...], exclude: tuple[str, ...]) -> None:
        self._selection = Selection(packages, exclude)
        self._last_report: list[ModuleReport] | None = None

    @property
    def packages(self) -> tuple[str, ...]:
        """The names and patterns that were installed and that `uninstall(names)` has not taken back."""
        return self._selection.packages

    @property
    def exclude(self) -> tuple[str, ...]:
        """The names and patterns that were excluded."""
        return self._selection.exclude

    def uninstall(self) -> None:
        """Undo this installation, and nothing of other ones; once undone, nothing is left to do."""
        with _lock:
            if self in _installations:
                try:
                    self._last_report = self.report()
                finally:
                    _installations.remove(self)
                    _apply()

    def report(self) -> list[ModuleReport]:
        """Each module that is named and was imported; of an undone installation, as it was at its end."""
        if self._last_report is not None:
            return list(self._last_report)
        reports = []
        for decision in sorted(_decisions(self._selection).values()):
            rewritten = decision.action == "rewritten"
            specialised = registry.specialised_functions(decision.name) if rewritten else {}
            left_alone = registry.functions_left_alone(decision.name) if rewritten else {}
            reports.append(ModuleReport(*decision[:5], specialised, left_alone))
        return reports

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()

    def __repr__(self) -> str:
        exclude = f", exclude={list(self.exclude)!r}" if self.exclude else ""
        undone = "" if self in _installations else ", undone"
        return f"<Installation of {list(self.packages)!r}{exclude}{undone}>"


def install(packages: str | Iterable[str], *, exclude: str | Iterable[str] = ()) -> Installation:
    """Have packages overdubbed whenever a context is active, whether they are imported already or later.

    A name means the module and everything below it; `fnmatch` patterns match full module names. Nothing is
    installed if any of the names is wrong.

    >>> with install(["colorsys"]) as installation:
    ...     installed()
    ('colorsys',)
    """
    wanted, unwanted = _names("packages", packages), _names("exclude", exclude)
    for name in wanted:
        check(name)
    return install_unchecked(wanted, unwanted)


def install_unchecked(packages: tuple[str, ...], exclude: tuple[str, ...] = ()) -> Installation:
    """Install names that nobody may know yet, because what finds them is not on the path yet."""
    installation = Installation(packages, exclude)
    with _lock:
        _installations.append(installation)
        _apply()
    return installation


def uninstall(packages: str | Iterable[str] | None = None) -> None:
    """Take back names, spelled as they were when somebody installed them; without argument, all of them."""
    names = None if packages is None else _names("packages", packages)
    with _lock:
        for installation in reversed(tuple(_installations)):
            left = tuple(name for name in installation.packages if names is not None and name not in names)
            if not left:
                installation.uninstall()
            elif left != installation.packages:
                installation._selection = Selection(left, installation.exclude)
                _apply()


def installed() -> tuple[str, ...]:
    """The names and patterns that are installed, in the order in which they were."""
    with _lock:
        return tuple(dict.fromkeys(name for installation in _installations for name in installation.packages))


def _names(what: str, given: Any) -> tuple[str, ...]:
    """A list of names; one string is a list of one, not of letters (F11)."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, ModuleType):
        raise TypeError(f"{what} are given by name: {given.__name__!r}, not the module itself")
    # (not asked of `collections.abc.Iterable`: it would remember the class, and some look at what it knows)
    if isinstance(given, bytes | bytearray) or not hasattr(type(given), "__iter__"):
        raise TypeError(f"{what} must be a string or an iterable of strings, not {type(given).__name__}")
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be strings, not {type(name).__name__}: {name!r}")
    return tuple(dict.fromkeys(names))


def check(name: str) -> None:
    """Raise what `install` raises for a name that means nothing that could be overdubbed."""
    if name.partition(".")[0] == OURSELVES:
        raise NotOverdubbable(f"{name} cannot be overdubbed: it is what does the overdubbing")
    if is_pattern(name):
        return  # what it will match is not known
    try:
        spec = _spec(name)
    except ImportError as error:  # of the package that the module is in
        raise ModuleNotFoundError(f"No module named {name!r}: {error}", name=name) from error
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}{_distribution(name)}", name=name)
    decision = decide(name, spec)
    if decision.action == "left alone" and spec.submodule_search_locations is None:
        source = "" if "source" in decision.reason else ", without Python source"
        raise NotOverdubbable(f"{name} cannot be overdubbed: {decision.reason}{source}")


def _spec(name: str) -> ModuleSpec | None:
    """The spec of a module that need not be imported; its package is, if it is found in no other way."""
    if not all(name.split(".")) or sys.modules.get(name, name) is None:
        return None
    if name in sys.modules:
        return _spec_of(name, sys.modules[name])
    spec, _ = locate(name)
    package = name.rpartition(".")[0]
    if spec is None and package and package not in sys.modules and _spec(package) is not None:
        # It may extend its __path__, or fill sys.modules, when it is executed.
        importlib.import_module(package)
        return _spec(name)
    return spec


def _spec_of(name: str, module: ModuleType) -> ModuleSpec:
    """The spec of an imported module; no attribute is read, which might load a lazy one (V13)."""
    if not issubclass(type(module), ModuleType):
        return ModuleSpec(name, None)
    namespace = of_module(module)
    spec = namespace.get("__spec__")
    if isinstance(spec, ModuleSpec):
        return spec
    # A script (M2), or a module that was made by hand.
    return ModuleSpec(name, namespace.get("__loader__"), origin=namespace.get("__file__"))


def _distribution(name: str) -> str:
    """What to say of the distribution of this name, if there is one, and of its import names."""
    try:
        # Imported for an error message only: it changes sys.meta_path when it is imported.
        from importlib_metadata import packages_distributions
    except ImportError:
        return ""
    wanted = _canonical(name)
    names = sorted(
        module for module, distributions in packages_distributions().items() if wanted in map(_canonical, distributions)
    )
    names = [module for module in names if not module.startswith("_")] or names
    if not names:
        return ""
    return f"; the distribution {name} is imported as {' and '.join(map(repr, names))}"


def _canonical(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _apply() -> None:
    """Make true what the list of installations says."""
    finder.selections = tuple(installation._selection for installation in _installations)
    _place_finder()
    gone = [decision for name, decision in list(finder.decisions.items()) if not finder.covers(name)]
    for decision in gone:
        del finder.decisions[decision.name]
    dismissed = [decision.name for decision in gone if decision.action == "rewritten"]
    if dismissed:  # looking for live functions is dear
        registry.remove_modules(dismissed)
    taken_in = [
        _take_in(decide(name, _spec_of(name, module))) for name, module in _imported().items() if finder.covers(name)
    ]
    if any(taken_in):
        registry.instrument_active()


def _take_in(decision: Decision) -> bool:
    """Have a module overdubbed that was imported earlier; return whether it was not already."""
    known = finder.decisions.get(decision.name)
    if known is not None and (known.action, known.origin) == (decision.action, decision.origin):
        return False
    if decision.action == "rewritten":
        finder.add_module(decision)
        return True
    finder.decisions[decision.name] = decision
    return False


def _place_finder() -> None:
    """In front of the others, which would answer without asking us (P1), or nowhere."""
    entries = sys.meta_path
    if finder.selections and (not entries or entries[0] is not finder):
        entries.insert(0, finder)  # before it is removed elsewhere: there is no moment without it (V11)
    for position in range(len(entries) - 1, 0 if finder.selections else -1, -1):
        if entries[position] is finder:
            del entries[position]


def _imported() -> dict[str, ModuleType]:
    """The modules that are imported; the main module also by the name by which it could be imported (M2)."""
    everything: Mapping[str, ModuleType | None] = sys.modules.copy()
    modules = {name: module for name, module in everything.items() if module is not None}
    if "__main__" in modules:
        name = _spec_of("__main__", modules["__main__"]).name
        modules.setdefault(name, modules["__main__"])
        if name.partition(".")[0] == OURSELVES:
            del modules["__main__"]
    return modules


def _decisions(selection: Selection) -> dict[str, Decision]:
    """Of the modules that a selection names: what was decided, or why nothing was."""
    imported = _imported()
    found = {}
    for name, decision in list(finder.decisions.items()):
        if selection.names(name) and (name in imported or decision.loader == "SourceFileLoader"):
            found[name] = decision if name in imported else _not_imported(decision)
    for name, module in imported.items():
        if selection.names(name) and name not in found:
            decision = decide(name, _spec_of(name, module))
            reason = "imported without asking the finder" if finder.covers(name) else "excluded"
            found[name] = decision._replace(action="left alone", reason=reason)
    return found


def _not_imported(decision: Decision) -> Decision:
    """The decision on a module that was loaded and is not there: it may have failed at its syntax."""
    try:
        source = Path(decision.origin or "").read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, decision.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        reason = f"syntax error in line {error.lineno}: {error.msg}"
        return decision._replace(action="left alone", reason=reason)
    except (OSError, ValueError):
        pass
    return decision
