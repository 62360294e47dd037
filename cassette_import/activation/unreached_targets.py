"""Targets of hooks and overloads that the program has registered and that no call has reached.

Such a hook does nothing without a sign: its target may be another function of that name. Only targets in Python are
named: there is one `math.cos`, and a context with rules for many functions in C has some that a run does not need.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.activation.variants import variants
from cassette_import.interpreter.late_modules import late
from cassette_import.runtime.dispatch.hook_points import hook_points_of

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch import unfitting_handlers
else:
    (unfitting_handlers,) = late("cassette_import.runtime.dispatch", "unfitting_handlers")

__all__ = ["take_unreached"]

_SHOWN: Final = 5
"""How many targets of a context type are named."""
_taken: Final[set[type]] = set()


def take_unreached() -> list[tuple[str, str, int]]:
    """What to say of targets that no call has reached, with the file and line of a hook; the same only once."""
    active = {
        key.context_type: None
        for variant in list(variants.by_keys.values())
        if variant.family.is_met
        for key in variant.keys
        if key.hooks and key.context_type not in _taken
    }
    _taken.update(active)
    found = (_of_type(context_type) for context_type in active)
    return list(dict.fromkeys(entry for entry in found if entry is not None))


def _of_type(context_type: type) -> tuple[str, str, int] | None:
    handlers = [
        handler
        for point in hook_points_of(context_type)
        for handler in point.handlers
        if handler.targets and not unfitting_handlers.is_ready_made(handler)
    ]
    met = [handler for handler in handlers if handler.is_applied or handler.is_reached]
    reached = {id(target) for handler in met for target in handler.targets}
    functions = {id(handler.function) for handler in met}  # one may be registered for several functions in turn
    unreached: dict[str, Any] = {}
    for handler in handlers:
        if id(handler.function) not in functions:
            for target in handler.targets:
                if id(target) not in reached and type(target) is FunctionType:
                    unreached.setdefault(f"{unfitting_handlers.name_of(target)}: no call of it was an event", handler)
    if not unreached:
        return None
    texts = list(unreached)
    if len(texts) > _SHOWN:
        texts[_SHOWN:] = [f"{len(texts) - _SHOWN} further targets, likewise"]
    file, line = unfitting_handlers.place_of(next(iter(unreached.values())))
    return f"{context_type.__qualname__} was active, but: {'; '.join(texts)}", file, line
