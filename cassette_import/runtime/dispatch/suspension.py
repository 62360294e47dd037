"""Hooks that run while their context, and those inside it, are suspended.

Knows activations; must not know events.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.runtime.state import ACTIVE, hook_activation

_MOST: Final = 8
"""Arguments of more than so many are handed on as a tuple."""


def suspended(function: Callable[..., Any], level: int) -> Callable[..., Any]:
    """`function`, run while context `level` and those inside it are suspended."""
    get, put, reset = ACTIVE.get, ACTIVE.set, ACTIVE.reset

    @hidden
    def run(context: Any, /, *arguments: Any, **keywords: Any) -> Any:
        activation = get()
        known = activation.hook_activations
        token = put(known[level] if known and level in known else hook_activation(activation, level))
        try:
            return function(context, *arguments, **keywords)
        finally:
            reset(token)

    run.suspended = function, level  # type: ignore[attr-defined]
    return run


def of_arity(hook: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A hook for call sites that give it so many positional arguments, the context among them, and no others.

    To pack and unpack them costs as much as the suspension itself.
    """
    found = getattr(hook, "suspended", None)
    if found is None or count > _MOST:
        return hook
    function, level = found
    make, code = _maker(count)
    run = make(function, level, ACTIVE.get, ACTIVE.set, ACTIVE.reset, hook_activation)
    run.__code__ = code
    return run  # type: ignore[no-any-return]


@cache
def _maker(count: int) -> tuple[Callable[..., Any], CodeType]:
    """What makes such functions, and the hidden code of what it makes."""
    names = ", ".join(f"argument_{number}" for number in range(count))
    source = _SOURCE.format(names=names)
    namespace: dict[str, Any] = {}
    exec(compile(source, __file__, "exec"), {"__name__": __name__}, namespace)
    make = namespace["make"]
    assert isinstance(make, FunctionType)
    (code,) = (const for const in make.__code__.co_consts if isinstance(const, CodeType))
    return make, hide(code)


_SOURCE: Final = """
def make(function, level, get, put, reset, hook_activation):
    def run({names}, /):
        activation = get()
        known = activation.hook_activations
        token = put(known[level] if known and level in known else hook_activation(activation, level))
        try:
            return function({names})
        finally:
            reset(token)
    return run
"""
