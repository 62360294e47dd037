"""The options of `faults`: which calls are chosen, which exception is raised, how a result is changed."""

from __future__ import annotations

import builtins
import copy
import math
from collections.abc import Callable, Collection, Iterable
from random import Random
from typing import Any, Final, TypeAlias, TypeGuard

from cassette_import.contexts.common.targets import import_path
from cassette_import.interpreter.suggestions import suggestion

__all__ = [
    "Corruption",
    "Selection",
    "corrupted",
    "corruption_from",
    "exception_from",
    "seconds_from",
    "selection_from",
]

Selection: TypeAlias = Callable[[int, Random], bool]
"""Whether the call of this number has a fault."""
Corruption: TypeAlias = Callable[[Any, Random], Any]
"""Returns another value that replaces a result."""


def selection_from(nth: Any, every: Any, probability: Any) -> Selection:
    """The selection of calls; at most one of the three arguments may be given.

    >>> second = selection_from(2, None, None)
    >>> [second(number, Random(0)) for number in (1, 2, 3)]
    [False, True, False]
    """
    if sum(given is not None for given in (nth, every, probability)) > 1:
        raise ValueError("which calls? give one of nth=, every= and probability=")
    if nth is not None:
        numbers = frozenset(nth) if isinstance(nth, Collection) and not isinstance(nth, str) else frozenset({nth})
        for number in numbers:
            _check_positive("nth", number)
        return lambda number, random: number in numbers
    if every is not None:
        _check_positive("every", every)
        return lambda number, random: number % every == 0
    if probability is not None:
        if isinstance(probability, bool) or not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
            raise ValueError(f"probability is a number from 0 to 1, not {probability!r}")
        return lambda number, random: random.random() < probability
    return lambda number, random: True


def _check_positive(option: str, number: object) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{option} counts calls from 1, and is not {number!r}")


def seconds_from(given: Any) -> float:
    """The seconds of a delay; 0 if none is given."""
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given < math.inf:
        raise ValueError(f"delay is a number of seconds, not {given!r}")
    return given


def exception_from(given: Any) -> Callable[[str], BaseException] | None:
    """A function that makes the exception to raise from a message; None if none is given.

    >>> exception_from("OSError")("no")
    OSError('no')
    """
    found = _exception_named(given) if isinstance(given, str) else given
    if found is None:
        return None
    if isinstance(found, BaseException):
        return lambda message: _fresh(found)
    if not _is_exception_type(found):
        known = [name for name, value in vars(builtins).items() if _is_exception_type(value)]
        meant = suggestion(given, known) if isinstance(given, str) else ""
        raise ValueError(f"raises is an exception or a type of exceptions, not {given!r}{meant}")
    try:
        found("a message")
    except Exception as error:  # a constructor may raise anything
        raise ValueError(f"{found.__qualname__} takes more than a message ({error}); give an instance") from None
    return found


def _is_exception_type(value: Any) -> TypeGuard[type[BaseException]]:
    return isinstance(value, type) and issubclass(value, BaseException)


def _exception_named(name: str) -> Any:
    return import_path(name) if "." in name else getattr(builtins, name, name)


def _fresh(exception: BaseException) -> BaseException:
    """A copy without traceback and context of an earlier `raise`, because several threads may raise it at once.

    Its cause is that of the exception.
    """
    try:
        made = copy.copy(exception)
    except Exception:  # not every exception can be copied
        made = exception
    made.__traceback__ = made.__context__ = None
    made.__cause__, made.__suppress_context__ = exception.__cause__, exception.__suppress_context__
    return made


def corruption_from(given: Any) -> Corruption | None:
    """How a result is changed: by a given function, or for True by `corrupted`."""
    if given is None or given is False:
        return None
    if given is True:
        return corrupted
    found = import_path(given) if isinstance(given, str) else given
    if not callable(found):
        raise ValueError(f"corrupt is a function that changes a result, or True, not {given!r}")
    return lambda result, random: found(result)


def corrupted(value: Any, random: Random) -> Any:
    """A slightly changed value of the same type; None for other types. The value itself is not changed.

    >>> corrupted(True, Random(1))
    False
    >>> corrupted("cassette", Random(1)) != "cassette"
    True
    >>> corrupted([], Random(1)), corrupted({}, Random(1))
    ([None], {None: None})
    """
    empty = _ADDITIONS.get(type(value))
    if empty is not None and not value:
        return copy.copy(empty)
    change = _CHANGES.get(type(value))
    return None if change is None else change(value, random)


def _one_bit_flipped(value: int, random: Random) -> int:
    return value ^ (1 << random.randrange(max(1, value.bit_length())))


def _scaled(value: float, random: Random) -> float:
    return value * random.choice((-1, 2, 0.5)) if value and math.isfinite(value) else 1.0


def _one_character_wrong(value: str, random: Random) -> str:
    place = random.randrange(len(value))
    return value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]


def _one_byte_wrong(value: Any, random: Random) -> Any:
    place = random.randrange(len(value))
    return value[:place] + bytes([value[place] ^ (1 << random.randrange(8))]) + value[place + 1 :]


def _one_element_missing(value: Any, random: Random) -> Any:
    place = random.randrange(len(value))
    return value[:place] + value[place + 1 :]


def _one_key_missing(value: dict[Any, Any], random: Random) -> dict[Any, Any]:
    left_out = _chosen(value, random)
    return {key: item for key, item in value.items() if key is not left_out}


def _one_member_missing(value: Any, random: Random) -> Any:
    left_out = _chosen(value, random)
    return type(value)(item for item in value if item is not left_out)  # NaN is not equal to itself


def _chosen(items: Iterable[Any], random: Random) -> Any:
    """One of the items; the same one for the same seed, although sets have another order in each run."""
    try:
        return random.choice(sorted(items, key=repr))
    except Exception:  # a `__repr__` of the program may raise anything
        return random.choice(list(items))


_CHANGES: Final[dict[type, Corruption]] = {
    bool: lambda value, random: not value,
    int: _one_bit_flipped,
    float: _scaled,
    complex: lambda value, random: complex(_scaled(value.real, random), value.imag),
    str: _one_character_wrong,
    bytes: _one_byte_wrong,
    bytearray: _one_byte_wrong,
    list: _one_element_missing,
    tuple: _one_element_missing,
    dict: _one_key_missing,
    set: _one_member_missing,
    frozenset: _one_member_missing,
}
"""How a value of each type is changed. Containers are not empty."""
_ADDITIONS: Final[dict[type, Any]] = {
    str: "?",
    bytes: b"?",
    bytearray: bytearray(b"?"),
    list: [None],
    tuple: (None,),
    dict: {None: None},
    set: {None},
    frozenset: frozenset({None}),
}
"""What replaces an empty value of each type."""
