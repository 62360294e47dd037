"""Reference cycles that only the shadow store keeps alive.

The store refers to values and to their metadata. Where these lead back to the object whose parts they are, Python's
garbage collector takes the object for one that is in use: Python has no reference that counts only while another object
lives (an ephemeron). So before a full collection this module does what the collector does, with all objects that the
entries lead to. It counts their references and subtracts those that come from among them. An object with a reference
left is in use, and so is all that it leads to; but an entry leads to its values only if its object is in use.

Some objects are not followed: modules that can be imported, their classes, and frames. What they refer to counts as in
use, so no entry is dropped by mistake.
"""

from __future__ import annotations

import gc
import operator
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.clock import monotonic
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, module_namespace

MOST = 100_000
"""If the entries lead to more objects than this, no cycle is searched for."""

_IS_HEAP_TYPE: Final = 1 << 9
_flags: Final = vars(type)["__flags__"].__get__
_name: Final = vars(type)["__name__"].__get__
_PAUSE: Final = 20
"""How many times longer than the last search the pause after it is."""

UNFOLLOWED: Final[set[int]] = set(map(id, (FrameType, type(None))))
"""Types, by identity, whose instances are not followed; `tagging.shadow_store` adds those of the store."""
if sys.version_info >= (3, 14):  # what is suspended may hold references that are not counted
    UNFOLLOWED.update(map(id, (GeneratorType, CoroutineType, AsyncGeneratorType)))


_not_before = 0.0
"""The earliest time of the next search in collections that the interpreter begins: a search is to take little time."""


@hidden
def unreachable(entries: Iterable[Any]) -> list[Any]:
    """The entries whose objects are reachable only through the store; none if it is too early for another search."""
    global _not_before
    began = monotonic()
    unique = list({id(entry): entry for entry in entries}.values())
    if not unique or (began < _not_before and gc.get_count()[0] > gc.get_threshold()[0]):
        return []
    members = _reached(unique)
    found = [] if members is None else _unused(unique, members)
    ended = monotonic()
    _not_before = ended + _PAUSE * (ended - began)
    return found


@hidden
def _unused(entries: Sequence[Any], members: list[Any]) -> list[Any]:
    """The entries whose objects are not in use. `members` is all that they lead to; nothing else refers to the list."""
    members.append([])  # an object to which nothing else refers
    counts, referents = _snapshot(members)
    places = {id(member): place for place, member in enumerate(members)}
    held = [count - counts[-1] for count in counts]
    leads_to = [[places[id(part)] for part in parts if id(part) in places] for parts in referents]
    for parts in leads_to:
        for part in parts:
            held[part] -= 1
    owners: list[int | None] = []
    for entry in entries:
        owner = places.get(id(_owner(entry)))
        owners.append(owner)
        contents = [places[id(part)] for part in (entry.slots, entry.extra) if id(part) in places]
        for part in contents:
            held[part] -= 1
        if owner is None:
            for part in contents:
                held[part] = 1  # the object is not followed, and counts as used
        else:
            held[owner] -= entry.pinned
            leads_to[owner] += contents
    used = _followed([place for place, count in enumerate(held) if count > 0], leads_to)
    return [entry for entry, owner in zip(entries, owners, strict=True) if owner is not None and owner not in used]


@hidden
def _snapshot(members: list[Any]) -> tuple[list[int], list[list[Any]]]:
    """The reference count of each object, and the objects that it refers to.

    `map` calls both as its items are unpacked: no other thread changes anything meanwhile.
    """
    both: Any = partial(list, map(sys.getrefcount, members)), partial(list, map(gc.get_referents, members))
    counts: Any
    referents: Any
    counts, referents = map(operator.call, both)
    return counts, referents


@hidden
def _owner(entry: Any) -> Any:
    return entry.anchor if entry.pinned else entry.anchor()


@hidden
def _followed(work: list[int], leads_to: list[list[int]]) -> set[int]:
    """All places that some places lead to."""
    seen = set(work)
    while work:
        for place in leads_to[work.pop()]:
            if place not in seen:
                seen.add(place)
                work.append(place)
    return seen


@hidden
def _is_of_module(item: type) -> bool:
    """Whether a module that can be imported holds a class.

    Classes of contexts lead to every hook that was ever registered, and from there to almost all objects.
    """
    own = class_namespace(item)
    home, name = own.get("__module__"), _name(item)
    module = sys.modules.get(home) if type(home) is str else None
    return module is not None and issubclass(type(module), ModuleType) and module_namespace(module).get(name) is item


@hidden
def _reached(entries: Sequence[Any]) -> list[Any] | None:
    """The objects of entries and all that they lead to, each once; None if there are too many."""
    found: dict[int, Any] = {}
    modules = [module for module in list(sys.modules.values()) if issubclass(type(module), ModuleType)]
    skipped = {id(part) for module in modules for part in (module, module_namespace(module))}
    work: list[Any] = []
    for entry in entries:
        found[id(entry.slots)] = entry.slots
        work += (entry.extra, _owner(entry))
    fresh: list[Any] = list(found.values())
    while work:
        for item in work:
            kind = type(item)
            if id(item) in found or id(item) in skipped or id(kind) in UNFOLLOWED:
                continue
            if issubclass(kind, type) and (not _flags(item) & _IS_HEAP_TYPE or _is_of_module(item)):
                continue
            found[id(item)] = item
            fresh.append(item)
        if len(found) > MOST:
            return None
        work = list(filter(gc.is_tracked, gc.get_referents(*fresh)))
        fresh = []
    return list(found.values())
