"""Units and records: one function of the source, one file. Data; who changes them is `specialize`."""

from __future__ import annotations

import weakref
from types import CellType, CodeType, FunctionType

from cassette_import.runtime.variant import Variant
from cassette_import.specialization.source_file import SourceFile


class Unit:
    """One `def` or `lambda`: its code in all states, and the live functions that are known to have it."""

    __slots__ = ("code", "known", "misses", "number", "plain", "reason", "record", "restored", "trampoline", "variants")

    def __init__(self, number: int, record: FileRecord, plain: CodeType) -> None:
        self.number = number
        self.record = record
        self.plain = plain
        self.trampoline: CodeType | None = None
        self.code: CodeType | None = None
        self.variants: tuple[Variant, ...] = ()
        self.reason: str | None = None
        self.known: dict[int, weakref.ref[FunctionType]] = {}  # by identity: there may be thousands of a closure
        self.misses = 0
        self.restored = 0

    def functions(self) -> list[FunctionType]:
        found = [function for reference in list(self.known.values()) if (function := reference()) is not None]
        if len(found) < len(self.known):
            self.known = {id(function): weakref.ref(function) for function in found}
        return found

    def add_function(self, function: FunctionType) -> None:
        """Know the function as one of the unit's."""
        reference = self.known.get(id(function))
        if reference is None or reference() is not function:
            self.known[id(function)] = weakref.ref(function)

    def some_function(self) -> FunctionType:
        """A live function of the unit, or one like it, for a pass to look at."""
        functions = self.functions()
        if functions:
            return functions[0]
        cells = tuple(CellType() for _ in self.plain.co_freevars)
        return FunctionType(self.plain, {}, self.plain.co_name, None, cells)


class FileRecord:
    """One source file whose functions are overdubbed: because it is installed, or as the file of a root function."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.module_names: set[str] = set()
        self.source = SourceFile(filename)
        self.units: list[Unit] = []

    @property
    def installed(self) -> bool:
        return bool(self.module_names)
