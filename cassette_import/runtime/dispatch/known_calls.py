"""Known calls: the handler that a hook point has chosen for calls of a target, by the exact types of their arguments.

Choosing compares the annotations of all handlers. What it chooses depends on the exact types alone, if only classes are
asked that answer without code of the program, and if no instance has another class than its type.
"""

from __future__ import annotations

import abc
from abc import get_cache_token
from collections.abc import Iterable, Sequence
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE
from cassette_import.runtime.dispatch.callee_stability import stands_in_its_module
from cassette_import.runtime.dispatch.overload_resolution import Handler

_MOST: Final = 1000
"""The most calls that are kept; a program may have many combinations of types."""
_USUAL_METACLASSES: Final = frozenset(map(id, (type, abc.ABCMeta)))
_CONCRETE: Final = frozenset((id(type),))
_CLASS_OF_INSTANCES: Final = object.__dict__["__class__"]

Key = tuple[int, ...]


class KnownCalls:
    """The chosen handlers of one hook point."""

    __slots__ = ("_found", "_of_abstract_classes")

    def __init__(self) -> None:
        self._found: dict[Key, tuple[Handler | None, tuple[Any, ...]]] = {}
        """The handlers, with the types of the key, which stay alive."""
        self._of_abstract_classes = get_cache_token()

    @hidden
    def find(self, key: Key) -> Any:
        """The handler, or None, of a call, in a tuple; None if it is not known."""
        if self._of_abstract_classes != get_cache_token():  # a class was registered, as `Sequence.register` does
            self._of_abstract_classes = get_cache_token()
            self._found = {}
        return self._found.get(key)

    def keep(self, key: Key, handler: Handler | None, candidates: Iterable[Handler], values: Sequence[Any]) -> None:
        """Keep what was chosen among some candidates for a call with these values, if that depends on types alone."""
        types = tuple(map(type, values))
        if len(self._found) < _MOST and depends_on_types(candidates, types):
            self._found[key] = handler, types


def depends_on_types(candidates: Iterable[Handler], types: Iterable[type], of_abstract_classes: bool = True) -> bool:
    """Whether the exact types of the arguments decide which of some handlers is chosen.

    Parameters
    ----------
    candidates:
        The handlers.
    types:
        The types of the arguments.
    of_abstract_classes:
        Whether handlers may have abstract classes in their annotations, for which classes can be registered later.
    """
    metaclasses = _USUAL_METACLASSES if of_abstract_classes else _CONCRETE
    return all(_has_exact_types(candidate, metaclasses) for candidate in candidates) and all(map(_is_exact, types))


def _has_exact_types(handler: Handler, metaclasses: frozenset[int]) -> bool:
    """Whether the classes in the annotations of a handler say of each value by its type whether it is an instance."""
    of_arguments = (*handler.types, handler.rest_types, handler.middle_types, handler.function_types)
    return handler.metadata_types is None and all(
        id(type(admitted)) in metaclasses for types in of_arguments if types is not None for admitted in types
    )


def _is_exact(kind: type) -> bool:
    """Whether all instances of a class, and no others, have it as their type and as their `__class__`."""
    return (
        id(type(kind)) in _USUAL_METACLASSES
        and not issubclass(kind, type)
        and lookup(kind, "__class__") is _CLASS_OF_INSTANCES
        and (bool(kind.__flags__ & IMMUTABLE) or stands_in_its_module(kind))
    )
