"""Suspension: a hook runs while its context, and the contexts inside it, are suspended.

Knows activations, and what call sites pass to hooks; must not know events.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import joined, keywords_of, split
from cassette_import.interpreter.hidden_frames import hide
from cassette_import.runtime.state import ACTIVE, hook_activation

_MOST_ARGUMENTS: Final = 8
"""A hook that takes more arguments than this gets them as a tuple."""

_TEMPLATE: Final = """
def make(function, level, get, put, reset, hook_activation, split, joined, keywords_of, partial):
    def run({parameters}):{first}
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

_UNSUSPENDED: Final = """
def make(function, level, get, put, reset, hook_activation, split, joined, keywords_of, partial):
    def run({parameters}):{first}
        return function({arguments})
    return run
"""

_SPLIT: Final = """
        if type(callee) is partial:
            operands, keywords = joined(split(callee), arguments), {**keywords_of(callee), **keywords}
        elif arguments:
            operands = (*split(callee), *arguments)
        else:
            operands = split(callee)"""
"""What a splitting hook does first, before its context is suspended: the function of the callee and all arguments."""


def suspended(function: Callable[..., Any], level: int) -> Callable[..., Any]:
    """`function`, which takes a context first, run while context `level` and those inside it are suspended."""
    return _make(function, level, "context, /, *arguments, **keywords", "context, *arguments, **keywords")


def with_arity(hook: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A hook for call sites that pass this many positional arguments, the context among them, and no others."""
    suspended_function = getattr(hook, "suspended", None)
    if suspended_function is None or count > _MOST_ARGUMENTS:
        return hook
    names = ", ".join(f"argument_{number}" for number in range(count))
    function, level = suspended_function
    return _make(function, level, f"{names}, /", names)


def splitting(hook: Callable[..., Any], leading: int, alone: bool) -> Callable[..., Any]:
    """A hook for call sites that pass it the callee, of which it gets the function and the arguments that it carries.

    Parameters
    ----------
    hook:
        A hook, which may be suspended.
    leading:
        How many arguments come before the callee: the context, and perhaps a result.
    alone:
        Whether the hook gets the function alone.
    """
    function, level = getattr(hook, "suspended", (hook, -1))
    names = "context, result" if leading > 1 else "context"
    if alone:
        return _make(function, level, f"{names}, callee, /", f"{names}, split(callee)[0]")
    parameters = f"{names}, callee, /, *arguments, **keywords"
    return _make(function, level, parameters, f"{names}, *operands, **keywords", _SPLIT)


def _make(
    function: Callable[..., Any], level: int, parameters: str, arguments: str, first: str = ""
) -> Callable[..., Any]:
    """A hook that is not suspended if the level is negative."""
    make, code = _compiled(_TEMPLATE if level >= 0 else _UNSUSPENDED, parameters, arguments, first)
    cells = ACTIVE.get, ACTIVE.set, ACTIVE.reset, hook_activation, split, joined, keywords_of, functools.partial
    run: Callable[..., Any] = make(function, level, *cells)
    run.__code__ = code
    if level >= 0:
        run.suspended = function, level  # type: ignore[attr-defined]
    return run


@cache
def _compiled(template: str, parameters: str, arguments: str, first: str) -> tuple[Callable[..., Any], CodeType]:
    """`make` of a template, and the code of a hidden `run`."""
    source = template.format(parameters=parameters, arguments=arguments, first=first)
    namespace: dict[str, Any] = {}
    exec(compile(source, __file__, "exec"), {"__name__": __name__}, namespace)
    make = namespace["make"]
    assert isinstance(make, FunctionType)
    (code,) = (const for const in make.__code__.co_consts if isinstance(const, CodeType))
    return make, hide(code)
