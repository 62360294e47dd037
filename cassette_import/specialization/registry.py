"""Which code is live: gating, specialising on first entry, switching, restoring.

Knows modules, source and code objects, and of a variant only its shape. Must not know what an event looks like, nor
hooks.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.errors import CassetteWarning, PassError
from cassette_import.interpreter import heap
from cassette_import.interpreter.observers import pause_garbage_collection, pause_observers
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.callee import BLINDLY
from cassette_import.rewriting.trees.code_matching import is_function
from cassette_import.runtime.names import NAMES, PROVIDED
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, INACTIVE, Activation
from cassette_import.runtime.variant import Variant
from cassette_import.specialization.body_compiler import SPECIALISING, bodies, on_a_fresh_stack
from cassette_import.specialization.code_consumers import update_keepers
from cassette_import.specialization.code_readers import patch_readers
from cassette_import.specialization.function_lookup import Finding, same_cells, twin
from cassette_import.specialization.function_unit import Unit
from cassette_import.specialization.wildcard_variant import WildcardVariant, can_be_suspended, wildcard_variant

_NOT_YET: Final = -1
"""No generation: a variant that has to look at all functions again."""

MOST_VARIANTS: Final = 4
"""How many variants one function's code carries; the least recently added one that is not active goes first."""

_MOST_RESTORATIONS: Final = 2
"""How often a function that is called outside of contexts gets its plain code back."""


class Registry(Finding):
    """What is live of all that there is; there is one, `registry`."""

    def __init__(self) -> None:
        super().__init__()
        self.generation = 0
        self._instrumented: list[Variant] = []
        self._ever_instrumented = False
        """Whether a context was ever entered: generators that begin while none is active may meet the next one."""

    # ---- which modules

    def add_module(self, module_name: str, filename: str | None) -> None:
        """The module's functions are overdubbed from now on. Idempotent; said again at each execution of the module."""
        if filename is None:
            return
        with self.lock:
            record = self._record(filename)
            record.module_names.add(module_name)
            record.source.refresh(module_name)
            self.generation += 1

    def remove_modules(self, module_names: Iterable[str]) -> None:
        """Undo `admit`: every live function of these modules gets its original code object back."""
        names = set(module_names)
        with self.lock:
            left = set()
            for record in self.records.values():
                if record.module_names & names:
                    record.module_names -= names
                    if not record.module_names:
                        left.add(record.filename)
            for function in heap.functions_of(left):
                unit = self.find_unit(function.__code__)
                if unit is not None:
                    update_keepers([function.__code__], unit.plain)
                    function.__code__ = unit.plain
            self.generation += 1

    def add_root(self, function: FunctionType) -> str | None:
        """Make the file of a root function overdubbed for its activation; return the file name, None if it is
        installed or has no source."""
        code = function.__code__
        filename = code.co_filename
        record = self.records.get(filename)
        if (record is not None and record.installed) or filename.startswith(PACKAGE_FOLDER):
            return None
        with self.lock:
            record = self.records.get(filename)
            if record is None:
                record = self._record(filename)
                record.source.refresh(function.__module__, function.__globals__)
                self.generation += 1
            if record.installed:
                return None
            resume_observers = pause_observers()
            try:
                return filename if record.source.available else None
            finally:
                resume_observers()

    # ---- gates

    def instrument(self, variant: Variant, roots: frozenset[str]) -> None:
        """See to it that every live function meets the variant at its entry: by a branch, or by a gate."""
        resume_garbage_collection = pause_garbage_collection()
        try:
            with self.lock:
                self._instrument(self._serving(variant), roots)
        finally:
            resume_garbage_collection()

    def _instrument(self, variant: Variant, roots: frozenset[str]) -> None:
        if variant not in self._instrumented:
            self._instrumented = [other for other in self._instrumented if other.family is not variant.family]
            self._instrumented.append(variant)
            self._ever_instrumented = True
            self._update_sole_variant()
        variant.guards.look_at_classes()
        files = {name for name, record in self.records.items() if record.installed or name in roots}
        for function in heap.functions_of(files):
            unit = self.unit_of(function.__code__)
            if unit is not None and unit.reason is None:
                self._instrument_function(function, unit)
        patch_readers(self.plain_code_of)
        executed = self._some_module_is_being_executed()
        variant.instrumented_at[roots] = self.generation if not executed else _NOT_YET

    def instrument_active(self) -> None:
        """The same for all variants that some thread or task is in: functions are there that they have not seen.

        If nobody is in any, it is seen to what can be suspended: it may go on when somebody is.
        """
        with self.lock:
            active = [variant for variant in self._instrumented if variant.family.active]
            for variant in active:
                for roots in list(variant.instrumented_at):
                    self.instrument(variant, roots)
            if self._ever_instrumented and not active:
                files = {name for name, record in self.records.items() if record.installed}
                for function in heap.functions_of_modules(files):
                    unit = self.unit_of(function.__code__) if can_be_suspended(function.__code__) else None
                    if unit is not None and unit.reason is None:
                        self._instrument_function(function, unit)

    def _some_module_is_being_executed(self) -> bool:
        """Whether functions may still be made by a module level that has not seen a gate."""
        names = [name for record in self.records.values() for name in record.module_names]
        specs = (getattr(sys.modules.get(name), "__spec__", None) for name in names)
        return any(getattr(spec, "_initializing", False) for spec in specs)

    def ensure_instrumented(self, function: FunctionType, variant: Variant, roots: frozenset[str]) -> None:
        """See to it that a root function meets the variant.

        Its code may come from a frame that was running before the variant was armed; so may that of other functions
        made there.
        """
        unit = self.unit_of(function.__code__)
        if unit is None or unit.reason is not None or function.__code__ is unit.trampoline:
            return
        if function.__code__ is unit.plain or variant not in unit.variants:
            self.instrument(variant, roots)

    def _forget_instrumentation(self, code_has: Sequence[Variant]) -> bool:
        """Live functions get code without some variants: those look at all functions again when they are entered
        next. Return whether some of them are active: they will not be entered again, and need other code."""
        lacking = [
            (variant, dict(variant.instrumented_at)) for variant in self._instrumented if variant not in code_has
        ]
        for variant, _ in lacking:
            variant.instrumented_at.clear()
        # Whoever enters a variant makes it active first, and then looks whether it is armed. Here it is the other way
        # round: one of the two sees what the other one does.
        active = [(variant, armed) for variant, armed in lacking if variant.family.active]
        for variant, armed in active:
            variant.instrumented_at.update(armed)
        self._instrumented = [variant for variant in self._instrumented if variant.instrumented_at]
        self._update_sole_variant()
        return bool(active)

    def _serving(self, variant: Variant) -> Variant:
        """The variant whose bodies serve the family of this one, which may have been superseded just now."""
        return next(
            (other for other in self._instrumented if other.family is variant.family and variant.is_superseded),
            variant,
        )

    def _update_sole_variant(self) -> None:
        intercepting = [variant for variant in self._instrumented if not variant.shape.silent]
        for variant in intercepting:
            variant.guards.be_alone(len(intercepting) == 1)
        NAMES[BLINDLY] = not any(
            variant.shape.wants(Events.CALLS) and Events.CALLS not in variant.shape.blind for variant in intercepting
        )

    def _instrument_function(self, function: FunctionType, unit: Unit) -> None:
        unit.add_function(function)
        if function.__code__ is unit.trampoline:
            return  # it may be there for another variant, which the unit's code does not have
        if unit.code is None or any(armed not in unit.variants for armed in self._instrumented):
            function.__code__ = self.trampoline_of(unit)
        elif function.__code__ is not unit.code:
            function.__code__ = unit.code

    def _entered(self, unit: Unit, here: Callable[[], Any]) -> Unit:
        """The unit of the function that was called, if it is not that of its gate, but of a marked copy of it."""
        assert isinstance(here, FunctionType)
        if not unit.plain.co_flags & inspect.CO_GENERATOR or unit.plain.co_flags & inspect.CO_ITERABLE_COROUTINE:
            return unit
        function = self.named(unit, here)
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
        resume_observers = pause_observers()
        try:
            if getattr(SPECIALISING, "now", False):
                return twin(unit.plain, here)  # a function that specialising itself needs
            SPECIALISING.now = True
            try:
                with self.lock:
                    unit = self._entered(unit, here)
                    return self._switch(unit, self._code_for(unit, activation), here)
            finally:
                SPECIALISING.now = False
        finally:
            resume_observers()
            ACTIVE.reset(token)

    def _code_for(self, unit: Unit, activation: Activation) -> CodeType:
        """The code that the unit is to have when it is entered in an activation."""
        record = unit.record
        meant = record.installed or record.filename in activation.roots
        while True:
            if (
                meant
                or any(variant.family.active for variant in self._instrumented)
                or unit.restored == _MOST_RESTORATIONS
            ):
                code = self._body(unit, activation.variant if meant else None)
            else:
                code = unit.plain  # its file was overdubbed for a root function that is not running any more
                unit.restored += 1  # who comes back again and again would have all functions looked for each time
            if unit.reason is not None or not self._forget_instrumentation(unit.variants if code is unit.code else ()):
                return code

    def _switch(self, unit: Unit, code: CodeType, here: Callable[[], Any]) -> Callable[..., Any]:
        assert isinstance(here, FunctionType)
        entered: FunctionType | None = None
        functions = list(unit.functions())
        patch_readers(self.plain_code_of)
        update_keepers([unit.plain, unit.trampoline, *(function.__code__ for function in functions)], code)
        for function in functions:
            function.__code__ = code
            if same_cells(function, here):
                entered = function
        if entered is None:
            entered = self.find_by_name(unit, here)
            if entered is None:
                unit.misses += 1
                if unit.misses > 1:
                    self.find_on_heap(unit)
            elif entered.__code__ is not code:
                unit.add_function(entered)
                entered.__code__ = code
        if entered is not None and not same_cells(entered, here):
            entered = None
        return entered if entered is not None else twin(code, here)

    # ---- specialising

    def _body(self, unit: Unit, variant: Variant | None) -> CodeType:
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
        self.add_code(unit, code, wanted)
        return code

    def _wanted(self, unit: Unit, variant: Variant | None) -> tuple[Variant, ...]:
        wanted = [self._serving(variant)] if variant is not None else []
        wanted += [other for other in self._instrumented if other.family.active and other not in wanted]
        room = MOST_VARIANTS - len(wanted)
        older = [other for other in unit.variants if other not in wanted and not other.is_superseded]
        if not wanted and can_be_suspended(unit.plain):
            known = [other for other in older if not isinstance(other, WildcardVariant)]
            return wildcard_variant(self._instrumented), *known[: MOST_VARIANTS - 1]
        if not wanted and not older:
            older = self._instrumented[-1:]  # entered while nothing is active: as good a guess as any
        return tuple(wanted + (older[:room] if room > 0 else []))

    # ---- modules imported while a context is active

    def wants_module_level(self, filename: str | None = None) -> bool:
        """Whether a module that is executed now is to be executed with code of ours.

        A context may be active here: then its module level is overdubbed. Or elsewhere, or it is executed again after
        contexts were active: then its functions have gates from the beginning, so that no thread meets them without.
        """
        record = self.records.get(filename) if filename is not None else None
        return bool(NAMES.get("@on")) or (record is not None and bool(record.units))

    def wants_trampolines(self, filename: str | None = None) -> bool:
        """Whether that is so, or at least what can be suspended is to have gates."""
        return self._ever_instrumented or self.wants_module_level(filename)

    def module_code(self, module_name: str, filename: str, source: bytes, plain: CodeType) -> CodeType:
        """What to execute for a module, if it is not what Python made of it."""
        variant = ACTIVE.get().variant
        token = ACTIVE.set(INACTIVE)
        try:
            with self.lock:
                record = self._record(filename)
                record.module_names.add(module_name)
                everything = self.wants_module_level(filename)
                if everything:
                    record.source.refresh(module_name, source=source)
                made = bodies.module_level(record, variant, source, plain) if variant is not None else plain
                return self._with_trampolines(made, everything)
        finally:
            ACTIVE.reset(token)

    def _with_trampolines(self, code: CodeType, everything: bool) -> CodeType:
        """The code of a module or class body whose functions have gates: all, or those that can be suspended."""
        consts: list[Any] = []
        for const in code.co_consts:
            if isinstance(const, CodeType):
                if not is_function(const):
                    const = self._with_trampolines(const, everything)
                elif everything or can_be_suspended(const):
                    unit = self.unit_of(const)
                    const = self.trampoline_of(unit) if unit is not None else const
            consts.append(const)
        return code.replace(co_consts=tuple(consts))


registry: Final = Registry()
OVERDUBBED.connect(registry)
PROVIDED.add({"@enter": registry.enter, BLINDLY: True})
