"""Rules for the functions of `functools.lru_cache`: the cache is asked as in the plain program.

So its hits and misses are those of the plain program. But the cache has one value for all metadata that the same
arguments may have. What a call has given is therefore kept beside the cache, by the metadata of its arguments. If the
cache has a value, and none was kept for this metadata, the function runs once more.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.defaults import DEFAULTS, with_defaults
from cassette_import.runtime.tagging.fast_path import COMPLETIONS, TYPES_RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.leaf_call import PROPAGATE, LeafCall, PassingCall, without_rule
from cassette_import.runtime.tagging.overdubbed_calls import TYPES_IN_C, calls_overdubbed, function_behind
from cassette_import.runtime.tagging.rule_table import rule_of_type
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

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


# ---- the ways to call


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


# ---- what is kept beside the cache


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


# ---- the function behind the cache


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
