"""Calls that an overload makes as if there were no overload: the program's special methods run in the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["call_without_overload", "without_modulus"]


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
