"""The fast path: what events are as long as there is no metadata anywhere.

They are what they are without tagging, except for a few functions. Iterators and callbacks outlive the moment at which
the first value is tagged, so the rules of functions that make iterators or call callbacks apply always. A plain call
that is under way at that moment gets its result wrapped when it ends.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Set
from types import BuiltinFunctionType, FunctionType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import bases_of
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import ATTRIBUTES_WATCHED, METADATA_EXISTS
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.handover import CLAIM
from cassette_import.runtime.tagging.live_metadata import WATCHED_NAMES, WATCHES
from cassette_import.runtime.tagging.overdubbed_calls import (
    TYPES_IN_C,
    WRAPPER_AWARE,
    calls_overdubbed,
    runs_overdubbed,
)
from cassette_import.runtime.tagging.thread_state import LOCAL

PlainIf = Callable[[tuple[Any, ...], dict[str, Any]], bool]
"""A condition on the arguments and keyword arguments of a call."""

RULED_ALWAYS: Final[dict[int, PlainIf | None]] = {}
"""Functions, by identity, whose rules apply although nothing is tagged: their callbacks may return a tagged value.

The condition holds for arguments with which the plain call does the same as long as there is no metadata anywhere."""

RULED_WHILE_TAGGED: Final[set[int]] = set()
"""Functions, by identity, whose rules apply as soon as there is metadata anywhere: their callbacks may return it."""

TYPES_RULED_WHILE_TAGGED: Final[set[int]] = set()
"""Types of callables, by identity, for which the same holds."""

COMPLETIONS: Final[dict[int, Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Any]]] = {}
"""What claims the result of a plain call during which the first value was tagged, by the identity of the callee's type.

It gets the callee, the arguments, the keyword arguments and the result, and does the rest of what the rule does."""

_names_in_c: Final[set[str]] = set()
"""The names of those functions that are written in C: most other functions are excluded at once by their names."""

HOW_LEAVES_ARE_WATCHED: Final[dict[int, tuple[Any, ...]]] = {}
"""Functions, by identity, whose rules apply always, and which the interpreter calls nevertheless as long as there is
no metadata: how the accelerator watches what they take and call, see `watched_calls.watch`."""

RETURN_METHOD_RESULT: Final[set[int]] = set()
"""Functions, by identity, that return what special methods of the program return: wrapped if these wrapped it."""

_SIMPLE: Final = (int, float, str, bool, bytes, complex, type(None))
SIMPLE: Final = frozenset(map(id, _SIMPLE))
"""Types of values without parts, by identity, as a metaclass of the program may have no hash."""

_ITERATED_BY_C: Final = frozenset(
    map(
        id,
        (
            *_SIMPLE, list, tuple, set, frozenset, dict, range, bytearray,
            *map(type, ({}.keys(), {}.values(), {}.items(), iter([]), iter(()), iter({}), iter(range(0)), iter(""))),
        ),
    )
)  # fmt: skip
"""Types, by identity, that run only code of the interpreter when they are iterated over, if they can be."""


# ---- functions whose rules apply always


def apply_always(function: Any, plain_if: PlainIf | None, returns_method_result: bool) -> None:
    """Let the rule of a function apply although nothing is tagged, except for some arguments."""
    RULED_ALWAYS[id(function)] = plain_if
    RULED_WHILE_TAGGED.add(id(function))
    if returns_method_result:
        RETURN_METHOD_RESULT.add(id(function))
    if type(function) is not type and type(function) is not FunctionType:
        _names_in_c.add(function.__name__)


@hidden
def are_formatted_by_c(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether the interpreter makes text of the arguments without code of the program."""
    for argument in (*arguments, *keywords.values()):
        kind = type(argument)
        if id(kind) not in SIMPLE:
            if kind is not list and kind is not tuple:
                return False
            if not all(id(type(item)) in SIMPLE for item in argument):
                return False
    return True


@hidden
def any_arguments(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """The plain call does the same with any arguments."""
    return True


@hidden
def are_iterated_by_c(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether iteration over the arguments runs only code of the interpreter."""
    for argument in (*arguments, *keywords.values()):
        kind = type(argument)
        if id(kind) not in _ITERATED_BY_C and not _is_iterated_as_its_base(kind):
            return False
    return True


@hidden
def _is_iterated_as_its_base(kind: type) -> bool:
    """Whether a subclass of a container has no iterator and no length of its own."""
    for base in bases_of(kind) or ():
        if id(base) in _ITERATED_BY_C:
            return all(lookup(kind, name) is lookup(base, name) for name in ("__iter__", "__len__"))
    return False


@hidden
def nothing_watched(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether no context watches attributes of this name. As long as there is no metadata, a name is no wrapper."""
    if not WATCHES[ATTRIBUTES_WATCHED]:
        return True
    name = arguments[1] if len(arguments) > 1 else None
    return type(name) is str and name not in WATCHED_NAMES


@hidden
def is_plain_while_untagged(callee: Any) -> bool:
    """Whether the plain call does the same with any arguments, as long as there is no metadata anywhere."""
    if FLAGS[METADATA_EXISTS]:
        return False
    kind = type(callee)
    if kind is BuiltinFunctionType and callee.__name__ not in _names_in_c:
        return True
    function = callee if kind is type or kind is FunctionType else split(callee)[0]
    is_plain = RULED_ALWAYS.get(id(function), any_arguments) is any_arguments
    return is_plain and id(type(function)) not in TYPES_RULED_WHILE_TAGGED


# ---- plain calls during which the first value is tagged


@hidden
def call_plainly(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Make a call that begins while there is no metadata anywhere."""
    value = callee(*arguments, **keywords)
    return rewrapped_result(split(callee)[0], value) if FLAGS[METADATA_EXISTS] else value


def make_plain_call(event: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a callee that was looked up before its arguments, which may have tagged the first value: then the
    call is an event.
    """

    @hidden
    def call(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if FLAGS[METADATA_EXISTS]:
            return event(callee, *arguments, **keywords)
        value = callee(*arguments, **keywords)
        return rewrapped_result(split(callee)[0], value) if FLAGS[METADATA_EXISTS] else value

    return call


@hidden
def rewrapped_result(function: Any, value: Any) -> Any:
    """The result of a plain call during which the first value was tagged, wrapped as it was inside."""
    found, LOCAL.returned = LOCAL.returned, None
    if found is None:
        return value
    if returns_wrapped(function):
        return found if found._tagged_value is value else value
    return CLAIM[0](function, found, value)


@hidden
def returns_wrapped(function: Any) -> bool:
    """Whether the result of a plain call of a function is wrapped if its code has wrapped it."""
    if id(function) in RETURN_METHOD_RESULT:
        return True
    is_python = id(type(function)) not in TYPES_IN_C and id(function) not in WRAPPER_AWARE
    return is_python and calls_overdubbed(ACTIVE.get(), function)


@hidden
def rewrapped_result_of(callee: Any, value: Any) -> Any:
    """The same for any callee."""
    return rewrapped_result(split(callee)[0], value)


# ---- iterators

_COMBINING: Final = (
    itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement,
)  # fmt: skip
"""Types of iterators that copy what they combine into tuples before their first step."""

STEPPED_TYPES: Final = tuple(
    type(iterator)
    for iterator in (
        *map(iter, ([], (), deque(), {}, {}.values(), {}.items(), set(), range(0), range(1 << 100), "", "€", b"")),
        reversed([]), reversed(()), reversed(deque()), reversed({}), reversed({}.items()), reversed({}.values()),
        reversed(range(0)),
    )
) + _COMBINING  # fmt: skip
"""Types of iterators that run only code of the interpreter."""
_STEPPED: Final = frozenset(map(id, STEPPED_TYPES))

STEPPED_OR_WATCHED: Final = set(_STEPPED)
"""These types, and the accelerator's proxies of sources and callbacks, by identity."""


@hidden
def steps_plainly(iterator: Any) -> bool:
    """Whether the steps of an iterator need no rule as long as there is no metadata anywhere."""
    kind = type(iterator)
    if kind is GeneratorType:
        return runs_overdubbed(iterator)
    if id(kind) in _STEPPED:
        return True
    return id(kind) in _TAKING_FROM_OTHERS and _takes_from(iterator, STEPPED_OR_WATCHED)


@hidden
def plain_iterator(iterable: Any) -> Any:
    """An iterator over an object that runs only code of the interpreter; None if there is none.

    At its end it releases what it reads. Where it stands says which item it has given last (`iterator_metadata`).
    """
    kind = type(iterable)
    if id(kind) in _CONTAINERS:
        return iter(iterable)
    if id(kind) in _STEPPED or (kind is enumerate and _takes_from(iterable, _STEPPED)):
        return iterable
    # `zip` keeps its other sources at the end of one.
    return itertools.chain(iterable) if kind is zip and _takes_from(iterable, _STEPPED) else None


_CONTAINERS: Final = frozenset(
    map(
        id,
        (
            *(str, bytes, list, tuple, dict, set, frozenset, deque, range),
            *map(type, ({}.keys(), {}.values(), {}.items())),
        ),
    )
)
"""Types of containers whose iterators are among `STEPPED_TYPES`, by identity."""


_TAKING_FROM_OTHERS: Final = frozenset(map(id, (zip, enumerate, map, filter)))


@hidden
def _takes_from(iterator: Any, kinds: Set[int]) -> bool:
    sources = iterator.__reduce__()[1]
    return kinds >= set(map(id, map(type, sources[:1] if type(iterator) is enumerate else sources)))


@hidden
def has_computed_method(activation: Any) -> bool:
    """Whether a context of an activation has a method `computed`."""
    return any(tag is not None and tag.computed is not None for tag in activation.tags)


KINDS_OF_FAST_PATH: Final = _CONTAINERS, _STEPPED, steps_plainly
TABLES_OF_FAST_PATH: Final = (
    RULED_ALWAYS, _names_in_c, any_arguments, nothing_watched, are_iterated_by_c, _ITERATED_BY_C,
    WATCHES, ATTRIBUTES_WATCHED, HOW_LEAVES_ARE_WATCHED, steps_plainly, has_computed_method, COMPLETIONS,
)  # fmt: skip
"""What the accelerator of dispatch needs to know: of loops, and of calls."""

NAMES.update(
    {
        symbols.CLAIMED_OF: rewrapped_result_of,
        symbols.ID: id,
        symbols.SIMPLE: SIMPLE,
        symbols.RULED: RULED_ALWAYS,
        symbols.RULED_NAMES: _names_in_c,
        symbols.whole_types("operator.iadd"): _ITERATED_BY_C,
        symbols.whole_types("operator.ior"): _ITERATED_BY_C - set(map(id, (list, tuple, range, str, bytes, bytearray))),
    }
)
