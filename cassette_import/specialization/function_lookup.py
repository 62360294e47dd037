"""Which function object was called: a trampoline knows its unit and the environment, but not the function.

The *environment* of a call is a function made in the trampoline: it carries the globals and the cells of the function
that was called.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter import heap
from cassette_import.interpreter.clock import monotonic
from cassette_import.interpreter.namespaces import class_namespace
from cassette_import.runtime.dispatch.function_code import set_code
from cassette_import.specialization.code_index import CodeIndex
from cassette_import.specialization.function_unit import Unit

_REST: Final = 20
"""After a search of the heap, no further one begins until this many times its duration has passed."""


class FunctionLookup:
    """Finds the functions of units."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._rest_until = 0.0

    def find_by_name(self, unit: Unit, environment: FunctionType) -> FunctionType | None:
        """The function that was called, if its qualified name leads to it."""
        found = self.at_qualified_name(unit, environment)
        return found if found is not None and self._index.unit_of(found.__code__) is unit else None

    def at_qualified_name(self, unit: Unit, environment: FunctionType) -> FunctionType | None:
        """The function to which the unit's qualified name leads, if it has the environment of the call.

        The name may lead to an object that a decorator made. No attribute of it is read, nor of its class.
        """
        names = unit.plain.co_qualname.split(".")
        found: Any = environment.__globals__.get(names[0])
        for name in names[1:]:
            found = class_namespace(found).get(name) if issubclass(type(found), type) else None
        if type(found) in (staticmethod, classmethod):
            found = found.__func__
        elif type(found) is property:
            found = found.fget
        return found if type(found) is FunctionType and has_environment(found, environment) else None

    def find_on_heap(self, wanted: Unit) -> None:
        """Search the heap for functions of all units: if one unit has unknown functions, others will have some too.

        In a program with millions of objects a search takes longer than it saves, so searching takes a small part of
        the time at most.
        """
        began = monotonic()
        if began < self._rest_until:
            return
        files = {name for name, record in self._index.records.items() if record.units}
        for function in heap.functions_of(files | self._index.text_names):
            unit = self._index.find_unit(function.__code__)
            if unit is not None and unit.reason is None:
                unit.add_function(function)
            if unit is wanted and wanted.code is not None:
                set_code(function, wanted.code)  # other units' code may be out of date: their functions get it on entry
        ended = monotonic()
        self._rest_until = ended + _REST * (ended - began)


def has_environment(function: FunctionType, environment: FunctionType) -> bool:
    """Whether a function has the globals and cells of a call's environment."""
    mine, other = function.__closure__ or (), environment.__closure__ or ()
    return (
        function.__globals__ is environment.__globals__
        and len(mine) == len(other)
        and all(left is right for left, right in zip(mine, other, strict=True))
    )


def function_in(environment: FunctionType, code: CodeType) -> FunctionType:
    """A function with this code in the environment of a call. The trampoline passes all arguments, defaults too."""
    return FunctionType(code, environment.__globals__, code.co_name, None, environment.__closure__)
