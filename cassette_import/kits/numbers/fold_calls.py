"""Calls of functions that fold numbers, such as `sum`, `math.prod` and `min`: which numbers they fold, in order."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cassette_import.activation.verbs import recurse
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.iterator_metadata import items_outside

__all__ = ["FoldCall", "fold_call", "show_additions"]

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
