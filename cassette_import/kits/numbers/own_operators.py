"""Which calls on numbers run a special method of the program: that of a subclass of `float`, `int` or `Fraction`.

The rules for numbers do not describe such a method. It runs as a function of the program.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import bases_of, class_namespace
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["NUMBERS", "call_without_overload", "own_methods", "runs_own_method", "without_modulus"]

# ---- calls that an overload makes as if there were no overload: the program's special methods run in the context


@hidden
def call_without_overload(f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Make a call as if it had no overload: special methods that the program defines run in the context."""
    here = ACTIVE.get()
    left = here.suspended
    if left is None or left.variant is None:
        return f(*map(plain, arguments), **{name: plain(value) for name, value in keywords.items()})
    function, *leading = split(f)
    token = ACTIVE.set(left)
    try:
        call = left.variant.runners[int(Events.CALLS)].call
        return call(left, len(here.contexts), f, function, tuple(leading), tuple(arguments), keywords)
    finally:
        ACTIVE.reset(token)


def without_modulus(overload: Callable[..., Any]) -> Callable[..., Any]:
    """The overload of `pow` for that of two numbers: a modulus of None is none."""

    @hidden
    def power(ctx: Any, f: Any, base: Any, exp: Any, mod: Any = None) -> Any:
        if mod is None:
            return overload(ctx, f, base, exp)
        return call_without_overload(f, (base, exp, mod), {})

    return power


# ---- which calls on numbers run a special method of the program: that of a subclass of `float`, `int` or `Fraction`

NUMBERS: Final = frozenset(map(id, (int, float, complex, bool, Fraction, Decimal)))
"""The types of numbers without a method of the program, by identity: a metaclass may have no hash."""
_BINARY: Final = ["add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"]
_BITWISE: Final = {"and_": "and", "or_": "or", "xor": "xor", "lshift": "lshift", "rshift": "rshift"}
_COMPARISONS: Final = ["lt", "le", "eq", "ne", "gt", "ge"]
_UNARY: Final = ["neg", "pos", "abs", "invert", "index"]

_MOST_TYPES: Final = 1_000
_WITHOUT_OWN_METHODS: Final = frozenset({"fractions", "numbers", "decimal"})
_PACKAGE: Final = f"{__name__.partition('.')[0]}."

_METHODS: Final[dict[Any, tuple[str, ...]]] = {
    **{getattr(operator, name): (f"__{name}__", f"__r{name}__") for name in _BINARY},
    **{getattr(operator, f"i{name}"): (f"__{name}__", f"__r{name}__", f"__i{name}__") for name in _BINARY},
    **{getattr(operator, name): (f"__{method}__", f"__r{method}__") for name, method in _BITWISE.items()},
    **{
        getattr(operator, f"i{method}"): (f"__{method}__", f"__r{method}__", f"__i{method}__")
        for method in _BITWISE.values()
    },
    **{getattr(operator, name): tuple(f"__{other}__" for other in _COMPARISONS) for name in _COMPARISONS},
    **{getattr(operator, name): (f"__{name}__",) for name in _UNARY},
    operator.truth: ("__bool__", "__len__"),
    operator.not_: ("__bool__", "__len__"),
    operator.contains: ("__contains__", "__iter__"),
    operator.getitem: ("__getitem__",),
    operator.setitem: ("__setitem__",),
    operator.delitem: ("__delitem__",),
    len: ("__len__",),
    iter: ("__iter__",),
    reversed: ("__reversed__",),
    abs: ("__abs__",),
    round: ("__round__",),
    pow: ("__pow__", "__rpow__"),
    divmod: ("__divmod__", "__rdivmod__"),
    math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"),
    math.trunc: ("__trunc__",),
    sum: ("__add__", "__radd__"),
    math.prod: ("__mul__", "__rmul__"),
    min: ("__lt__", "__gt__"),
    max: ("__lt__", "__gt__"),
}
"""The special methods that functions call. All others convert their arguments to a number of the interpreter's own."""
_CONVERSIONS: Final = "__float__", "__complex__", "__index__", "__int__"


def runs_own_method(function: Any, operands: Iterable[Any]) -> bool:
    """Whether a function calls a special method that the program has written for an operand.

    For `class Money(float)` with a method `__add__`, `operator.add` does, and `operator.mul` does not.
    """
    for operand in operands:
        kind = type(plain(operand))
        if id(kind) not in NUMBERS:
            own = _own_methods(kind)
            if own and not own.isdisjoint(_METHODS.get(function, _CONVERSIONS)):
                return True
    return False


def own_methods(function: Any, operands: Iterable[Any]) -> list[FunctionType]:
    """The special methods that the program has written for the operands, of those that a function may call."""
    found = []
    for kind in {type(plain(operand)) for operand in operands}:
        if id(kind) not in NUMBERS:
            for name in _own_methods(kind).intersection(_METHODS.get(function, _CONVERSIONS)):
                method = next(space[name] for space in map(class_namespace, bases_of(kind) or ()) if name in space)
                found.append(method)
    return found


_known: Final[dict[int, tuple[type, frozenset[str]]]] = {}
"""By the identity of a type, because its metaclass may have no hash: the type, and its special methods."""


def _own_methods(kind: type) -> frozenset[str]:
    known = _known.get(id(kind))
    if known is None or known[0] is not kind:
        if len(_known) > _MOST_TYPES:
            _known.clear()
        known = _known[id(kind)] = kind, _methods_in_python(kind)
    return known[1]


def _methods_in_python(kind: type) -> frozenset[str]:
    """The special methods in Python of a class and its bases, but those of the standard library's numbers."""
    found: dict[str, Any] = {}
    for base in reversed(bases_of(kind) or ()):
        if base.__module__ in _WITHOUT_OWN_METHODS or base.__module__.startswith(_PACKAGE):
            continue
        found.update((name, value) for name, value in class_namespace(base).items() if name[:2] == "__")
    return frozenset(name for name, value in found.items() if type(value) is FunctionType)
