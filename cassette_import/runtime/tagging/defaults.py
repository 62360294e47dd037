"""Default arguments with metadata: the function has the plain values, and the shadow store their metadata."""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.tag_scopes import active_store, note_stored
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import Tagged, plain

DEFAULTS: Final[dict[int, tuple[weakref.ref[Any], dict[str, tuple[Any, Metas]]]]] = {}
"""The defaults that have metadata, by the function's identity: each with its plain value, by the parameter's name."""


_CALLED_WITH_DEFAULTS: Final = ("__init__", "__new__", "__call__", "__post_init__")
"""The special methods whose calls get the defaults with their metadata."""


@hidden
def with_plain_defaults(function: Any) -> Any:
    """A function that has just been made, with plain defaults."""
    if not FLAGS[METADATA_EXISTS]:
        return function
    found: dict[str, tuple[Any, Metas]] = {}
    defaults, named = function.__defaults__, function.__kwdefaults__
    if defaults and any(type(value) is Tagged for value in defaults):
        code = function.__code__
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        found.update(_slots(zip(names, defaults, strict=True)))
        function.__defaults__ = tuple(map(plain, defaults))
    if named and any(type(value) is Tagged for value in named.values()):
        found.update(_slots(named.items()))
        named.update({name: plain(value) for name, value in named.items()})
    if found:
        name = function.__name__
        if name.startswith("__") and name.endswith("__") and name not in _CALLED_WITH_DEFAULTS:
            for _, metas in found.values():
                lose_number(metas, f"a default argument of {name}")  # the interpreter calls it, without the wrapper
        note_stored(*found.values())
        _keep(function, found)
    return function


@hidden
def note_assigned_defaults(function: FunctionType) -> None:
    """The program has assigned other defaults, or may change the keyword defaults in place."""
    store = active_store()
    if store is None:
        return
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    _keep(function, _slots(zip(names, store.wrapped_items(defaults), strict=False)))


def _keep(function: Any, slots: dict[str, tuple[Any, Metas]]) -> None:
    key = id(function)
    DEFAULTS[key] = weakref.ref(function, lambda _: DEFAULTS.pop(key, None)), slots


def _slots(pairs: Any) -> dict[str, tuple[Any, Metas]]:
    return {name: (value._tagged_value, value._tagged_metas) for name, value in pairs if type(value) is Tagged}


@hidden
def with_defaults(
    function: Any, number: int, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with the defaults that have metadata; `number` arguments go before them."""
    entry = DEFAULTS.get(id(function))
    if entry is None or type(function) is not FunctionType:
        return arguments, keywords
    slots = entry[1]
    code, defaults, named = function.__code__, function.__defaults__ or (), function.__kwdefaults__ or {}
    if number + len(arguments) > code.co_argcount and not code.co_flags & code_objects.VARARGS:
        return arguments, keywords  # they are too many: the message of the error counts those that were given
    first = code.co_argcount - len(defaults)
    given, added = list(arguments), dict(keywords)
    for index in range(number + len(arguments), code.co_argcount):
        name = code.co_varnames[index]
        if index < first:
            if index < code.co_posonlyargcount:
                return arguments, keywords  # an argument is missing
            continue
        value = defaults[index - first]
        if name in slots and slots[name][0] is value:
            value = Tagged(*slots[name])
        if index < code.co_posonlyargcount:
            given.append(value)
        elif type(value) is Tagged:
            added.setdefault(name, value)
    store = active_store() if named else None
    changed = store.slots_by_key(named) if store is not None else {}
    for name, value in named.items():
        slot = changed.get(name) or slots.get(name)
        if slot is not None and slot[0] is value:
            added.setdefault(name, Tagged(*slot))
    return tuple(given), added
