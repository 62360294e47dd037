"""Asking the finders behind one of cassette_import's finders in `sys.meta_path`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Searches(threading.local):
    """The modules that a thread is searching for."""

    def __init__(self) -> None:
        self.running: set[str] = set()


class OtherFinders:
    """The finders behind one entry of `sys.meta_path`."""

    def __init__(self, entry: Any) -> None:
        self._entry = entry
        self._searches = _Searches()

    def search(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> tuple[ModuleSpec | None, Any]:
        """Search for a module with them; return the spec and the finder that made it, or twice None."""
        # A finder behind this one may search with all finders, this one included. Here it finds nothing then: otherwise
        # the finders would call each other without end. The guard is for this thread alone: for other threads None
        # would be wrong (checklist F2).
        if fullname in self._searches.running:
            return None, None
        self._searches.running.add(fullname)
        try:
            for other in self._behind():
                find_spec = getattr(other, "find_spec", None)  # some entries have none (checklist F3)
                spec = None if find_spec is None else find_spec(fullname, path, target)
                if spec is not None:
                    return spec, other
            return None, None
        finally:
            self._searches.running.discard(fullname)

    def _behind(self) -> list[Any]:
        entries = list(sys.meta_path)  # searching may change the list itself (checklist F3)
        positions = [position for position, entry in enumerate(entries) if entry is self._entry]
        return entries[positions[-1] + 1 :] if positions else entries
