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
from types import ModuleType
from typing import Any, Final, TypeVar

from cassette_import.importing.post_import import FINDER
from cassette_import.interpreter.callables import underlying

__all__ = ["Found", "boundary", "watch"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


_marked: Final[list[tuple[str, Any]]] = []
_awaited: Final[set[str]] = set()
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
        for name in self._waiting:
            _await_modules(name)
        FINDER.come_first()
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


def _await_modules(name: str) -> None:
    """Await the modules that may have the function of a dotted name."""
    module = name.rpartition(".")[0]
    while module:
        if module not in _awaited:
            _awaited.add(module)
            FINDER.when_imported(module, _look_in)
        module = module.rpartition(".")[0]


def _look_in(name: str, module: ModuleType) -> None:
    """Have the watchers look for functions of a module that has just been executed."""
    for watcher in list(_watchers):
        watcher.look(name)
    if not any(function.startswith(name + ".") for watcher in list(_watchers) for function in watcher._waiting):
        _awaited.discard(name)
        FINDER.forget(name, _look_in)


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
