"""The code index: which function unit a code object belongs to, in any of its states."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.code_objects import DERIVED
from cassette_import.interpreter.generated_names import is_generated
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.interpreter.records import Record
from cassette_import.rewriting.trees.code_matching import (
    decorated_functions,
    match,
    nested_functions,
    replace_functions,
)
from cassette_import.runtime.dispatch.hook_functions import set_code
from cassette_import.runtime.names import is_rewritten
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import generated_code, trampolines
from cassette_import.specialization.function_unit import FileRecord, Unit
from cassette_import.specialization.live_code import names_of
from cassette_import.specialization.source_file import SourceFile, SourceTree
from cassette_import.specialization.trampolines import Reference, is_trampoline

if TYPE_CHECKING:
    import ast

    from cassette_import.rewriting.trees import scopes
    from cassette_import.specialization import wildcard_variant
else:
    (scopes,) = late("cassette_import.rewriting.trees", "scopes")
    (wildcard_variant,) = late("cassette_import.specialization", "wildcard_variant")


class WithTrampolines(Record):
    """The code of a module in which functions have trampolines."""

    code: CodeType
    functions: list[CodeType]
    """The functions that are in no other function, with their plain code."""
    is_cacheable: bool
    """Whether all functions have trampolines, whose references other processes understand."""


class CodeIndex:
    """All files with overdubbed functions, their units and code objects."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.records: dict[str, FileRecord] = {}
        self.units: dict[Reference, Unit] = {}
        self._numbers = itertools.count()
        self.text_names: set[str] = set()
        """The file names of the code that was compiled from given texts."""
        self._indexing = threading.RLock()  # variants look for units of hooks without holding `lock`
        self._codes: dict[int, tuple[CodeType, Unit]] = {}  # by identity: equal code objects are not the same function

    def record_of(self, filename: str) -> FileRecord:
        """The record of a file; a new one for a file that has none."""
        record = self.records.get(filename)
        if record is None:
            record = self.records[filename] = FileRecord(filename)
        return record

    def find_unit(self, code: CodeType) -> Unit | None:
        """The unit of a code object; None if the index does not contain it."""
        found = self._codes.get(id(code))
        if found is None and self._index_modules_of(code.co_filename):
            found = self._codes.get(id(code))
        return found[1] if found is not None else None

    def plain_code_of(self, code: CodeType) -> CodeType:
        """The code that Python compiled, for a code object in any state."""
        unit = self.find_unit(code)
        return code if unit is None else unit.plain

    def unit_of(
        self, code: CodeType, is_function: Callable[[CodeType], bool] = code_objects.is_function
    ) -> Unit | None:
        """The unit of a code object in any of its states; a new unit for code that the index does not contain."""
        found = self.find_unit(code)
        if found is not None:
            return found
        record = self.records.get(code.co_filename)
        if record is None or not is_function(code) or code in DERIVED:
            return None
        plain = self._unmarked(record, code)
        if plain is None:
            return None
        return self._new_unit(next(self._numbers), record, code, plain)

    def add_generated(self, function: FunctionType, record: FileRecord) -> Unit | None:
        """The unit of a function whose code is in no file, in the record of the module that it belongs to."""
        code = function.__code__
        found = self.find_unit(code)
        if found is not None or code in DERIVED or not code_objects.is_function(code):
            return found
        return self._new_unit(next(self._numbers), record, code, code, generated_code.qualified_name(function))

    def add_text(self, record: FileRecord, code: CodeType, text: str | bytes | ast.Module) -> bool:
        """Have units for the functions in code that a module of a file has compiled; return whether there are any."""
        work = [*nested_functions(code)]
        if not work:
            return False
        if isinstance(text, (str, bytes)):
            source = SourceFile(code.co_filename)
            source.refresh(record.source.module_name, source=text.encode() if isinstance(text, str) else text)
        else:
            source = SourceTree(code.co_filename, text)
            source.refresh(record.source.module_name, source=b"")
        for function in work:
            if function not in DERIVED and self.find_unit(function) is None:
                unit = self._new_unit(next(self._numbers), record, function, function, function.co_qualname)
                unit.source = source
                work += nested_functions(function)
        self.text_names.add(code.co_filename)
        return True

    def record_with(self, code: CodeType) -> FileRecord | None:
        """The record that some code belongs to: that of its file, or of the module that it was generated for."""
        name = code.co_filename
        unit = self.find_unit(code) if is_generated(name) or name in self.text_names else None
        return self.records.get(name) if unit is None else unit.record

    def qualified_name(self, code: CodeType) -> str:
        """The qualified name of the function that has the code; generated code has another one itself."""
        unit = self.find_unit(code) if is_generated(code.co_filename) else None
        return code.co_qualname if unit is None else unit.name

    def record_of_module(self, name: str) -> FileRecord | None:
        """The record of the file that a module was executed from; None if it is not overdubbed."""
        for record in list(self.records.values()):
            if name in record.module_names or name == record.source.module_name:
                return record
        return None

    def _new_unit(
        self,
        reference: Reference,
        record: FileRecord,
        code: CodeType,
        plain: CodeType,
        generated_name: str | None = None,
    ) -> Unit:
        unit = self.units[reference] = Unit(reference, record, plain, generated_name)
        record.units.append(unit)
        self._codes[id(code)] = (code, unit)
        return unit

    def codes(self) -> Iterable[tuple[CodeType, Unit]]:
        """All code objects with their units."""
        return list(self._codes.values())

    def forget(self, units: Collection[Unit]) -> None:
        """Drop units whose code is in use nowhere else, and the files of which nothing is left."""
        dead = set(map(id, units))
        for key, (_, unit) in list(self._codes.items()):
            if id(unit) in dead:
                del self._codes[key]
        for unit in units:
            del self.units[unit.reference]
            unit.record.units.remove(unit)
        for record in {id(unit.record): unit.record for unit in units}.values():
            if not record.was_executed and not record.installed:
                del self.records[record.filename]

    # ---- cached modules

    def unit_at(self, reference: Reference, filename: str) -> Unit:
        """The unit that a trampoline of a file refers to."""
        if reference not in self.units:
            self._index_modules_of(filename)
        return self.units[reference]

    def _index_modules_of(self, filename: str) -> bool:
        """Make units for the functions of a file's cached modules that have none yet; return whether there were any."""
        record = self.records.get(filename)
        if record is None or not record.unindexed:
            return False
        with self._indexing:
            modules, record.unindexed = record.unindexed, []
            for module, variant in modules:
                for number, (code, plain) in enumerate(module.functions()):
                    self._index_function(record, (module.digest, number), code, plain, variant)
        return bool(modules)

    def _index_function(
        self, record: FileRecord, reference: Reference, code: CodeType, plain: CodeType, variant: Variant
    ) -> None:
        """Have a unit for a function of a cached module, whose code is a trampoline or a compiled body."""
        unit = self.units.get(reference) or self._new_unit(reference, record, plain, plain)
        self._codes[id(code)] = (code, unit)
        if is_trampoline(code):
            unit.trampoline = unit.trampoline or code
        elif unit.code is None:
            self._index_code(unit, code, (variant,))

    def _unmarked(self, record: FileRecord, code: CodeType) -> CodeType | None:
        """The plain code of code that is new to the index; None for rewritten code whose unit is unknown.

        `types.coroutine` marks a generator function by copying its code, which may be a trampoline or a compiled body.
        """
        if not (is_rewritten(code) or is_trampoline(code)):
            return code
        marks = code.co_flags & code_objects.ITERABLE_COROUTINE
        # A trampoline holds the number of its unit; bodies may be equal if a module was executed twice.
        found = [unit for unit in record.units if _is_copy(code, unit.trampoline) or _is_copy(code, unit.code)]
        return found[-1].plain.replace(co_flags=found[-1].plain.co_flags | marks) if found and marks else None

    def trampoline_of(self, unit: Unit, shows_constants: bool = False) -> CodeType:
        """The unit's trampoline, which is made when it is needed first."""
        if unit.trampoline is None:
            unit.trampoline = trampolines.make(unit.plain, unit.reference, shows_constants)
            self._codes[id(unit.trampoline)] = (unit.trampoline, unit)
        return unit.trampoline

    def add_code(self, unit: Unit, code: CodeType, variants: tuple[Variant, ...]) -> None:
        """Add a unit's compiled body, and the bodies of the functions nested in it to their units."""
        for variant in variants:
            variant.family.note_meeting()
            variant.bind_names(names_of(code, variant.shape.prefix))
        self._index_code(unit, code, variants)

    def _index_code(self, unit: Unit, code: CodeType, variants: tuple[Variant, ...]) -> None:
        unit.code, unit.variants = code, variants
        self._codes[id(code)] = (code, unit)
        plain_nested = list(nested_functions(unit.plain))
        for nested in nested_functions(code):
            plain = match(nested, plain_nested)
            inner = self.unit_of(plain) if plain is not None else None
            if inner is None and plain is not None and unit.generated_name is not None:
                inner = self._new_unit(next(self._numbers), unit.record, plain, plain, plain.co_qualname)
            if inner is not None:
                self._index_code(inner, nested, variants)

    def with_trampolines(self, code: CodeType, everything: bool, digest: bytes | None = None) -> WithTrampolines:
        """The code of a module whose functions have trampolines: all, or those that can be suspended.

        If there is a digest of the source, the trampolines refer to their units by it, so that the code can be cached.
        """
        functions: list[CodeType] = []
        units: list[Unit] = []
        decorated = {id(function) for function in decorated_functions(code)}

        def replacement_of(function: CodeType) -> CodeType:
            functions.append(function)
            unit = self.unit_of(function) if everything or code_objects.can_be_suspended(function) else None
            if unit is None:
                return function
            self._refer(unit, digest, len(functions) - 1)
            units.append(unit)
            return self.trampoline_of(unit, id(function) in decorated)

        made = replace_functions(code, replacement_of)
        references = [(digest, number) for number in range(len(functions))]
        return WithTrampolines(made, functions, references == [unit.reference for unit in units])

    def _refer(self, unit: Unit, digest: bytes | None, number: int) -> None:
        """Give a new unit a reference that other processes understand."""
        if digest is not None and unit.trampoline is None and (digest, number) not in self.units:
            del self.units[unit.reference]
            unit.reference = digest, number
            self.units[unit.reference] = unit

    def outer_code_of(self, unit: Unit) -> CodeType:
        """The plain code of a unit, but with trampolines for the functions that it makes.

        It runs where no context is active, in a module that is imported: the functions outlast the import.
        """
        if unit.outer is None:
            with self.lock:
                code = self.with_trampolines(unit.plain, everything=True).code
                self._codes[id(code)] = (code, unit)
                unit.outer = code
        return unit.outer

    def overdubbable(self, function: FunctionType) -> bool:
        """Whether the function can get a compiled body: it has source, and is not left alone."""
        unit = self.find_unit(function.__code__)
        if unit is not None:
            return unit.reason is None and (unit.generated_name is not None or unit.record.source.available)
        filename = function.__code__.co_filename
        if filename.startswith(PACKAGE_FOLDER):
            return False
        record = self.records.get(filename)
        source = record.source if record is not None else SourceFile(filename)
        if record is None:
            source.refresh(function.__module__, function.__globals__)
        return source.available and code_objects.is_function(function.__code__) and function.__code__ not in DERIVED

    def reason_left_alone(self, function: FunctionType) -> str | None:
        """Why the function is left alone; None if it is not, or was not overdubbed yet."""
        unit = self.find_unit(function.__code__)
        return None if unit is None else unit.reason

    def leave_alone(self, function: FunctionType, reason: str) -> None:
        """Never overdub a function, for a reason; restore its plain code."""
        unit = self.unit_of(function.__code__)
        if unit is None:  # its file is not overdubbed so far
            DERIVED.add(function.__code__)
        else:
            unit.reason = reason
            for known in (function, *unit.functions()):
                set_code(known, unit.plain)

    def reflect(self, function: FunctionType) -> tuple[Any, str] | None:
        """A copy of the function's node, and its source text."""
        code = function.__code__
        with self.lock:
            unit = self.find_unit(code)
            if unit is not None:
                code, source = unit.plain, unit.record.source
            else:
                source = SourceFile(code.co_filename)
                source.refresh(function.__module__, function.__globals__)
            place = source.find(code)
            if place is None:
                return None
            return scopes.clone(place.node), source.text_of(place)

    # ---- reports

    def functions_left_alone(self, module_name: str) -> dict[str, str]:
        """The functions of a module that are left alone: qualified names with reasons."""
        return {unit.name: unit.reason for unit in self._units_of(module_name) if unit.reason is not None}

    def specialised_functions(self, module_name: str) -> dict[str, list[str]]:
        """The functions of a module with compiled bodies: qualified names with the names of the bodies' variants."""
        return {
            unit.name: names
            for unit in self._units_of(module_name)
            if (
                names := [
                    variant.name
                    for variant in unit.variants
                    if not isinstance(variant, wildcard_variant.WildcardVariant)
                ]
            )
        }

    def _units_of(self, module_name: str) -> list[Unit]:
        records = [record for record in list(self.records.values()) if module_name in record.module_names]
        for record in records:
            self._index_modules_of(record.filename)
        return [unit for record in records for unit in record.units]


def _is_copy(code: CodeType, original: CodeType | None) -> bool:
    """Whether a code object has the same name, instructions and constants as the original."""
    return (
        original is not None
        and code.co_qualname == original.co_qualname
        and code.co_code == original.co_code
        and code.co_consts == original.co_consts
    )
