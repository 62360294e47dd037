"""Context types derived at run time: what a context intercepts belongs to its type, so each choice needs a type."""

from __future__ import annotations

import types
from typing import Any, Final, TypeVar

from cassette_import.activation.context import Context
from cassette_import.contexts.common.options import parsed_events
from cassette_import.rewriting.events import Events

__all__ = ["derived_type", "type_with_events"]

_Context = TypeVar("_Context", bound=Context)
_BY_EVENTS: Final[dict[tuple[type, Events], Any]] = {}


def derived_type(context_type: type[_Context], **declaration: object) -> Any:
    """A subclass that goes by the name, module and documentation of the context type.

    Parameters
    ----------
    context_type:
        The base class.
    declaration:
        The keywords of the class statement, such as `events`.
    """

    def declare(namespace: dict[str, object]) -> None:
        namespace["__module__"] = context_type.__module__
        namespace["__qualname__"] = context_type.__qualname__
        namespace["__doc__"] = context_type.__doc__

    return types.new_class(context_type.__name__, (context_type,), declaration, declare)


def type_with_events(context_type: type[_Context], events: Events | str | None) -> type[_Context]:
    """The context type that intercepts these events; the given one if `events` is None.

    Equal choices share one type, and so the compiled bodies of functions.
    """
    if events is None:
        return context_type
    key = context_type, parsed_events(events) if isinstance(events, str) else events
    if key not in _BY_EVENTS:
        _BY_EVENTS[key] = derived_type(context_type, events=key[1])
    derived: type[_Context] = _BY_EVENTS[key]
    return derived
