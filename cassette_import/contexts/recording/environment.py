"""Environment variables in a recorded or replayed run: each one is recorded when the program reads it.

A subscript such as `os.environ["HOME"]` is not a call, so no overload can intercept it. Instead, the dict inside
`os.environ` is replaced, once, by one that consults the active context. Without such a context it is an ordinary dict.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from cassette_import.runtime.state import ACTIVE

__all__ = ["intercept_environment"]

_MISSING: Final = object()


class _Variables(dict[Any, Any]):
    """The dict inside `os.environ`. Names and values are bytes, on Windows text."""

    def _intercepting_context(self) -> Any:
        """The innermost active context that intercepts environment variables, or None."""
        for context in reversed(ACTIVE.get().contexts):
            if getattr(context, "intercepts_environment", False):
                return context
        return None

    def __getitem__(self, name: Any) -> Any:
        context = self._intercepting_context()
        if context is None or not isinstance(name, bytes | str):
            return super().__getitem__(name)
        actual = super().get(name)
        value = context.variable(os.fsdecode(name), None if actual is None else os.fsdecode(actual))
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
        context = self._intercepting_context()
        if context is None:
            return super().__iter__()
        names = context.variables([os.fsdecode(name) for name in super().__iter__()])
        return iter([os.fsencode(name) for name in names] if os.name == "posix" else names)

    def __len__(self) -> int:
        return super().__len__() if self._intercepting_context() is None else sum(1 for _ in self)

    def __setitem__(self, name: Any, value: Any) -> None:
        context = self._intercepting_context()
        if context is not None:
            context.variable_changed(os.fsdecode(name))
        super().__setitem__(name, value)

    def __delitem__(self, name: Any) -> None:
        context = self._intercepting_context()
        if context is None:
            super().__delitem__(name)
            return
        self[name]
        context.variable_changed(os.fsdecode(name))
        self.pop(name, None)


def intercept_environment() -> None:
    """Replace the dict inside `os.environ` and `os.environb`. This happens once and is not undone."""
    environment: Any = os.environ
    if type(environment._data) is dict:
        environment._data = _Variables(environment._data)
        if os.supports_bytes_environ:
            environment_in_bytes: Any = os.environb
            environment_in_bytes._data = environment._data
