"""The variables of module levels while tasks run: anything may read them once the module level has raised an
exception.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, Final

from cassette_import.contexts.parallel.tasks import Placeholder

__all__ = ["ModuleVariables", "fill", "restore"]

_MISSING: Final = object()


class ModuleVariables:
    """Which variables the regions of module levels bind."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, ...]] = {}  # by the `id()` of the namespace

    def bind(self, frame: FrameType, names: tuple[str, ...]) -> None:
        """Note the names that a region binds, which begins in a frame."""
        self._names[id(frame.f_globals)] = names

    def values(self, frame: FrameType) -> dict[str, Any] | None:
        """The values of these variables now; None if the frame is that of a function."""
        if not _is_module_level(frame):
            return None
        return {name: frame.f_globals.get(name, _MISSING) for name in self._names.get(id(frame.f_globals), ())}


def fill(frame: FrameType) -> None:
    """Put values in the place of placeholders that are known, if the frame is that of a module level."""
    if not _is_module_level(frame):
        return
    for name, value in frame.f_globals.items():
        if type(value) is Placeholder and value.is_known:
            frame.f_globals[name] = value.value


def restore(frame: FrameType, values: dict[str, Any]) -> None:
    """Give variables the values that they had, or unbind them; the tasks of all placeholders among them have ended."""
    for name, value in values.items():
        if value is _MISSING:
            frame.f_globals.pop(name, None)
        else:
            frame.f_globals[name] = value.value if type(value) is Placeholder else value


def _is_module_level(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>"
