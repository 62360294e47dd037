"""Small programs that do nothing but call, one for each kind of callee: what an event costs is found out with them.

What is called changes from call to call, as it does in a program: a loop around one call would be too cheap. Each
returns how long it took, by its own clock. They are overdubbed like any program; must not know who measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final

__all__ = ["WORKLOADS", "no_calls", "order", "perf_counter"]


def order(count: int) -> list[int]:
    """Numbers from 0 to 2 with no rhythm to them, the same each time."""
    numbers, state = [], 1
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        numbers.append((state >> 16) % 3)
    return numbers


def _one(value: int) -> None:
    pass


def _two(value: int) -> None:
    pass


def _three(value: int) -> None:
    pass


class _Thing:
    def one(self, value: int) -> None:
        pass

    def two(self, value: int) -> None:
        pass

    def three(self, value: int) -> None:
        pass


class _Other:
    pass


def calls_of_functions(numbers: Sequence[int]) -> float:
    """Call functions."""
    began = perf_counter()
    for number in numbers:
        if number == 0:
            _one(number)
        elif number == 1:
            _two(number)
        else:
            _three(number)
    return perf_counter() - began


def calls_of_methods(numbers: Sequence[int]) -> float:
    """Call methods."""
    thing = _Thing()
    began = perf_counter()
    for number in numbers:
        if number == 0:
            thing.one(number)
        elif number == 1:
            thing.two(number)
        else:
            thing.three(number)
    return perf_counter() - began


def calls_to_c(numbers: Sequence[int]) -> float:
    """Call functions of a C module."""
    began = perf_counter()
    for number in numbers:
        if number == 0:
            abs(number)
        elif number == 1:
            id(number)
        else:
            hash(number)
    return perf_counter() - began


def calls_of_methods_in_c(numbers: Sequence[int]) -> float:
    """Call methods that are written in C."""
    text = "abc"
    began = perf_counter()
    for number in numbers:
        if number == 0:
            text.isascii()
        elif number == 1:
            text.isalpha()
        else:
            text.islower()
    return perf_counter() - began


def calls_of_classes(numbers: Sequence[int]) -> float:
    """Make objects."""
    began = perf_counter()
    for number in numbers:
        if number == 0:
            object()
        elif number == 1:
            _Thing()
        else:
            _Other()
    return perf_counter() - began


def no_calls(numbers: Sequence[int]) -> float:
    """What the others do besides calling."""
    began = perf_counter()
    for number in numbers:
        if number == 0 or number == 1:
            pass
        else:
            pass
    return perf_counter() - began


WORKLOADS: Final[dict[str, Callable[[Sequence[int]], float]]] = {
    "function": calls_of_functions,
    "method": calls_of_methods,
    "builtin": calls_to_c,
    "method in C": calls_of_methods_in_c,
    "class": calls_of_classes,
}
"""By the kind of callee."""
