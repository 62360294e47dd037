"""Files, units and code objects: which code is whose, in any of its states.

Knows modules, source and code objects. Must not know which code is live, nor what an event looks like.
"""

from __future__ import annotations

import inspect
import threading
from types import CodeType, FunctionType
from typing import Any

from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.rewriting.trees.code_matching import is_function, match, nested_functions
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import trampolines
from cassette_import.specialization.function_unit import FileRecord, Unit
from cassette_import.specialization.source_file import SourceFile
from cassette_import.specialization.wildcard_variant import WildcardVariant


class CodeIndex:
    """All files, units and code objects."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.records: dict[str, FileRecord] = {}
        self.units: list[Unit] = []
        self._codes: dict[int, tuple[CodeType, Unit]] = {}  # by identity: equal code objects are not the same function

    def _record(self, filename: str) -> FileRecord:
        record = self.records.get(filename)
        if record is None:
            record = self.records[filename] = FileRecord(filename)
        return record

    def find_unit(self, code: CodeType) -> Unit | None:
        """The unit of a code object that was met before."""
        found = self._codes.get(id(code))
        return found[1] if found is not None else None

    def plain_code_of(self, code: CodeType) -> CodeType:
        """The code as it was written, of a code object in any state."""
        unit = self.find_unit(code)
        return code if unit is None else unit.plain

    def unit_of(self, code: CodeType) -> Unit | None:
        """The unit of a code object in any of its states; a new one for code that is met for the first time."""
        known = self.find_unit(code)
        if known is not None:
            return known
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

    def _unmarked(self, record: FileRecord, code: CodeType) -> CodeType | None:
        """The plain code of code that is met for the first time; None if it is ours, and nobody knows whose.

        `types.coroutine` marks a generator function by copying its code, which may be ours by then.
        """
        # Names that start with "@py" are those of pytest's assertion rewriting (P1).
        names = code.co_names
        if "@" not in "".join(names) or not any(name[:1] == "@" and name[:3] != "@py" for name in names):
            return code
        marks = code.co_flags & inspect.CO_ITERABLE_COROUTINE
        # A gate holds the number of its unit; bodies may be equal where a module was executed twice.
        found = [unit for unit in record.units if _is_copy(code, unit.trampoline) or _is_copy(code, unit.code)]
        return found[-1].plain.replace(co_flags=found[-1].plain.co_flags | marks) if found and marks else None

    def trampoline_of(self, unit: Unit) -> CodeType:
        """The unit's gate, which is made when it is wanted."""
        if unit.trampoline is None:
            unit.trampoline = trampolines.make(unit.plain, unit.number)
            self._codes[id(unit.trampoline)] = (unit.trampoline, unit)
        return unit.trampoline

    def add_code(self, unit: Unit, code: CodeType, variants: tuple[Variant, ...]) -> None:
        """Make the new code, and the nested functions' in it, known as states of their units."""
        for variant in variants:
            variant.provide(code)
        self._index_code(unit, code, variants)

    def _index_code(self, unit: Unit, code: CodeType, variants: tuple[Variant, ...]) -> None:
        unit.code, unit.variants = code, variants
        self._codes[id(code)] = (code, unit)
        plain_nested = list(nested_functions(unit.plain))
        for nested in nested_functions(code):
            plain = match(nested, plain_nested)
            inner = self.unit_of(plain) if plain is not None else None
            if inner is not None:
                self._index_code(inner, nested, variants)

    def overdubbable(self, function: FunctionType) -> bool:
        """Whether a body can be had for the function: it has source, and is not left alone."""
        unit = self.find_unit(function.__code__)
        if unit is not None:
            return unit.reason is None
        filename = function.__code__.co_filename
        if filename.startswith(PACKAGE_FOLDER):
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
            unit = self.find_unit(code)
            if unit is not None:
                code, source = unit.plain, unit.record.source
            else:
                source = SourceFile(code.co_filename)
                source.refresh(function.__module__, function.__globals__)
            place = source.find(code)
            if place is None:
                return None
            return clone(place.node), source.text_of(place)

    # ---- telling

    def functions_left_alone(self, module_name: str) -> dict[str, str]:
        """Qualified name and reason of the module's functions that stay plain."""
        return {unit.plain.co_qualname: unit.reason for unit in self._units_of(module_name) if unit.reason is not None}

    def specialised_functions(self, module_name: str) -> dict[str, list[str]]:
        """Qualified name, and names of the variants, of the module's functions that have an overdubbed body."""
        return {
            unit.plain.co_qualname: names
            for unit in self._units_of(module_name)
            if (names := [variant.name for variant in unit.variants if not isinstance(variant, WildcardVariant)])
        }

    def _units_of(self, module_name: str) -> list[Unit]:
        return [unit for record in self.records.values() if module_name in record.module_names for unit in record.units]


def _is_copy(code: CodeType, original: CodeType | None) -> bool:
    """Whether code does the same as ours, for all that is in it."""
    return (
        original is not None
        and code.co_qualname == original.co_qualname
        and code.co_code == original.co_code
        and code.co_consts == original.co_consts
    )
