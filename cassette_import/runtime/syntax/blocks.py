"""Statements and calls that need help of their own to be events: `with` blocks, `from … import …`, displays of
constants, and the start of a debugger.
"""

from __future__ import annotations

import _thread
import functools
from collections.abc import Callable
from functools import partial
from operator import is_
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import CallableProxy, lookup
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.rewriting import primitives, symbols
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.dispatch.frame_readers import arguments_of_super
from cassette_import.runtime.state import EXEMPT_MANAGERS

_intercept: Final = intercept_if_active(Events.CONTROL)


def _block_class(enter_name: str, enter: Callable[..., Any], exit_name: str, leave: Callable[..., Any]) -> type:
    """The class of proxies of context managers. Entering and leaving a proxy are events of the manager."""

    @hidden
    def init(self: Any, manager: Any) -> None:
        self._manager = manager

    @hidden
    def enter_manager(self: Any) -> Any:
        return _intercept(enter)(self._manager)

    @hidden
    def leave_manager(self: Any, *exception: Any) -> Any:
        return _intercept(leave)(self._manager, *exception)

    namespace = {"__slots__": ("_manager",), "__init__": init, enter_name: enter_manager, exit_name: leave_manager}
    return type("_Block", (), namespace)


_Block: Final = _block_class("__enter__", primitives.enter_context, "__exit__", primitives.exit_context)
_AsyncBlock: Final = _block_class(
    "__aenter__", primitives.enter_async_context, "__aexit__", primitives.exit_async_context
)


@hidden
def managed(manager: Any) -> Any:
    """What `with` enters and leaves: a manager whose entry and exit are events.

    Contexts of cassette_import are entered without an event. What is no manager gets Python's own error.
    """
    kind = type(manager)
    if issubclass(kind, EXEMPT_MANAGERS.types) or lookup(kind, "__enter__") is None or lookup(kind, "__exit__") is None:
        return manager
    return _Block(manager)


@hidden
def managed_async(manager: Any) -> Any:
    """The same for `async with`."""
    kind = type(manager)
    if lookup(kind, "__aenter__") is None or lookup(kind, "__aexit__") is None:
        return manager
    return _AsyncBlock(manager)


@functools.lru_cache(maxsize=4096)
def _importer(name: str) -> Callable[[], Any]:
    """A function that imports a name from a module as the interpreter does, with its errors."""
    namespace: dict[str, Any] = {}
    names = {"__import__": _current_module}
    exec(f"def take():\n from m import {name} as value\n return value\n", {"__builtins__": names}, namespace)
    take: Callable[[], Any] = namespace["take"]
    take.__code__ = hide(take.__code__)
    return take


_modules: dict[int, Any] = {}
"""What each thread is about to import a name from."""


@hidden
def _current_module(*arguments: Any) -> Any:
    return _modules.pop(_thread.get_ident())


@hidden
def import_from(module: Any, name: str) -> Any:
    """`from module import name`."""
    take = _importer(name)
    _modules[_thread.get_ident()] = module
    return take()


@hidden
def pairs(mapping: dict[Any, Any]) -> list[Any]:
    """The keys and values of a dictionary, in turn, in one list."""
    return [part for pair in mapping.items() for part in pair]


_intercept_display: Final = intercept_if_active(Events.DISPLAYS)


@hidden
def constant(value: tuple[Any, ...]) -> Any:
    """The display of a tuple of constants: the same object each time it is evaluated."""
    made = _intercept_display(primitives.build_tuple)(*value)
    same = type(made) is tuple and len(made) == len(value) and all(map(is_, made, value))
    return value if same else made


_intercept_call: Final = intercept_if_active(Events.CALLS)
_DEBUGGERS: Final = frozenset({"pdb", "ipdb", "pudb"})


@hidden
def _identity(value: Any) -> Any:
    return value


@hidden
def debugger(callee: Any) -> Any:
    """The callee of a call without arguments that may start a debugger.

    A debugger stops at what the program runs next. So the whole event runs first, and the debugger is started after its
    hooks. The result of the call is known beforehand: it is None.
    """
    starts = callee is breakpoint or (
        type(callee) is FunctionType and callee.__name__ == "set_trace" and callee.__module__ in _DEBUGGERS
    )
    if not starts:
        return _intercept_call(callee)
    called: list[bool] = []
    result = _intercept_call(CallableProxy(callee, partial(called.append, True)))()
    return callee if called else partial(_identity, result)


BINDINGS: Final[dict[str, Any]] = {
    symbols.DEBUGGER: debugger,
    symbols.MANAGED: managed,
    symbols.MANAGED_ASYNC: managed_async,
    symbols.IMPORT_FROM: import_from,
    symbols.PAIRS: pairs,
    symbols.CONSTANT: constant,
    symbols.GLOBALS: globals,
    symbols.OF_SUPER: arguments_of_super,
}
"""The values of the symbols of this module, see `runtime.bindings`."""
