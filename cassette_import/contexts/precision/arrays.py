"""Shadows of NumPy's arrays: an exact number for each element, through arithmetic, reductions and movements.

The exact result comes from the same function for arrays of mpmath's numbers, or by element from the rules of numbers.
An array with a shadow must not be changed in place: what has no rule here is an error. Imported only if the program
has imported NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata, tag
from cassette_import.contexts.precision.context import (
    ALL_BITS,
    DECISIONS,
    OF_NUMBERS,
    Precision,
    Shadow,
    bits_between,
    exact,
    rule_of,
    with_sign_of_zero,
)
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.lost_numbers import REAL_NUMBERS, UNKNOWN
from cassette_import.kits.numbers.overloads import call_without_overload
from cassette_import.kits.numbers.row import Row
from cassette_import.kits.numbers.table import BY_UFUNC, COMPARISONS, IN_PLACE, OPERATORS, SIZES
from cassette_import.kits.tagged_containers import cursor_of_tagged
from cassette_import.kits.tagging import CURSORS, items_outside, plain

__all__ = ["ArrayPrecision", "ArrayShadow", "shadowed"]


class ArrayShadow(NamedTuple):
    """The exact values of an array's elements, and the call sites that lost bits on the way to them."""

    values: Any
    sites: frozenset[CallSite]


_FIXED: Final = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})
"""The attributes of an array that do not depend on its elements."""

_ROWS: Final[dict[Any, Row]] = {
    **{getattr(np, name): row for name, row in BY_UFUNC.items() if row.value is not None and hasattr(np, name)},
    **{function: row for row in OPERATORS for function in row.functions if function not in IN_PLACE},
}
_RULES: Final[dict[Any, Callable[..., Any]]] = {function: rule_of(row) for function, row in _ROWS.items()}
"""The rule of each function by element: one for the exact values of an element of each argument."""

_DECISIONS: Final[dict[Any, Callable[..., Any]]] = {
    function: DECISIONS[row.functions[0]]
    for row in COMPARISONS
    for function in (*row.functions, *(getattr(np, name) for name in row.ufuncs))
}
"""The rules of comparisons by element."""

_BY_NUMPY: Final = (
    *(getattr(np, name) for name in ("sum", "mean", "prod", "cumsum", "dot", "matmul", "vdot", "inner", "outer")),
    *(getattr(np.ndarray, name) for name in ("sum", "mean", "prod", "cumsum", "dot", "max", "min")),
    *(np.max, np.min, np.diff, operator.matmul),
)
"""Functions that NumPy computes for arrays of any numbers with their operators."""

_MOVING: Final = (
    *(getattr(np, name) for name in ("transpose", "reshape", "ravel", "copy", "flip", "roll", "squeeze")),
    *(getattr(np.ndarray, name) for name in ("transpose", "reshape", "ravel", "flatten", "copy", "item", "squeeze")),
    operator.getitem,
)
"""Functions that arrange the elements of their first argument anew."""

_MAKING: Final = (np.array, np.asarray, np.concatenate, np.stack, np.vstack, np.hstack)
"""Functions of an array or of a list of numbers or arrays."""

_CHANGING: Final = (
    operator.setitem,
    operator.delitem,
    setattr,
    delattr,
    np.ndarray.__setitem__,
    np.ndarray.__setattr__,
)
"""Functions that change their first argument, and are no leaves without a rule: they move numbers."""

_OUTSIDE: Final = "an element is outside of its domain"
_KEYWORDS: Final = frozenset({"axis", "keepdims"})


def shadowed(ctx: Any, array: Any) -> Any:
    """A copy of an array, tagged with its elements."""
    return tag(array.copy(), ctx, ArrayShadow(_elements(ctx, array), frozenset()))


def _elements(ctx: Any, value: Any) -> Any:
    return np.frompyfunc(lambda element: exact(ctx.mp, element), 1, 1)(value.astype(object))


def _exact_values(ctx: Any, argument: Any) -> Any:
    """The exact values of an operand: an array of objects, or a number of mpmath."""
    known, bare = metadata(argument, ctx), plain(argument)
    if isinstance(known, ArrayShadow):
        return known.values
    return _elements(ctx, bare) if isinstance(bare, np.ndarray) else ctx.shadow_of(argument).value


def _sites(ctx: Any, argument: Any) -> frozenset[CallSite]:
    known = metadata(argument, ctx)
    return known.sites if isinstance(known, (ArrayShadow, Shadow)) else frozenset()


def _right(value: Any, found: Any) -> Any:
    """An operand whose elements are the exact values, rounded once."""
    if isinstance(value, np.ndarray):
        return found.astype(value.dtype)
    return value if isinstance(value, int) else float(found)


def _is_operand(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype == np.float64 or value.dtype.kind in "iu"
    return isinstance(value, REAL_NUMBERS)


def _is_followed(ctx: Any, arguments: Sequence[Any]) -> bool:
    """Whether a call is one with a shadow and an array, or is one of a function of NumPy with a number's shadow."""
    return any(isinstance(metadata(one, ctx), (ArrayShadow, Shadow)) for one in arguments) and all(
        _is_operand(plain(one)) for one in arguments
    )


def _bits(one: Any, other: Any) -> float:
    """The most bits by which the elements of two results differ."""
    pairs = zip(np.ravel(one).tolist(), np.ravel(other).tolist(), strict=True)
    return max((bits_between(float(value), float(found)) for value, found in pairs), default=0.0)


def _with_shadow(ctx: Any, value: Any, found: Any, arguments: Sequence[Any], compute: Callable[..., Any]) -> Any:
    """A result with its shadow, and with the call sites that lost bits, this one among them."""
    values = [plain(one) for one in arguments]
    right = [_right(one, _exact_values(ctx, argument)) for one, argument in zip(values, arguments, strict=True)]
    sites: frozenset[CallSite] = frozenset()
    for number, argument in enumerate(arguments):
        own = _sites(ctx, argument)
        if own and _bits(compute(*values[:number], right[number], *values[number + 1 :]), value) > 1:
            sites |= own
    sites |= ctx.note_loss(min(_bits(compute(*right), found), ALL_BITS))
    return _tagged(ctx, value, found, sites)


def _tagged(ctx: Any, value: Any, found: Any, sites: frozenset[CallSite]) -> Any:
    if isinstance(value, np.ndarray):
        return tag(value, ctx, ArrayShadow(np.asarray(found, dtype=object).reshape(value.shape), sites))
    return tag(value, ctx, Shadow(exact(ctx.mp, found), sites))


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """By element, with the rule of a function of numbers."""
    values = [plain(one) for one in arguments]
    if not any(isinstance(value, np.ndarray) for value in values) and not isinstance(f, np.ufunc):
        return OF_NUMBERS[f](ctx, f, *arguments, **keywords)
    takes = getattr(f, "nin", len(values))
    if keywords or len(values) != takes or not _is_followed(ctx, arguments):
        return call_without_overload(f, arguments, keywords)
    operands = [_exact_values(ctx, one) for one in arguments]
    rule = _RULES.get(f) or _DECISIONS[f]
    value = f(*values)
    try:
        found = np.frompyfunc(lambda *given: rule(ctx.mp, *given), len(values), 1)(*operands)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ctx.no_exact_value(f, nearest_site(), _OUTSIDE) from error
    if f in _DECISIONS:
        ctx.decided(np.asarray(value).tolist(), np.asarray(found).tolist())
        return value
    row = _ROWS[f]
    if row.sign_of is not None:
        signed = np.frompyfunc(lambda *given: with_sign_of_zero(row, given[2:], *given[:2]), len(values) + 2, 1)
        found = signed(value, found, *operands)
    if not np.isfinite(value).all() or any(isinstance(one, ctx.mp.mpc) for one in np.ravel(found).tolist()):
        raise ctx.no_exact_value(f, nearest_site(), _OUTSIDE)
    return _with_shadow(ctx, value, found, arguments, f)


@hidden
def _reduce(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """By NumPy, for arrays of mpmath's numbers."""
    given = [one for one in arguments if isinstance(plain(one), np.ndarray)]
    rest = [plain(one) for one in arguments[len(given) :]]
    options = {name: plain(one) for name, one in keywords.items()}
    is_plain = options.keys() <= _KEYWORDS and all(type(one) in (int, tuple, type(None)) for one in rest)
    is_first = all(isinstance(plain(one), np.ndarray) for one in arguments[: len(given)])
    if not given or not is_plain or not is_first or len(rest) > 1 or not _is_followed(ctx, given):
        return call_without_overload(f, arguments, keywords)

    def compute(*arrays: Any) -> Any:
        return f(*arrays, *rest, **options)

    value = compute(*map(plain, given))
    if not np.isfinite(value).all():
        raise ctx.no_exact_value(f, nearest_site(), _OUTSIDE)
    return _with_shadow(ctx, value, compute(*(_exact_values(ctx, one) for one in given)), given, compute)


@hidden
def _move(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """Arrange elements anew, and their exact values with them."""
    known = metadata(arguments[0], ctx) if arguments else None
    if not isinstance(known, ArrayShadow) or keywords.keys() - {"axis", "shape"}:
        return call_without_overload(f, arguments, keywords)
    options = {name: plain(one) for name, one in keywords.items()}
    rest = [plain(one) for one in arguments[1:]]
    value, found = f(plain(arguments[0]), *rest, **options), f(known.values, *rest, **options)
    return _tagged(ctx, value, found, known.sites)


@hidden
def _make(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """Make an array from numbers or arrays."""
    sites: set[CallSite] = set()
    if len(arguments) != 1 or keywords.keys() - {"axis"}:
        return call_without_overload(f, arguments, keywords)
    options = {name: plain(one) for name, one in keywords.items()}
    try:
        found = f(_objects(ctx, arguments[0], sites), **options)
    except (TypeError, ValueError):
        return call_without_overload(f, arguments, keywords)
    value = f(_plain_items(arguments[0]), **options)
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or np.shape(found) != value.shape:
        return call_without_overload(f, arguments, keywords)
    return _tagged(ctx, value, found, frozenset(sites))


def _plain_items(argument: Any) -> Any:
    bare = plain(argument)
    return [_plain_items(item) for item in items_outside(argument)] if isinstance(bare, (list, tuple)) else bare


def _objects(ctx: Any, argument: Any, sites: set[CallSite]) -> Any:
    """The exact values of what an array is made from, in its structure."""
    bare = plain(argument)
    if isinstance(bare, (list, tuple)):
        return [_objects(ctx, item, sites) for item in items_outside(argument)]
    if not _is_operand(bare):
        raise TypeError
    sites |= _sites(ctx, argument)
    return _exact_values(ctx, argument)


@hidden
def _change(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """Refuse to change an array in place, if it or the new element has a shadow: other arrays may share its memory."""
    if isinstance(plain(arguments[0]), np.ndarray) and allmetadata(ctx, *arguments):
        raise ctx.no_exact_value(f, nearest_site(), "an array is changed in place")
    return call_without_overload(f, arguments, keywords)


class ArrayPrecision(Precision):
    """A context in which arrays have shadows, and a leaf without a rule is an error."""

    lost: ClassVar[str] = "error"

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """Refuse a leaf without a rule that gets an array with a shadow: it may change the array, too."""
        if not any(isinstance(one, ArrayShadow) for one in allmetadata(self, *arguments, *keywords.values())):
            return super().computed(value, f, *arguments, **keywords)
        known = metadata(arguments[0], self) if arguments else None
        name = plain(arguments[1]) if f is getattr else None
        if id(f) in SIZES or name in _FIXED:
            return NO_METADATA
        if name == "T" and isinstance(known, ArrayShadow):
            return ArrayShadow(known.values.T, known.sites)
        if isinstance(value, str):
            return UNKNOWN
        raise self.no_exact_value(f, nearest_site())


for _overload, _functions in [
    (_apply, (*_RULES, *_DECISIONS)),
    (_reduce, _BY_NUMPY),
    (_move, _MOVING),
    (_make, _MAKING),
    (_change, _CHANGING),
]:
    for _function in _functions:
        ArrayPrecision.overdub.register(_function)(_overload)

CURSORS.setdefault(id(np.ndarray), cursor_of_tagged)  # derivatives of arrays have one that does the same and more
