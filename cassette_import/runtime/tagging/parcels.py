"""Parcels: wrapped values that threads, jobs and tasks return to code that is not overdubbed, which moves them plain.

An overdubbed function that a thread, a job or a task runs returns to code of `threading`, `concurrent.futures` or
`asyncio`. The value is noted by its identity, and who gets it from a future or a queue wraps it again. A number is
replaced by a new one of the same value, so its identity belongs to one parcel. Small integers and texts of one
character have no identity of their own: their metadata is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.handover import SENDERS
from cassette_import.runtime.tagging.lost_metadata import lose, lose_number
from cassette_import.runtime.tagging.overdubbed_calls import is_of_overdubbed_file
from cassette_import.runtime.tagging.recognised_values import may_be_shared
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import active_store
from cassette_import.runtime.tagging.wrappers import Tagged

_MOST: Final = 10_000
_COROUTINE: Final = 0x80
"""The flag `CO_COROUTINE` of code."""
_COPIES: Final[dict[type, Callable[[Any], Any]]] = {
    float: lambda number: number * 1.0,
    complex: lambda number: number * 1.0,
    int: lambda number: ~(~number),
}
"""What makes a new object of the same value, by its type."""
_CALLERS: Final = frozenset({"concurrent.futures.thread", "threading", "asyncio.base_events", "asyncio.events"})
"""The modules whose functions take the results of jobs, or discard results."""


def start_sending() -> None:
    """From now on, functions that return a wrapped value look at who gets it."""
    if not SENDERS:
        SENDERS.append(leaving)


@hidden
def send(store: Store, value: Any, place: str) -> Any:
    """Note a value that code moves which is not overdubbed. Returns the value to be moved, wrapped."""
    bare, metas = value._tagged_value, value._tagged_metas
    if may_be_shared(bare):
        lose_number(metas, place, is_reported=True)
        return value
    if type(bare) in _COPIES:
        bare = _COPIES[type(bare)](bare)
        value = Tagged(bare, metas)
    parcels = store.parcels
    parcels[id(bare)] = bare, metas
    if len(parcels) > _MOST:
        _drop_first(parcels)
    return value


def _drop_first(parcels: dict[int, tuple[Any, Any]]) -> None:
    """Forget the oldest parcel, unless a context must not lose it."""
    key = next(iter(parcels), None)
    if key is not None and not any(tag.lost == "error" for tag in parcels[key][1]):
        parcels.pop(key, None)


@hidden
def arrived(value: Any) -> Any:
    """A value that has come from another thread, job or task, wrapped if it left there wrapped."""
    store = active_store()
    if store is None or not store.parcels:
        return value
    found = store.parcels.get(id(value))
    if found is not None and found[0] is value:
        return Tagged(*found)
    if type(value) is list and store.items.of(value) is None:  # the results of `gather`
        items = [arrived(item) for item in value]
        if any(type(item) is Tagged for item in items):
            return store.bind_items(value, items)
    return value


@hidden
def leaving(value: Any) -> Any:
    """A wrapped value that a function returns or yields: a parcel, if the caller is code of a thread, job or task."""
    store = active_store()
    if store is None:
        return value
    frame = sys._getframe(1)
    caller = frame.f_back
    if caller is not None and is_of_overdubbed_file(caller.f_code):
        return value
    if frame.f_code.co_flags & _COROUTINE:
        return send(store, value, "the result of a task")
    if not ACTIVE.get().is_inherited or _has_overdubbed(caller):
        return value
    module = "" if caller is None else str(caller.f_globals.get("__name__"))
    if module in _CALLERS:
        return send(store, value, "the result of a job")
    name = "a thread" if caller is None else f"{module}.{caller.f_code.co_qualname}"
    for tag in value._tagged_metas:
        if tag.lost != "ignore" and tag.context is not None:
            lose(tag.context, name)
    return value


@hidden
def _has_overdubbed(frame: FrameType | None) -> bool:
    """Whether a frame or one below it is overdubbed: a leaf that it calls gets the value, and its rule applies."""
    while frame is not None:
        if is_of_overdubbed_file(frame.f_code):
            return True
        frame = frame.f_back
    return False
