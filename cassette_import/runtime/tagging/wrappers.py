"""Wrappers: `Tagged`, a value with the metadata that tags gave it.

A wrapper lives in variables and temporaries of overdubbed code and nowhere else. Other code that gets one, an overload
for example, sees an object that behaves like the plain value: each operation on it is an event.
"""

from __future__ import annotations

import builtins
import copy
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import CARRIERS, SPLITTERS, WRAPPERS, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.live_metadata import note_metadata, token_of_module
from cassette_import.runtime.tagging.tags import RECEIVER, Metas

_TOKEN: Final = token_of_module()

TEST: Final[list[Callable[[Any], Any]]] = []
"""The function of `leaf_call`, which imports this module, that tests the truth of a wrapped value."""


class Tagged:
    """A value and its metadata. `isinstance(x, float)` holds for a tagged float."""

    __slots__ = ("__weakref__", "_tagged_metas", "_tagged_token", "_tagged_value")

    def __init__(self, value: Any, metas: Metas) -> None:
        self._tagged_token = _TOKEN
        self._tagged_value = value
        self._tagged_metas = metas
        if not FLAGS[METADATA_EXISTS]:
            note_metadata()

    __class__: Any = property(lambda self: type(self._tagged_value))  # what `isinstance` tests
    __array_priority__ = math.inf  # an array on the left leaves the operation to the wrapper

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tagged_value, name)

    def __repr__(self) -> str:
        return repr(self._tagged_value)

    def __str__(self) -> str:
        return str(self._tagged_value)

    def __format__(self, specification: str) -> str:
        return format(self._tagged_value, specification)

    def __hash__(self) -> int:
        return hash(self._tagged_value)

    @hidden
    def __bool__(self) -> bool:
        for tag in self._tagged_metas:
            if tag.tested is not None:  # the interpreter tests it without an event, as in `a < b < c`
                return bool(TEST[0](self))
        return bool(self._tagged_value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._tagged_value.__reduce_ex__(protocol)

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._tagged_value(*arguments, **keywords)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return Tagged(copy.deepcopy(self._tagged_value, memo), self._tagged_metas)


def plain(value: Any) -> Any:
    """The value without any wrapper."""
    return value._tagged_value if type(value) is Tagged else value


def metas_of(value: Any) -> Metas | None:
    """What a wrapper carries; None for a plain value."""
    return value._tagged_metas if type(value) is Tagged else None


def wrapped(value: Any, metas: Metas | None) -> Any:
    """The value with metadata, if there is any."""
    return Tagged(value, metas) if metas else value


def bound(method: Any, receiver: Any) -> Any:
    """A bound method that gets its receiver wrapped when it is called."""
    return Tagged(method, {RECEIVER: receiver._tagged_metas})


def split_wrapped(method: Tagged) -> tuple[Any, ...]:
    """The function of a wrapped callable, and its receiver, wrapped if it was."""
    function, *leading = split(method._tagged_value)
    metas = method._tagged_metas.get(RECEIVER)
    if metas is not None and leading:
        leading[0] = Tagged(leading[0], metas)
    return (function, *leading)


SPLITTERS[id(Tagged)] = split_wrapped
CARRIERS.add(id(Tagged))
WRAPPERS[id(Tagged)] = plain


# ---- operators: outside of overdubbed code, an operation on a wrapper is an event


COMPUTED_BY: Final[dict[type, Callable[..., Any]]] = {}
"""What calls a function whose argument has this type: functions in C cannot compute with values of lanes."""


@hidden
def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function from code that is not overdubbed; the call is an event if an argument is wrapped."""
    if Tagged not in map(type, arguments):
        if COMPUTED_BY:
            for one in arguments:
                if type(one) in COMPUTED_BY:
                    return COMPUTED_BY[type(one)](function, *arguments)
        return function(*arguments)
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return function(*map(plain, arguments))
    return variant.runners[int(Events.OPERATORS)].event(function, *arguments)


def _operator(function: Callable[..., Any], swap: bool = False) -> Callable[..., Any]:
    """A special method that runs an operator as an event."""
    if swap:
        return hidden(lambda self, other: run(function, other, self))
    return hidden(lambda self, *others: run(function, self, *others))


def _direct(function: Callable[..., Any]) -> Callable[..., Any]:
    """A special method that calls a function with the plain value."""
    return hidden(lambda self, *arguments: function(plain(self), *map(plain, arguments)))


_BINARY: Final = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor",
)  # fmt: skip
for _name in _BINARY:
    _function = getattr(operator, _name)
    _short = _name.rstrip("_")
    setattr(Tagged, f"__{_short}__", _operator(_function))
    setattr(Tagged, f"__r{_short}__", _operator(_function, swap=True))
for _name in ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "invert", "getitem", "setitem", "delitem", "contains"):
    setattr(Tagged, f"__{_name}__", _operator(getattr(operator, _name)))
_EVENTS: dict[str, Callable[..., Any]] = {
    "abs": abs, "round": round, "divmod": divmod, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip
for _name, _function in _EVENTS.items():
    setattr(Tagged, f"__{_name}__", _operator(_function))
_REFLECTED: dict[str, Callable[..., Any]] = {"divmod": divmod}
for _name, _function in _REFLECTED.items():
    setattr(Tagged, f"__r{_name}__", _operator(_function, swap=True))
_DIRECT: dict[str, Callable[..., Any]] = {
    "len": len, "iter": iter, "next": next, "reversed": reversed,
    "int": int, "float": float, "complex": complex, "index": operator.index, "bytes": bytes, "dir": dir,
    "length_hint": operator.length_hint,
    "instancecheck": lambda kind, value: builtins.isinstance(value, kind),
    "subclasscheck": lambda kind, value: builtins.issubclass(value, kind),
}  # fmt: skip
for _name, _function in _DIRECT.items():
    setattr(Tagged, f"__{_name}__", _direct(_function))
for _function in list(vars(Tagged).values()):
    if isinstance(_function, FunctionType):
        hidden(_function)
