"""Shutdown of the interpreter: finalizers run overdubbed code while CPython destroys modules.

After the `atexit` functions, CPython removes all modules from `sys.modules`. Then it resets `builtins`, and empties the
modules to which something still refers, cassette_import's among them. Finalizers run during all these steps. Therefore:

- When modules are removed, all contexts become inactive.
- CPython finds copies of cassette_import's modules in `sys.modules`, and empties the copies.

What runs after the last step must not use globals of its module, which may be gone.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import IS_ANY_ACTIVE
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, IN_USE, INACTIVE
from cassette_import.specialization.registry import registry

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
        registry.is_over = True
        FLAGS[IS_ANY_ACTIVE] = False
