"""The environment, as a run that is recorded or replayed reads it: variable by variable, when they are asked for.

A subscript is no call, so `os.environ` itself has to tell. What it keeps its variables in is replaced, once, by a
dict that asks the context that is active; without one it is a dict like any other.

Knows `os.environ`; must not know recordings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from cassette_import.runtime.state import ACTIVE

__all__ = ["overlay"]

_MISSING: Final = object()


class _Variables(dict[Any, Any]):
    """What `os.environ` keeps its variables in. Names and values are bytes, on Windows text."""

    def _asked(self) -> Any:
        """The context that has a say here and now, or None."""
        for context in reversed(ACTIVE.get().contexts):
            if getattr(context, "answers_for_environment", False):
                return context
        return None

    def __getitem__(self, name: Any) -> Any:
        context = self._asked()
        if context is None or not isinstance(name, bytes | str):
            return super().__getitem__(name)
        own = super().get(name)
        value = context.variable(os.fsdecode(name), None if own is None else os.fsdecode(own))
        if value is None:
            raise KeyError(name)
        return value if isinstance(name, str) else os.fsencode(value)

    def __contains__(self, name: Any) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        context = self._asked()
        if context is None:
            return super().__iter__()
        names = context.variables([os.fsdecode(name) for name in super().__iter__()])
        return iter([os.fsencode(name) for name in names] if os.name == "posix" else names)

    def __len__(self) -> int:
        return super().__len__() if self._asked() is None else sum(1 for _ in self)

    def __setitem__(self, name: Any, value: Any) -> None:
        context = self._asked()
        if context is not None:
            context.changes(os.fsdecode(name))
        super().__setitem__(name, value)

    def __delitem__(self, name: Any) -> None:
        context = self._asked()
        if context is None:
            super().__delitem__(name)
            return
        self[name]
        context.changes(os.fsdecode(name))
        self.pop(name, None)


def overlay() -> None:
    """Have `os.environ` and `os.environb` ask. Done once, for good."""
    known: Any = os.environ
    if type(known._data) is dict:
        known._data = _Variables(known._data)
        if os.supports_bytes_environ:
            other: Any = os.environb
            other._data = known._data
