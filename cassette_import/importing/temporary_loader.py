"""Loaders that replace another tool's loader while one module is loaded."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class TemporaryLoader:
    """Another tool's loader, while it loads one module (checklist F5, F6, F8).

    It has the attributes of that loader, and `isinstance` takes it for one. Before the module runs, the original loader
    takes its place again, so that the module sees that one.
    """

    def __init__(self, loader: Any, spec: ModuleSpec) -> None:
        self._wrapped, self._spec = loader, spec

    @property  # type: ignore[misc]  # it is not assignable
    def __class__(self) -> Any:
        return type(self._wrapped)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def _restore_loader(self, module: ModuleType | None) -> None:
        """Put the original loader back, in the spec and in the module."""
        self._spec.loader = self._wrapped
        if module is not None and vars(module).get("__loader__") is self:
            module.__loader__ = self._wrapped
