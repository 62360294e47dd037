"""Units, and which code is live: gating, specialising on first entry, switching, restoring.

Knows modules, source and code objects, and of a variant only its shape. Must not know what an event looks like, nor
hooks.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import import gates, live
from cassette_import.active import ACTIVE, INACTIVE, NAMES, Activation
from cassette_import.anyone import Anyone, anyone, can_be_suspended
from cassette_import.bodies import BUSY, bodies, on_a_fresh_stack
from cassette_import.errors import CassetteWarning, PassError
from cassette_import.rewrite.locate import is_function, match, nested_functions
from cassette_import.rewrite.scopes import clone
from cassette_import.source import SourceFile
from cassette_import.units import Record, Unit, VariantLike
from cassette_import.watchers import without_watchers

_OURSELVES: Final = os.path.join(os.path.dirname(__file__), "")
"""What does the overdubbing is not overdubbed: it would need itself without end."""

_NOT_YET: Final = -1
"""No generation: a variant that has to look at all functions again."""

MOST_VARIANTS: Final = 4
"""How many variants one function's code carries; the least recently added one that is not active goes first."""


_MOST_SPARED: Final = 2
"""How often a function that is called outside of contexts gets its plain code back."""


class Registry:
    """All files, units and code objects; there is one, `registry`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.records: dict[str, Record] = {}
        self.units: list[Unit] = []
        self.generation = 0
        self._codes: dict[int, tuple[CodeType, Unit]] = {}  # by identity: equal code objects are not the same function
        self._armed: list[VariantLike] = []
        self._was_armed = False
        """Whether a context was ever entered: generators that begin while none is active may meet the next one."""

    # ---- which modules

    def admit(self, module_name: str, filename: str | None) -> None:
        """The module's functions are overdubbed from now on. Idempotent; said again at each execution of the module."""
        if filename is None:
            return
        with self.lock:
            record = self._record(filename)
            record.names.add(module_name)
            record.source.refresh(module_name)
            self.generation += 1

    def dismiss(self, module_names: Iterable[str]) -> None:
        """Undo `admit`: every live function of these modules gets its original code object back."""
        names = set(module_names)
        with self.lock:
            left = set()
            for record in self.records.values():
                if record.names & names:
                    record.names -= names
                    if not record.names:
                        left.add(record.filename)
            for function in live.functions_of(left):
                _, unit = self._codes.get(id(function.__code__), (None, None))
                if unit is not None:
                    function.__code__ = unit.plain
            self.generation += 1

    def adopt(self, function: FunctionType) -> str | None:
        """Make the file of a root function overdubbed for its activation; return the file name, None if it is
        installed or has no source."""
        code = function.__code__
        filename = code.co_filename
        record = self.records.get(filename)
        if (record is not None and record.installed) or filename.startswith(_OURSELVES):
            return None
        with self.lock:
            record = self.records.get(filename)
            if record is None:
                record = self._record(filename)
                record.source.refresh(function.__module__, function.__globals__)
                self.generation += 1
            if record.installed:
                return None
            resume_watching = without_watchers()
            try:
                return filename if record.source.available else None
            finally:
                resume_watching()

    def overdubbable(self, function: FunctionType) -> bool:
        """Whether a body can be had for the function: it has source, and is not left alone."""
        _, unit = self._codes.get(id(function.__code__), (None, None))
        if unit is not None:
            return unit.reason is None
        filename = function.__code__.co_filename
        if filename.startswith(_OURSELVES):
            return False
        record = self.records.get(filename)
        source = record.source if record is not None else SourceFile(filename)
        if record is None:
            source.refresh(function.__module__, function.__globals__)
        return source.available and is_function(function.__code__)

    def reflect(self, function: FunctionType) -> tuple[Any, str] | None:
        """A copy of the function's node, and its source text."""
        code = function.__code__
        with self.lock:
            known = self._codes.get(id(code))
            if known is not None:
                code, source = known[1].plain, known[1].record.source
            else:
                source = SourceFile(code.co_filename)
                source.refresh(function.__module__, function.__globals__)
            place = source.find(code)
            if place is None:
                return None
            return clone(place.node), source.text_of(place)

    def _record(self, filename: str) -> Record:
        record = self.records.get(filename)
        if record is None:
            record = self.records[filename] = Record(filename)
        return record

    # ---- gates

    def arm(self, variant: VariantLike, roots: frozenset[str]) -> None:
        """See to it that every live function meets the variant at its entry: by a branch, or by a gate."""
        with self.lock:
            if variant not in self._armed:
                self._armed.append(variant)
                self._was_armed = True
                self._tell_who_is_alone()
            files = {name for name, record in self.records.items() if record.installed or name in roots}
            for function in live.functions_of(files):
                unit = self.unit_of(function.__code__)
                if unit is not None and unit.reason is None:
                    self._gate(function, unit)
            executed = self._some_module_is_being_executed()
            variant.armed[roots] = self.generation if not executed else _NOT_YET

    def arm_active(self) -> None:
        """The same for all variants that some thread or task is in: functions are there that they have not seen.

        If nobody is in any, it is seen to what can be suspended: it may go on when somebody is.
        """
        with self.lock:
            active = [variant for variant in self._armed if variant.active]
            for variant in active:
                for roots in list(variant.armed):
                    self.arm(variant, roots)
            if self._was_armed and not active:
                for function in live.functions_of({name for name, record in self.records.items() if record.installed}):
                    unit = self.unit_of(function.__code__) if can_be_suspended(function.__code__) else None
                    if unit is not None and unit.reason is None:
                        self._gate(function, unit)

    def _some_module_is_being_executed(self) -> bool:
        """Whether functions may still be made by a module level that has not seen a gate."""
        names = [name for record in self.records.values() for name in record.names]
        specs = (getattr(sys.modules.get(name), "__spec__", None) for name in names)
        return any(getattr(spec, "_initializing", False) for spec in specs)

    def meet(self, function: FunctionType, variant: VariantLike, roots: frozenset[str]) -> None:
        """See to it that a root function meets the variant.

        Its code may come from a frame that was running before the variant was armed; so may that of other functions
        made there.
        """
        unit = self.unit_of(function.__code__)
        if unit is None or unit.reason is not None or function.__code__ is unit.gate:
            return
        if function.__code__ is unit.plain or variant not in unit.variants:
            self.arm(variant, roots)

    def _disarm(self, code_has: Sequence[VariantLike]) -> bool:
        """Live functions get code without some variants: those look at all functions again when they are entered
        next. Return whether some of them are active: they will not be entered again, and need other code."""
        lacking = [(variant, dict(variant.armed)) for variant in self._armed if variant not in code_has]
        for variant, _ in lacking:
            variant.armed.clear()
        # Whoever enters a variant makes it active first, and then looks whether it is armed. Here it is the other way
        # round: one of the two sees what the other one does.
        active = [(variant, armed) for variant, armed in lacking if variant.active]
        for variant, armed in active:
            variant.armed.update(armed)
        self._armed = [variant for variant in self._armed if variant.armed]
        self._tell_who_is_alone()
        return bool(active)

    def _tell_who_is_alone(self) -> None:
        intercepting = [variant for variant in self._armed if not variant.shape.silent]
        for variant in intercepting:
            variant.guards.be_alone(len(intercepting) == 1)

    def _gate(self, function: FunctionType, unit: Unit) -> None:
        if not any(reference() is function for reference in unit.known):
            unit.known.append(weakref.ref(function))
        if function.__code__ is unit.gate:
            return  # it may be there for another variant, which the unit's code does not have
        if unit.code is None or any(armed not in unit.variants for armed in self._armed):
            function.__code__ = self.gate_of(unit)
        elif function.__code__ is not unit.code:
            function.__code__ = unit.code

    def gate_of(self, unit: Unit) -> CodeType:
        if unit.gate is None:
            unit.gate = gates.make(unit.plain, unit.number)
            self._codes[id(unit.gate)] = (unit.gate, unit)
        return unit.gate

    def unit_of(self, code: CodeType) -> Unit | None:
        """The unit of a code object in any of its states; a new one for code that is met for the first time."""
        known = self._codes.get(id(code))
        if known is not None:
            return known[1]
        record = self.records.get(code.co_filename)
        if record is None or not is_function(code):
            return None
        plain = self._unmarked(record, code)
        if plain is None:
            return None
        unit = Unit(len(self.units), record, plain)
        self.units.append(unit)
        record.units.append(unit)
        self._codes[id(code)] = (code, unit)
        return unit

    def _unmarked(self, record: Record, code: CodeType) -> CodeType | None:
        """The plain code of code that is met for the first time; None if it is ours, and nobody knows whose.

        `types.coroutine` marks a generator function by copying its code, which may be ours by then.
        """
        # Names that start with "@py" are those of pytest's assertion rewriting (P1).
        if not any(name.startswith("@") and not name.startswith("@py") for name in code.co_names):
            return code
        marks = code.co_flags & inspect.CO_ITERABLE_COROUTINE
        found = [
            unit.plain
            for unit in record.units
            if unit.plain.co_qualname == code.co_qualname and unit.plain.co_firstlineno == code.co_firstlineno
        ]
        return found[0].replace(co_flags=found[0].co_flags | marks) if len(found) == 1 and marks else None

    def _entered(self, unit: Unit, here: Callable[[], Any]) -> Unit:
        """The unit of the function that was called, if it is not that of its gate, but of a marked copy of it."""
        assert isinstance(here, FunctionType)
        if not unit.plain.co_flags & inspect.CO_GENERATOR or unit.plain.co_flags & inspect.CO_ITERABLE_COROUTINE:
            return unit
        function = self._named(unit, here)
        if function is None or not function.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE:
            return unit
        return self.unit_of(function.__code__) or unit

    # ---- entering

    def enter(self, number: int, here: Callable[[], Any]) -> Callable[..., Any]:
        """What a gate calls: specialise the unit, switch its live functions, return the function to go on with.

        `here` is a function made in the gate: it hands over the cells and the globals of the function that was called.
        """
        unit = self.units[number]
        activation = ACTIVE.get()
        token = ACTIVE.set(INACTIVE)
        resume_watching = without_watchers()
        try:
            if getattr(BUSY, "now", False):
                return _twin(unit.plain, here)  # a function that specialising itself needs
            BUSY.now = True
            try:
                with self.lock:
                    unit = self._entered(unit, here)
                    return self._switch(unit, self._code_for(unit, activation), here)
            finally:
                BUSY.now = False
        finally:
            resume_watching()
            ACTIVE.reset(token)

    def _code_for(self, unit: Unit, activation: Activation) -> CodeType:
        """The code that the unit is to have when it is entered in an activation."""
        record = unit.record
        meant = record.installed or record.filename in activation.roots
        while True:
            if meant or any(variant.active for variant in self._armed) or unit.spared == _MOST_SPARED:
                code = self._body(unit, activation.variant if meant else None)
            else:
                code = unit.plain  # its file was overdubbed for a root function that is not running any more
                unit.spared += 1  # who comes back again and again would have all functions looked for each time
            if unit.reason is not None or not self._disarm(unit.variants if code is unit.code else ()):
                return code

    def _switch(self, unit: Unit, code: CodeType, here: Callable[[], Any]) -> Callable[..., Any]:
        assert isinstance(here, FunctionType)
        entered: FunctionType | None = None
        for function in unit.functions():
            function.__code__ = code
            if _same_cells(function, here):
                entered = function
        if entered is None:
            entered = self._find_by_name(unit, here)
            if entered is None:
                unit.misses += 1
                if unit.misses in (2, 8, 32, 128):  # looking through the heap is dear
                    self._find_on_heap(unit)
            elif entered.__code__ is not code:
                unit.known.append(weakref.ref(entered))
                entered.__code__ = code
        if entered is not None and not _same_cells(entered, here):
            entered = None
        return entered if entered is not None else _twin(code, here)

    def _find_by_name(self, unit: Unit, here: FunctionType) -> FunctionType | None:
        """The function that was called, if it stands where its qualified name says."""
        found = self._named(unit, here)
        return found if found is not None and self.unit_of(found.__code__) is unit else None

    def _named(self, unit: Unit, here: FunctionType) -> FunctionType | None:
        names = unit.plain.co_qualname.split(".")
        found: Any = here.__globals__.get(names[0])
        for name in names[1:]:
            found = type.__dict__["__dict__"].__get__(found).get(name) if isinstance(found, type) else None
        if isinstance(found, (staticmethod, classmethod)):
            found = found.__func__
        elif isinstance(found, property):
            found = found.fget
        return found if type(found) is FunctionType and _same_cells(found, here) else None

    def _find_on_heap(self, unit: Unit) -> None:
        for function in live.functions_of({unit.record.filename}):
            known = self._codes.get(id(function.__code__))
            if known is not None and known[1] is unit and unit.code is not None:
                unit.known.append(weakref.ref(function))
                function.__code__ = unit.code

    # ---- specialising

    def _body(self, unit: Unit, variant: VariantLike | None) -> CodeType:
        """The unit's code with a branch for every variant that may be met."""
        if unit.reason is not None:
            return unit.plain
        wanted = self._wanted(unit, variant)
        if unit.code is not None and all(other in unit.variants for other in wanted):
            return unit.code
        try:
            code = on_a_fresh_stack(lambda: bodies.make(unit, wanted))
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
        self._adopt_code(unit, code, wanted)
        return code

    def _wanted(self, unit: Unit, variant: VariantLike | None) -> tuple[VariantLike, ...]:
        wanted = [variant] if variant is not None else []
        wanted += [other for other in self._armed if other.active and other not in wanted]
        room = MOST_VARIANTS - len(wanted)
        older = [other for other in unit.variants if other not in wanted]
        if not wanted and can_be_suspended(unit.plain):
            return anyone(self._armed), *older[: MOST_VARIANTS - 1]
        if not wanted and not older:
            older = self._armed[-1:]  # entered while nothing is active: as good a guess as any
        return tuple(wanted + (older[:room] if room > 0 else []))

    def _adopt_code(self, unit: Unit, code: CodeType, variants: tuple[VariantLike, ...]) -> None:
        """Make the new code, and the nested functions' in it, known as states of their units."""
        for variant in variants:
            variant.provide(code)
        self._learn_code(unit, code, variants)

    def _learn_code(self, unit: Unit, code: CodeType, variants: tuple[VariantLike, ...]) -> None:
        unit.code, unit.variants = code, variants
        self._codes[id(code)] = (code, unit)
        plain_nested = list(nested_functions(unit.plain))
        for nested in nested_functions(code):
            plain = match(nested, plain_nested)
            inner = self.unit_of(plain) if plain is not None else None
            if inner is not None:
                self._learn_code(inner, nested, variants)

    # ---- modules imported while a context is active

    def wants_module_level(self, filename: str | None = None) -> bool:
        """Whether a module that is executed now is to be executed with code of ours.

        A context may be active here: then its module level is overdubbed. Or elsewhere, or it is executed again after
        contexts were active: then its functions have gates from the beginning, so that no thread meets them without.
        """
        record = self.records.get(filename) if filename is not None else None
        return bool(NAMES["@on"]) or (record is not None and bool(record.units))

    def wants_gates(self, filename: str | None = None) -> bool:
        """Whether that is so, or at least what can be suspended is to have gates."""
        return self._was_armed or self.wants_module_level(filename)

    def module_code(self, module_name: str, filename: str, source: bytes, plain: CodeType) -> CodeType:
        """What to execute for a module, if it is not what Python made of it."""
        variant = ACTIVE.get().variant
        token = ACTIVE.set(INACTIVE)
        try:
            with self.lock:
                record = self._record(filename)
                record.names.add(module_name)
                everything = self.wants_module_level(filename)
                if everything:
                    record.source.refresh(module_name, source=source)
                made = bodies.module_level(record, variant, source, plain) if variant is not None else plain
                return self._with_gates(made, everything)
        finally:
            ACTIVE.reset(token)

    def _with_gates(self, code: CodeType, everything: bool) -> CodeType:
        """The code of a module or class body whose functions have gates: all, or those that can be suspended."""
        consts: list[Any] = []
        for const in code.co_consts:
            if isinstance(const, CodeType):
                if not is_function(const):
                    const = self._with_gates(const, everything)
                elif everything or can_be_suspended(const):
                    unit = self.unit_of(const)
                    const = self.gate_of(unit) if unit is not None else const
            consts.append(const)
        return code.replace(co_consts=tuple(consts))

    # ---- telling

    def left_alone(self, module_name: str) -> dict[str, str]:
        """Qualified name and reason of the module's functions that stay plain."""
        return {unit.plain.co_qualname: unit.reason for unit in self._units_of(module_name) if unit.reason is not None}

    def specialised(self, module_name: str) -> dict[str, list[str]]:
        """Qualified name, and names of the variants, of the module's functions that have an overdubbed body."""
        return {
            unit.plain.co_qualname: names
            for unit in self._units_of(module_name)
            if (names := [variant.name for variant in unit.variants if not isinstance(variant, Anyone)])
        }

    def _units_of(self, module_name: str) -> list[Unit]:
        return [unit for record in self.records.values() if module_name in record.names for unit in record.units]


def _same_cells(function: FunctionType, here: FunctionType) -> bool:
    mine, other = function.__closure__ or (), here.__closure__ or ()
    return (
        function.__globals__ is here.__globals__
        and len(mine) == len(other)
        and all(left is right for left, right in zip(mine, other, strict=True))
    )


def _twin(code: CodeType, here: Callable[[], Any]) -> FunctionType:
    """A function with the code, globals and cells of the one that was called; its arguments are all given by the
    gate."""
    assert isinstance(here, FunctionType)
    return FunctionType(code, here.__globals__, code.co_name, None, here.__closure__)


registry: Final = Registry()
NAMES["@enter"] = registry.enter
