"""`Faults`: injects faults into chosen calls, to test how a program handles them.

A fault is an exception, a delay, or a changed result. Calls are counted for each target separately, in the order in
which they begin, over all threads.
"""

from __future__ import annotations

import asyncio
import builtins
import copy
import inspect
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from random import Random
from time import sleep
from typing import Any, Final, TypeAlias, TypeGuard

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.coroutines import standing_for
from cassette_import.kits.interception import TargetedContext
from cassette_import.kits.options import further_options_of
from cassette_import.kits.reporting import Writer
from cassette_import.kits.targets import (
    ResolvedTarget,
    Target,
    constructor_hint,
    import_path,
    never_called,
    resolve_target,
    split_targets,
)
from cassette_import.kits.text import plural, text_writer

__all__ = ["Faults", "corrupted"]

# ---- the options of `faults`: which calls are chosen, which exception is raised, how a result is changed

_Selection: TypeAlias = Callable[[int, Random], bool]
"""Whether the call of this number has a fault."""
_Corruption: TypeAlias = Callable[[Any, Random], Any]
"""Returns another value that replaces a result."""


def _selection_from(nth: Any, every: Any, probability: Any) -> _Selection:
    """The selection of calls; at most one of the three arguments may be given.

    >>> second = _selection_from(2, None, None)
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


def _seconds_from(given: Any) -> float:
    """The seconds of a delay; 0 if none is given."""
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given < math.inf:
        raise ValueError(f"delay is a number of seconds, not {given!r}")
    return given


def _exception_from(given: Any) -> Callable[[str], BaseException] | None:
    """A function that makes the exception to raise from a message; None if none is given.

    >>> _exception_from("OSError")("no")
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


def _corruption_from(given: Any) -> _Corruption | None:
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


_CHANGES: Final[dict[type, _Corruption]] = {
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


# ---- `Faults`: injects faults into chosen calls, to test how a program handles them

_SHOWN_CALLS: Final = 10
"""How many numbers of calls a report shows."""


class _Counts:
    """The calls of one target, its faults, and the generator that chooses calls at random."""

    __slots__ = ("before", "calls", "faults", "first_faults", "random")

    def __init__(self, random: Random) -> None:
        self.calls = self.faults = 0
        self.before = 0  # the calls of the process of which this one is a copy, which are reported there
        self.first_faults: list[int] = []  # the numbers of the first calls with a fault
        self.random = random


class Faults(TargetedContext):
    """Makes calls of chosen functions raise, take longer, or return another result.

    Parameters
    ----------
    targets:
        The functions: callables, or text, ``"package.module.function"``.
    raises:
        An exception, or a type of exceptions, that is raised instead of the call.
    delay:
        Seconds to wait before the call.
    corrupt:
        A function that changes the result, or True for a small random change.
    nth:
        The number of the call with the fault, counted from 1, or several numbers.
    every:
        Every how many calls there is a fault: 3 means the third, the sixth, …
    probability:
        The probability of a fault in each call, from 0 to 1. Without any of these three, every call has a fault.
    seed:
        The seed of the random choices. The same seed makes the same choices.

    Raises
    ------
    ValueError
        If the arguments contradict each other, or a text names no function. The message is one line.

    On the command line, ``-c faults:target=socket.create_connection,raises=TimeoutError,nth=2``; several targets are
    separated by ``+``.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> faults = Faults(colorsys.rgb_to_yiq, raises=TimeoutError, nth=2)
    >>> overdub(faults, colorsys.rgb_to_yiq, 0, 0, 0)
    (0.0, 0.0, 0.0)
    >>> overdub(faults, colorsys.rgb_to_yiq, 0, 0, 0)
    Traceback (most recent call last):
        ...
    TimeoutError: injected by faults: call 2 of colorsys.rgb_to_yiq
    >>> print(faults.summary())
    faults: colorsys.rgb_to_yiq: 2 calls, 1 fault (call 2)
    """

    def __new__(cls, *targets: Target, **options: Any) -> Faults:
        """Make an instance of the type that overloads these targets."""
        if not targets:
            raise ValueError("no target is given: name a function, as module.function")
        return cls.for_targets(map(resolve_target, targets))

    def __init__(
        self,
        *targets: Target,
        raises: BaseException | type[BaseException] | str | None = None,
        delay: float | None = None,
        corrupt: Callable[[Any], Any] | str | bool | None = None,
        nth: int | Collection[int] | None = None,
        every: int | None = None,
        probability: float | None = None,
        seed: int | str = 0,
    ) -> None:
        super().__init__()
        if raises is None and delay is None and not corrupt:
            raise ValueError("no fault is given: give raises=, delay= or corrupt=")
        if raises is not None and corrupt:
            raise ValueError("a call that raises has no result to corrupt: give raises= or corrupt=, not both")
        self._chosen = _selection_from(nth, every, probability)
        self._raises = _exception_from(raises)
        self._delay = _seconds_from(delay)
        self._corrupt = _corruption_from(corrupt)
        self._counts = {id(target): _Counts(Random(f"{seed}/{target.name}")) for target in self._targets}
        resolved, counts = self._targets, self._counts
        self.report_unmatched(
            lambda: [target.name for target in resolved if not counts[id(target)].calls - counts[id(target)].before]
        )

    @classmethod
    @further_options_of(__init__)
    def from_options(cls, *, target: str, **options: Any) -> Faults:
        """What the command line makes of ``target=…,key=value,…``.

        Parameters
        ----------
        target:
            Dotted names of the functions, separated by ``+``: ``target=time.sleep+shop.orders.load``.
        raises:
            The dotted name of an exception type that is raised instead of the call: ``raises=OSError``.
        corrupt:
            The dotted name of a function that changes the result, or True for a small random change.
        nth:
            The number of the call with the fault, counted from 1.
        """
        return cls(*split_targets(str(target)), **options)

    @hidden
    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make the call, with a fault if it is chosen."""
        target = self.target_of(function, arguments)
        if target is None:
            return self.proceed(function, arguments, keywords)
        with self._lock:
            counts = self._counts[id(target)]
            counts.calls = number = counts.calls + 1
            is_chosen = self._chosen(number, counts.random)
            random = Random(counts.random.random()) if is_chosen else counts.random
            if is_chosen:
                counts.faults += 1
                counts.first_faults += [number] if len(counts.first_faults) < _SHOWN_CALLS else []
        if not is_chosen:
            return self.proceed(function, arguments, keywords)
        if inspect.iscoroutinefunction(function):
            call = None if self._raises else self.proceed(function, arguments, keywords)
            return standing_for(self._with_fault_when_awaited(target, number, random, call), function, call)
        if self._delay:
            sleep(self._delay)
        if self._raises is not None:
            raise self._raises(_message(target, number))
        result = self.proceed(function, arguments, keywords)
        return result if self._corrupt is None else self._corrupt(result, random)

    def forked(self) -> None:
        """Start with no calls in a forked process; their numbers go on."""
        super().forked()
        for counts in self._counts.values():
            counts.before, counts.faults = counts.calls, 0
            counts.first_faults.clear()

    async def _with_fault_when_awaited(self, target: ResolvedTarget, number: int, random: Random, call: Any) -> Any:
        """A coroutine whose fault happens when it is awaited. Other tasks run during a delay.

        The steps are those of `intercept`, but wait with `await`.
        """
        if self._delay:
            await asyncio.sleep(self._delay)
        if self._raises is not None:
            raise self._raises(_message(target, number))
        result = await call
        return result if self._corrupt is None else self._corrupt(result, random)

    def found(self) -> dict[str, dict[str, Any]]:
        """For each target: how many `calls` and `faults` it had, and the numbers of the `first` calls with a fault."""
        with self._lock:
            counts = [(target.name, self._counts[id(target)]) for target in self._targets]
            return {
                name: {"calls": it.calls - it.before, "faults": it.faults, "first": list(it.first_faults)}
                for name, it in counts
            }

    def summary(self) -> str:
        """How often each target was called, and the calls with a fault."""
        lines = [_line(name, **figures) for name, figures in self.found().items()]
        return ("faults: " if len(lines) == 1 else "faults:\n  ") + "\n  ".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for the result of `found`."""
        return {
            ".txt": text_writer(self.summary),
            ".json": text_writer(lambda: json.dumps(self.found(), indent=2)),
        }


def _message(target: ResolvedTarget, number: int) -> str:
    return f"injected by faults: call {number} of {target.name}"


def _line(name: str, calls: int, faults: int, first: list[int]) -> str:
    if not calls:
        return never_called(name)
    numbers = ", ".join(map(str, first)) + (", …" if faults > len(first) else "")
    where = f" (call{'' if faults == 1 else 's'} {numbers})" if faults else ""
    return f"{name}: {plural(calls, 'call')}, {plural(faults, 'fault')}{where}{constructor_hint(name)}"
