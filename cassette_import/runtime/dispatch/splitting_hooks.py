"""Splitting hooks: call sites pass them the callee, and the hook gets its function and the arguments that it carries.

Call sites call them where the callee is no Python function, class or the like: for methods of C types, partial objects,
instances with a `__call__`. They do what `callables.split` does, but for the usual callees without a call of it. They
return the function, for the hooks that get it alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import (
    CALLS_OF_INSTANCES,
    CARRIERS,
    METHODS_OF_TYPES,
    BuiltinMethodOfClass,
    joined,
    keywords_of,
    split,
)
from cassette_import.interpreter.hidden_frames import hide
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.state import ACTIVE, hook_activation

_MOST_ARGUMENTS: Final = 8
"""A hook that takes more arguments than this gets them as a tuple."""

_TEMPLATE: Final = """
def make(function, level):
    def run({leading}, callee, /, {parameters}):
        kind = type(callee)
        found = named = None
        if kind is builtin or kind is method_of_class:
            receiver = callee.__self__
            known = methods.get(id(type(receiver)))
            if known is not None:
                found = known.get(callee.__name__)
        elif kind is method:
            if type(callee.__func__) is python_function:
                found, receiver = callee.__func__, callee.__self__
        elif kind is partial:
            named = keywords_of(callee)
        if found is None:
            operands = split(callee) if calls_of_instances or id(kind) in carriers else (callee,)
        {suspended}
            if found is not None:
                function({leading}, found, receiver, {arguments})
                return found
            if named is None:
                function({leading}, *operands, {arguments})
            else:
                function({leading}, *joined(operands, ({positional})), **{{**named{keywords}}})
            return operands[0]
        {resumed}
    return run
"""

_SUSPENDED: Final = """activation = get()
        known = activation.hook_activations
        token = put(known[level] if known and level in known else hook_activation(activation, level))
        try:"""
_RESUMED: Final = """finally:
            reset(token)"""
_UNSUSPENDED: Final = "if True:"


def splitting(hook: Callable[..., Any], leading: int, count: int | None = None) -> Callable[..., Any]:
    """The splitting form of a hook, which may be suspended.

    Parameters
    ----------
    hook:
        The hook.
    leading:
        How many arguments come before the callee: the context, and perhaps a result.
    count:
        How many positional arguments call sites pass, the leading ones and the callee among them. There are no others.
        None if there may be any arguments.
    """
    is_suspended_here = type(hook) is FunctionType  # one in C suspends its context itself
    function, level = getattr(hook, "suspended", (hook, None)) if is_suspended_here else (hook, None)
    has_count = count is not None and count <= _MOST_ARGUMENTS
    make, code = _compiled(leading, count if has_count else None, level is not None)
    run: Callable[..., Any] = make(function, level)
    run.__code__ = code
    if DISPATCH.is_used:
        return DISPATCH.SplittingCall(function if level is None else hook, run, leading)
    return run


@cache
def _compiled(leading: int, count: int | None, is_suspended: bool) -> tuple[Callable[..., Any], CodeType]:
    """`make` of the template, and the code of a hidden `run`."""
    fields = {
        "leading": "context, result"[: None if leading > 1 else len("context")],
        "suspended": _SUSPENDED if is_suspended else _UNSUSPENDED,
        "resumed": _RESUMED if is_suspended else "",
    }
    if count is None:
        fields |= {"parameters": "*arguments, **keywords", "arguments": "*arguments, **keywords"}
        fields |= {"positional": "*arguments,", "keywords": ", **keywords"}
    else:
        names = "".join(f"argument_{number}, " for number in range(count - leading - 1))
        fields |= {"parameters": names, "arguments": names, "positional": names, "keywords": ""}
    source = _TEMPLATE.format(**fields)
    namespace: dict[str, Any] = dict(_NAMES)
    exec(compile(source, __file__, "exec"), namespace)
    make = namespace["make"]
    assert isinstance(make, FunctionType)
    (code,) = (const for const in make.__code__.co_consts if isinstance(const, CodeType))
    return make, hide(code)


_NAMES: Final[dict[str, Any]] = {
    "__name__": __name__,
    "get": ACTIVE.get,
    "put": ACTIVE.set,
    "reset": ACTIVE.reset,
    "hook_activation": hook_activation,
    "methods": METHODS_OF_TYPES,
    "carriers": CARRIERS,
    "calls_of_instances": CALLS_OF_INSTANCES,
    "split": split,
    "joined": joined,
    "keywords_of": keywords_of,
    "builtin": BuiltinFunctionType,
    "method_of_class": BuiltinMethodOfClass,
    "method": MethodType,
    "python_function": FunctionType,
    "partial": functools.partial,
}
