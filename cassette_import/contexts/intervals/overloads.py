"""The overloads of `Intervals` for functions of numbers, folds and sorting.

Importing the module registers them. Knows the context and its rules; must not know the function `enclosure`. The
overloads are hidden frames, because the program may inspect its callers.
"""

from __future__ import annotations

import functools
from typing import Any

from cassette_import.activation.tagging import allmetadata, metadata, tag
from cassette_import.activation.verbs import fallback
from cassette_import.contexts.intervals.context import CONTAINERS, UNKNOWN, Intervals
from cassette_import.contexts.intervals.interval import NotEnclosed
from cassette_import.contexts.intervals.rules import CHOICES, DECISIONS, FOLDS, RULES, less, working_precision
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.call_sites import nearest_site
from cassette_import.runtime.tagging.iterator_metadata import items_outside
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Intervals"]


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()):
        return fallback(ctx, f, *arguments, **keywords)
    if not all(isinstance(plain(one), (int, float)) for one in arguments):
        if f in DECISIONS and not any(isinstance(plain(one), CONTAINERS) or _is_text(ctx, one) for one in arguments):
            return f(*map(plain, arguments))  # a comparison with None, for example, does not depend on the bounds
        return fallback(ctx, f, *arguments, **keywords)
    balls = [ctx.ball(f, argument) for argument in arguments]
    choose = functools.partial(ctx.choose, f, balls)
    rule = RULES.get(f) or CHOICES[f]
    with working_precision(ctx.precision):
        try:
            if keywords:
                raise TypeError
            found = rule(choose, *balls)
        except TypeError:
            raise NotEnclosed(f, nearest_site(), "there is no rule for such operands of") from None
    if f in CHOICES:
        return found
    if not found.is_finite():
        raise NotEnclosed(f, nearest_site(), "the intervals leave the domain of")
    return tag(f(*map(plain, arguments)), ctx, found)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    many = f in (min, max) and bool(more)
    given = [items, *more] if many else items_outside(items)
    start = [*([] if many else more), *([keywords["start"]] if "start" in keywords else [])]
    if not allmetadata(ctx, *given, *start):
        return fallback(ctx, f, *(given if many else (given, *more)), **keywords)
    if set(keywords) - {"start", "default"}:
        raise NotEnclosed(f, nearest_site(), "there is no rule for such operands of")
    balls = [ctx.ball(f, value) for value in (*start, *given)]
    with working_precision(ctx.precision):
        found = FOLDS[f](balls)
    values = list(map(plain, given))
    return tag(f(*values) if many else f(values, *map(plain, start)), ctx, found)


@hidden
def _sorted(ctx: Any, f: Any, items: Any, **keywords: Any) -> Any:
    given = items_outside(items)
    if not allmetadata(ctx, *given):
        return fallback(ctx, f, items if f is list.sort else given, **keywords)
    if keywords.get("key") is not None:
        raise NotEnclosed(f, nearest_site(), "there is no rule for a key of")
    balls = {id(item): ctx.ball(f, item) for item in given}

    def compare(one: Any, other: Any) -> int:
        pair = balls[id(one)], balls[id(other)]
        return -1 if less(functools.partial(ctx.choose, f, pair), *pair) else 1

    made = sorted(given, key=functools.cmp_to_key(compare), reverse=bool(plain(keywords.get("reverse", False))))
    own_tag: Any = tag_of(ctx)
    if f is sorted:
        return own_tag.store.bind_items(list(map(plain, made)), made)
    plain(items)[:] = map(plain, made)
    own_tag.store.bind_items(plain(items), made)
    return None


for _function in (*RULES, *CHOICES):
    Intervals.overdub.register(_function)(_apply)
for _function in FOLDS:
    Intervals.overdub.register(_function)(_fold)
for _function in (sorted, list.sort):
    Intervals.overdub.register(_function)(_sorted)


def _is_text(ctx: Intervals, value: Any) -> bool:
    return metadata(value, ctx) is UNKNOWN
