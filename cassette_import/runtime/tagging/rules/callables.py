"""Rules for callables that call another one: it gets the arguments wrapped.

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

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.c_callers import TestedCallback, bare_callback
from cassette_import.runtime.tagging.fast_path import TYPES_RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code, rule_of_python_function, rule_of_type
from cassette_import.runtime.tagging.rules.records import is_new_of_named_tuple, new_named_tuple
from cassette_import.runtime.tagging.wrappers import plain

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
