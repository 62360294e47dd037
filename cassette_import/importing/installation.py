"""Installations: which packages are overdubbed, how that is undone, and reports on each module."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any, Final, Literal, NoReturn

from cassette_import.errors import NotOverdubbable
from cassette_import.importing.finder import finder, locate
from cassette_import.importing.selection import OURSELVES, Decision, Selection, decide, is_pattern
from cassette_import.interpreter.namespaces import module_namespace
from cassette_import.interpreter.records import Record
from cassette_import.interpreter.silenced_warnings import SILENCED
from cassette_import.specialization.registry_port import registry

__all__ = ["Installation", "ModuleReport", "install", "installed", "uninstall"]

_lock: Final = threading.RLock()
_installations: list[Installation] = []


class ModuleReport(Record):
    """What was done to one module, and why.

    Attributes
    ----------
    name:
        The full name of the module.
    action:
        ``"rewritten"`` or ``"left alone"``.
    reason:
        Why the module is left alone; empty if it is rewritten.
    origin:
        Its file, if it has one.
    loader:
        The loader that Python itself would use.
    specialised:
        Qualified names of functions with a compiled body, each with the names of the variants that the body serves.
    left_alone:
        Qualified names of functions without one, each with the reason.
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
    """The packages of one call of `install`. `uninstall()` undoes the call, and so does leaving its `with` block."""

    def __init__(self, packages: tuple[str, ...], exclude: tuple[str, ...]) -> None:
        self._selection = Selection(packages, exclude)
        self._last_report: list[ModuleReport] | None = None

    @property
    def packages(self) -> tuple[str, ...]:
        """The installed names and patterns, without those that `uninstall(names)` has removed."""
        return self._selection.packages

    @property
    def exclude(self) -> tuple[str, ...]:
        """The excluded names and patterns."""
        return self._selection.exclude

    def uninstall(self) -> None:
        """Undo this installation and no other one. A second call does nothing."""
        with _lock:
            if self in _installations:
                try:
                    self._last_report = self.report()
                finally:
                    _installations.remove(self)
                    _apply()

    def report(self) -> list[ModuleReport]:
        """Report on each selected module that was imported. After `uninstall`, the report is the last one before it."""
        if self._last_report is not None:
            return list(self._last_report)
        reports = []
        for decision in sorted(_decisions(self._selection).values()):
            rewritten = decision.action == "rewritten"
            specialised = registry.specialised_functions(decision.name) if rewritten else {}
            left_alone = registry.functions_left_alone(decision.name) if rewritten else {}
            name, action, reason, origin, loader, _ = decision
            reports.append(ModuleReport(name, action, reason, origin, loader, specialised, left_alone))
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


def install(packages: str | Iterable[str], *more: NoReturn, exclude: str | Iterable[str] = ()) -> Installation:
    """Overdub packages whenever a context is active, whether they are imported already or later.

    Parameters
    ----------
    packages:
        Names of packages and modules; one string is one name. A name selects the module and everything below it, an
        `fnmatch` pattern all modules whose full name it matches.
    more:
        Must be empty: several names are one list.
    exclude:
        Names and patterns of modules that are left alone.

    Returns
    -------
    An `Installation`, which can be undone by `uninstall()` or by a `with` block.

    Raises
    ------
    TypeError
        If a name is not a string, or several names are not given as one list.
    ModuleNotFoundError
        If no finder finds a module of this name. Nothing is installed then.
    NotOverdubbable
        If a module has no Python source. Nothing is installed then.

    >>> with install(["colorsys"]) as installation:
    ...     installed()
    ('colorsys',)
    """
    _refuse_more("install", packages, more)
    wanted, unwanted = _names("packages", packages), _names("exclude", exclude)
    for name in wanted:
        check(name)
    return install_unchecked(wanted, unwanted)


def install_unchecked(packages: tuple[str, ...], exclude: tuple[str, ...] = ()) -> Installation:
    """Install names without looking them up: their folder may not be on the import path yet."""
    installation = Installation(packages, exclude)
    with _lock:
        _installations.append(installation)
        _apply()
    return installation


def uninstall(packages: str | Iterable[str] | None = None, *more: NoReturn) -> None:
    """Undo installations of packages.

    Parameters
    ----------
    packages:
        Names and patterns, spelled as they were when they were installed; None for all. Other names are ignored.
    more:
        Must be empty: several names are one list.

    Raises
    ------
    TypeError
        If a name is no string, or several names are not given as one list.

    >>> installation = install("colorsys")
    >>> uninstall("colorsys")
    >>> installed()
    ()
    """
    _refuse_more("uninstall", packages, more)
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
    """The installed names and patterns.

    Returns
    -------
    A tuple, in the order of installation, each name once.

    >>> with install(["colorsys", "string"]):
    ...     installed()
    ('colorsys', 'string')
    """
    with _lock:
        return tuple(dict.fromkeys(name for installation in _installations for name in installation.packages))


def _refuse_more(verb: str, first: Any, more: tuple[Any, ...]) -> None:
    """Raise a TypeError that says how several names are written, if they are arguments of their own."""
    if more:
        given = (first, *more)
        names = ", ".join(f'"{name}"' for name in given) if all(type(name) is str for name in given) else "..."
        exclude = "; modules that are left alone are exclude=[...]" if verb == "install" else ""
        raise TypeError(f"several names are given as one list: {verb}([{names}]){exclude}")


def _names(what: str, given: Any) -> tuple[str, ...]:
    """The given names as a tuple; one string is one name, not a list of letters (checklist F11)."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, ModuleType):
        raise TypeError(f"{what} are given by name: {given.__name__!r}, not the module itself")
    # `isinstance(given, Iterable)` would put the class into the cache of that ABC, which some programs inspect.
    if isinstance(given, bytes | bytearray) or not hasattr(type(given), "__iter__"):
        raise TypeError(f"{what} must be a string or an iterable of strings, not {type(given).__name__}")
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be strings, not {type(name).__name__}: {name!r}")
    return tuple(dict.fromkeys(names))


def check(name: str) -> None:
    """Raise the error of `install` for a name that selects nothing that can be overdubbed."""
    if name.partition(".")[0] == OURSELVES:
        raise NotOverdubbable(f"{name} cannot be overdubbed: it is part of cassette_import itself")
    if is_pattern(name):
        return  # nothing is known about the modules that it will match
    try:
        spec = _spec(name)
    except ImportError as error:  # raised by the package around the module
        raise ModuleNotFoundError(f"No module named {name!r}: {error}", name=name) from error
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}{_distribution(name)}", name=name)
    decision = decide(name, spec)
    if decision.action == "left alone" and spec.submodule_search_locations is None:
        source = "" if "source" in decision.reason else ", without Python source"
        raise NotOverdubbable(f"{name} cannot be overdubbed: {decision.reason}{source}")


def _spec(name: str) -> ModuleSpec | None:
    """The spec of a module, which is not imported. Its package is imported if there is no other way to find it."""
    if not all(name.split(".")) or sys.modules.get(name, name) is None:
        return None
    if name in sys.modules:
        return _spec_of(name, sys.modules[name])
    spec, _ = locate(name)
    package = name.rpartition(".")[0]
    if spec is None and package and package not in sys.modules and _spec(package) is not None:
        # The package may extend its __path__, or fill sys.modules, when it is executed.
        importlib.import_module(package)
        return _spec(name)
    return spec


def _spec_of(name: str, module: ModuleType) -> ModuleSpec:
    """The spec of an imported module. No attribute is read, because that could load a lazy module (checklist V13)."""
    if not issubclass(type(module), ModuleType):
        return ModuleSpec(name, None)
    namespace = module_namespace(module)
    spec = namespace.get("__spec__")
    if isinstance(spec, ModuleSpec):
        return spec
    # A script (checklist M2), or a module that a program created itself.
    return ModuleSpec(name, namespace.get("__loader__"), origin=namespace.get("__file__"))


def _distribution(name: str) -> str:
    """The end of an error message that gives the import names of a distribution of this name; empty without one."""
    try:
        # Imported for an error message only, because the import changes sys.meta_path.
        from importlib_metadata import packages_distributions
    except ImportError:
        return _similar(name)
    wanted = _canonical(name)
    names = sorted(
        module for module, distributions in packages_distributions().items() if wanted in map(_canonical, distributions)
    )
    names = [module for module in names if not module.startswith("_")] or names
    if not names:
        return _similar(name)
    return f"; the distribution {name} is imported as {' and '.join(map(repr, names))}"


def _similar(name: str) -> str:
    """The end of an error message for a name that is unknown altogether."""
    if "/" in name or "\\" in name:
        return "; give the name that the program imports, such as package.module, not a path"
    import pkgutil  # these are for an error message only

    from cassette_import.interpreter.suggestions import suggestion

    found = suggestion(name, {module.name for module in pkgutil.iter_modules()})
    return found or "; give the name that the program imports, and install the package, or put its folder on sys.path"


def _canonical(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _apply() -> None:
    """Bring the finder and the registry in line with the list of installations."""
    finder.selections = tuple(installation._selection for installation in _installations)
    _place_finder()
    gone = [decision for name, decision in list(finder.decisions.items()) if not finder.covers(name)]
    for decision in gone:
        del finder.decisions[decision.name]
    removed = [decision.name for decision in gone if decision.action == "rewritten"]
    if removed:  # searching for live functions is expensive
        registry.remove_modules(removed)
    added = [_add(decide(name, _spec_of(name, module))) for name, module in _imported().items() if finder.covers(name)]
    if any(added):
        registry.instrument_active()


def _add(decision: Decision) -> bool:
    """Have a module overdubbed that was imported earlier; return whether it is a new one."""
    known = finder.decisions.get(decision.name)
    if known is not None and (known.action, known.origin) == (decision.action, decision.origin):
        return False
    if decision.action == "rewritten":
        finder.add_module(decision)
        return True
    finder.decisions[decision.name] = decision
    return False


def _place_finder() -> None:
    """Put the finder in front of all others, which would find modules without it (checklist P1), or remove it."""
    entries = sys.meta_path
    if finder.selections and (not entries or entries[0] is not finder):
        entries.insert(0, finder)  # before it is removed elsewhere: there is no moment without the finder
    for position in range(len(entries) - 1, 0 if finder.selections else -1, -1):
        if entries[position] is finder:
            del entries[position]


def _imported() -> dict[str, ModuleType]:
    """All imported modules by name; the main module also by the name under which it could be imported."""
    entries: Mapping[str, ModuleType | None] = sys.modules.copy()
    modules = {name: module for name, module in entries.items() if module is not None}
    if "__main__" in modules:
        name = _spec_of("__main__", modules["__main__"]).name
        modules.setdefault(name, modules["__main__"])
        if name.partition(".")[0] == OURSELVES:
            del modules["__main__"]
    return modules


def _decisions(selection: Selection) -> dict[str, Decision]:
    """By name, the decisions about the imported modules of a selection, excluded ones included."""
    imported = _imported()
    found = {}
    for name, decision in list(finder.decisions.items()):
        if selection.matches(name) and (name in imported or decision.loader == "SourceFileLoader"):
            found[name] = decision if name in imported else _not_imported(decision)
    for name, module in imported.items():
        if selection.matches(name) and name not in found:
            decision = decide(name, _spec_of(name, module))
            reason = "imported without asking the finder" if finder.covers(name) else "excluded"
            found[name] = decision._replace(action="left alone", reason=reason)
    return found


def _not_imported(decision: Decision) -> Decision:
    """The decision about a module that was found but is not imported: it may have a syntax error."""
    try:
        with open(decision.origin or "", "rb") as file:
            source = file.read()
        with SILENCED:
            compile(source, decision.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        reason = f"syntax error in line {error.lineno}: {error.msg}"
        return decision._replace(action="left alone", reason=reason)
    except (OSError, ValueError):
        pass
    return decision
