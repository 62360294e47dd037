"""Bound hooks: what a table of handlers becomes at the events of one kind, ready to be called with the
context first."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter.callables import (
    CALLS_OF_INSTANCES,
    CARRIERS,
    METHODS_OF_TYPES,
    PROPERTIES,
    BuiltinMethodOfClass,
    joined,
    keywords_of,
    split,
)
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.interpreter.late_modules import late
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF, NAME_OF
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.hook_functions import LEADING, hook_copy, positional_only
from cassette_import.runtime.dispatch.hook_points import Table
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, hook_activation

# ---- splitting hooks
#
# Call sites call them where the callee is no Python function, class or the like: for methods of C types, partial
# objects, instances with a `__call__`. They do what `callables.split` does, but for the usual callees without a call of
# it. They return the function, for the hooks that get it alone.

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


# ---- bound hooks: what a table of handlers becomes at the events of one kind, ready to be called with the context
# first

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch import hook_analysis, suspension
else:
    (hook_analysis,) = late("cassette_import.runtime.dispatch", "hook_analysis")
    (suspension,) = late("cassette_import.runtime.dispatch", "suspension")

_Hook = Callable[..., Any]


def no_hook(*arguments: Any, **keywords: Any) -> None:
    """The hook of a context that has none for this kind of event."""


def bind_hook(table: Table, level: int, wants_kind: bool, context_type: type) -> _Hook | None:
    """The hook of one context for one kind of event; None if there is none.

    The method takes every event of the kinds that the context wants. Registered handlers take those of their targets:
    the handler that fits best is called.
    """
    method, leading = table.method if wants_kind else None, LEADING[table.kind]
    if table.targets or (wants_kind and table.untargeted):
        bind = _method_before_handler if table.kind == "prehook" else _handler_before_method
        return suspension.suspended(
            bind(table, wants_kind, None if method is None else positional_only(method, leading)), level
        )
    if method is None:
        return None
    if _reaches_no_overdubbed_code(table, context_type):
        return positional_only(method, leading, stays_plain=True)
    return suspension.suspended(positional_only(method, leading), level)


def _method_before_handler(table: Table, wants_kind: bool, method: _Hook | None) -> _Hook:
    """The prehook of a context: the method, then the registered handler."""
    find, targets = table.find, table.targets

    @hidden
    def choose(context: Any, function: Any, /, *arguments: Any, **keywords: Any) -> None:
        if method is not None:
            method(context, function, *arguments, **keywords)
        if wants_kind or id(function) in targets:
            handler = find(context, function, arguments, keywords)
            if handler is not None:
                handler(context, function, *arguments, **keywords)

    return choose


def _handler_before_method(table: Table, wants_kind: bool, method: _Hook | None) -> _Hook:
    """The posthook or errorhook of a context: the registered handler, then the method."""
    find, targets = table.find, table.targets

    @hidden
    def choose(context: Any, outcome: Any, function: Any, /, *arguments: Any, **keywords: Any) -> None:
        if wants_kind or id(function) in targets:
            handler = find(context, function, arguments, keywords, outcome)
            if handler is not None:
                handler(context, outcome, function, *arguments, **keywords)
        if method is not None:
            method(context, outcome, function, *arguments, **keywords)

    return choose


def ignores_arguments(table: Table) -> bool:
    """Whether a hook does not read the arguments of calls: it is a method that never does, or there is none."""
    if table.method is None:
        return not table.handlers
    return not table.handlers and hook_analysis.reads_no_arguments(table.method, LEADING[table.kind])


def hook_without_arguments(table: Table, level: int, context_type: type) -> _Hook:
    """A hook that `ignores_arguments`, for call sites that do not pass it the arguments."""
    if table.method is None:
        return no_hook
    leading = LEADING[table.kind]
    assert isinstance(table.method, FunctionType)
    code = hook_analysis.without_rest(table.method).replace(co_posonlyargcount=leading)
    if _reaches_no_overdubbed_code(table, context_type):
        return hook_copy(table.method, code, stays_plain=True)
    return suspension.with_arity(suspension.suspended(hook_copy(table.method, code), level), leading)


def _reaches_no_overdubbed_code(table: Table, context_type: type) -> bool:
    """Whether the method of a table need not be suspended: its type declares it, or its bytecode shows it.

    The methods of a type that declares it may call each other by `super()`, so they stay plain as well.
    """
    if context_type.leaf_hooks:  # type: ignore[attr-defined]  # of each context type
        for method in table.methods:
            if type(method) is FunctionType:
                OVERDUBBED.leave_alone(method, "it is a hook of a context type with leaf_hooks")
        return True
    assert table.method is not None
    return hook_analysis.only_stores(table.method, context_type)


def overload_finder(table: Table, wants_kind: bool) -> Callable[..., _Hook | None] | None:
    """`find(context, function, arguments, keywords)`, which returns the overload for a call, or None.

    There is no such function, but None, for a context that has no overloads.
    """
    method = positional_only(table.method, LEADING[table.kind]) if wants_kind and table.method is not None else None
    if method is None and not table.handlers:
        return None
    if not table.handlers:
        return lambda context, function, arguments, keywords: method
    find, targets = table.find, table.targets

    def choose(context: Any, function: Any, arguments: Any, keywords: Any) -> _Hook | None:
        found = find(context, function, arguments, keywords) if wants_kind or id(function) in targets else None
        return found or method

    return choose


_ByTarget = dict[int, tuple[int, Any]]


def overloads_of_one_context(tables: list[dict[str, Table]], takes_everything: bool) -> tuple[_ByTarget, _ByTarget]:
    """The targets that have overloads of one context, and no hooks, by identity.

    Returns
    -------
    For those with one overload for arguments of any type, its level and handler; for the others, level and table.
    """
    single: _ByTarget = {}
    typed: _ByTarget = {}
    if takes_everything or any(table.untargeted or table.method for own in tables for table in own.values()):
        return single, typed
    hooked = {key for own in tables for kind, table in own.items() if kind != "overdub" for key in table.targets}
    for level, own in enumerate(tables):
        for key, target in own["overdub"].targets.items():
            if key not in hooked and sum(key in other["overdub"].targets for other in tables) == 1:
                handler = own["overdub"].only_handler(target)
                if handler is not None:
                    single[key] = level, handler
                else:
                    typed[key] = level, own["overdub"]
    return single, typed


def target_events(tables: Iterable[Table], primitives: set[str]) -> Events:
    """The kinds of events that calls of the targets are; `primitives` gets the names of operators among them."""
    kinds = Events.NONE
    for table in tables:
        for identity in table.targets:
            kinds |= Events.CALLS
            if identity in PROPERTIES:  # reading the attribute is calling it
                primitives.add("getattr")
                kinds |= Events.ATTRIBUTES
            name = NAME_OF.get(identity)
            if name is not None:
                primitives.add(name)
                kinds |= EVENT_OF[name]
    return kinds
