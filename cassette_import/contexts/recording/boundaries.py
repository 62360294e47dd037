"""The boundary: finds the functions whose calls are external, at once or when their module is imported.

Knows names, modules and imports; must not know what is done with the functions.

A name is a dotted path, `module.function`, `module.Class` or `module.Class.method`. It names the function object, so
calls under other names are found too. A class names its constructor: its instances are external objects, and every
use of them is an external call.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, TypeVar

from cassette_import.interpreter.callables import underlying

__all__ = ["Found", "boundary", "watch"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


_marked: Final[list[tuple[str, Any]]] = []
_watchers: Final[weakref.WeakSet[_Watcher]] = weakref.WeakSet()


class Found:
    """A function of the boundary that exists, and the name under which its calls are recorded."""

    __slots__ = ("name", "target")

    def __init__(self, name: str, target: Any) -> None:
        self.name = name
        self.target = target


def boundary(function: _Function) -> _Function:
    """Decorator: calls of this function are external. `Record` records them, `Replay` answers them.

    Parameters
    ----------
    function:
        Any function, coroutine function, generator function or class.

    Returns
    -------
    The function itself.

    >>> @boundary
    ... def exchange_rate(currency):
    ...     raise ConnectionError("no network here")
    """
    _marked.append((f"{function.__module__}.{function.__qualname__}", function))
    for watcher in list(_watchers):
        watcher.look()
    return function


class _Watcher:
    """Reports functions of the boundary: existing ones at once, the others when their module has been imported."""

    def __init__(self, names: Iterable[str], report: Callable[[Sequence[Found]], None]) -> None:
        self._waiting = dict.fromkeys(names)
        self._marks = 0
        self._known: set[int] = set()
        self._report = report
        _watchers.add(self)
        if not any(type(finder) is _Imports for finder in sys.meta_path):
            sys.meta_path.insert(0, _Imports())
        self.look()

    def lacks(self, name: str) -> bool:
        """Whether no function of this name has been found so far."""
        return name in self._waiting

    def look(self, imported: str | None = None) -> None:
        """Look for functions that exist by now; only in the module `imported`, if one is given."""
        found = [Found(name, function) for name, function in _marked[self._marks :]]
        self._marks = len(_marked)
        for name in list(self._waiting):
            if imported is None or name.startswith(imported + "."):
                target = _located(name)
                if target is not None:
                    found.append(Found(name, target))
                    del self._waiting[name]
        new = []
        for one in found:
            key = id(underlying(one.target))
            if key not in self._known:
                self._known.add(key)
                new.append(one)
        if new:
            self._report(new)


def watch(names: Iterable[str], report: Callable[[Sequence[Found]], None]) -> _Watcher:
    """Call `report` with the functions of these names, and those marked by `boundary`, as they come to exist.

    Returns
    -------
    The watcher, which works as long as it is kept alive.
    """
    return _Watcher(names, report)


def _located(name: str) -> Any:
    """The function of a dotted name, if its module has been imported; this imports nothing."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        if isinstance(found, ModuleType):
            for part in parts[count:]:
                # Not `getattr`: a lazy module would import something, and a class might run code of the program.
                namespace = vars(found)
                if part not in namespace and isinstance(found, type):
                    namespace = next((vars(base) for base in found.__mro__ if part in vars(base)), {})
                found = namespace.get(part)
                if isinstance(found, classmethod | staticmethod):
                    found = found.__func__
                if found is None:
                    return None
            return found if callable(found) else None
    return None


class _Imports(MetaPathFinder):
    """A finder that finds nothing, and tells when a module that others have found is loaded."""

    def __init__(self) -> None:
        self._searching: set[str] = set()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname in self._searching or not _is_awaited(fullname):
            return None
        self._searching.add(fullname)
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else _asked(finder, fullname, path, target)
                if spec is not None:
                    if spec.loader is not None:
                        _announce_after_loading(spec)
                    return spec
        finally:
            self._searching.discard(fullname)
        return None


def _asked(finder: Any, fullname: str, path: Any, target: Any) -> ModuleSpec | None:
    find: Any = getattr(finder, "find_spec", None)
    return None if find is None else find(fullname, path, target)


def _is_awaited(module: str) -> bool:
    return any(name.startswith(module + ".") for watcher in list(_watchers) for name in watcher._waiting)


class _Announcing(Loader):
    """Another loader, which is put back in its place before it loads; then the watchers are told."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        spec.loader = self._loader
        if vars(module).get("__loader__") is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        for watcher in list(_watchers):
            watcher.look(spec.name)


def _announce_after_loading(spec: ModuleSpec) -> None:
    if hasattr(spec.loader, "exec_module") and hasattr(spec.loader, "create_module"):
        spec.loader = _Announcing(spec.loader)
