"""The port of the registry: what importing uses of specialisation in a process that may never enter a context.

The registry needs everything that specialises functions, and importing that takes longer than most programs take to
start. So it is imported together with `Context`, without which no context is entered. Until then the port lists the
modules that are to be overdubbed, and answers what the registry would answer: nothing is specialised.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from types import CodeType
from typing import Final

from cassette_import.interpreter.records import Protocol, Record

# ---- the stamp of a source file, by which a change of the file is noticed

STARTED: Final = time.time_ns()
"""Files that were written before have not changed since their modules were executed."""


def stamp_of(filename: str) -> tuple[int, int] | None:
    """The time of the last change of a file, and its size; None if there is no such file."""
    try:
        status = os.stat(filename)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


# ---- the port of the registry: what importing uses of specialisation in a process that may never enter a context


class ModuleRegistry(Protocol):
    """The registry, as far as importing uses it."""

    def add_module(self, module_name: str, filename: str | None, stamp: tuple[int, int] | None) -> None: ...

    def remove_modules(self, module_names: Iterable[str]) -> None: ...

    def instrument_active(self) -> None: ...

    def wants_module_level(self, filename: str | None = None) -> bool: ...

    def wants_trampolines(self, filename: str | None = None) -> bool: ...

    def cached_module_code(self, module_name: str, filename: str) -> CodeType | None: ...

    def module_code(self, module_name: str, filename: str, source: bytes, plain: CodeType) -> CodeType: ...

    def functions_left_alone(self, module_name: str) -> dict[str, str]: ...

    def specialised_functions(self, module_name: str) -> dict[str, list[str]]: ...


class _ListedModule(Record):
    """A module that is to be overdubbed, as `ModuleRegistry.add_module` takes it."""

    name: str
    filename: str
    stamp: tuple[int, int] | None
    """That of the file when the module was executed."""


class RegistryPort:
    """Passes everything on to the registry; lists modules as long as there is none. There is one, `registry`."""

    def __init__(self) -> None:
        self._listed: list[_ListedModule] = []
        self._registry: ModuleRegistry | None = None

    def connect(self, registry: ModuleRegistry) -> None:
        """Use this registry from now on. It gets the modules that were listed."""
        self._registry = registry
        self._hand_over(registry)
        # These are used at each import of a selected module.
        self.wants_module_level = registry.wants_module_level  # type: ignore[method-assign]  # a shortcut
        self.wants_trampolines = registry.wants_trampolines  # type: ignore[method-assign]  # a shortcut

    def _hand_over(self, registry: ModuleRegistry) -> None:
        while self._listed:  # another thread may do the same
            try:
                listed = self._listed.pop(0)
            except IndexError:
                break
            registry.add_module(*listed)

    def add_module(self, module_name: str, filename: str | None) -> None:
        """Overdub the module's functions from now on. Each execution of the module calls this again."""
        if filename is None:
            return
        self._listed.append(_ListedModule(module_name, filename, stamp_of(filename)))
        if self._registry is not None:  # read now: another thread may have connected it meanwhile
            self._hand_over(self._registry)

    def remove_modules(self, module_names: Iterable[str]) -> None:
        """Undo `add_module`."""
        names = set(module_names)
        for listed in list(self._listed):  # one by one: other threads may list modules meanwhile
            if listed.name in names:
                with contextlib.suppress(ValueError):
                    self._listed.remove(listed)
        if self._registry is not None:
            self._registry.remove_modules(names)

    def instrument_active(self) -> None:
        """Instrument functions that were made since, for all contexts that are in use in some thread or task."""
        if self._registry is not None:
            self._registry.instrument_active()

    def wants_module_level(self, filename: str | None = None) -> bool:
        """Whether a module that is executed now gets rewritten code."""
        return False

    def wants_trampolines(self, filename: str | None = None) -> bool:
        """Whether functions of a module that is executed now get trampolines."""
        return False

    def cached_module_code(self, module_name: str, filename: str) -> CodeType | None:
        """The code to execute for a module, as an earlier run left it for the active contexts, or None."""
        return None if self._registry is None else self._registry.cached_module_code(module_name, filename)

    def module_code(self, module_name: str, filename: str, source: bytes, plain: CodeType) -> CodeType:
        """The code to execute for a module instead of the plain code."""
        if self._registry is None:
            return plain
        return self._registry.module_code(module_name, filename, source, plain)

    def functions_left_alone(self, module_name: str) -> dict[str, str]:
        """The functions of a module that are left alone: qualified names with reasons."""
        return {} if self._registry is None else self._registry.functions_left_alone(module_name)

    def specialised_functions(self, module_name: str) -> dict[str, list[str]]:
        """The functions of a module with compiled bodies: qualified names with the names of the bodies' variants."""
        return {} if self._registry is None else self._registry.specialised_functions(module_name)


registry: Final = RegistryPort()
