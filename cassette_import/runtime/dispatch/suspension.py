"""Suspension: a hook runs while its context, and the contexts inside it, are suspended."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hide
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.state import ACTIVE, hook_activation

_MOST_ARGUMENTS: Final = 8
"""A hook that takes more arguments than this gets them as a tuple."""

_TEMPLATE: Final = """
def make(function, level, get, put, reset, hook_activation):
    def run({parameters}):
        activation = get()
        known = activation.hook_activations
        token = put(known[level] if known and level in known else hook_activation(activation, level))
        try:
            return function({arguments})
        finally:
            reset(token)
    return run
"""
"""A suspended hook. To pack and unpack its arguments costs as much as the suspension itself; so there is a version for
each number of arguments."""


def suspended(function: Callable[..., Any], level: int) -> Callable[..., Any]:
    """`function`, which takes a context first, run while context `level` and those inside it are suspended."""
    if DISPATCH.is_used:
        return DISPATCH.SuspendedCall(function, level)
    run = _make(function, level, "context, /, *arguments, **keywords", "context, *arguments, **keywords")
    run.suspended = function, level  # type: ignore[attr-defined]  # an attribute of a function
    return run


def with_arity(hook: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A hook for call sites that pass this many positional arguments, the context among them, and no others."""
    suspended_function = getattr(hook, "suspended", None)
    if suspended_function is None or count > _MOST_ARGUMENTS or type(hook) is not FunctionType:
        return hook
    names = ", ".join(f"argument_{number}" for number in range(count))
    function, level = suspended_function
    return _make(function, level, f"{names}, /", names)


def _make(function: Callable[..., Any], level: int, parameters: str, arguments: str) -> Callable[..., Any]:
    make, code = _compiled(parameters, arguments)
    run: Callable[..., Any] = make(function, level, ACTIVE.get, ACTIVE.set, ACTIVE.reset, hook_activation)
    run.__code__ = code
    return run


@cache
def _compiled(parameters: str, arguments: str) -> tuple[Callable[..., Any], CodeType]:
    """`make` of the template, and the code of a hidden `run`."""
    source = _TEMPLATE.format(parameters=parameters, arguments=arguments)
    namespace: dict[str, Any] = {}
    exec(compile(source, __file__, "exec"), {"__name__": __name__}, namespace)
    make = namespace["make"]
    assert isinstance(make, FunctionType)
    (code,) = (const for const in make.__code__.co_consts if isinstance(const, CodeType))
    return make, hide(code)
