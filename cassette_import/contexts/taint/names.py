"""The functions and attributes that dotted names refer to, in modules that may be imported later.

Knows how Python resolves names; must not know the purpose of the names.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from cassette_import.interpreter.callables import underlying

__all__ = ["Attributes", "Functions"]

_MISSING: Final = object()


class Functions:
    """Functions with roles, given by dotted names, which are resolved once their modules are imported."""

    def __init__(self, roles: dict[str, Any], main: str | None = None) -> None:
        self.by_id: dict[int, tuple[Any, str, Any]] = {}
        """The function, its name and its role, by identity of the function."""
        self.main = main
        self._waiting = dict(roles)
        self._modules = 0

    def arrived(self) -> list[Any]:
        """The functions that were resolved since the last call."""
        # The number of modules is compared, because callbacks after imports would not do. A dotted name does not say
        # which part of it is the module, and a program may put modules into `sys.modules` without importing them.
        if len(sys.modules) == self._modules and not self.awaits_main:
            return []
        self._modules = len(sys.modules)
        found = []
        for name, role in list(self._waiting.items()):
            function = self._located(name)
            if function is _MISSING:
                continue
            del self._waiting[name]
            if callable(function) or isinstance(function, (staticmethod, classmethod)):
                function = underlying(function)
                self.by_id[id(function)] = function, name, role
                found.append(function)
        return found

    @property
    def awaits_main(self) -> bool:
        """Whether a name of the program's own file is unresolved: its functions are defined while it runs."""
        return any(name.partition(".")[0] in ("__main__", self.main) for name in self._waiting)

    def _located(self, name: str) -> Any:
        parts = name.split(".")
        if len(parts) == 1:
            return getattr(builtins, name, _MISSING)
        if parts[0] == self.main and self.main not in sys.modules:
            parts[0] = "__main__"
        count = next((n for n in range(len(parts) - 1, 0, -1) if ".".join(parts[:n]) in sys.modules), 0)
        if not count:
            return _MISSING
        found: Any = sys.modules[".".join(parts[:count])]
        for part in parts[count:]:
            # From dictionaries: `getattr` would run descriptors, which may return an object of an instance.
            found = _in_class(found, part) if isinstance(found, type) else vars(found).get(part, _MISSING)
            if not isinstance(found, type):
                return found if part is parts[-1] else _MISSING
        return found


def _in_class(owner: type, name: str) -> Any:
    for base in owner.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return _MISSING


class Attributes:
    """Attributes given by dotted names: of modules, and of instances of classes."""

    def __init__(self, names: list[str], imported: Callable[[], None]) -> None:
        self._imported = imported
        self._modules = 0
        self._owners: dict[str, dict[str, str]] = {}
        for name in names:
            owner, _, attribute = name.rpartition(".")
            self._owners.setdefault(attribute, {})[owner] = name

    def find(self, owner: Any, attribute: Any) -> str | None:
        """The dotted name of an attribute of an object, if it is one of these; otherwise None."""
        owners = self._owners.get(attribute)
        if owners is None:
            return None
        if type(owner) is ModuleType:
            return owners.get(owner.__name__)
        kinds = type(owner).__mro__
        shown = getattr(owner, "__class__", None)  # a proxy reports the class of its target
        if isinstance(shown, type) and shown is not type(owner):
            kinds = (*kinds, *shown.__mro__)
        for kind in kinds:
            name = owners.get(f"{kind.__module__}.{kind.__qualname__}")
            if name is not None:
                return name
        return None

    def __contains__(self, attribute: object) -> bool:
        # The first use of a newly imported module is the load of an attribute.
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._imported()
        return attribute in self._owners
