"""The overloads of `Intervals` for functions of numbers, and folds.

Importing the module registers them. The overloads are hidden frames, because the program may inspect its callers.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from cassette_import.activation.tagging import allmetadata, tag
from cassette_import.contexts.intervals.context import REAL_NUMBERS, Intervals
from cassette_import.contexts.intervals.rules import (
    CHOICES,
    DECISIONS,
    FOLDS,
    OF_ZERO,
    OVERFLOWING,
    RULES,
    OutsideDomain,
    fits_floats,
    workprec,
)
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.compositions import APPROXIMATE, COMPOSITIONS
from cassette_import.kits.numbers.enclosures.spans import Span
from cassette_import.kits.numbers.fold_calls import fold_call
from cassette_import.kits.numbers.lost_numbers import is_decided_by_types
from cassette_import.kits.numbers.own_operators import call_without_overload, runs_own_method, without_modulus
from cassette_import.runtime.tagging.fast_path import RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Intervals"]


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    if not all(isinstance(plain(one), REAL_NUMBERS) for one in arguments):
        if f in DECISIONS and is_decided_by_types(ctx, arguments, REAL_NUMBERS):
            return f(*map(plain, arguments))
        return call_without_overload(f, arguments, keywords)
    with workprec(ctx.precision):
        try:
            spans = [ctx.span(f, argument) for argument in arguments]
            rule = _rule_for_zero(ctx, f, arguments) or RULES.get(f) or CHOICES[f]
            if keywords:
                raise TypeError
            found = rule(functools.partial(ctx.choose, f, spans), *spans)
        except TypeError:
            raise ctx.not_enclosed(f, "there is no rule for such operands of") from None
        except OutsideDomain:
            raise ctx.not_enclosed(f, "the intervals leave the domain of") from None
    if f in CHOICES and not isinstance(found, Span):
        return found
    if not found.is_finite():
        raise ctx.not_enclosed(f, "the intervals leave the domain of")
    try:
        value = f(*map(plain, arguments))
    except Exception as error:
        ctx.raised(error, f, *arguments)
        raise
    if f in OVERFLOWING and isinstance(value, float) and not fits_floats(found):
        ctx.raised(OverflowError(), f, *arguments)
    return tag(value, ctx, found)


def _rule_for_zero(ctx: Any, f: Any, arguments: tuple[Any, ...]) -> Any:
    """The rule of a function for a constant zero, whose sign is known; None in all other cases."""
    number, rule = OF_ZERO.get(f, (0, None))
    if rule is None or allmetadata(ctx, arguments[number]) or plain(arguments[number]) != 0:
        return None
    sign = math.copysign(1.0, plain(arguments[number]))
    return lambda choose, *spans: rule(sign, *spans)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    if not allmetadata(ctx, *call.operands) or runs_own_method(f, call.operands):
        return call_without_overload(f, call.arguments, keywords)
    if set(keywords) - {"start", "default"}:
        raise ctx.not_enclosed(f, "there is no rule for such operands of")
    with workprec(ctx.precision):
        spans = [ctx.span(f, value) for value in call.operands]
        found = FOLDS[f](spans)
    named = {name: plain(value) for name, value in keywords.items() if name == "start"}
    try:
        value = f(*call.plain_arguments, **named)
    except Exception as error:
        ctx.raised(error, f, *call.items)
        raise
    if f is math.fsum and not fits_floats(found):
        ctx.raised(OverflowError(), f, *call.items)
    return tag(value, ctx, found)


for _function in (*RULES, *CHOICES):
    Intervals.overdub.register(_function)(_apply)
Intervals.overdub.register(pow)(without_modulus(_apply))
for _function in FOLDS:
    Intervals.overdub.register(_function)(_fold)
for _function in COMPOSITIONS:
    if _function not in APPROXIMATE:
        Intervals.overdub.register(_function)(compose)


RULED_WHILE_TAGGED.add(id(iter))  # it compares the results of a callback with a sentinel
