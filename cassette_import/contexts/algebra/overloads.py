"""The overloads of number systems: how a call becomes that of a rule for the meanings of its arguments.

The overloads are hidden frames, because the program may inspect its callers.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.common.composed_calls import compose
from cassette_import.contexts.common.compositions import COMPOSITIONS, ORDERINGS
from cassette_import.contexts.common.fold_calls import fold_call
from cassette_import.contexts.common.lost_numbers import is_decided_by_types
from cassette_import.contexts.common.nested_metadata import split_metadata, with_metadata
from cassette_import.contexts.common.number_functions.row import STEP
from cassette_import.contexts.common.number_functions.steps import COMPARISONS, QUESTIONS, ROUNDINGS, TRUTHS
from cassette_import.contexts.common.number_functions.table import FOLDS, NUMBERS, functions_of
from cassette_import.contexts.common.own_operators import runs_own_method
from cassette_import.contexts.common.partials import JOINT_PARTIALS, PARTIALS
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.wrappers import Tagged, plain, run

__all__ = ["EVERY_ALGEBRA", "SYNONYMS", "apply_rule"]

SYNONYMS: Final[dict[Any, Any]] = {
    function: row.functions[0] for row in (*NUMBERS, *TRUTHS) for function in row.functions[1:]
}
"""Functions that have the rule of another one, so that a table needs one row for both."""

_COMPARISONS: Final = frozenset(functions_of(COMPARISONS))
_TRUTH_VALUES: Final = frozenset(functions_of((*COMPARISONS, *TRUTHS, *QUESTIONS)))
"""Functions that return a truth value. A system that follows values decides them by the values."""

_ROUNDINGS: Final = (
    *functions_of(row for row in NUMBERS if row.dependence == STEP),
    *(function for function in functions_of(ROUNDINGS) if function is not math.ulp),
)


@hidden
def apply_rule(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """The overload of a function of numbers."""
    own_tag, values, pairs = split_metadata(ctx, arguments)
    if keywords or not pairs or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    if not _are_numbers(values):
        if f in _COMPARISONS and is_decided_by_types(ctx, arguments, (numbers.Number,)):
            return f(*map(plain, arguments))
        return call_without_overload(f, arguments, keywords)
    found, name = dict(pairs), SYNONYMS.get(f, f)
    if name in ctx.decisions:
        value = run(f, *values)
        return ctx.guarded(f, lambda: ctx.decisions[name](value, *ctx.operands(f, values, found)))
    if not ctx.knows(name):
        if f in _TRUTH_VALUES and ctx.follows_values:
            return run(f, *values)
        if f is operator.pos:
            return arguments[0]
        raise ctx.meaningless(f, "no rule is known for")
    value = run(f, *values)
    return with_metadata(value, own_tag, _meaning(ctx, name, value, values, found))


def _meaning(ctx: Any, f: Any, value: Any, values: Sequence[Any], found: dict[int, Any]) -> Any:
    return ctx.guarded(f, lambda: ctx.meaning(f, value, values, ctx.operands(f, values, found)))


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(plain(value), numbers.Number) for value in values)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    own_tag, values, pairs = split_metadata(ctx, call.operands)
    pair = FOLDS[f]
    if not pairs or set(keywords) - {"start", "default"} or not _are_numbers(values) or runs_own_method(f, values):
        return call_without_overload(f, call.arguments, keywords)
    if not ctx.knows(pair):
        if f in (min, max):  # the metadata of the item moves; the context decides whether values may be compared
            return call_without_overload(f, call.arguments, keywords)
        raise ctx.meaningless(f, "no rule is known for")
    meanings = ctx.guarded(f, lambda: ctx.operands(f, values, dict(pairs)))

    def both(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
        operands = one[0], other[0]
        value = run(pair, *operands)
        return value, _meaning(ctx, pair, value, operands, {0: one[1], 1: other[1]})

    value, meaning = functools.reduce(both, zip(values, meanings, strict=True))
    if not any(type(one) is Tagged for one in values):
        count = len(call.start)
        value = f(values[count:], *values[:count]) if f is not math.prod else f(values)
    return with_metadata(value, own_tag, meaning)


@hidden
def _compose(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if ctx.knows(f) or f in ctx.decisions:
        return apply_rule(ctx, f, *arguments, **keywords)
    if f in ORDERINGS and not _COMPARISONS.isdisjoint(ctx.decisions):
        return call_without_overload(f, arguments, keywords)  # the system's order may differ from that of the values
    return compose(ctx, f, *arguments, **keywords)


EVERY_ALGEBRA: Final[dict[Any, Callable[..., Any]]] = {
    **dict.fromkeys([*PARTIALS, *JOINT_PARTIALS, *_TRUTH_VALUES, *_ROUNDINGS], apply_rule),
    **dict.fromkeys(COMPOSITIONS, _compose),
    **dict.fromkeys(FOLDS, _fold),
}
"""The overloads that every number system has. It adds those of further functions in its table."""
