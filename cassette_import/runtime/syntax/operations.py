"""Operations whose operands are evaluated in another order than their function takes them, names in class bodies, and
argument-free hooks, for whichever context is active.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import AsyncGeneratorType, BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final, get_args

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import primitives, symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import FUNCTIONS
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.state import ACTIVE


def _make_argument_free(which: str, kind: Events) -> Callable[[], None]:
    """Make the function that runs the argument-free hooks of whichever context is active."""
    key = which, int(kind)

    @hidden
    def run_hooks() -> None:
        activation = ACTIVE.get()
        variant = activation.variant
        if variant is not None:
            for level, hook in variant.argument_free_hooks.get(key, ()):
                hook(activation.contexts[level], None)

    return run_hooks


@hidden
def contains(item: Any, container: Any) -> Any:
    """`item in container` with the operands in their order of evaluation."""
    return _intercept_operator(operator.contains)(container, item)


@hidden
def setitem(value: Any, container: Any, index: Any) -> None:
    """`container[index] = value` with the operands in their order of evaluation."""
    _intercept_operator(operator.setitem)(container, index, value)


@hidden
def setattr_late(value: Any, instance: Any, name: str) -> None:
    """`instance.name = value` with the operands in their order of evaluation."""
    _intercept_attribute(setattr)(instance, name, value)


@hidden
def class_name(name: str) -> Any:
    """The value of a name in the class body that runs: an event if the namespace of the class does not have it."""
    frame = _frame(1)
    namespace: Any = frame.f_locals  # what `__prepare__` gave: any mapping
    if type(namespace) is dict:
        value = namespace.get(name, _NOTHING)
        if value is not _NOTHING:
            return value
    else:
        try:
            return namespace[name]
        except KeyError:
            pass
    return _intercept_name(primitives.load_global)(frame.f_globals, name)


_intercept_operator: Final = intercept_if_active(Events.OPERATORS)
_intercept_attribute: Final = intercept_if_active(Events.ATTRIBUTES)
_intercept_name: Final = intercept_if_active(Events.NAMES)
_frame: Final = sys._getframe  # of depth 1: the first frame that is not hidden
_NOTHING: Final = object()

_KINDS: Final[dict[str, type]] = {
    "async_generator": AsyncGeneratorType,
    "function": FunctionType,
    "method": MethodType,
    "builtin": BuiltinFunctionType,
    "module": ModuleType,
    "tuple": tuple,
    "list": list,
    "int": int,
    "float": float,
    "str": str,
}

BINDINGS: Final[dict[str, Any]] = {
    **{symbols.pick_anywhere(kind): intercept_if_active(kind) for kind in Events},
    **{
        symbols.argument_free_hooks_anywhere(when, kind): _make_argument_free(when, kind)
        for when in get_args(symbols.When)
        for kind in Events
    },
    symbols.CONTAINS: contains,
    symbols.SET_ITEM: setitem,
    symbols.SET_ATTRIBUTE: setattr_late,
    symbols.CLASS_NAME: class_name,
    symbols.SLICE: slice,
    symbols.BASE_EXCEPTION: BaseException,
    symbols.TYPE: type,
    symbols.NAME_OF: operator.attrgetter("__name__"),
    **{symbols.kind(name): kind for name, kind in _KINDS.items()},
    symbols.SPLIT: split,
    **{symbols.primitive(name): function for name, function in FUNCTIONS.items()},
}
"""The values of the symbols of this module, see `runtime.bindings`."""
