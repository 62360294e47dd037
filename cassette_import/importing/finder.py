"""The finder and the loaders: how selected modules are found, and where their code comes from.

The registry is notified of each selected module. It provides code if a context is active when a module is imported, or
was active before. Otherwise Python executes what it would have executed anyway: same bytecode, same `.pyc`, same
tracebacks.

All that is needed here is imported at the top: finding and loading must not import anything, except for late
modules of cassette_import that compile code (`interpreter.late_modules`).
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import machinery
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cassette_import.errors import CassetteWarning
from cassette_import.importing.selection import Decision, Selection, decide, title_of
from cassette_import.interpreter.code_objects import with_settled_sets
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.silenced_warnings import SILENCED
from cassette_import.runtime.module_imports import MODULE_IMPORTS
from cassette_import.specialization.registry_port import registry

__all__ = ["Finder", "Loader", "OtherFinders", "TemporaryLoader", "finder", "locate"]


# ---- loaders that replace another tool's loader while one module is loaded


class TemporaryLoader:
    """Another tool's loader, while it loads one module (checklist F5, F6, F8).

    It has the attributes of that loader, and `isinstance` takes it for one. Before the module runs, the original loader
    takes its place again, so that the module sees that one.
    """

    def __init__(self, loader: Any, spec: ModuleSpec) -> None:
        self._wrapped, self._spec = loader, spec

    @property  # type: ignore[misc]  # it is not assignable
    def __class__(self) -> Any:
        return type(self._wrapped)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def _restore_loader(self, module: ModuleType | None) -> None:
        """Put the original loader back, in the spec and in the module."""
        self._spec.loader = self._wrapped
        if module is not None and vars(module).get("__loader__") is self:
            module.__loader__ = self._wrapped


# ---- asking the finders behind one of cassette_import's finders in `sys.meta_path`


class _Searches(threading.local):
    """The modules that a thread is searching for."""

    def __init__(self) -> None:
        self.running: set[str] = set()


class OtherFinders:
    """The finders behind one entry of `sys.meta_path`."""

    def __init__(self, entry: Any) -> None:
        self._entry = entry
        self._searches = _Searches()

    def search(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> tuple[ModuleSpec | None, Any]:
        """Search for a module with them; return the spec and the finder that made it, or twice None."""
        # A finder behind this one may search with all finders, this one included. Here it finds nothing then: otherwise
        # the finders would call each other without end. The guard is for this thread alone: for other threads None
        # would be wrong (checklist F2).
        if fullname in self._searches.running:
            return None, None
        self._searches.running.add(fullname)
        try:
            for other in self._behind():
                find_spec = getattr(other, "find_spec", None)  # some entries have none (checklist F3)
                spec = None if find_spec is None else find_spec(fullname, path, target)
                if spec is not None:
                    return spec, other
            return None, None
        finally:
            self._searches.running.discard(fullname)

    def _behind(self) -> list[Any]:
        entries = list(sys.meta_path)  # searching may change the list itself (checklist F3)
        positions = [position for position, entry in enumerate(entries) if entry is self._entry]
        return entries[positions[-1] + 1 :] if positions else entries


# ---- the finder and the loaders: how selected modules are found, and where their code comes from

if TYPE_CHECKING:
    from cassette_import.interpreter import python_cache
else:
    (python_cache,) = late("cassette_import.interpreter", "python_cache")


_CodeGetter: TypeAlias = Callable[[str], CodeType | None]
_Path: TypeAlias = Sequence[str] | None


class Finder:
    """cassette_import's entry of `sys.meta_path`: the finders behind it find modules, and it has the selected ones
    overdubbed."""

    def __init__(self) -> None:
        self.selections: tuple[Selection, ...] = ()  # replaced as a whole, never changed (checklist V11)
        self.decisions: dict[str, Decision] = {}  # by module name, in the order of the last import
        self._others = OtherFinders(self)
        self._warned: set[str] = set()

    def __repr__(self) -> str:
        names = [name for selection in self.selections for name in selection.packages]
        return f"<cassette_import finder for {', '.join(names) or 'nothing'}>"

    def covers(self, module_name: str) -> bool:
        """Whether a selection covers the module."""
        for selection in self.selections:  # noqa: SIM110 - no generator: each import calls this up to four times
            if selection.covers(module_name):
                return True
        return False

    def compiles(self, spec: ModuleSpec) -> bool:
        """Whether cassette_import's own loader compiles a module: one that was imported before has another loader."""
        return self.covers(spec.name) and isinstance(spec.loader, (Loader, TemporaryLoader))

    def find_spec(self, fullname: str, path: _Path = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec that the finders behind this one make; only its loader may be replaced (checklist F1, F4)."""
        if not self.covers(fullname):
            return None
        spec, found_by = self.search(fullname, path, target)
        if spec is not None:
            self._prepare(spec, decide(fullname, spec, found_by))
        return spec

    def search(self, fullname: str, path: _Path, target: ModuleType | None = None) -> tuple[ModuleSpec | None, str]:
        """Search with the finders behind this one; return the spec, and the title of the finder that made it."""
        spec, other = self._others.search(fullname, path, target)
        return spec, "" if other is None else title_of(other)

    def _prepare(self, spec: ModuleSpec, decision: Decision) -> None:
        """Replace the loader of a spec where the registry is to provide the module's code."""
        loader = spec.loader
        if decision.action == "left alone":
            self.decisions[decision.name] = decision
        elif type(loader) is Loader:
            pass  # another finder caches specs, and returned one that is prepared already
        elif type(loader) is SourceFileLoader:
            # Subclasses are not replaced: their behaviour is unknown (checklist F5).
            spec.loader = Loader(loader.name, loader.path, decision)
        else:
            self.add_module(decision)
            if _executes_its_code(loader) and registry.wants_trampolines():
                spec.loader = _CodeProvidingLoader(loader, spec, decision)  # type: ignore[assignment]  # it acts as one
            elif MODULE_IMPORTS.is_one_event() and hasattr(loader, "exec_module") and hasattr(loader, "create_module"):
                spec.loader = _OneEventLoader(loader, spec, decision)  # type: ignore[assignment]  # it acts as one

    def add_module(self, decision: Decision) -> None:
        """Overdub the functions of a module that is about to be executed or was executed earlier."""
        try:
            registry.add_module(decision.name, decision.origin)
        except Exception as error:  # importing never fails because of cassette_import (checklist S5)
            self._warn(decision._replace(action="left alone", reason=_describe(error)))
        else:
            self.decisions[decision.name] = decision

    def code_getter(
        self, decision: Decision, plain: _CodeGetter, read: Callable[[str], bytes], trusted: bool
    ) -> _CodeGetter:
        """What the `get_code` of a loader is at this moment: `plain`, unless contexts are in use.

        cassette_import's loaders decide when `get_code` is looked up, and not when it is called. So errors in it, above
        all the program's own SyntaxError, are raised by importlib alone, and no further frame keeps importlib from
        stripping its frames from the traceback. Import, reload, lazy loaders and `runpy` all use `get_code`
        (checklist C14, V13).

        Parameters
        ----------
        decision:
            The decision about the module.
        plain:
            The `get_code` that Python would use.
        read:
            Reads the bytes of a source file.
        trusted:
            Whether the loader compiles exactly the source that `read` returns. Others are compared with it.
        """
        name, filename = decision.name, decision.origin
        if not self.covers(name):  # uninstalled since the module was found
            return plain
        self.add_module(decision)
        if filename is None or not registry.wants_trampolines(filename):
            return plain
        if trusted:
            try:
                cached = registry.cached_module_code(name, filename)
            except (
                Exception
            ) as error:  # a defect of cassette_import: the module is compiled as if it were not cached (checklist S5)
                self._warn(decision._replace(reason=f"its cached code is not used: {_describe(error)}"))
            else:
                if cached is not None:
                    return lambda fullname: cached if fullname == name else plain(fullname)
        try:
            code = plain(name)
            source = read(filename)
            if code is None:
                return plain
            is_certain = trusted and not python_cache.may_be_stale(filename)
            if not is_certain and code != _compiled(source, filename):
                if trusted:
                    self._warn(decision._replace(reason=_STALE))
                return plain
        except Exception:  # the program's own error: it is raised again when importlib calls `plain`
            return plain
        try:
            code = registry.module_code(name, filename, source, with_settled_sets(code))
        except Exception as error:  # a defect of cassette_import: the module does not run yet (checklist S5)
            self._warn(decision._replace(reason=f"its module level is left alone: {_describe(error)}"))
        return lambda fullname: code if fullname == name else plain(fullname)

    def _warn(self, decision: Decision) -> None:
        """Record that a module is imported plain, and warn of it once."""
        self.decisions[decision.name] = decision
        text = f"{decision.name} is imported plain: {decision.reason}"
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn_explicit(text, CassetteWarning, decision.origin or decision.name, 1, decision.name)


class Loader(SourceFileLoader):
    """Python's own loader, except for modules that are imported while a context is active."""

    def __init__(self, fullname: str, path: str, decision: Decision | None = None) -> None:
        super().__init__(fullname, path)
        self._decision = decision or Decision(fullname, "rewritten", origin=path, loader=title_of(self))

    @property
    def get_code(self) -> _CodeGetter:  # a property: see Finder.code_getter
        return finder.code_getter(self._decision, super().get_code, self.get_data, trusted=True)

    @hidden
    def exec_module(self, module: ModuleType) -> None:
        """Execute the module. If another thread enters a context meanwhile, instrument the functions made since."""
        was_wanted = registry.wants_module_level()
        MODULE_IMPORTS.execute(self.name, self.path, partial(SourceFileLoader.exec_module, self), module)
        if not was_wanted and registry.wants_module_level():
            registry.instrument_active()


class _CodeProvidingLoader(TemporaryLoader):
    """Another tool's loader, while it loads one module in an active context: it provides the overdubbed code."""

    def __init__(self, loader: Any, spec: ModuleSpec, decision: Decision) -> None:
        super().__init__(loader, spec)
        self._decision = decision

    @property
    def exec_module(self) -> Callable[[ModuleType], None]:
        # importlib's own function, which gets the code from `self`: from this loader.
        execute = MethodType(type(self._wrapped).exec_module, self)
        return partial(MODULE_IMPORTS.execute, self._decision.name, self._decision.origin or "", execute)

    @property
    def get_code(self) -> _CodeGetter:
        loader = self._wrapped
        self._restore_loader(sys.modules.get(self._spec.name))
        return finder.code_getter(self._decision, loader.get_code, loader.get_data, trusted=False)


class _OneEventLoader(TemporaryLoader):
    """Another tool's loader, while it loads one module whose import is one event for some active context."""

    def __init__(self, loader: Any, spec: ModuleSpec, decision: Decision) -> None:
        super().__init__(loader, spec)
        self._decision = decision

    @hidden
    def exec_module(self, module: ModuleType) -> None:
        """Have the other loader execute the module."""
        self._restore_loader(module)
        execute = self._wrapped.exec_module
        MODULE_IMPORTS.execute(self._decision.name, self._decision.origin or "", execute, module)


def _executes_its_code(loader: Any) -> bool:
    """Whether a loader leaves execution to importlib, which executes the result of its `get_code`.

    pytest's hook does not, and is not wrapped: pytest looks it up as `__loader__` again (checklist P1).
    """
    standard = getattr(type(loader), "exec_module", None) is SourceFileLoader.exec_module
    return standard and hasattr(loader, "get_code") and hasattr(loader, "get_data")


def _compiled(source: bytes, filename: str) -> CodeType | None:
    with SILENCED:  # the loader has issued them when it compiled (checklist S6)
        return compile(source, filename, "exec", dont_inherit=True)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def locate(name: str) -> tuple[ModuleSpec | None, str]:
    """The spec of a module and the title of its finder. Nothing is imported, not even the module's parents.

    Only the finders behind cassette_import's are called, so nothing is changed or recorded.
    """
    parent, _, last = name.rpartition(".")
    path: _Path = None
    if parent in sys.modules:
        path = getattr(sys.modules[parent], "__path__", None)
    elif parent:
        above, _ = locate(parent)
        path = None if above is None else above.submodule_search_locations
    if parent and path is None:
        return None, ""
    try:
        return finder.search(name, path)
    except (KeyError, ImportError):  # a namespace package needs its parent in sys.modules (checklist F7)
        spec = ModuleSpec(name, None, is_package=True)
        folders = [os.path.join(entry, last) for entry in path or ()]
        spec.submodule_search_locations = list(filter(os.path.isdir, folders))
        return (spec, machinery.PathFinder.__name__) if spec.submodule_search_locations else (None, "")


_STALE: Final = "its .pyc file was compiled from another text of the same size and time; remove the .pyc file"

finder: Final = Finder()
