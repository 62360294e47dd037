"""Callbacks after imports: `POST_IMPORT` calls functions each time a module of some name was executed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, TypeAlias

from cassette_import.importing.finder import OtherFinders, TemporaryLoader
from cassette_import.interpreter.hidden_frames import hidden

Callback: TypeAlias = Callable[[str, ModuleType], None]
"""Its arguments are the name under which the module was imported, and the module."""


class PostImportFinder:
    """Lets the finders behind it find modules, and calls back when one of the awaited modules has been executed.

    It is in `sys.meta_path` only while some module is awaited.
    """

    def __init__(self) -> None:
        self._callbacks: dict[str, list[Callback]] = {}
        self.beginning: dict[str, Callable[[], AbstractContextManager[Any]]] = {}
        """For some of the awaited names, what makes the manager of a block in which the module is executed."""
        self._others = OtherFinders(self)

    @property
    def is_first(self) -> bool:
        """Whether this finder is the first one that Python calls."""
        return bool(sys.meta_path) and sys.meta_path[0] is self

    def when_imported(self, name: str, callback: Callback) -> None:
        """Call `callback` after each execution of the module of this name, until `forget`."""
        self._callbacks[name] = [*self._callbacks.get(name, ()), callback]

    def forget(self, name: str, callback: Callback) -> None:
        """Undo `when_imported`."""
        left = [other for other in self._callbacks.get(name, ()) if other is not callback]
        if left:
            self._callbacks[name] = left
        else:
            self._callbacks.pop(name, None)
        if not self._callbacks and self in sys.meta_path:
            sys.meta_path.remove(self)

    def come_first(self) -> None:
        """Be in front of the other finders, which would answer without asking this one, if any module is awaited."""
        if self._callbacks and not self.is_first:
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the finders behind this one make, with a loader that notifies the callbacks."""
        if fullname not in self._callbacks:
            return None
        spec, _ = self._others.search(fullname, path, target)
        loader: Any = None if spec is None else spec.loader
        if spec is not None and hasattr(loader, "exec_module") and hasattr(loader, "create_module"):
            spec.loader = _NotifyingLoader(loader, spec, self)  # type: ignore[assignment]  # it acts as one
        return spec

    def notify(self, name: str, module: ModuleType) -> None:
        """Call the callbacks of a module that has been executed."""
        for callback in self._callbacks.get(name, ()):
            callback(name, module)


class _NotifyingLoader(TemporaryLoader):
    """Another loader, while it loads one module: it notifies the callbacks afterwards."""

    def __init__(self, loader: Any, spec: ModuleSpec, finder: PostImportFinder) -> None:
        super().__init__(loader, spec)
        self._finder = finder

    @hidden
    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, then notify the callbacks."""
        self._restore_loader(module)
        name = self._spec.name
        around = self._finder.beginning.get(name)
        if around is None:
            self._wrapped.exec_module(module)
        else:
            with around():
                self._wrapped.exec_module(module)
        self._finder.notify(name, module)


POST_IMPORT: Final = PostImportFinder()
