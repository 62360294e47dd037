"""Workloads for the calibration: small programs that do nothing but call, one for each kind of callee.

The callee changes from call to call, as in a program; a loop around one callee would be too cheap. Each workload
returns the seconds that it took. Workloads are overdubbed like any program. Knows kinds of callees; must not know what
measures a workload.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final

__all__ = ["WORKLOADS", "mixed", "no_calls", "order", "perf_counter"]


def order(count: int) -> list[int]:
    """Numbers from 0 to 2 in an irregular order, the same each time."""
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


class _First:
    def __init__(self, value: int) -> None:
        pass


class _Second:
    def __init__(self, value: int) -> None:
        pass


class _Third:
    def __init__(self, value: int) -> None:
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


def calls_of_initialisers(numbers: Sequence[int]) -> float:
    """Make objects whose `__init__` is written in Python."""
    began = perf_counter()
    for number in numbers:
        if number == 0:
            _First(number)
        elif number == 1:
            _Second(number)
        else:
            _Third(number)
    return perf_counter() - began


class _Item:
    def __init__(self, weight: int, place: int) -> None:
        self.weight = weight
        self.place = place
        self.moves: list[int] = []

    def is_heavy(self, limit: int) -> bool:
        return self.weight > limit

    def heavier(self, other: _Item) -> _Item:
        return self if self.is_heavy(other.weight) else other

    def move(self, place: int) -> int:
        if self.place != place:
            self.moves.append(self.place)
            self.place = place
        return len(self.moves)

    def has_moved(self) -> bool:
        return bool(self.moves)


class _Shelf:
    def __init__(self, place: int) -> None:
        self.place = place
        self.items: list[_Item] = []
        self.limit = 40 + place

    def put(self, item: _Item) -> bool:
        if not self.has_room(item):
            return False
        item.move(self.place)
        self.items.append(item)
        return True

    def has_room(self, item: _Item) -> bool:
        return len(self.items) < 4 and not item.is_heavy(self.limit)

    def take(self) -> _Item | None:
        return self.items.pop(0) if self.items else None

    def heaviest(self) -> _Item | None:
        found = None
        for item in self.items:
            found = item if found is None else item.heavier(found)
        return found


class _Store:
    def __init__(self) -> None:
        self.shelves = [_Shelf(place) for place in range(5)]
        self.refused: dict[int, int] = {}

    def shelf(self, number: int) -> _Shelf:
        return self.shelves[number % len(self.shelves)]

    def accept(self, number: int) -> None:
        item = _Item(number % 50, -1)
        if not self.shelf(number).put(item):
            self.refuse(item)

    def refuse(self, item: _Item) -> None:
        self.refused[item.weight] = self.refused.get(item.weight, 0) + 1

    def deliver(self, number: int) -> int:
        item = self.shelf(number).take()
        return self.weighed(item) if item is not None else 0

    def weighed(self, item: _Item) -> int:
        return item.weight + 1 if item.has_moved() else item.weight

    def rearrange(self, number: int) -> None:
        item = self.shelf(number).take()
        if item is not None:
            self.accept(number + item.weight)

    def look(self, number: int) -> int:
        found = self.shelf(number).heaviest()
        return _rounded(found.weight) if found is not None else max(0, number % 7)


def _rounded(weight: int) -> int:
    return weight - weight % 5 if abs(weight) > 5 else 5


def mixed(numbers: Sequence[int]) -> float:
    """Call as an ordinary program does: many small functions, in an order that is hard to predict."""
    store = _Store()
    total, state = 0, 1
    began = perf_counter()
    for number in numbers:
        state = (state * 5 + number + 7) % 1009
        action = (state >> 2) % 5
        if action < 2:
            store.accept(state)
        elif action == 2:
            total += store.deliver(state)
        elif action == 3:
            store.rearrange(state)
        else:
            total += store.look(state)
    return perf_counter() - began


def no_calls(numbers: Sequence[int]) -> float:
    """The loop of the other workloads, without their calls."""
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
    "class in Python": calls_of_initialisers,
}
"""The workloads by kind of callee, see `kind_of`."""
