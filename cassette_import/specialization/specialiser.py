"""The specialiser: trampolines call it on the first entry of a function, which gets a compiled body then."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.errors import CassetteWarning, PassError
from cassette_import.interpreter import code_objects, heap
from cassette_import.interpreter.clock import monotonic
from cassette_import.interpreter.fresh_stack import on_a_fresh_stack
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.dispatch.hook_functions import set_code
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import Activation
from cassette_import.runtime.variant import Variant
from cassette_import.specialization.body_compiler import body_compiler
from cassette_import.specialization.code_consumers import patch_readers, update_keepers
from cassette_import.specialization.code_index import CodeIndex
from cassette_import.specialization.function_unit import Unit
from cassette_import.specialization.instrumentation import Instrumentation
from cassette_import.specialization.trampolines import Reference, is_trampoline, patched
from cassette_import.specialization.wildcard_variant import WildcardVariant, wildcard_variant

# ---- which function object was called: a trampoline knows its unit and the environment, but not the function
#
# The *environment* of a call is a function made in the trampoline: it carries the globals and the cells of the function
# that was called.

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


# ---- the specialiser: trampolines call it on the first entry of a function, which gets a compiled body then

MOST_VARIANTS: Final = 4
"""How many variants a compiled body serves. The inactive one that was added least recently is dropped first."""

_OFTEN: Final = 100
"""At this number of entries, a function that imports call outside of contexts is specialised all the same: to enter it
through its trampoline each time would cost more. Its body branches to the plain code."""

_MOST_RESTORATIONS: Final = 2
"""How often a function that is called outside of contexts gets its plain code back."""


class Specialiser:
    """Specialises functions when they are entered: replaces their code by compiled bodies."""

    def __init__(self, index: CodeIndex, instrumentation: Instrumentation) -> None:
        self._index = index
        self._instrumentation = instrumentation
        self._lookup = FunctionLookup(index)
        self._searched: set[Reference] = set()
        """The units whose patched functions were searched for."""

    @hidden
    def enter(
        self,
        reference: Reference,
        environment: FunctionType,
        activation: Activation,
        constants: tuple[Any, ...] = (),
    ) -> Callable[..., Any]:
        """Specialise a unit and switch its live functions to the new code. The registry calls this.

        Parameters
        ----------
        reference:
            The reference of the unit.
        environment:
            A function made in the trampoline: it has the globals and cells of the function that was called.
        activation:
            What is active where the function is entered. While it is specialised, nothing is.
        constants:
            The constants of the function that was called, if its trampoline has them: a decorator may have patched it.

        Returns
        -------
        The function that the trampoline calls in its place.
        """
        function = self._patched(reference, environment, constants) if constants else None
        if function is not None:
            return function
        if activation.is_module_level and activation.variant is None:
            unit = self._index.unit_at(reference, environment.__code__.co_filename)
            unit.plain_entries += 1
            if unit.plain_entries != _OFTEN and not code_objects.can_be_suspended(unit.plain):
                return function_in(environment, self._index.outer_code_of(unit))
        unit = self._index.unit_at(reference, environment.__code__.co_filename)
        with self._index.lock:
            unit = self._entered_unit(unit, environment)
            unit.entered_globals = environment.__globals__
            try:
                code = self._code_for(unit, activation)
            finally:
                unit.entered_globals = None
            return self._switch(unit, code, environment)

    def _patched(
        self, reference: Reference, environment: FunctionType, constants: tuple[Any, ...]
    ) -> FunctionType | None:
        """The function whose trampoline a decorator has copied with other constants; it is left alone."""
        unit = self._index.unit_at(reference, environment.__code__.co_filename)
        code = patched(unit.plain, constants)
        if code is None:
            return None
        if reference not in self._searched:
            self._searched.add(reference)
            for function in heap.functions_of({unit.plain.co_filename}):
                copy = function.__code__
                is_of_unit = is_trampoline(copy) and copy.co_qualname == unit.plain.co_qualname
                if is_of_unit and all(any(const is shown for const in copy.co_consts) for shown in constants):
                    set_code(function, code)
        return function_in(environment, code)

    def _entered_unit(self, unit: Unit, environment: FunctionType) -> Unit:
        """The unit of the function that was called: not that of the trampoline, if `types.coroutine` has copied it."""
        if not unit.plain.co_flags & code_objects.GENERATOR or unit.plain.co_flags & code_objects.ITERABLE_COROUTINE:
            return unit
        function = self._lookup.at_qualified_name(unit, environment)
        if function is None or not function.__code__.co_flags & code_objects.ITERABLE_COROUTINE:
            return unit
        return self._index.unit_of(function.__code__) or unit

    def _code_for(self, unit: Unit, activation: Activation) -> CodeType:
        """The code that the functions of a unit get when one is entered in an activation."""
        record = unit.record
        is_covered = record.installed or record.filename in activation.roots
        if is_covered and activation.family is not None:
            activation.family.note_meeting()
        while True:
            # A closure may hold wrappers as long as there are any: its plain branch takes them off.
            is_closure = bool(unit.plain.co_freevars) and FLAGS[METADATA_EXISTS]
            is_needed = is_closure or unit.restorations == _MOST_RESTORATIONS
            if is_covered or is_needed or self._instrumentation.active():
                code = self._body(unit, activation.variant if is_covered else None)
            else:
                code = unit.plain  # its file was overdubbed for a root function that is not running any more
                unit.restorations += 1  # each restoration makes the next entry of a context search for all functions
            served = unit.variants if code is unit.code else ()
            if unit.reason is not None or not self._instrumentation.drop_all_but(served):
                return code

    def _switch(self, unit: Unit, code: CodeType, environment: FunctionType) -> FunctionType:
        """Assign the code to the live functions of a unit; return the one that was called, or one like it."""
        entered: FunctionType | None = None
        functions = list(unit.functions())
        patch_readers(self._index.plain_code_of)
        update_keepers([unit.plain, unit.trampoline, *(function.__code__ for function in functions)], code)
        for function in functions:
            set_code(function, code)
            if has_environment(function, environment):
                entered = function
        if entered is None:
            entered = self._lookup.find_by_name(unit, environment)
            if entered is None:
                unit.misses += 1
                if unit.misses > 1:
                    self._lookup.find_on_heap(unit)
            elif entered.__code__ is not code:
                unit.add_function(entered)
                set_code(entered, code)
        if entered is not None and not has_environment(entered, environment):
            entered = None
        return entered if entered is not None else function_in(environment, code)

    def _body(self, unit: Unit, variant: Variant | None) -> CodeType:
        """The unit's compiled body, with a branch for every variant that may be active; its plain code if it is left
        alone."""
        if unit.reason is not None:
            return unit.plain
        wanted = self.wanted_variants(unit, variant)
        if unit.code is not None and all(other in unit.variants for other in wanted):
            return unit.code
        try:
            code = on_a_fresh_stack(lambda: body_compiler.body_of(unit, wanted))
        except PassError:
            raise
        except Exception as error:
            unit.reason = f"{type(error).__name__}: {error}"
            warnings.warn(
                f"{unit.plain.co_qualname} is left alone: {unit.reason} "
                f"({unit.record.filename}:{unit.plain.co_firstlineno})",
                CassetteWarning,
                stacklevel=2,
            )
            return unit.plain
        if code is None:
            return unit.plain
        self._index.add_code(unit, code, wanted)
        return code

    def wanted_variants(self, unit: Unit, variant: Variant | None) -> tuple[Variant, ...]:
        """The variants that a new body serves: the entered one, active ones, and older ones up to the limit."""
        wanted = [self._instrumentation.serving(variant)] if variant is not None else []
        wanted += [other for other in self._instrumentation.active() if other not in wanted]
        room = MOST_VARIANTS - len(wanted)
        older = [other for other in unit.variants if other not in wanted and not other.is_superseded]
        is_suspendable = code_objects.can_be_suspended(unit.plain)
        latest = [other for other in reversed(self._instrumentation.variants) if other not in (*wanted, *older)]
        if unit.code is not None:
            older += latest  # its body lacks them: their next entry would make a search for all functions, each time
        elif not (wanted or older or is_suspendable):
            older = latest[:1]  # entered while no context is active: any variant may be next
        if not wanted and is_suspendable:
            known = [other for other in older if not isinstance(other, WildcardVariant)]
            return wildcard_variant(self._instrumentation.variants), *known[: MOST_VARIANTS - 1]
        return tuple(wanted + (older[:room] if room > 0 else []))
