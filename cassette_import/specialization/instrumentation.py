"""Instrumentation: live functions get trampolines or compiled bodies that test whether a variant is active."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Final

from cassette_import.interpreter import code_objects, heap
from cassette_import.interpreter.generated_names import is_generated
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import ONLY_ARGUMENT_FREE
from cassette_import.runtime.dispatch.hook_functions import set_code
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import generated_code
from cassette_import.specialization.code_consumers import patch_readers
from cassette_import.specialization.code_index import CodeIndex
from cassette_import.specialization.function_unit import FileRecord, Unit

__all__ = ["Instrumentation", "Sweeper"]

# ---- dead units: functions that are gone, of whose code nothing but the index knows, are forgotten with their bodies
#
# The index keeps the code of a function in all its states, because any of them may be in use: by a function, a frame,
# or the code of an enclosing function. Whether one is, its count of references says.

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


# ---- instrumentation: live functions get trampolines or compiled bodies that test whether a variant is active

_OUTDATED: Final = -1
"""No generation of the registry: functions are instrumented again when the variant is entered next."""


class Instrumentation:
    """The variants that live functions are instrumented for. Callers of its methods must hold the lock of the index."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._sweeper = Sweeper(index)
        self.variants: list[Variant] = []
        """Oldest first."""
        self.ever_used = False
        """Whether a context was ever entered. From then on, functions that can be suspended are always instrumented:
        a generator that begins while no context is active may be resumed in one."""

    def active(self) -> list[Variant]:
        """The variants of contexts that some thread or task has entered."""
        return [variant for variant in self.variants if variant.family.active]

    def add(self, variant: Variant, roots: frozenset[str], generation: int) -> None:
        """Instrument all live functions for a variant: those of installed modules and of root functions' files.

        Parameters
        ----------
        variant:
            The variant.
        roots:
            The files of root functions, by name.
        generation:
            The generation of the registry; the variant needs no further call until it changes.
        """
        self._sweeper.step()
        variant = self.serving(variant)
        if variant not in self.variants:
            self.variants = [other for other in self.variants if other.family is not variant.family]
            self.variants.append(variant)
            self.ever_used = True
            self._variants_changed()
        variant.guards.check_classes()
        records = self._index.records.items()
        files = {
            name for name, record in records if (record.installed or name in roots) and not record.serves(self.variants)
        }
        owners = self._owners(files)
        for function in heap.functions_of(files | self._index.text_names):
            self._instrument(function, self._unit_of(function, files, owners))
        patch_readers(self._index.plain_code_of)
        executed = self._some_module_is_being_executed()
        variant.instrumented_at[roots] = generation if not executed else _OUTDATED

    def _owners(self, files: Collection[str]) -> dict[str, FileRecord]:
        """The records of some files by the names of their modules, to which generated functions belong."""
        records = [self._index.records[name] for name in files]
        return {name: record for record in records for name in (*record.module_names, record.source.module_name)}

    def _unit_of(self, function: FunctionType, files: Collection[str], owners: Mapping[str, FileRecord]) -> Unit | None:
        code = function.__code__
        name = code.co_filename
        if name in self._index.text_names and (unit := self._index.find_unit(code)) is not None:
            return unit if unit.record.filename in files else None
        if is_generated(name):
            owner = owners.get(generated_code.module_of(function) or "")
            if owner is None:
                return None  # the program of `python -c` is in "<string>" too, as are generated methods of all modules
            if owner.filename != name:
                return self._index.add_generated(function, owner)
        return self._index.unit_of(code) if name in files else None

    def instrument_class(self, kind: type, record: FileRecord) -> None:
        """Instrument the generated methods of a class that was made just now."""
        for function in generated_code.functions_of_class(kind):
            if is_generated(function.__code__.co_filename):
                self._instrument(function, self._index.add_generated(function, record))

    def add_suspendable(self) -> None:
        """Instrument the generator functions and coroutine functions of installed modules, while no variant is active:
        what they make may be resumed in a context."""
        files = {name for name, record in self._index.records.items() if record.installed}
        for function in heap.functions_of_modules(files):
            if code_objects.can_be_suspended(function.__code__):
                self._instrument(function, self._index.unit_of(function.__code__))

    def instrument_function(self, function: FunctionType) -> None:
        """Instrument one function for all variants that functions are instrumented for."""
        self._instrument(function, self._index.unit_of(function.__code__))

    def _instrument(self, function: FunctionType, unit: Unit | None) -> None:
        """Assign its compiled body to a function, if that has branches for all variants; else a trampoline."""
        if unit is None or unit.reason is not None:
            return
        if len(function.__closure__ or ()) != len(function.__code__.co_freevars):
            return  # the garbage collector has cleared it, so nothing can call it
        unit.add_function(function)
        if function.__code__ is unit.trampoline:
            return  # it may be there for another variant, which the compiled body does not have
        if unit.code is None or any(variant not in unit.variants for variant in self.variants):
            set_code(function, self._index.trampoline_of(unit))
        elif function.__code__ is not unit.code:
            set_code(function, unit.code)

    def _some_module_is_being_executed(self) -> bool:
        """Whether a module level, which began without trampolines, may still make functions."""
        names = [name for record in self._index.records.values() for name in record.module_names]
        specs = (getattr(sys.modules.get(name), "__spec__", None) for name in names)
        return any(getattr(spec, "_initializing", False) for spec in specs)

    def drop_all_but(self, served: Sequence[Variant]) -> bool:
        """Note that live functions get code that serves these variants only.

        The others are instrumented again when they are entered next.

        Returns
        -------
        Whether some of the others are active: they will not be entered again, so the functions need other code.
        """
        others = [(variant, dict(variant.instrumented_at)) for variant in self.variants if variant not in served]
        for variant, _ in others:
            variant.instrumented_at.clear()
        # Entering a variant makes it active first, and then checks whether it is instrumented. The order here is the
        # opposite one: so one of the two threads sees the change of the other.
        active = [(variant, known) for variant, known in others if variant.family.active]
        for variant, known in active:
            variant.instrumented_at.update(known)
        self.variants = [variant for variant in self.variants if variant.instrumented_at]
        self._variants_changed()
        return bool(active)

    def serving(self, variant: Variant) -> Variant:
        """The variant whose bodies serve the family of this one, which may have been superseded just now."""
        others: Iterable[Variant] = self.variants
        return next((other for other in others if other.family is variant.family and variant.is_superseded), variant)

    def _variants_changed(self) -> None:
        """Update what depends on which variants intercept events: guards are cheaper for a single one."""
        intercepting = [variant for variant in self.variants if not variant.shape.intercepts_nothing]
        for variant in intercepting:
            variant.guards.set_only_variant(len(intercepting) == 1)
        FLAGS[ONLY_ARGUMENT_FREE] = not any(
            variant.shape.wants(Events.CALLS) and Events.CALLS not in variant.shape.argument_free
            for variant in intercepting
        )
