"""The overloads of `PathRecorder` for functions of numbers, and folds.

Importing the module registers them. The overloads are hidden frames, because the program may inspect its callers.
"""

from __future__ import annotations

import functools
from typing import Any

from cassette_import.activation.tagging import allmetadata
from cassette_import.contexts.common.composed_calls import compose
from cassette_import.contexts.common.compositions import APPROXIMATE, COMPOSITIONS
from cassette_import.contexts.common.fold_calls import fold_call
from cassette_import.contexts.common.lost_numbers import is_decided_by_types
from cassette_import.contexts.common.own_operators import runs_own_method
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.contexts.contract.context import REAL_NUMBERS, Node, PathRecorder
from cassette_import.contexts.contract.rules import DECISIONS, FOLDS, RULES
from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.fast_path import RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["PathRecorder"]


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    if not all(isinstance(plain(one), REAL_NUMBERS) for one in arguments):
        if f in DECISIONS and is_decided_by_types(ctx, arguments, REAL_NUMBERS):
            return f(*map(plain, arguments))
        return call_without_overload(f, arguments, keywords)
    operands = [ctx.operand(f, argument) for argument in arguments]
    if keywords:
        raise ctx.not_contracted(f, "there is no rule for such operands of")
    try:
        found = RULES[f](ctx, f, *operands)
    except Exception as error:
        if error is ctx.intended or isinstance(error, CassetteError):
            raise
        raise ctx.not_contracted(f, "there is no rule for such operands of") from error
    return ctx.number(found) if isinstance(found, Node) else found


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    if not allmetadata(ctx, *call.operands) or runs_own_method(f, call.operands):
        return call_without_overload(f, call.arguments, keywords)
    if set(keywords) - {"start", "default"}:
        raise ctx.not_contracted(f, "there is no rule for such operands of")
    operands = [ctx.operand(f, value) for value in call.operands]
    return ctx.number(functools.reduce(functools.partial(ctx.node, FOLDS[f]), operands))


for _function in RULES:
    PathRecorder.overdub.register(_function)(_apply)
for _function in FOLDS:
    PathRecorder.overdub.register(_function)(_fold)
for _function in COMPOSITIONS:
    if _function not in APPROXIMATE:
        PathRecorder.overdub.register(_function)(compose)


RULED_WHILE_TAGGED.add(id(iter))  # it compares the results of a callback with a sentinel
