"""Units and file records: one function of the source, one source file.

Data, which the registry and its parts change.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from cassette_import.runtime.variant import Variant
from cassette_import.specialization.live_code import CachedModule
from cassette_import.specialization.source_file import SourceFile
from cassette_import.specialization.trampolines import Reference

INSTALLED: Final[set[str]] = set()
"""The names of all modules that are installed and executed."""


class Unit:
    """One `def` or `lambda`: its code in all states, and the live functions that have it, as far as they are known.

    Of its three states, `plain` is the code that Python compiled, `trampoline` specialises the unit on entry, and
    `code` is the compiled body with a branch for each of the `variants`.
    """

    __slots__ = (
        "_functions",
        "code",
        "entered_globals",
        "generated_name",
        "misses",
        "outer",
        "plain",
        "plain_entries",
        "reason",
        "record",
        "reference",
        "restorations",
        "source",
        "source_stamp",
        "trampoline",
        "variants",
    )

    def __init__(
        self, reference: Reference, record: FileRecord, plain: CodeType, generated_name: str | None = None
    ) -> None:
        self.generated_name = generated_name
        """The qualified name of a function whose code is in no file; its file is that of the module it belongs to."""
        self.source: SourceFile | None = None
        """The text of such a function, if `compile`, `exec` or `eval` got it."""
        self.reference = reference
        """What its trampoline passes to the specialiser."""
        self.record = record
        self.source_stamp = record.source.stamp
        """The stamp of the text that it was compiled from."""
        self.plain = plain
        self.trampoline: CodeType | None = None
        self.outer: CodeType | None = None
        """The plain code with trampolines for the functions nested in it: it runs while a module is imported."""
        self.code: CodeType | None = None
        self.variants: tuple[Variant, ...] = ()
        self.reason: str | None = None
        """Why the unit is left alone; None if it is not."""
        self._functions: dict[int, weakref.ref[FunctionType]] = {}  # by identity: a closure may have thousands
        self.entered_globals: dict[str, Any] | None = None
        """The globals of the function that is being entered, which need not be among the known ones."""
        self.misses = 0
        """How often the function that was called was not found by its name."""
        self.plain_entries = 0
        """How often its trampoline was called by an import that no context intercepts."""
        self.restorations = 0
        """How often its functions got the plain code back because no context was active."""

    @property
    def name(self) -> str:
        """The qualified name of the function."""
        return self.generated_name or self.plain.co_qualname

    def forget_body(self) -> None:
        """Drop the compiled body, because its entry test is another one from now on."""
        self.code, self.variants = None, ()

    @property
    def is_current(self) -> bool:
        """Whether its module was not executed from another text since."""
        return self.source_stamp == self.record.source.stamp

    def functions(self) -> list[FunctionType]:
        """The known live functions of the unit."""
        found = [function for reference in list(self._functions.values()) if (function := reference()) is not None]
        if len(found) < len(self._functions):
            self._functions = {id(function): weakref.ref(function) for function in found}
        return found

    def add_function(self, function: FunctionType) -> None:
        """Add a live function of the unit."""
        reference = self._functions.get(id(function))
        if reference is None or reference() is not function:
            self._functions[id(function)] = weakref.ref(function)

    def some_function(self) -> FunctionType:
        """A live function of the unit, or one like it, for passes to inspect."""
        functions = self.functions()
        if functions:
            return functions[0]
        cells = tuple(CellType() for _ in self.plain.co_freevars)
        return FunctionType(self.plain, self.entered_globals or {}, self.plain.co_name, None, cells)


class FileRecord:
    """One source file whose functions are overdubbed, as an installed module or as the file of a root function.

    `module_names` are the installed modules that were executed from it.
    """

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.module_names: set[str] = set()
        self.installed = False
        """Whether a module of the file is installed. The accelerator of dispatch reads it."""
        self.source = SourceFile(filename)
        self.units: list[Unit] = []
        self.unindexed: list[tuple[CachedModule, Variant]] = []
        """The cached modules that were executed, each with the variant of its bodies: no function of theirs has a unit
        yet."""

    @property
    def module_name(self) -> str:
        """The module that is executed from it."""
        return self.source.module_name

    @property
    def was_executed(self) -> bool:
        """Whether functions of the file may have trampolines or compiled bodies."""
        return bool(self.units or self.unindexed)

    def serves(self, variants: Sequence[Variant]) -> bool:
        """Whether all functions of the file come from cached modules, whose bodies and trampolines serve the variants.

        Functions that were made before such a module was executed have units.
        """
        if not self.unindexed or any(unit.generated_name is None for unit in self.units):
            return False
        return all(variant is served for variant in variants for _, served in self.unindexed)

    def forget_bodies(self) -> None:
        """Drop the compiled bodies, because the file was installed or uninstalled: their entry tests differ."""
        for unit in self.units:
            unit.forget_body()

    def add_module(self, module_name: str) -> None:
        """Note an installed module that was executed from the file."""
        self.module_names.add(module_name)
        INSTALLED.add(module_name)
        self.installed = True

    def remove_modules(self, module_names: set[str]) -> None:
        """Note that modules are no longer installed."""
        INSTALLED.difference_update(self.module_names & module_names)
        self.module_names -= module_names
        self.installed = bool(self.module_names)
