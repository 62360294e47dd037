"""The overloads of `Precision` for functions of numbers, folds and sorting.

Importing the module registers them. The overloads are hidden frames, because the program may inspect its callers.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, Final

from cassette_import.activation.tagging import allmetadata
from cassette_import.contexts.precision.context import REAL_NUMBERS, Precision
from cassette_import.contexts.precision.rules import DECISIONS, FOLDS, RULES, with_sign_of_zero
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.fold_calls import fold_call
from cassette_import.kits.numbers.own_operators import call_without_overload, runs_own_method, without_modulus
from cassette_import.kits.numbers.table import row_of
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["OF_NUMBERS", "Precision"]


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    values = [plain(argument) for argument in arguments]
    if keywords or not _are_numbers(values) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    value = f(*values)
    if not isinstance(value, float):
        return value
    operands = [ctx.shadow_of(argument).value for argument in arguments]
    try:
        found = with_sign_of_zero(row_of(f), operands, value, RULES[f](ctx.mp, *operands))
    except (ArithmeticError, ValueError, TypeError):
        return value  # outside of the domain of exact numbers: the float is a new input
    if not ctx.mp.isfinite(found) or isinstance(found, ctx.mp.mpc):
        return value
    return ctx.with_shadow(value, found, arguments, lambda given: f(*given))


@hidden
def _decide(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    values = [plain(argument) for argument in arguments]
    if keywords or not allmetadata(ctx, *arguments) or not _are_numbers(values):
        return call_without_overload(f, arguments, keywords)
    if runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    value = f(*values)
    ctx.decided(value, DECISIONS[f](ctx.mp, *(ctx.shadow_of(argument).value for argument in arguments)))
    return value


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(value, REAL_NUMBERS) for value in values)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    operands = call.operands
    values = [plain(operand) for operand in operands]
    if (
        not any(isinstance(value, float) for value in values)
        or set(keywords) - {"start"}
        or not _are_numbers(values)
        or runs_own_method(f, operands)
    ):
        return call_without_overload(f, call.arguments, keywords)

    count = len(call.start)

    def compute(numbers: Any) -> Any:
        return f(list(numbers[count:]), **dict(zip(("start",), numbers[:count], strict=False)))

    value = compute(values)
    if not isinstance(value, float):
        return value
    found = FOLDS[f](ctx.mp, [ctx.shadow_of(operand).value for operand in operands])
    return ctx.with_shadow(value, found, operands, compute)


@hidden
def _compose(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    thread = get_ident()
    if thread in ctx.composing:
        return compose(ctx, f, *arguments, **keywords)
    ctx.composing.add(thread)
    try:
        return compose(ctx, f, *arguments, **keywords)
    finally:
        ctx.composing.discard(thread)


OF_NUMBERS: Final[dict[Any, Callable[..., Any]]] = {**dict.fromkeys(RULES, _apply), **dict.fromkeys(DECISIONS, _decide)}
"""The overload of each function of numbers."""

for _function, _overload in OF_NUMBERS.items():
    Precision.overdub.register(_function)(_overload)
Precision.overdub.register(pow)(without_modulus(_apply))
for _function in FOLDS:
    Precision.overdub.register(_function)(_fold)
for _function in COMPOSITIONS:
    if _function not in RULES:
        Precision.overdub.register(_function)(_compose)
