"""Shutdown of the interpreter: finalizers run overdubbed code while CPython destroys modules.

After the `atexit` functions, CPython removes all modules from `sys.modules`. Then it resets `builtins`, which holds the
names of rewritten code. Then it empties the modules to which something still refers, cassette_import's among them.
Finalizers run during all three steps. Therefore:

- When modules are removed, all contexts become inactive.
- When `builtins` has been reset, the names are put back.
- CPython finds copies of cassette_import's modules in `sys.modules`, and empties the copies.

Knows what is active, and units; must not know contexts or hooks. What runs after the last step must not use globals of
its module, which may be gone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import ENTER_FUNCTION, IS_ANY_ACTIVE
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import ACTIVE, IN_USE, INACTIVE
from cassette_import.specialization.registry import registry
from cassette_import.specialization.trampolines import Reference

_PACKAGE: Final = __name__.partition(".")[0]


def prepare() -> None:
    """Put copies of cassette_import's modules into `sys.modules`.

    The copy of this module holds an object whose finalizer runs when CPython removes the modules.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _PACKAGE and isinstance(module, ModuleType):
            copy = ModuleType(name)
            vars(copy).update(vars(module))
            if name == __name__:
                finalizer = _ModulesRemoved()
                vars(copy)[symbols.of_object(id(finalizer))] = finalizer
            sys.modules[name] = copy


class _ModulesRemoved:
    """Its finalizer runs when CPython removes the modules from `sys.modules`."""

    @hidden
    def __del__(self) -> None:
        for activation in IN_USE.values():
            activation.variant = activation.family = None
        ACTIVE.set(INACTIVE)
        NAMES[ENTER_FUNCTION] = _enter_plain
        NAMES[IS_ANY_ACTIVE] = False
        names = {name: value for name, value in NAMES.items() if symbols.is_symbol(name)}
        NAMES[symbols.of_object(id(self))] = _BuiltinsReset(names)


class _BuiltinsReset:
    """Its finalizer runs when CPython has reset `builtins`."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    @hidden
    def __del__(self) -> None:
        NAMES.update(self._names)


@hidden
def _enter_plain(reference: Reference, here: Callable[[], Any]) -> Callable[..., Any]:
    """What trampolines call during shutdown: they run the plain function, and nothing is specialised any more."""
    assert isinstance(here, FunctionType)
    plain = registry.index.unit_at(reference, here.__code__.co_filename).plain
    return FunctionType(plain, here.__globals__, plain.co_name, None, here.__closure__)
