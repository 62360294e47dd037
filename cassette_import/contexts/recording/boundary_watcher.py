"""The functions of the boundary, found at once or when their module is imported; and the decorator that marks more.

A name is a dotted path, `module.function`, `module.Class` or `module.Class.method`. It names the function object, so
calls under other names are found too. A class names its constructor: its instances are external objects, and every use
of them is an external call.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, Final, TypeVar

from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.callables import underlying

__all__ = ["BoundaryFunction", "BoundaryWatcher", "boundary"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_marked: Final[list[tuple[str, Any]]] = []
"""The functions that `boundary` has marked, with their names."""
_watched_modules: Final[set[str]] = set()
"""The modules whose import the watchers are notified of."""
_watchers: Final[weakref.WeakSet[BoundaryWatcher]] = weakref.WeakSet()


class BoundaryFunction:
    """A function of the boundary that exists, and the name under which its calls are recorded."""

    __slots__ = ("function", "name")

    def __init__(self, name: str, function: Any) -> None:
        self.name = name
        self.function = function


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
        watcher.report_new()
    return function


class BoundaryWatcher:
    """Reports functions of the boundary: existing ones at once, the others when their module has been imported.

    It works as long as it is kept alive.

    Parameters
    ----------
    names:
        The dotted names of the functions. Those that `boundary` marks are reported, too.
    report:
        Called with the functions that have been found. Each one is reported once.
    """

    def __init__(self, names: Iterable[str], report: Callable[[Sequence[BoundaryFunction]], None]) -> None:
        self._missing = dict.fromkeys(names)
        self._marked_reported = 0
        self._reported: set[int] = set()
        self._report = report
        _watchers.add(self)
        for name in self._missing:
            _watch_modules_of(name)
        POST_IMPORT.come_first()
        self.report_new()

    def lacks(self, name: str) -> bool:
        """Whether no function of this name has been found so far."""
        return name in self._missing

    def has_missing_in(self, module: str) -> bool:
        """Whether a function of this module, or of one below it, has not been found so far."""
        return any(name.startswith(module + ".") for name in self._missing)

    def report_new(self, module: str | None = None) -> None:
        """Report functions that exist by now: those in one module, or by default all."""
        found = [BoundaryFunction(name, function) for name, function in _marked[self._marked_reported :]]
        self._marked_reported = len(_marked)
        for name in list(self._missing):
            if module is None or name.startswith(module + "."):
                function = _existing_function(name)
                if function is not None:
                    found.append(BoundaryFunction(name, function))
                    del self._missing[name]
        new = []
        for one in found:
            key = id(underlying(one.function))
            if key not in self._reported:
                self._reported.add(key)
                new.append(one)
        if new:
            self._report(new)


def _watch_modules_of(name: str) -> None:
    """Watch the imports of all modules that may contain the function of a dotted name."""
    module = name.rpartition(".")[0]
    while module:
        if module not in _watched_modules:
            _watched_modules.add(module)
            POST_IMPORT.when_imported(module, _report_functions_of)
        module = module.rpartition(".")[0]


def _report_functions_of(name: str, module: ModuleType) -> None:
    """Let the watchers report the functions of a module that has just been executed."""
    for watcher in list(_watchers):
        watcher.report_new(name)
    if not any(watcher.has_missing_in(name) for watcher in list(_watchers)):
        _watched_modules.discard(name)
        POST_IMPORT.forget(name, _report_functions_of)


def _existing_function(name: str) -> Any:
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
