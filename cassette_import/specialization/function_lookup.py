"""Which function object was called: a gate knows its unit and the cells, but not the function.

Knows units and live functions; must not know variants.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter import heap
from cassette_import.interpreter.clock import monotonic
from cassette_import.interpreter.namespaces import of_class
from cassette_import.specialization.code_index import CodeIndex
from cassette_import.specialization.function_unit import Unit

_RESTS: Final = 20
"""How many times as long as the last look through the heap took nobody looks again."""


class Finding(CodeIndex):
    """Finds the functions of units."""

    def __init__(self) -> None:
        super().__init__()
        self._rest_until = 0.0

    def find_by_name(self, unit: Unit, here: FunctionType) -> FunctionType | None:
        """The function that was called, if it stands where its qualified name says."""
        found = self.named(unit, here)
        return found if found is not None and self.unit_of(found.__code__) is unit else None

    def named(self, unit: Unit, here: FunctionType) -> FunctionType | None:
        """What stands where the unit's qualified name says, if it has the cells of the one that was called.

        Something else may stand there that a decorator made, and it is not asked anything, its class neither.
        """
        names = unit.plain.co_qualname.split(".")
        found: Any = here.__globals__.get(names[0])
        for name in names[1:]:
            found = of_class(found).get(name) if issubclass(type(found), type) else None
        if type(found) in (staticmethod, classmethod):
            found = found.__func__
        elif type(found) is property:
            found = found.fget
        return found if type(found) is FunctionType and same_cells(found, here) else None

    def find_on_heap(self, wanted: Unit) -> None:
        """Look for functions of all units: if one has some that are not known, others will.

        In a program with millions of objects that takes longer than what it is for, so it takes a small part of the
        time at most.
        """
        began = monotonic()
        if began < self._rest_until:
            return
        files = {name for name, record in self.records.items() if record.units}
        for function in heap.functions_of(files):
            unit = self.find_unit(function.__code__)
            if unit is not None and unit.reason is None:
                unit.add_function(function)
            if unit is wanted and wanted.code is not None:
                function.__code__ = wanted.code  # others get theirs when they are entered: it may be out of date
        ended = monotonic()
        self._rest_until = ended + _RESTS * (ended - began)


def same_cells(function: FunctionType, here: FunctionType) -> bool:
    mine, other = function.__closure__ or (), here.__closure__ or ()
    return (
        function.__globals__ is here.__globals__
        and len(mine) == len(other)
        and all(left is right for left, right in zip(mine, other, strict=True))
    )


def twin(code: CodeType, here: Callable[[], Any]) -> FunctionType:
    """A function with the code, globals and cells of the one that was called; its arguments are all given by the
    gate."""
    assert isinstance(here, FunctionType)
    return FunctionType(code, here.__globals__, code.co_name, None, here.__closure__)
