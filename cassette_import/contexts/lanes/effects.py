"""Effects: what the function writes to, how it is undone, and whether it outlives the call.

A run repeats the function for lanes that were dropped, so it must leave nothing behind. Every object that the program
changes is noted with its former content. After the run, an object that something else than the result refers to has
outlived the call.
"""

from __future__ import annotations

import gc
from types import CellType, ModuleType
from typing import Any, Final

from cassette_import.contexts.common.outliving import COPIED, OPAQUE, copy_of, fill, outliving
from cassette_import.contexts.lanes.errors import place
from cassette_import.contexts.lanes.lane import Lane

__all__ = ["Changes"]

_OPAQUE: Final = (*OPAQUE, Lane)
_EMPTY: Final = object()


class Changes:
    """The objects that a run has changed.

    Parameters
    ----------
    shared:
        Objects that exist before the call: its arguments.
    """

    def __init__(self, shared: Any) -> None:
        self._shared = {id(one): one for one in shared}
        self.entries: dict[int, tuple[Any, Any, str]] = {}
        """The changed objects by identity: each with its former content, and the place of the first change."""
        self.is_undone = True
        """Whether `undo` restores all objects that outlive the call."""

    def begun(self) -> Changes:
        """The changes of a part of the run, which ends before the run goes on."""
        return Changes(self._shared.values())

    def note(self, holder: Any) -> str | None:
        """Note an object that is about to change; return why that is an effect, if it is certain already."""
        if isinstance(holder, (type, ModuleType)):
            return f"{holder!r} is changed"
        if id(holder) in self._shared:
            return "an argument of the function is changed"
        if id(holder) not in self.entries:
            self.entries[id(holder)] = holder, _content(holder), place()
        return None

    def undo(self) -> None:
        """Restore the former content of every object, for the latest one first."""
        for holder, content, _ in reversed(self.entries.values()):
            _restore(holder, content)

    def outliving(self, outcome: list[Any]) -> str | None:
        """The place at which an object was first changed that something outside of the result refers to.

        If the object is an iterator, `is_undone` is false from now on: an iterator cannot be put back.
        """
        if not self.entries:
            return None
        found = self._reachable_from_outside(outcome)
        if found is not None:
            gc.collect()  # cycles that nothing refers to
            found = self._reachable_from_outside(outcome)
        return found

    def _reachable_from_outside(self, outcome: list[Any]) -> str | None:
        seen = outliving(self.entries, outcome, _OPAQUE)
        if seen is None:
            return next(iter(self.entries.values()))[2]
        found = [entry for key, entry in self.entries.items() if key in seen]
        self.is_undone = not any(hasattr(type(holder), "__next__") for holder, _, _ in found)
        return found[0][2] if found else None


def _content(holder: Any) -> Any:
    if type(holder) is CellType:
        return [getattr(holder, "cell_contents", _EMPTY)]
    if hasattr(type(holder), "__next__"):
        return []
    if isinstance(holder, COPIED):
        return [copy_of(holder)]
    content = [dict(vars(holder))] if hasattr(holder, "__dict__") else []
    slots = {
        name: getattr(holder, name)
        for kind in type(holder).__mro__
        for name in _names(getattr(kind, "__slots__", ()))
        if hasattr(holder, name) and name not in ("__dict__", "__weakref__")
    }
    return [*content, slots] if slots else content


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _restore(holder: Any, content: list[Any]) -> None:
    if type(holder) is CellType:
        if content[0] is _EMPTY:
            del holder.cell_contents
        else:
            holder.cell_contents = content[0]
        return
    if isinstance(holder, COPIED):
        fill(holder, content[0])
    else:
        for part in content:
            if part is content[0] and hasattr(holder, "__dict__"):
                vars(holder).clear()
                vars(holder).update(part)
            else:
                for name, value in part.items():
                    object.__setattr__(holder, name, value)
