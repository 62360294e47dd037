"""What the options of `faults` mean: which calls are chosen, what is raised, how a result is changed.

Knows options; must not know calls.
"""

from __future__ import annotations

import builtins
import copy
import math
from collections.abc import Callable, Collection
from random import Random
from typing import Any, Final, TypeAlias

from cassette_import.contexts.common.targets import import_path

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
"""Whether something happens in the call of this number."""
Corruption: TypeAlias = Callable[[Any, Random], Any]
"""Makes another result of the right one."""


def selection_from(nth: Any, every: Any, probability: Any) -> Selection:
    """Which calls are chosen; at most one of the three is given.

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
    """The seconds to wait; none if nothing is given."""
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given < math.inf:
        raise ValueError(f"delay is a number of seconds, not {given!r}")
    return given


def exception_from(given: Any) -> Callable[[str], BaseException] | None:
    """What makes the exception to raise, from a message.

    >>> exception_from("OSError")("no")
    OSError('no')
    """
    found = _exception_named(given) if isinstance(given, str) else given
    if found is None:
        return None
    if isinstance(found, BaseException):
        return lambda message: _fresh(found)
    if not isinstance(found, type) or not issubclass(found, BaseException):
        raise ValueError(f"raises is an exception or a type of exceptions, not {given!r}")
    try:
        found("a message")
    except Exception as error:  # whatever its constructor thinks of that
        raise ValueError(f"{found.__qualname__} is not made of a message alone ({error}); give an instance") from None
    return found


def _exception_named(name: str) -> Any:
    return import_path(name) if "." in name else getattr(builtins, name, name)


def _fresh(exception: BaseException) -> BaseException:
    """The exception with nothing of an earlier raising about it; several threads may raise it at once."""
    try:
        made = copy.copy(exception)
    except Exception:  # not every exception can be copied
        made = exception
    made.__traceback__ = made.__context__ = None
    return made


def corruption_from(given: Any) -> Corruption | None:
    """What changes a result: a function of it, or True for `corrupted`."""
    if given is None or given is False:
        return None
    if given is True:
        return corrupted
    found = import_path(given) if isinstance(given, str) else given
    if not callable(found):
        raise ValueError(f"corrupt is a function that makes another result of the right one, or True, not {given!r}")
    return lambda result, random: found(result)


_SIZED: Final = (bytes, bytearray, str, list, tuple)


def corrupted(value: Any, random: Random) -> Any:
    """Another value of the same type, a little wrong; None where nothing is known of the type.

    The value itself stays as it is.

    >>> corrupted(True, Random(1))
    False
    >>> corrupted("cassette", Random(1)) != "cassette"
    True
    """
    kind = type(value)
    if kind is bool:
        return not value
    if kind is int:
        return value ^ (1 << random.randrange(max(1, value.bit_length())))
    if kind is float:
        return value * random.choice((-1, 2, 0.5)) if value and math.isfinite(value) else 1.0
    if kind in _SIZED and value:
        return _one_element_wrong(value, random)
    if kind in (dict, set, frozenset) and value:
        left_out = random.choice(sorted(value, key=repr))
        if kind is dict:
            return {key: item for key, item in value.items() if key != left_out}
        return kind(item for item in value if item != left_out)
    return None


def _one_element_wrong(value: Any, random: Random) -> Any:
    place = random.randrange(len(value))
    before, element, after = value[:place], value[place], value[place + 1 :]
    if isinstance(value, str):
        return before + chr(ord(element) ^ 1) + after
    if isinstance(value, (bytes, bytearray)):
        return before + bytes([element ^ (1 << random.randrange(8))]) + after
    return before + after  # of a list or tuple, the element is missing
