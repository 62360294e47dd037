"""Rules for callables that call another one, which gets the arguments wrapped; silent calls of `logging`.

These are `operator.call`, parametrised classes, and the functions that decorators of the standard library make. The
latter are written in Python, and found by their code.
"""

from __future__ import annotations

import functools
import operator
import sys
import typing
from types import (
    BuiltinFunctionType,
    FunctionType,
    GenericAlias,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final

from cassette_import.interpreter.callables import PARTIAL
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.silent_logging import is_silent
from cassette_import.runtime.tagging.c_callers import TestedCallback, bare_callback
from cassette_import.runtime.tagging.fast_path import TYPES_RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code, rule_of_python_function, rule_of_type
from cassette_import.runtime.tagging.rules.copies import is_new_of_named_tuple, new_named_tuple
from cassette_import.runtime.tagging.tag_scopes import active_store
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped

# ---- rules for calls of `logging` that write nothing: their arguments go nowhere


@rule_of_code(
    "logging", *(f"Logger.{name}" for name in ("debug", "info", "warning", "error", "critical", "exception", "log"))
)
@hidden
def log(call: LeafCall) -> Any:
    if is_silent(call.function, tuple(map(plain, call.arguments))):
        return call.native()
    return without_rule(call)


# ---- `functools.partial`


@rule(functools.partial)
@hidden
def make_partial(call: LeafCall) -> Any:
    made = call.native()
    inner = plain(call.given[0])
    before, named = ((), {}) if type(inner) is not functools.partial else (inner.args, inner.keywords)
    arguments = [*call.store.wrapped_items(before), *call.given[1:]]
    if len(arguments) == len(made.args):  # no placeholder was filled
        call.store.bind_items(made.args, arguments)
    slots = call.store.slots_by_key(named)
    call.store.bind_pairs(made.keywords, [*((name, Tagged(*slots[name])) for name in slots), *call.keywords.items()])
    return made


@rule(functools.partial.__call__)
@hidden
def call_partial(call: LeafCall) -> Any:
    return call.forward(call.owner, *call.arguments[1:], **call.keywords)


@hidden
def callee_of_partial(found: Any) -> Any:
    """What a partial object calls: a bound method is wrapped if its receiver has metadata."""
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    return store.recognised.wrapped(found.func) if store is not None else found.func


@hidden
def arguments_of_partial(found: Any) -> tuple[Any, ...]:
    """The arguments of a partial object, wrapped where they have metadata."""
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    return tuple(store.wrapped_items(found.args)) if store is not None and store.items.entries else found.args


@hidden
def keywords_of_partial(found: Any) -> dict[str, Any]:
    """The keyword arguments of a partial object, wrapped where they have metadata."""
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    slots = store.slots_by_key(found.keywords) if store is not None and store.items.entries else None
    return {**found.keywords, **{name: Tagged(*slots[name]) for name in slots}} if slots else found.keywords


PARTIAL.callee, PARTIAL.arguments, PARTIAL.keywords = callee_of_partial, arguments_of_partial, keywords_of_partial

# ---- `operator.methodcaller`


@rule(operator.methodcaller)
@hidden
def make_method_caller(call: LeafCall) -> Any:
    made = call.native()
    metas = [metas_of(value) for value in call.given[1:]]
    metas_by_name = {name: metas_of(value) for name, value in call.keywords.items()}
    if any(metas) or any(metas_by_name.values()):
        call.store.views.make(made).extra = metas, metas_by_name
    return made


@rule_of_type(operator.methodcaller)
@hidden
def call_method(call: LeafCall) -> Any:
    if len(call.given) != 1 or call.keywords:
        return without_rule(call)
    name, arguments, keywords = _state_of(call.callee)
    entry = call.store.views.of(call.callee)
    if entry is not None:
        metas, metas_by_name = entry.extra
        arguments = tuple(map(wrapped, arguments, metas))
        keywords = {name: wrapped(value, metas_by_name[name]) for name, value in keywords.items()}
    return call.forward(call.forward(getattr, call.given[0], name), *arguments, **keywords)


def _state_of(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name of the method, the arguments and the keyword arguments."""
    made_by, (*state,) = caller.__reduce__()[:2]
    if type(made_by) is functools.partial:  # there are keyword arguments
        return made_by.args[0], (*made_by.args[1:], *state), made_by.keywords
    return state[0], tuple(state[1:]), {}


# ---- rules for callables that call another one: it gets the arguments wrapped

CALLABLE_TYPES: Final = (
    FunctionType, BuiltinFunctionType, MethodType, MethodWrapperType, MethodDescriptorType, WrapperDescriptorType,
)  # fmt: skip


@rule(operator.call, while_untagged=True)
@hidden
def call_first(call: LeafCall) -> Any:
    if not call.arguments:
        return call.native()
    return call.forward(*call.arguments, **call.keywords)


@rule(*(kind.__dict__["__call__"] for kind in CALLABLE_TYPES))
@hidden
def call_receiver(call: LeafCall) -> Any:
    """`f.__call__(…)`."""
    if not call.arguments:
        return call.native()
    return call.forward(*call.arguments, **call.keywords)


@rule(functools.cmp_to_key, while_tagged=True)
@hidden
def make_key(call: LeafCall) -> Any:
    """The sign of what the function returns decides an order."""
    if len(call.arguments) != 1 or call.keywords or not callable(plain(call.arguments[0])):
        return call.native()
    return call.callee(TestedCallback(call, bare_callback(call.arguments[0])))


@rule_of_type(FunctionType)
@hidden
def call_python_function(call: LeafCall) -> Any:
    """A Python function that is not overdubbed; some of the standard library have rules."""
    if is_new_of_named_tuple(call.function):
        return new_named_tuple(call)
    return (rule_of_python_function(call.function) or without_rule)(call)


# ---- parametrised classes

_IGNORED: Final = (AttributeError, TypeError) if sys.version_info < (3, 13) else (Exception,)
_PYTHON_ALIAS: Final[Any] = type(typing.Generic[typing.TypeVar("_T")])  # type: ignore[index]  # a private class
TYPES_RULED_WHILE_TAGGED.add(id(GenericAlias))  # `list[int](items)` takes items as `list` does


@rule_of_type(GenericAlias)
@rule_of_type(_PYTHON_ALIAS)
@hidden
def construct_parametrised(call: LeafCall) -> Any:
    alias = call.callee
    if not getattr(alias, "_inst", True):
        return without_rule(call)
    made = call.forward(alias.__origin__, *call.given, **call.keywords)
    try:
        plain(made).__orig_class__ = alias
    except _IGNORED:
        pass
    return made


# ---- functions that decorators make


@hidden
def enclosing_variable(function: FunctionType, name: str) -> Any:
    """A variable of the function around an inner function."""
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))[name].cell_contents


@rule_of_code("functools", "singledispatch.<locals>.wrapper")
@hidden
def call_implementation(call: LeafCall) -> Any:
    if not call.arguments:
        return call.native()
    implementation = enclosing_variable(call.function, "dispatch")(plain(call.arguments[0]).__class__)
    return call.call_back(implementation, *call.arguments, **call.keywords)


@rule_of_code("functools", "singledispatchmethod.__get__.<locals>._method")
@hidden
def call_implementation_of_method(call: LeafCall) -> Any:
    if not call.arguments:
        return call.native()
    names = call.function.__code__.co_freevars
    find = enclosing_variable(call.function, "dispatch") if "dispatch" in names else None
    find = find or enclosing_variable(call.function, "self").dispatcher.dispatch
    method = find(plain(call.arguments[0]).__class__)
    bound = method.__get__(enclosing_variable(call.function, "obj"), enclosing_variable(call.function, "cls"))
    return call.call_back(bound, *call.arguments, **call.keywords)
