"""Rules for callables that call another one, cached functions, context managers; silent calls of `logging`."""

from __future__ import annotations

import contextlib
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

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.callables import PARTIAL, special, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import primitives
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.silent_logging import is_silent
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.bound_names import DEFAULTS, KEPT_BY_MANAGERS, entering, with_defaults
from cassette_import.runtime.tagging.c_callers import TestedCallback, bare_callback
from cassette_import.runtime.tagging.fast_path import COMPLETIONS, TYPES_RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.leaf_call import PROPAGATE, LeafCall, PassingCall, without_rule
from cassette_import.runtime.tagging.overdubbed_calls import TYPES_IN_C, calls_overdubbed, function_behind
from cassette_import.runtime.tagging.plain_bodies import MANAGERS_OF_GENERATORS, begin_again, note_end_of_block
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code, rule_of_python_function, rule_of_type
from cassette_import.runtime.tagging.rules.construction import is_new_of_named_tuple, new_named_tuple
from cassette_import.runtime.tagging.tag_scopes import active_store, store_of
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped

# ---- rules for the functions of `functools.lru_cache`: the cache is asked as in the plain program
#
# So its hits and misses are those of the plain program. But the cache has one value for all metadata that the same
# arguments may have. What a call has given is therefore kept beside the cache, by the metadata of its arguments. If the
# cache has a value, and none was kept for this metadata, the function runs once more.

_CACHED: Final = type(functools.lru_cache(lambda: None))
TYPES_RULED_WHILE_TAGGED.add(id(_CACHED))

_SUSPENDABLE: Final = code_objects.GENERATOR | code_objects.COROUTINE | code_objects.ASYNC_GENERATOR
_Variants = dict[Any, tuple[Any, Any]]
"""What calls with the same plain arguments have given, by the metadata of the arguments; and the arguments, so that
their metadata keep their identities."""


@rule_of_type(_CACHED)
@hidden
def call_cached(call: LeafCall) -> Any:
    function = getattr(call.function, "__wrapped__", None)
    if function is None:
        return without_rule(call)
    given = (*call.arguments, *call.keywords.values())
    target, *leading = split(function)
    if not any(type(value) is Tagged for value in given) and id(target) not in DEFAULTS:
        return _call_without_metadata(call, function)
    if is_a(function, functools.partial) or _is_event(call, target):
        return _call_past_cache(call, function)
    if id(type(target)) in TYPES_IN_C:
        leading += call.leading
        return PROPAGATE[0](call.activation, call.callee, target, tuple(leading), call.given, call.keywords)
    entered = _entered_function(call, target)
    if entered is None:
        return _call_past_cache(call, function)
    number = 0 if entered is target else 1
    parameters = _parameters(entered, number, (*leading, *call.arguments), call.keywords)
    return _call_with_metadata(call, function, parameters)


# ---- `lru_cache`: the ways to call


@hidden
def _call_with_metadata(call: LeafCall, function: Any, parameters: list[Any]) -> Any:
    """Let the cache call the function, which gets the wrapped arguments; or give what it gave for this metadata."""
    passing = PassingCall(call, parameters)
    LOCAL.returned = None
    value = passing.native_then_drop_stale()
    variants, metadata = _variants(call, value), _metadata(call)
    if passing.has_entered:
        variants.clear()
        found = _returned_to_cache(value)
        result = value if found is None else found
    elif metadata in variants:
        return variants[metadata][0]
    else:
        result = call.call_back(function, *call.arguments, **call.keywords)
    variants[metadata] = result, (call.arguments, call.keywords)
    return result


@hidden
def _call_without_metadata(call: LeafCall, function: Any) -> Any:
    """The metadata of a result that depends on variables of the function is kept as well."""
    LOCAL.returned = None
    value = without_rule(call)
    found = _returned_to_cache(plain(value))
    if found is None and call.store.views.of(call.function) is None:  # an entry counts as metadata
        return value
    variants, metadata = _variants(call, plain(value)), _metadata(call)
    if found is None:
        if not variants or metadata in variants or not _carries_metadata(call, value):
            return variants[metadata][0] if metadata in variants else value
        found = call.call_back(function, *call.arguments, **call.keywords)
    variants[metadata] = found, ()
    return found


@hidden
def _call_past_cache(call: LeafCall, function: Any) -> Any:
    """Call the function in the place of the cache, once for the same arguments with the same metadata."""
    past, key = _results(call)[1], (_key(call), _metadata(call))
    if key not in past:
        past[key] = call.call_back(function, *call.arguments, **call.keywords), (call.arguments, call.keywords)
    return past[key][0]


@hidden
def _complete_cached(cached: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any) -> Any:
    """The result of a call of a cached function during which the first value was tagged."""
    activation = ACTIVE.get()
    store = store_of(activation)
    if store is None or getattr(cached, "__wrapped__", None) is None:
        return value
    found = _returned_to_cache(plain(value))
    if found is not None:
        call = LeafCall(activation, store, cached, cached, (), arguments, keywords)
        _variants(call, plain(value))[_metadata(call)] = found, ()
    LOCAL.returned = None
    return value if found is None else found


COMPLETIONS[id(_CACHED)] = _complete_cached


# ---- `lru_cache`: what is kept beside the cache


@hidden
def _returned_to_cache(value: Any) -> Any:
    """The wrapper of a value that the function has just returned to the cache; None if it has returned none."""
    found = LOCAL.returned
    return found if found is not None and found._tagged_value is value else None


@hidden
def _results(call: LeafCall) -> tuple[dict[Any, tuple[Any, _Variants]], _Variants]:
    """What calls of a cached function have given: beside values of the cache, and past the cache."""
    entry = call.store.views.make(call.function)
    if entry.extra is None:
        entry.extra = {}, {}
    return entry.extra  # type: ignore[no-any-return]  # of these views, always such a pair


@hidden
def _variants(call: LeafCall, value: Any) -> _Variants:
    """What is kept beside a value of the cache. As the cache does, it forgets what has not been used for longest."""
    results, key = _results(call)[0], _key(call)
    known = results.pop(key, None)
    if known is None or known[0] is not value:  # the cache has forgotten the older value
        known = value, {}
    results[key] = known
    for old in list(results)[: len(results) - max(call.function.cache_info().currsize, 1)]:
        results.pop(old, None)
    return known[1]


@hidden
def _key(call: LeafCall) -> Any:
    """The key under which the cache has the result of a call."""
    arguments = tuple(map(plain, call.arguments))
    return functools._make_key(arguments, call.plain_keywords, call.function.cache_parameters()["typed"])


@hidden
def _metadata(call: LeafCall) -> Any:
    """The metadata of the arguments as a key: numbers and texts by type and value, other objects by identity."""
    return tuple(map(_comparable, (*call.arguments, *call.keywords.values())))


@hidden
def _comparable(value: Any) -> Any:
    if type(value) is not Tagged:
        return None
    return tuple((tag, type(found), _identity(found)) for tag, found in value._tagged_metas.items())


@hidden
def _identity(found: Any) -> Any:
    """What tells a metadata apart from others of its type: of a float, the sign of zero does, too."""
    if type(found) is float:
        return found.hex()
    return found if type(found) in (int, str, bool) else id(found)


@hidden
def _carries_metadata(call: LeafCall, value: Any) -> bool:
    """Whether a value itself has metadata, or its parts have, wherever the program reads them."""
    if type(value) is Tagged:
        return True
    return any(tag is not None and holds_metadata((value,), tag) for tag in call.activation.tags)


# ---- `lru_cache`: the function behind the cache


@hidden
def _is_event(call: LeafCall, target: Any) -> bool:
    """Whether hooks or overloads are for the function: the cache would call it without them."""
    variant = call.activation.variant
    return variant is not None and id(target) in variant.runners[int(Events.CALLS)].plan.targets


@hidden
def _entered_function(call: LeafCall, target: Any) -> FunctionType | None:
    """The overdubbed function that is entered with the arguments of the cache, when the cache calls it."""
    if not calls_overdubbed(call.activation, target):
        return None
    function = target if type(target) is FunctionType else function_behind(target)
    return None if function is None or function.__code__.co_flags & _SUSPENDABLE else function


@hidden
def _parameters(function: FunctionType, number: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
    """The values that a function is entered with, in order. The first `number` parameters are none of the arguments."""
    arguments, keywords = with_defaults(function, number, arguments, keywords)
    code, defaults = function.__code__, function.__defaults__ or ()
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    named = {name: value for name, value in keywords.items() if name in names[code.co_posonlyargcount :]}
    values = {
        **dict(zip(names[count - len(defaults) : count], defaults, strict=True)),
        **(function.__kwdefaults__ or {}),
        **named,
        **dict(zip(names[number:count], arguments, strict=False)),
    }
    rest = [value for name, value in keywords.items() if name not in named]
    return [*[values[name] for name in names[number:] if name in values], *arguments[count - number :], *rest]


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
#
# These are `operator.call`, parametrised classes, and the functions that decorators of the standard library make. The
# latter are written in Python, and found by their code.

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


# ---- rules for context managers: entering


@rule(primitives.enter_context, returns_method_result=True)
@hidden
def enter(call: LeafCall) -> Any:
    """`with manager as name`, in contexts whose events include it."""
    return call.forward(special(call.owner, "__enter__"))


@rule(
    contextlib.ExitStack.enter_context,
    type(contextlib.contextmanager(lambda: iter(()))()).__enter__,
    returns_method_result=True,
)
@hidden
def enter_generator(call: LeafCall) -> Any:
    """The value is what an overdubbed generator, or method, has handed on last."""
    manager = plain(call.arguments[-1])
    if id(type(manager)) in MANAGERS_OF_GENERATORS:
        begin_again(manager)
    LOCAL.returned = None
    value = call.native()
    found = LOCAL.returned
    if found is None and len(call.arguments) > 1:
        entering(call.arguments[1])
        found = LOCAL.returned
    return found if found is not None and found._tagged_value is value else value


@rule_of_code("contextlib", "_BaseExitStack.callback")
@hidden
def call_at_exit(call: LeafCall) -> Any:
    """The function gets its arguments wrapped when the stack is left."""
    if len(call.arguments) < 2:
        return call.native()
    stack, function, *given = call.arguments
    keywords = call.keywords

    @hidden
    def run() -> Any:
        return plain(call.call_back(function, *given, **keywords))

    functools.update_wrapper(run, plain(function), updated=())
    plain(stack).callback(run)
    return function


@hidden
def _kept_by(call: LeafCall) -> str:
    """The attribute whose value the manager hands to the program."""
    return KEPT_BY_MANAGERS["contextlib", call.function.__code__.co_qualname.partition(".")[0]]


@rule_of_code("contextlib", "nullcontext.__init__", "closing.__init__", "aclosing.__init__")
@hidden
def keep_value(call: LeafCall) -> Any:
    result = call.native()
    name = _kept_by(call)
    given = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get(name)
    if call.owner.__dict__.get(name) is plain(given):
        call.store.store_part(call.store.attributes, call.owner, name, given)
    return result


@rule_of_code("contextlib", "nullcontext.__enter__", "closing.__enter__")
@hidden
def load_kept_value(call: LeafCall) -> Any:
    value = call.native()
    name = _kept_by(call)
    return call.store.load_part(call.store.attributes, call.owner, name, value)


# ---- rules for context managers: leaving


@rule_of_code(
    "contextlib",
    "_GeneratorContextManager.__exit__",
    "_AsyncGeneratorContextManager.__aexit__",
    "ExitStack.__exit__",
    "ExitStack.close",
    "AsyncExitStack.__aexit__",
    "AsyncExitStack.aclose",
)
@hidden
def leave(call: LeafCall) -> Any:
    """Generators that began as plain code are resumed."""
    note_end_of_block(call.owner, *call.arguments[1:])
    return call.native()


# ---- functions that `contextlib` makes


@rule_of_code("contextlib", "ContextDecorator.__call__.<locals>.inner")
@hidden
def call_in_context(call: LeafCall) -> Any:
    with enclosing_variable(call.function, "self")._recreate_cm():
        return call.forward(enclosing_variable(call.function, "func"), *call.arguments, **call.keywords)


@rule_of_code("contextlib", "contextmanager.<locals>.helper", "asynccontextmanager.<locals>.helper")
@hidden
def make_context_manager(call: LeafCall) -> Any:
    """The manager calls a generator function."""
    function = enclosing_variable(call.function, "func")
    made: list[Any] = []

    @hidden
    def make_generator(*_: Any, **__: Any) -> Any:
        made.append(plain(call.forward(function, *call.arguments, **call.keywords)))
        return made[0]

    make_generator.__doc__ = getattr(function, "__doc__", None)
    name = (
        "_GeneratorContextManager"
        if "async" not in call.function.__code__.co_qualname
        else "_AsyncGeneratorContextManager"
    )
    manager = call.function.__globals__[name](make_generator, tuple(map(plain, call.arguments)), call.plain_keywords)
    manager.func = function
    return manager
