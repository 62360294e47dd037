"""Targets in the program's own file, which a context of this file or of another module has imported under its name.

The program runs as `__main__`, so its functions are others than those that the hooks and overloads of such a context
were registered for. They are registered for the functions of `__main__` as well, once these exist. So are targets that
a user names in that file, as in ``substitute:__main__.now=fakes.noon``: a context that has some has the attribute
`awaits_main`, and the method `register_main`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from cassette_import.activation.context import Context
from cassette_import.interpreter.callables import target_of
from cassette_import.interpreter.namespaces import class_namespace, module_namespace
from cassette_import.kits.main_program import MAIN, MAIN_NAMES
from cassette_import.kits.options import derived_type
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.hook_points import HookPoint, hook_points_of

__all__ = ["main_targets"]


class _Awaited(NamedTuple):
    """A handler that is to be registered for a function of `__main__`."""

    point: HookPoint
    function: Any
    file: str
    names: tuple[str, ...]


class _MainTargets(Context, events=Events.CALLS | Events.NAMES):
    """Registers handlers for functions of `__main__` when these exist: at events that come before their first call."""

    _adopts: ClassVar[bool] = False
    inherit: ClassVar[bool] = True

    def __init__(self, awaited: list[_Awaited], awaiting: list[Any]) -> None:
        super().__init__()
        self._awaited = awaited
        self._awaiting = awaiting

    def register_found(self) -> bool:
        """Register the handlers whose functions exist; return whether all do."""
        for awaited in list(self._awaited):
            found = _found(awaited)
            if found is not None and awaited in self._awaited:  # another thread may have been quicker
                self._awaited.remove(awaited)
                # Twice: `register` would take a single Python function for the hook itself.
                awaited.point.register(found, found)(awaited.function)
        for context in self._awaiting:
            context.register_main()
        return not self._awaited and not any(context.awaits_main for context in self._awaiting)


def main_targets(contexts: Sequence[Context]) -> Context | None:
    """A context that has the handlers of these contexts registered for `__main__`; None if they have no such targets.

    It is to be called where the program is about to run (`main_program.about_to_run`).
    """
    points = {id(point): point for context in contexts for point in hook_points_of(type(context))}
    awaited = [
        _Awaited(point, handler.function, file, names)
        for point in points.values()
        for handler in point.handlers
        for target in handler.targets
        if (place := _place(target)) is not None
        for file, names in [place]
    ]
    awaiting = [context for context in contexts if getattr(context, "awaits_main", False)]
    if not awaited and not awaiting:
        return None
    made: Any = derived_type(_MainTargets)

    def resolve(context: _MainTargets, function: Any, /, *arguments: Any, **keywords: Any) -> None:
        if context.register_found():
            made.prehook.remove(resolve)

    made.prehook.register()(resolve)
    context: Context = made(awaited, awaiting)
    return context


def _place(target: Any) -> tuple[str, tuple[str, ...]] | None:
    """The file of a target, and its names there, if it is in the program that is about to run."""
    name, target_name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if name == MAIN or name not in MAIN_NAMES or not isinstance(target_name, str) or "<" in target_name:
        return None
    file = _file_of(name)
    return None if file is None else (file, tuple(target_name.split(".")))


def _file_of(module: str) -> str | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else None


def _found(awaited: _Awaited) -> Any:
    """The target in `__main__` that has the names of the awaited one; None if there is none yet."""
    if _file_of(MAIN) != awaited.file:
        return None
    found: Any = sys.modules[MAIN]
    for name in awaited.names:
        namespace = class_namespace(found) if isinstance(found, type) else module_namespace(found)
        if name not in namespace:
            return None
        found = namespace[name]
    return target_of(found)
