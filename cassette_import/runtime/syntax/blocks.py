"""Blocks, imports and breakpoints as events: what `with` enters and leaves, what `from … import …` takes, and where a
debugger stops.

Knows the interpreter's protocols; must not know hooks.
"""

from __future__ import annotations

import _thread
import functools
from collections.abc import Callable
from functools import partial
from operator import is_
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import StandIn, lookup
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.rewriting import primitives
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.active_interception import intercept_if_active

_pick: Final = intercept_if_active(Events.CONTROL)


class ExemptTypes:
    """Types whose instances a program may handle, although what it does with them is no event."""

    def __init__(self) -> None:
        self.types: tuple[type, ...] = ()

    def add(self, kind: type) -> None:
        """Exempt a class and its subclasses."""
        self.types += (kind,)


EXEMPT_MANAGERS: Final = ExemptTypes()
"""Context managers that a `with` statement enters and leaves without an event: contexts are such."""


class _Managed:
    """What a `with` statement enters and leaves."""

    __slots__ = ("_manager",)

    @hidden
    def __init__(self, manager: Any) -> None:
        self._manager = manager

    @hidden
    def __enter__(self) -> Any:
        return _pick(primitives.enter_context)(self._manager)

    @hidden
    def __exit__(self, *exception: Any) -> Any:
        return _pick(primitives.exit_context)(self._manager, *exception)


class _AsyncManaged:
    """What an `async with` statement enters and leaves."""

    __slots__ = ("_manager",)

    @hidden
    def __init__(self, manager: Any) -> None:
        self._manager = manager

    @hidden
    def __aenter__(self) -> Any:
        return _pick(primitives.enter_async_context)(self._manager)

    @hidden
    def __aexit__(self, *exception: Any) -> Any:
        return _pick(primitives.exit_async_context)(self._manager, *exception)


@hidden
def managed(manager: Any) -> Any:
    """A manager whose ends are events. Contexts of ours are no events; what is no manager gets Python's own error."""
    kind = type(manager)
    if issubclass(kind, EXEMPT_MANAGERS.types) or lookup(kind, "__enter__") is None or lookup(kind, "__exit__") is None:
        return manager
    return _Managed(manager)


@hidden
def managed_async(manager: Any) -> Any:
    """The same for `async with`."""
    kind = type(manager)
    if lookup(kind, "__aenter__") is None or lookup(kind, "__aexit__") is None:
        return manager
    return _AsyncManaged(manager)


@functools.lru_cache(maxsize=4096)
def _taker(name: str) -> Callable[[], Any]:
    """A function that takes a name of a module as the interpreter does, with its errors."""
    namespace: dict[str, Any] = {}
    names = {"__import__": _handed_over}
    exec(f"def take():\n from m import {name} as value\n return value\n", {"__builtins__": names}, namespace)
    take: Callable[[], Any] = namespace["take"]
    take.__code__ = hide(take.__code__)
    return take


_modules: dict[int, Any] = {}  # by thread


@hidden
def _handed_over(*arguments: Any) -> Any:
    return _modules.pop(_thread.get_ident())


@hidden
def import_from(module: Any, name: str) -> Any:
    """`from module import name`."""
    take = _taker(name)
    _modules[_thread.get_ident()] = module
    return take()


@hidden
def pairs(mapping: dict[Any, Any]) -> list[Any]:
    """Keys and values of a dict in one list."""
    return [part for pair in mapping.items() for part in pair]


_pick_display: Final = intercept_if_active(Events.DISPLAYS)


@hidden
def constant(value: tuple[Any, ...]) -> Any:
    """The display of a tuple of constants, which is one object however often it is evaluated."""
    made = _pick_display(primitives.build_tuple)(*value)
    same = type(made) is tuple and len(made) == len(value) and all(map(is_, made, value))
    return value if same else made


_pick_call: Final = intercept_if_active(Events.CALLS)
_DEBUGGERS: Final = frozenset({"pdb", "ipdb", "pudb"})


@hidden
def _identity(value: Any) -> Any:
    return value


@hidden
def debugger(callee: Any) -> Any:
    """What a call without arguments calls that may start a debugger, which stops at what comes next in the program.

    So all hooks of the event run before it. Its result is known: None.
    """
    starts = callee is breakpoint or (
        type(callee) is FunctionType and callee.__name__ == "set_trace" and callee.__module__ in _DEBUGGERS
    )
    if not starts:
        return _pick_call(callee)
    called: list[bool] = []
    result = _pick_call(StandIn(callee, partial(called.append, True)))()
    return callee if called else partial(_identity, result)


BINDINGS: Final[dict[str, Any]] = {
    "@debugger": debugger,
    "@managed": managed,
    "@managed.async": managed_async,
    "@import.from": import_from,
    "@pairs": pairs,
    "@constant": constant,
    "@globals": globals,
}
"""The names that rewritten code finds in `builtins`, see `runtime.bindings`."""
