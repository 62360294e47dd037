"""How a call is made that no overload takes, where values may be tagged.

Overdubbed Python functions get wrapped arguments. Every other callee is a leaf: it gets plain arguments and returns a
plain value, unless `rules` has a rule function for it. The names in this module are all that dispatch uses of tagging.
"""

from __future__ import annotations

import itertools
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import joined, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import primitives
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.tagging import (
    bound_names,
    callback_arguments,
    consumed_results,  # noqa: F401 - it adds itself
    matched_parts,
    rewritten_code,
)
from cassette_import.runtime.tagging.bound_names import DEFAULTS, with_defaults
from cassette_import.runtime.tagging.callback_metadata import (
    CALLBACKS,
    keep_metadata_of_error,
    with_metadata_of_callback,
)
from cassette_import.runtime.tagging.fast_path import (
    KINDS_OF_FAST_PATH,
    RULED_ALWAYS,
    RULED_WHILE_TAGGED,
    SIMPLE,
    TABLES_OF_FAST_PATH,
    TYPES_RULED_WHILE_TAGGED,
    any_arguments,
    call_plainly,
    is_plain_while_untagged,
    make_plain_call,
    plain_iterator,
    returns_wrapped,
    rewrapped_result,
    rewrapped_result_of,
    steps_plainly,
)
from cassette_import.runtime.tagging.handover import call_overdubbed, call_overload, claimed, rewrapped
from cassette_import.runtime.tagging.iterator_metadata import (
    claimed_item,
    claimed_stop,
    item_of_plain_iterator,
    items_to_unpack,
)
from cassette_import.runtime.tagging.leaf_call import PROPAGATE, LeafCall, without_rule, without_wrappers
from cassette_import.runtime.tagging.live_metadata import follow_metadata, refresh_names
from cassette_import.runtime.tagging.overdubbed_calls import (
    TYPES_IN_C,
    WRAPPER_AWARE,
    calls_overdubbed,
    function_behind,
)
from cassette_import.runtime.tagging.quick_rules import QUICK_RULES
from cassette_import.runtime.tagging.rules import RULES, RULES_OF_TYPES
from cassette_import.runtime.tagging.rules.callables import (
    arguments_of_partial,
    callee_of_partial,
    keywords_of_partial,
)
from cassette_import.runtime.tagging.rules.construction import construct
from cassette_import.runtime.tagging.shadow_store import drop_latest_unused, drop_unused_since
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.tags import TextTag
from cassette_import.runtime.tagging.thread_state import LEAVES, LOCAL, outside
from cassette_import.runtime.tagging.wrappers import Tagged, plain, split_wrapped, wrapped

__all__ = [
    "KINDS_OF_FAST_PATH",
    "LOCAL",
    "QUICK_RULES",
    "TABLES_OF_FAST_PATH",
    "bound_names",
    "call_function",
    "call_overload",
    "call_plainly",
    "callback_arguments",
    "claimed",
    "claimed_item",
    "claimed_stop",
    "follow_metadata",
    "is_plain_while_untagged",
    "item_of_plain_iterator",
    "items_to_unpack",
    "make_plain_call",
    "matched_parts",
    "plain_iterator",
    "propagate",
    "returns_wrapped",
    "rewrapped",
    "rewrapped_result_of",
    "rewritten_code",
    "steps_plainly",
    "without_marks",
    "without_tags",
]  # fmt: skip

_PRIMITIVES: Final = frozenset(
    map(id, (primitives.number, primitives.load_global, primitives.build_list, primitives.build_tuple))
)
"""Syntax that runs no code of the program."""

_calls: Final = itertools.count(1)
_REFRESH_MASK: Final = 1023


@hidden
def propagate(
    activation: Activation,
    callee: Any,
    function: Any,
    leading: tuple[Any, ...],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """Make a call: `function` is what `callee` calls in the end, with the arguments `leading` first."""
    # The kinds of calls follow one another in this one function, because each further function costs a frame per call.
    # Nothing is tagged anywhere: the plain call, unless a callback may tag the first value.
    if not FLAGS[METADATA_EXISTS]:
        is_ruled = id(type(function)) in TYPES_RULED_WHILE_TAGGED
        plain_if = None if is_ruled else RULED_ALWAYS.get(id(function), any_arguments)
        if plain_if is any_arguments or (plain_if is not None and plain_if(arguments, keywords)):
            value = callee(*arguments, **keywords)
            return rewrapped_result(function, value) if FLAGS[METADATA_EXISTS] else value
    elif not next(_calls) & _REFRESH_MASK:
        refresh_names()
    # A function of C and values without parts: the plain call.
    tagged = type(callee) is Tagged
    simple = type(callee) is BuiltinFunctionType and not keywords and (not leading or id(type(leading[0])) in SIMPLE)
    for argument in arguments:
        kind = type(argument)
        if kind is Tagged:
            tagged, simple = True, False
            break
        if id(kind) not in SIMPLE:
            simple = False
            if id(kind) in CALLBACKS:
                tagged = True  # its variables may be
    if simple:
        return callee(*arguments)
    if keywords and not tagged:
        tagged = any(type(argument) is Tagged for argument in keywords.values())
    if type(callee) is Tagged:
        callee, function, leading, arguments = _with_bare_callee(callee, arguments)
    if type(callee) is partial:
        callee, function, leading, arguments, keywords = _with_arguments_of_partial(callee, arguments, keywords)
        tagged = True
    # A function that takes wrapped arguments.
    key = id(function)
    if key in WRAPPER_AWARE:
        return callee(*arguments, **keywords)
    if key in _PRIMITIVES:
        store = store_of(activation)
        if not (tagged or store or key in RULED_ALWAYS):
            return callee(*arguments, **keywords)
        type_id = id(type(function))
    elif (type_id := id(type(function))) not in TYPES_IN_C and calls_overdubbed(activation, function):
        if DEFAULTS:
            target = function if type(function) is FunctionType else function_behind(function)
            arguments, keywords = with_defaults(target, _arguments_before(function, leading), arguments, keywords)
        return call_overdubbed(callee, *arguments, **keywords)
    # A leaf.
    if LOCAL.held:
        drop_latest_unused()
    returned, wants_wrapped = LOCAL.returned, LOCAL.wants_wrapped
    try:
        if wants_wrapped:
            LOCAL.wants_wrapped = False
        store = store_of(activation)
        if store is None or not (tagged or store or key in RULED_WHILE_TAGGED or type_id in TYPES_RULED_WHILE_TAGGED):
            if tagged:
                return callee(*map(plain, arguments), **without_wrappers(keywords))
            value = callee(*arguments, **keywords)
            if LOCAL.returned is returned:
                return value if store is None else store.recognised.read(value, function)
            return with_metadata_of_callback(activation, function, (*leading, *arguments), keywords, value)
        found = RULES.get(key)
        if found is not None:
            rule_function = found[1]
        elif is_a(function, type):
            rule_function = construct
        else:
            rule_function = RULES_OF_TYPES.get(type_id, without_rule)
        if tagged and store.recognised.types:  # the leaf may store them, or pass them to functions of the program
            store.note((*leading, *arguments, *keywords.values()))
        value = rule_function(LeafCall(activation, store, callee, function, leading, arguments, keywords))
        if id(value) in store.recognised.slots and not _is_argument(value, leading, arguments):
            store.recognised.lose_watched(value, function)
        return value
    except Exception as error:
        if tagged and store is not None and error.args:
            keep_metadata_of_error(activation, function, (*leading, *arguments), keywords, error)
        raise
    finally:
        LOCAL.returned, LOCAL.wants_wrapped = returned, wants_wrapped


PROPAGATE.append(propagate)


@hidden
def call_function(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Make a call that no overload takes: of a Python function, of a bound method of one, or of a class."""
    function = callee.__func__ if type(callee) is MethodType else callee
    if not (FLAGS[METADATA_EXISTS] or id(function) in RULED_ALWAYS or id(type(function)) in TYPES_RULED_WHILE_TAGGED):
        value = callee(*arguments, **keywords)
        return rewrapped_result(function, value) if FLAGS[METADATA_EXISTS] else value
    activation = ACTIVE.get()
    if DEFAULTS or id(function) in WRAPPER_AWARE or not calls_overdubbed(activation, function):
        leading = () if function is callee else (callee.__self__,)
        return propagate(activation, callee, function, leading, arguments, keywords)
    # The same as `call_overdubbed`: each further function would cost a frame per call.
    returned, wants_wrapped = LOCAL.returned, LOCAL.wants_wrapped
    LOCAL.returned, LOCAL.wants_wrapped = None, False
    number = len(LOCAL.held)
    try:
        result = outside(callee, *arguments, **keywords) if LEAVES else callee(*arguments, **keywords)
        found = LOCAL.returned
        if len(LOCAL.held) > number:
            drop_unused_since(number)
        return found if found is not None and found._tagged_value is result else result
    finally:
        LOCAL.returned, LOCAL.wants_wrapped = returned, wants_wrapped


@hidden
def _with_bare_callee(callee: Tagged, arguments: tuple[Any, ...]) -> tuple[Any, Any, tuple[Any, ...], tuple[Any, ...]]:
    """The callee, function, leading arguments and arguments of a call of a wrapped callee, without its wrapper.

    A method whose receiver is wrapped gets the wrapped receiver if it is a Python function. An object that a leaf made
    from values with metadata is an argument of its call.
    """
    function, *leading = split_wrapped(callee)
    method = callee._tagged_value
    if function is method and _is_unknown_object(callee):
        return method, function, (callee,), arguments
    if leading and type(leading[0]) is Tagged and type(function) is FunctionType and type(method) is MethodType:
        return function, function, (), (*leading, *arguments)
    return method, function, tuple(leading), arguments


@hidden
def _is_argument(value: Any, leading: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
    """Whether a leaf has returned an argument of its own: it was asked then what becomes of the metadata."""
    return any(plain(argument) is value for argument in (*leading, *arguments))


@hidden
def _is_unknown_object(callee: Tagged) -> bool:
    """Whether a callable object has metadata whose loss is an error, and no rule."""
    kind = id(type(callee._tagged_value))
    if kind in TYPES_IN_C or kind in RULES_OF_TYPES or id(callee._tagged_value) in RULES:
        return False
    return any(tag.lost == "error" for tag in callee._tagged_metas)


def _arguments_before(function: Any, leading: tuple[Any, ...]) -> int:
    """How many arguments a function gets before those of the call: a class, or a callable object, is one, too."""
    return len(leading) + (type(function) is not FunctionType)


@hidden
def _with_arguments_of_partial(
    callee: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, Any, tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
    """The call that a partial object makes: its arguments are those of its callee, with their metadata."""
    function, *leading = split(callee_of_partial(callee))
    arguments = joined(arguments_of_partial(callee), arguments)
    return callee.func, function, tuple(leading), arguments, {**keywords_of_partial(callee), **keywords}


@hidden
def without_marks(value: Any) -> Any:
    """The result of a root call: a text is plain if all that is known of it is that it was made of tagged values."""
    if type(value) is Tagged and all(type(tag) is TextTag for tag in value._tagged_metas):
        return value._tagged_value
    return value


@hidden
def without_tags(
    tags: tuple[Any, ...] | None, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call that contexts hand on, without the metadata of some tags; None for all tags.

    The arguments of a function that has a rule keep it.
    """
    if id(function) in RULES:
        return arguments, keywords

    def strip(value: Any) -> Any:
        if type(value) is not Tagged:
            return value
        metas = value._tagged_metas
        left = {} if tags is None else {tag: found for tag, found in metas.items() if tag not in tags}
        return value if len(left) == len(metas) else wrapped(value._tagged_value, left)

    return tuple(map(strip, arguments)), {name: strip(value) for name, value in keywords.items()}
