"""Dead units: functions that are gone, of whose code nothing but the index knows, are forgotten with their bodies.

The index keeps the code of a function in all its states, because any of them may be in use: by a function, a frame, or
the code of an enclosing function. Whether one is, its count of references says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import CodeType
from typing import Final

from cassette_import.specialization.code_index import CodeIndex
from cassette_import.specialization.function_unit import Unit

__all__ = ["Sweeper"]

_FEWEST: Final = 256
"""With fewer units nothing is searched."""
_COUNTS_REFERENCES: Final = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether the interpreter counts all references: without the lock of the interpreter, some are counted later."""


class Sweeper:
    """Forgets dead units, once there are twice as many units as after the last time."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._next = _FEWEST

    def step(self) -> None:
        """Forget dead units if it is time. The caller holds the lock of the index."""
        if len(self._index.units) < self._next or not _COUNTS_REFERENCES:
            return
        units = list(self._index.units.values())
        if 4 * _count_without_functions(units) >= len(units):
            self._index.forget(_dead(self._index, units))
        self._next = max(_FEWEST, 2 * len(self._index.units))


def _states(unit: Unit) -> list[CodeType]:
    return [code for code in (unit.plain, unit.trampoline, unit.outer, unit.code) if code is not None]


def _count_without_functions(units: Iterable[Unit]) -> int:
    """How many units seem to be dead, found quickly: it is worth a search if these are many."""
    least = _references([compile("", "", "exec")])[0] + 2  # from the unit, and from the index
    # The plain code of a function without events is its compiled body, too.
    return sum(max(_references(_states(unit))) <= least + (unit.code is unit.plain) for unit in units)


def _references(codes: list[CodeType]) -> list[int]:
    return list(map(sys.getrefcount, codes))


def _dead(index: CodeIndex, units: Iterable[Unit]) -> list[Unit]:
    """The units of which no code object has a reference from elsewhere, directly or through the code around it."""
    entries = index.codes()
    counted = _Counted()
    counted.refer(code for code, _ in entries)
    counted.refer(code for unit in units for code in _states(unit))
    owners = {id(code): unit for code, unit in entries}
    alive: set[int] = set()
    work = [*counted.with_other_references(), *_copied_trampolines(units)]
    while work:
        code = work.pop()
        if id(code) in alive:
            continue
        alive.add(id(code))
        work += counted.nested[id(code)]
        if id(code) in owners:
            work += _states(owners[id(code)])
    return [unit for unit in units if not any(id(code) in alive for code in _states(unit))]


def _copied_trampolines(units: Iterable[Unit]) -> list[CodeType]:
    """The trampolines of which there are copies, such as `types.coroutine` makes: they share the constants."""
    alone = compile("", "", "exec")
    least = sys.getrefcount(alone.co_consts)
    made = [unit.trampoline for unit in units if unit.trampoline is not None]
    return [code for code in made if sys.getrefcount(code.co_consts) > least]


class _Counted:
    """Code objects, with the references to each that are accounted for: by the index, and by code around it.

    Attributes
    ----------
    nested:
        By the identity of a code object, the code objects among its constants.
    """

    def __init__(self) -> None:
        self.nested: dict[int, list[CodeType]] = {}
        self._codes: list[CodeType] = []
        self._counts: dict[int, int] = {}
        self._constants: set[int] = set()

    def refer(self, codes: Iterable[CodeType]) -> None:
        """Count a reference to each."""
        for code in codes:
            self._refer(code)

    def _refer(self, code: CodeType) -> None:
        """Count a reference, and those of the code's constants when it is met first."""
        key = id(code)
        self._counts[key] = self._counts.get(key, 0) + 1
        if key in self.nested:
            return
        inner = self.nested[key] = [const for const in code.co_consts if type(const) is CodeType]
        self._codes.append(code)
        for one in inner:
            self._counts[id(one)] = self._counts.get(id(one), 0) + 1  # that of the list
        if id(code.co_consts) not in self._constants:  # copies of code share their constants
            self._constants.add(id(code.co_consts))
            for one in inner:
                self._refer(one)

    def with_other_references(self) -> list[CodeType]:
        """The code objects that have more references."""
        self._codes.append(compile("", "", "exec"))  # nothing else refers to it
        *counts, least = _references(self._codes)
        self._codes.pop()
        pairs = zip(self._codes, counts, strict=True)
        return [code for code, count in pairs if count - least > self._counts[id(code)]]
