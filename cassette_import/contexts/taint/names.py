"""The functions and attributes that dotted names refer to, in modules that may be imported later."""

from __future__ import annotations

import builtins
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, Final

from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.callables import underlying
from cassette_import.runtime.tagging import live_metadata

__all__ = ["EXECUTING", "Attributes", "AwaitedModules", "Functions", "take_care_while_executed"]

# ---- the modules that `taint` waits for: sources, sinks and sanitizers count once their module has been executed

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


# ---- the functions and attributes that dotted names refer to, in modules that may be imported later

_MISSING: Final = object()


class Functions:
    """Functions with roles, given by dotted names, which are resolved once their modules are imported."""

    def __init__(self, roles: dict[str, Any], main: str | None = None) -> None:
        self.by_id: dict[int, tuple[Any, str, Any]] = {}
        """The function, its name and its role, by identity of the function."""
        self.main = main
        self._waiting = dict(roles)
        self._modules = 0

    def arrived(self, module: str | None = None) -> list[Any]:
        """The functions that were resolved since the last call.

        Parameters
        ----------
        module:
            The name of a module that has just been executed: only its functions are resolved.
        """
        # The number of modules is compared, because callbacks after imports would not do: a program may put modules
        # into `sys.modules` without importing them.
        if module is None:
            if len(sys.modules) == self._modules and not (EXECUTING or self.awaits_main):
                return []
            self._modules = len(sys.modules)
        found = []
        for name, role in list(self._waiting.items()):
            function = self._located(name) if module is None or name.startswith(f"{module}.") else _MISSING
            if function is _MISSING:
                continue
            del self._waiting[name]
            if callable(function) or isinstance(function, (staticmethod, classmethod)):
                function = underlying(function)
                self.by_id[id(function)] = function, name, role
                found.append(function)
        return found

    @property
    def waiting(self) -> list[str]:
        """The names that are unresolved."""
        return list(self._waiting)

    @property
    def awaits_main(self) -> bool:
        """Whether a name of the program's own file is unresolved: its functions are defined while it runs."""
        return any(self.full_name(name).startswith("__main__.") for name in self._waiting)

    def full_name(self, name: str) -> str:
        """A name with the module in which it is: the program's file is `__main__`."""
        main = self.main
        is_in_main = main is not None and name.startswith(f"{main}.") and main not in sys.modules
        return name.replace(main or "", "__main__", 1) if is_in_main else name

    def _located(self, name: str) -> Any:
        parts = self.full_name(name).split(".")
        if len(parts) == 1:
            return getattr(builtins, name, _MISSING)
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


def _may_exist(owner: str) -> bool:
    """Whether a module or class of a dotted name may exist: its module is imported, as far as one can tell."""
    parts = owner.split(".")
    for count in range(len(parts), 0, -1):
        module = sys.modules.get(".".join(parts[:count]))
        if module is not None:
            # The class may have left the module, but a package does not contain what one of its modules defines.
            return count == len(parts) or parts[count] in vars(module) or not hasattr(module, "__path__")
    return False


class Attributes:
    """Attributes given by dotted names: of modules, and of instances of classes.

    Iteration gives the names of attributes that matter now. Those of classes whose modules are not imported do not:
    they have no instances.

    Parameters
    ----------
    names:
        The dotted names of the attributes.
    always:
        Dotted names of functions and attributes that matter before their modules are known to be imported.
    imported:
        Called when the number of modules has changed.
    """

    def __init__(self, names: Iterable[str], always: Iterable[str], imported: Callable[[], None]) -> None:
        self._imported = imported
        self._modules = self._listed_modules = 0
        self._listed: tuple[str, ...] = ()
        self._always = frozenset(name.rpartition(".")[2] for name in always)
        self._owners: dict[str, dict[str, str]] = {}
        for name in names:
            owner, _, attribute = name.rpartition(".")
            self._owners.setdefault(attribute, {})[owner] = name

    def note_main(self, main: str) -> None:
        """Note the name of the program's file: the owners that begin with it are in `__main__`."""
        for owners in self._owners.values():
            for owner, name in list(owners.items()):
                if owner == main or owner.startswith(f"{main}."):
                    owners[f"__main__{owner[len(main) :]}"] = name
        self._listed_modules = 0

    def __iter__(self) -> Iterator[str]:
        if EXECUTING or len(sys.modules) != self._listed_modules:  # each entry of the context iterates
            self._listed_modules = len(sys.modules)
            self._listed = (*self._always, *self._that_may_exist())
        return iter(self._listed)

    def _that_may_exist(self) -> Iterator[str]:
        for attribute, owners in self._owners.items():
            if attribute not in self._always and any(map(_may_exist, owners)):
                yield attribute

    @property
    def dotted_names(self) -> list[str]:
        """The dotted names of the attributes."""
        return list(dict.fromkeys(name for owners in self._owners.values() for name in owners.values()))

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
        if EXECUTING or len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._imported()
        return attribute in self._owners
