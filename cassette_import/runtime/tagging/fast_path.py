"""What events are as long as there is no metadata anywhere: what they are without tagging, but for a few functions.

Iterators and callbacks outlive the moment at which somebody tags the first value, so functions that hand these on have
rules that count always. What was going on at that moment gets the wrapper that was left for it when it ends. Knows
functions and kinds of arguments; must not know rules.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.names import NAMES, PROVIDED
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.overdubbed_calls import NEVER_PYTHON, VERBS, enters, runs_overdubbed
from cassette_import.runtime.tagging.wrappers import LOCAL

Idle = Callable[[tuple[Any, ...], dict[str, Any]], bool]

ALWAYS: Final[dict[int, Idle | None]] = {}
"""Functions whose rule counts although nothing is known to be tagged: their callbacks may return what is. With what
tells of arguments that the plain call does the same as long as there is no metadata anywhere."""

_always_names: Final[set[str]] = set()
"""The names of those that are written in C, by which most others are told from them at once."""

CLAIMING: Final[set[int]] = set()
"""Functions that give what special methods of the program return: where these wrap it, so it is wrapped."""

_SIMPLE: Final = (int, float, str, bool, bytes, complex, type(None))
SIMPLE: Final = frozenset(map(id, _SIMPLE))
"""Types of values without parts, by identity: a metaclass of the program may have no hash."""

_WHOLE: Final = frozenset(
    map(
        id,
        (
            *_SIMPLE, list, tuple, set, frozenset, dict, range, bytearray,
            *map(type, ({}.keys(), {}.values(), {}.items(), iter([]), iter(()), iter({}), iter(range(0)), iter(""))),
        ),
    )
)  # fmt: skip
"""Types of what runs no code but C's own when it is iterated over, if it can be."""


# ---- functions whose rules count always


def always(*functions: Any, idle: Idle | None = None) -> Callable[[Any], Any]:
    """Say that the rule of some functions counts although nothing is known to be tagged."""
    ALWAYS.update((id(function), idle) for function in functions)
    _always_names.update(function.__name__ for function in functions if type(function) is not type)
    return lambda made: made


def claiming(*functions: Any, idle: Idle | None = None) -> Callable[[Any], Any]:
    """The same of functions that give what special methods of the program return."""
    CLAIMING.update(map(id, functions))
    return always(*functions, idle=idle or anything)


@hidden
def anything(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Any arguments will do."""
    return True


@hidden
def are_whole(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether iterating over the arguments runs no code but C's own."""
    if keywords and not _WHOLE.issuperset(map(id, map(type, keywords.values()))):
        return False
    return _WHOLE.issuperset(map(id, map(type, arguments)))


@hidden
def nobody_watches(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether no context says what becomes of attributes that are read."""
    return not NAMES["@watched"]


@hidden
def is_plain_while_untagged(callee: Any) -> bool:
    """Whether a callee does with any arguments what it does plainly, as long as there is no metadata anywhere."""
    if NAMES["@tagged"]:
        return False
    kind = type(callee)
    if kind is BuiltinFunctionType and callee.__name__ not in _always_names:
        return True
    return id(callee if kind is type or kind is FunctionType else split(callee)[0]) not in ALWAYS


# ---- what was going on when the first value was tagged


@hidden
def call_plainly(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A call that began when there was no metadata anywhere."""
    value = callee(*arguments, **keywords)
    return claimed(split(callee)[0], value) if NAMES["@tagged"] else value


@hidden
def claimed(function: Any, value: Any) -> Any:
    """What a plain call gave while the first metadata came into the world; wrapped as it was inside."""
    found, LOCAL.returned = LOCAL.returned, None
    if found is None or found._tagged_value is not value:
        return value
    if id(function) in CLAIMING:
        return found
    is_python = id(type(function)) not in NEVER_PYTHON and id(function) not in VERBS
    return found if is_python and enters(ACTIVE.get(), function) else value


@hidden
def claimed_of(callee: Any, value: Any) -> Any:
    """The same of any callee."""
    return claimed(split(callee)[0], value)


@hidden
def rewrapped(value: Any) -> Any:
    """The same of syntax that gives what special methods of the program return."""
    found, LOCAL.returned = LOCAL.returned, None
    return found if found is not None and found._tagged_value is value else value


@hidden
def settled(value: Any) -> Any:
    """The same of syntax whose value is never wrapped."""
    LOCAL.returned = None
    return value


# ---- iterators

STEPPED_TYPES: Final = tuple(
    type(iterator)
    for iterator in (
        *map(iter, ([], (), deque(), {}, {}.values(), {}.items(), set(), range(0), range(1 << 100), "", "€", b"")),
        reversed([]), reversed(()), reversed(deque()), reversed({}), reversed({}.items()), reversed({}.values()),
        reversed(range(0)),
    )
)  # fmt: skip
"""Types of iterators that run no code but C's own."""
_STEPPED: Final = frozenset(map(id, STEPPED_TYPES))


@hidden
def steps_plainly(iterator: Any) -> bool:
    """Whether the steps of an iterator are, as long as there is no metadata anywhere, what they are without us."""
    kind = type(iterator)
    if kind is GeneratorType:
        return runs_overdubbed(iterator)
    return id(kind) in _STEPPED or ((kind is zip or kind is enumerate) and _takes_from_stepped(iterator))


@hidden
def _takes_from_stepped(iterator: Any) -> bool:
    sources = iterator.__reduce__()[1]
    return _STEPPED.issuperset(map(id, map(type, sources if type(iterator) is zip else sources[:1])))


PROVIDED.add(
    {
        "@claimed": rewrapped,
        "@claimed.of": claimed_of,
        "@settled": settled,
        "@id": id,
        "@whole.operator.iadd": _WHOLE,
        "@whole.operator.ior": _WHOLE - {id(kind) for kind in (list, tuple, range, str, bytes, bytearray)},
    }
)
