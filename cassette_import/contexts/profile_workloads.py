"""Small programs that do nothing but call, one for each kind of callee: what an event costs is found out with them.

Each returns how long it took, by its own clock. They are overdubbed like any program; must not know who measures.
"""

from __future__ import annotations

from time import perf_counter

__all__ = ["calls_of_classes", "calls_of_functions", "calls_of_methods", "calls_of_methods_in_c", "calls_to_c"]


def _nothing(value: int) -> None:
    pass


class _Thing:
    def nothing(self, value: int) -> None:
        pass


def calls_of_functions(count: int) -> float:
    """Call a function."""
    began = perf_counter()
    for number in range(count):
        _nothing(number)
    return perf_counter() - began


def calls_of_methods(count: int) -> float:
    """Call a method."""
    thing = _Thing()
    began = perf_counter()
    for number in range(count):
        thing.nothing(number)
    return perf_counter() - began


def calls_to_c(count: int) -> float:
    """Call a function of a C module."""
    began = perf_counter()
    for number in range(count):
        abs(number)
    return perf_counter() - began


def calls_of_methods_in_c(count: int) -> float:
    """Call a method that is written in C."""
    text = "abc"
    began = perf_counter()
    for _ in range(count):
        text.isascii()
    return perf_counter() - began


def calls_of_classes(count: int) -> float:
    """Make objects."""
    began = perf_counter()
    for _ in range(count):
        object()
    return perf_counter() - began
