"""`itertools.accumulate` without a function adds in C, where no call is an event: here each addition is one."""

from __future__ import annotations

import itertools
import operator
from typing import Any

from cassette_import.activation.verbs import recurse
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["show_additions"]


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
