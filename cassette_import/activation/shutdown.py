"""The end of the interpreter: finalizers that run while it takes modules apart meet overdubbed code, and our names.

After the `atexit` functions, which run as ever, CPython takes the modules out of `sys.modules`, then resets `builtins`,
where our names are, and then empties the modules that somebody still holds, ours among them. Finalizers run all the
while. So from the first of these steps on nothing is active any more; the names are put back as soon as `builtins` has
been reset; and what CPython finds in `sys.modules` and empties are twins of our modules.

Knows what is active, and units; must not know contexts or hooks. What runs at the end of all must not look at names of
its module that may be gone.
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

_PACKAGE: Final = __name__.partition(".")[0]


def prepare() -> None:
    """Put twins of our modules into `sys.modules`; the one of this module has with it who is told when it goes."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _PACKAGE and isinstance(module, ModuleType):
            twin = ModuleType(name)
            vars(twin).update(vars(module))
            if name == __name__:
                ending = _Ending()
                vars(twin)[symbols.of_object(id(ending))] = ending
            sys.modules[name] = twin


class _Ending:
    """Dies when the modules are taken out of `sys.modules`."""

    @hidden
    def __del__(self) -> None:
        for activation in IN_USE.values():
            activation.variant = activation.family = None
        ACTIVE.set(INACTIVE)
        NAMES[ENTER_FUNCTION] = _enter_plain
        NAMES[IS_ANY_ACTIVE] = False
        names = {name: value for name, value in NAMES.items() if symbols.is_symbol(name)}
        NAMES[symbols.of_object(id(self))] = _Again(names)


class _Again:
    """Dies when `builtins` has been reset."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    @hidden
    def __del__(self) -> None:
        NAMES.update(self._names)


@hidden
def _enter_plain(number: int, here: Callable[[], Any]) -> Callable[..., Any]:
    """What gates call in the end: nothing is specialised any more."""
    assert isinstance(here, FunctionType)
    plain = registry.index.units[number].plain
    return FunctionType(plain, here.__globals__, plain.co_name, None, here.__closure__)
