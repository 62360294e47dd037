"""The modules that `taint` waits for: sources, sinks and sanitizers count once their module has been executed."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Final

from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.runtime.tagging import live_metadata

__all__ = ["EXECUTING", "AwaitedModules", "take_care_while_executed"]

_awaiting: Final[weakref.WeakSet[AwaitedModules]] = weakref.WeakSet()
_awaited: Final[set[str]] = set()
"""The modules of which `POST_IMPORT` gives notice."""


class AwaitedModules:
    """Reports each module that may contain one of the dotted names, when it has been executed.

    It works as long as it is kept alive.

    Parameters
    ----------
    names:
        The dotted names.
    executed:
        Called with the name of the module.
    """

    def __init__(self, names: Iterable[str], executed: Callable[[str], None]) -> None:
        self._modules = {module for name in names for module in _modules_of(name)}
        self._executed = executed
        _awaiting.add(self)
        for module in self._modules - _awaited:
            _awaited.add(module)
            POST_IMPORT.when_imported(module, _report)
        POST_IMPORT.come_first()

    def report(self, module: str) -> None:
        """Report a module, if it is awaited."""
        if module in self._modules:
            self._executed(module)

    def awaits(self, module: str) -> bool:
        """Whether it waits for a module."""
        return module in self._modules


def take_care_while_executed(names: Iterable[str]) -> None:
    """Let each event be taken with care while the modules of these names are executed.

    They may call their own functions before these are known.
    """
    for name in names:
        for module in _modules_of(name):
            if module not in sys.modules:
                POST_IMPORT.beginning[module] = Care


EXECUTING: Final[list[Any]] = []
"""A token for each such module that is being executed. Each token counts as metadata."""


class Care:
    """The manager of a block in which each event is taken with care, as if there were metadata."""

    def __enter__(self) -> None:
        EXECUTING.append(live_metadata.METADATA)  # no name of this module may refer to it: references are counted
        live_metadata.note_metadata()

    def __exit__(self, *exception: object) -> None:
        EXECUTING.pop()
        live_metadata.refresh_names()


def _modules_of(name: str) -> list[str]:
    """The names of the modules that may contain what a dotted name refers to."""
    found = []
    module = name.rpartition(".")[0]
    while module:
        found.append(module)
        module = module.rpartition(".")[0]
    return found


def _report(name: str, module: ModuleType) -> None:
    awaiting = [one for one in list(_awaiting) if one.awaits(name)]
    for one in awaiting:
        one.report(name)
    if not awaiting:
        _awaited.discard(name)
        POST_IMPORT.beginning.pop(name, None)
        POST_IMPORT.forget(name, _report)
