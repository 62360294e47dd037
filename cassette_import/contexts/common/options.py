"""Options that several ready-made contexts take.

Knows `Events` and how a context type is declared; must not know any of the contexts.
"""

from __future__ import annotations

import re
import types
from typing import Any, Final, TypeVar

from cassette_import import Context, Events

__all__ = ["seeing"]

_Context = TypeVar("_Context", bound=Context)
_VARIANTS: Final[dict[tuple[type, Events], Any]] = {}


def seeing(context_type: type[_Context], events: Events | str | None) -> type[_Context]:
    """The context type, or one like it that sees other events; `events` may be text, such as
    ``"calls+operators"``.

    What a context sees is a matter of its type, because each type has its code; so each choice is a type.
    """
    if events is None:
        return context_type
    key = context_type, parsed(events) if isinstance(events, str) else events
    if key not in _VARIANTS:
        _VARIANTS[key] = _variant(*key)
    variant: type[_Context] = _VARIANTS[key]
    return variant


def parsed(text: str) -> Events:
    """The events that a text names, separated by ``+`` or ``|``.

    >>> parsed("calls+operators") == Events.CALLS | Events.OPERATORS
    True
    """
    chosen = Events.NONE
    for name in re.split(r"[+|]", text):
        try:
            chosen |= Events[name.strip().upper()]
        except KeyError:
            known = ", ".join(member.lower() for member in Events.__members__)
            raise ValueError(f"no kind of events is called {name.strip()!r}; there are {known}") from None
    return chosen


def _variant(context_type: type[Any], events: Events) -> type[Any]:
    def declare(namespace: dict[str, object]) -> None:
        namespace["__module__"] = context_type.__module__
        namespace["__qualname__"] = context_type.__qualname__
        namespace["__doc__"] = context_type.__doc__

    return types.new_class(context_type.__name__, (context_type,), {"events": events}, declare)
