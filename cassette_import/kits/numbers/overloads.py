"""What overloads of functions of numbers share: calls without the overload, folds, metadata of several contexts."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any, Final, NamedTuple

from cassette_import.activation.verbs import recurse
from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import bases_of, class_namespace
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.iterator_metadata import items_outside
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

__all__ = [
    "NUMBERS", "FoldCall", "call_without_overload", "fold_call", "own_methods", "runs_own_method", "show_additions",
    "split_metadata", "with_metadata", "without_modulus",
]  # fmt: skip

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
#
# The rules for numbers do not describe such a method. It runs as a function of the program.

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


# ---- one context's metadata of a number, beside that of other contexts: how contexts of numbers nest
#
# An overload takes its own metadata off the arguments, calls the function with what is left, so that contexts further
# out compute theirs, and puts its own metadata on the result.


def split_metadata(ctx: Any, arguments: Sequence[Any]) -> tuple[Any, list[Any], list[tuple[int, Any]]]:
    """The context's tag, the arguments without its metadata, and the metadata with the numbers of the arguments."""
    own_tag: Any = tag_of(ctx)
    values, found = [], []
    for number, argument in enumerate(arguments):
        if type(argument) is Tagged and own_tag in argument._tagged_metas:
            found.append((number, argument._tagged_metas[own_tag]))
            left = {tag: metadata for tag, metadata in argument._tagged_metas.items() if tag is not own_tag}
            argument = Tagged(argument._tagged_value, left) if left else argument._tagged_value
        values.append(argument)
    return own_tag, values, found


def with_metadata(value: Any, own_tag: Any, metadata: Any) -> Tagged:
    """A value with the metadata of `own_tag`, in addition to the metadata of other tags."""
    return Tagged(plain(value), {**(metas_of(value) or {}), own_tag: metadata})


# ---- `itertools.accumulate` without a function adds in C, where no call is an event: here each addition is one


@hidden
def _with_shown_additions(ctx: Any, f: Any, iterable: Any, func: Any = None, **initial: Any) -> Any:
    @hidden
    def added(total: Any, item: Any) -> Any:
        result = total + item
        ctx.posthook(result, operator.add, total, item)
        return result

    return recurse(ctx, f, iterable, added if func is None else func, **initial)


def show_additions(context_type: Any) -> None:
    """Call the method `posthook` of a context type with each addition of `accumulate`, when it is done."""
    context_type.overdub.register(itertools.accumulate)(_with_shown_additions)


# ---- calls of functions that fold numbers, such as `sum`, `math.prod` and `min`: which numbers they fold, in order


class FoldCall(NamedTuple):
    """A call of a fold, whose iterable has been read."""

    function: Any
    start: list[Any]
    """What the fold begins with: the argument `start`, if there is one."""
    items: list[Any]
    """What follows: the items of the iterable, or the arguments of ``min(a, b)``."""
    arguments: tuple[Any, ...]
    """The positional arguments of a call that does the same."""

    @property
    def operands(self) -> list[Any]:
        """All that is folded, in order."""
        return [*self.start, *self.items]

    @hidden
    def value_of(self, operands: Iterable[Any]) -> Any:
        """The result of the same call for other operands."""
        numbers = list(operands)
        if self.arguments[0] is not self.items:
            return self.function(*numbers)
        count, positional = len(self.start), len(self.arguments) - 1
        start = {"start": numbers[count - 1]} if count > positional else {}
        return self.function(numbers[count:], *numbers[:positional], **start)


@hidden
def fold_call(f: Any, first: Any, more: tuple[Any, ...], keywords: Mapping[str, Any]) -> FoldCall:
    """The call of a fold with these arguments. Its iterable is read as the program would have read it."""
    start = [keywords["start"]] if "start" in keywords else []
    if f in (min, max) and more:
        return FoldCall(f, start, [first, *more], (first, *more))
    items = items_outside(first)
    return FoldCall(f, [*more, *start], items, (items, *more))
