"""Module imports: how the module level of an overdubbed module is executed while contexts are active.

Loaders call `MODULE_IMPORTS.execute`. The package above that knows contexts connects a function that chooses the
contexts in which a module level runs; until then, modules are executed as Python does it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Final

from cassette_import.interpreter.hidden_frames import hidden

_IMPORT_SYSTEM: Final = frozenset(
    {"importlib", "importlib._bootstrap", "importlib._bootstrap_external", "importlib.util"}
)
"""The modules whose functions find, load and execute a module."""


class ModuleImport:
    """The import of a module as one event: contexts without `module_level` get this object as the callee `f`.

    Attributes
    ----------
    name:
        The full name of the module.
    filename:
        Its source file.
    """

    __slots__ = ("__name__", "__qualname__", "_execute", "filename", "name")

    def __init__(self, name: str, filename: str, execute: Callable[[], None]) -> None:
        self.name = name
        self.filename = filename
        self.__name__ = self.__qualname__ = f"import {name}"
        self._execute = execute

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    @hidden
    def __call__(self) -> None:
        """Execute the module."""
        self._execute()


def importer(frame: FrameType) -> FrameType:
    """The frame that imports a module, for a frame of the import system that executes it; any other frame itself."""
    found: FrameType | None = frame
    while found is not None and found.f_globals.get("__name__") in _IMPORT_SYSTEM:
        found = found.f_back
    return found or frame


Execute = Callable[[ModuleType], None]
"""Executes a module, as `exec_module` of a loader does."""


class ModuleImports:
    """Executes modules as the connected function says."""

    def __init__(self) -> None:
        self.execute: Callable[[str, str, Execute, ModuleType], None] = _plainly
        """`execute(name, filename, execute, module)` executes a module that is overdubbed."""
        self.is_one_event: Callable[[], bool] = _never
        """Whether an import is one event for some context that is active in this thread or task."""

    def connect(
        self, execute: Callable[[str, str, Execute, ModuleType], None], is_one_event: Callable[[], bool]
    ) -> None:
        """Execute modules in this way from now on."""
        self.execute = execute
        self.is_one_event = is_one_event


@hidden
def _plainly(name: str, filename: str, execute: Execute, module: ModuleType) -> None:
    """Execute a module while nothing is connected."""
    execute(module)


def _never() -> bool:
    """The answer while nothing is connected."""
    return False


MODULE_IMPORTS: Final = ModuleImports()
