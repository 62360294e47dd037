"""The shadow store: where metadata lies while its value is part of an object.

An entry belongs to one object and holds, for each part that has metadata, the plain value and its metadata. It counts
only as long as the part *is* that value: a change that nobody saw is found by identity, and by the number of parts.
Objects that can be referred to weakly take their entries with them. Lists, dicts and tuples cannot, so the store
holds them, and looks for those that nobody else holds any more: for those that it held last at each call that may be
about them, for what a function made when it returns, and for all from time to time and at a full collection of garbage.
Knows objects and wrappers; must not know events.
"""

from __future__ import annotations

import atexit
import gc
import sys
import weakref
from collections import deque
from collections.abc import Iterable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import reference_cycles
from cassette_import.runtime.tagging.presence import METADATA, begin, noted
from cassette_import.runtime.tagging.wrappers import LOCAL, Metas, Tag, Tagged, metas_of, plain

SEQUENCES: Final = (list, tuple, deque)
_FIRST_LOOK: Final = 512
_MOST_HELD: Final = 2048
_OLDEST_GENERATION: Final = 2


_CONTAINERS: Final = (list, tuple, deque, dict, set, frozenset)


@hidden
def size_of(owner: Any) -> int:
    """How many items a sequence has, whatever a class of the program says of its length."""
    return next(kind for kind in SEQUENCES if is_a(owner, kind)).__len__(owner)


@hidden
def items_in(owner: Any) -> list[Any]:
    """The items of a sequence or set, or the values of a dict, whatever a class of the program says of them."""
    if type(owner) in _CONTAINERS:
        return list(owner.values() if type(owner) is dict else owner)
    kind: Any = next(kind for kind in _CONTAINERS if is_a(owner, kind))
    return list(dict.values(owner) if kind is dict else kind.__iter__(owner))


@hidden
def has(owner: Any, key: Any) -> bool:
    """Whether a key is in a dict, or an element in a set, whatever a class of the program says of that."""
    kind: Any = dict if is_a(owner, dict) else set if is_a(owner, set) else frozenset
    return bool(kind.__contains__(owner, key))


@hidden
def attributes_of(owner: Any) -> dict[str, Any]:
    """The `__dict__` of an object, unless a class of the program makes one up."""
    if is_a(owner, type):
        return {}
    try:
        found = object.__getattribute__(owner, "__dict__")
    except Exception:
        return {}
    return found if type(found) is dict else {}


class Entry:
    """The metadata of one object's parts: by attribute name, index, key or element."""

    __slots__ = ("_token", "anchor", "extra", "pinned", "size", "slots")

    def __init__(self, anchor: Any, pinned: bool) -> None:
        self._token = METADATA
        self.anchor = anchor
        self.pinned = pinned
        self.slots: dict[Any, tuple[Any, Metas]] = {}
        self.size = 0
        self.extra: Any = None
        noted()


def _references(entry: Entry) -> int:
    return sys.getrefcount(entry.anchor)


_ALONE: Final = _references(Entry([], True))
"""How often an object is referred to that only its entry holds."""


class Shadows:
    """Entries by identity of their objects."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self._look_at = _FIRST_LOOK

    def of(self, item: Any) -> Entry | None:
        """The entry of an object, if it has one."""
        entry = self.entries.get(id(item))
        if entry is None:
            return None
        if entry.pinned or entry.anchor() is item:
            return entry
        del self.entries[id(item)]
        return None

    def make(self, item: Any) -> Entry:
        """The entry of an object; a new one if it has none."""
        entry = self.of(item)
        if entry is not None:
            return entry
        key, entries = id(item), self.entries
        try:
            entry = Entry(weakref.ref(item, lambda _: entries.pop(key, None)), pinned=False)
        except TypeError:
            entry = Entry(item, pinned=True)
            _hold(self, key)
        if len(entries) >= self._look_at:
            self.sweep()
        entries[key] = entry
        return entry

    def drop(self, item: Any) -> None:
        """Forget an object."""
        self.entries.pop(id(item), None)

    def forget(self, entry: Entry) -> None:
        """Forget the object of an entry."""
        owner = entry.anchor if entry.pinned else entry.anchor()
        if self.entries.get(id(owner)) is entry:
            del self.entries[id(owner)]

    def let_go(self, key: int) -> bool:
        """Forget an object if nobody else holds it, and tell whether it is forgotten."""
        entry = self.entries.get(key)
        if entry is not None and entry.pinned:
            if _references(entry) > _ALONE:
                return False
            del self.entries[key]
        return True

    def sweep(self) -> None:
        """Let go of objects that nobody else holds."""
        for key in list(self.entries):
            entry = self.entries.get(key)
            if entry is not None and not entry.pinned and entry.anchor() is None:
                self.entries.pop(key, None)
            del entry
            self.let_go(key)
        self._look_at = max(_FIRST_LOOK, 2 * len(self.entries))


@hidden
def let_go_of_last() -> None:
    """Forget what nobody else holds among the objects that were held last, up to the first that somebody holds."""
    held = LOCAL.held
    while held and held[-1][0].let_go(held[-1][1]):
        held.pop()


@hidden
def let_go_since(number: int) -> None:
    """Forget what nobody else holds among the objects that have been held since there were so many."""
    held = LOCAL.held
    newer = held[number:]
    del held[number:]
    held += [(shadows, key) for shadows, key in newer if not shadows.let_go(key)]


def _hold(shadows: Shadows, key: int) -> None:
    held = LOCAL.held
    if len(held) >= _MOST_HELD:
        let_go_since(0)
        del held[: -_MOST_HELD // 2]  # which are found when all are looked at
    held.append((shadows, key))


_stores: Final[weakref.WeakSet[Store]] = weakref.WeakSet()


@hidden
def _collected(phase: str, information: dict[str, int]) -> None:
    """A collection of garbage begins: where it is a full one, what only we hold shall be part of it."""
    if phase == "start" and information["generation"] == _OLDEST_GENERATION:
        every = [shadows for store in list(_stores) for shadows in store.all()]
        for shadows in every:
            shadows.sweep()
        for entry in reference_cycles.lost(entry for shadows in every for entry in list(shadows.entries.values())):
            for shadows in every:
                shadows.forget(entry)


@atexit.register
def _stop_watching() -> None:
    if _collected in gc.callbacks:
        gc.callbacks.remove(_collected)


class Store:
    """All that is known of objects under one outermost activation."""

    def __init__(self) -> None:
        self.items = Shadows()
        self.attributes = Shadows()
        self.iterators = Shadows()
        self.views = Shadows()
        _stores.add(self)
        if _collected not in gc.callbacks:
            gc.callbacks.append(_collected)

    def all(self) -> tuple[Shadows, ...]:
        """Entries of all kinds."""
        return self.items, self.attributes, self.iterators, self.views

    def __bool__(self) -> bool:
        return bool(self.items.entries or self.attributes.entries or self.iterators.entries or self.views.entries)

    # ---- one part

    def get(self, shadows: Shadows, owner: Any, key: Any, value: Any) -> Any:
        """A part that was read from an object, with its metadata."""
        entry = shadows.of(owner)
        if entry is None:
            return value
        try:
            slot = entry.slots.get(key)
        except TypeError:
            return value
        if slot is None:
            return value
        if slot[0] is not value or (is_a(owner, SEQUENCES) and size_of(owner) != entry.size):
            shadows.drop(owner)  # somebody changed it unseen
            return value
        return Tagged(value, slot[1])

    def put(self, shadows: Shadows, owner: Any, key: Any, value: Any) -> None:
        """A part was stored in an object; `value` may be wrapped."""
        metas = metas_of(value)
        if metas is None:
            entry = shadows.of(owner)
            if entry is not None:
                entry.slots.pop(key, None)
        else:
            entry = shadows.make(owner)
            entry.slots[key] = plain(value), metas
        if entry is not None and is_a(owner, SEQUENCES):
            entry.size = size_of(owner)

    # ---- all parts of a container

    def parts(self, owner: Any) -> list[Metas | None] | None:
        """The metadata of each item of a sequence; None if there is none at all."""
        entry = self.items.of(owner)
        if entry is None:
            return None
        values = items_in(owner)
        found: list[Metas | None] = [None] * len(values)
        if len(values) == entry.size:
            for index, (value, metas) in entry.slots.items():
                if index >= len(values) or values[index] is not value:
                    break
                found[index] = metas
            else:
                return found
        self.items.drop(owner)
        return None

    def set_parts(self, owner: Any, parts: Iterable[Metas | None]) -> None:
        """Say what the metadata of each item of a sequence is."""
        values = items_in(owner)
        slots = {index: (values[index], metas) for index, metas in enumerate(parts) if metas}
        if slots:
            entry = self.items.make(owner)
            entry.slots, entry.size = slots, len(values)
        else:
            self.items.drop(owner)

    def items_of(self, owner: Any) -> list[Any]:
        """The items of a sequence, wrapped where they have metadata."""
        parts = self.parts(owner)
        if parts is None:
            return items_in(owner)
        return [Tagged(value, metas) if metas else value for value, metas in zip(items_in(owner), parts, strict=True)]

    def bind(self, owner: Any, items: Iterable[Any]) -> Any:
        """Say what was put into a new sequence; the items may be wrapped."""
        self.set_parts(owner, map(metas_of, items))
        return owner

    def keyed(self, owner: Any) -> dict[Any, tuple[Any, Metas]]:
        """The metadata of the values of a dict, or of the elements of a set, by key."""
        entry = self.items.of(owner)
        if entry is None:
            return {}
        if is_a(owner, dict):
            stale = [key for key, (value, _) in entry.slots.items() if dict.get(owner, key, entry) is not value]
        else:
            stale = [key for key in entry.slots if not has(owner, key)]
        for key in stale:
            del entry.slots[key]
        return entry.slots

    def set_keyed(self, owner: Any, slots: dict[Any, tuple[Any, Metas]]) -> None:
        """Say what the metadata of a dict's values or a set's elements is."""
        if slots:
            self.items.make(owner).slots = slots
        else:
            self.items.drop(owner)

    def verify(self, owner: Any) -> None:
        """A leaf had the object: drop what does not fit any more."""
        if is_a(owner, SEQUENCES):
            self.parts(owner)
        elif is_a(owner, (dict, set, frozenset)):
            self.keyed(owner)

    # ---- the beginning and the end

    def take_in(self, other: Store) -> None:
        """What was known before an inner activation was entered is known in the outer ones' store from now on."""
        if other is not self:
            self.items.entries.update(other.items.entries)
            self.attributes.entries.update(other.attributes.entries)

    def keep_only(self, result: Any) -> None:
        """The activation has ended: what is kept is what belongs to its result."""
        kept: tuple[dict[int, Entry], dict[int, Entry]] = ({}, {})
        work = [plain(result)]
        seen: set[int] = set()
        while work:
            item = work.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            for shadows, found in zip((self.items, self.attributes), kept, strict=True):
                entry = shadows.of(item)
                if entry is not None:
                    found[id(item)] = entry
            work += items_in(item) if is_a(item, _CONTAINERS) else attributes_of(item).values()
        for shadows, found in zip((self.items, self.attributes), kept, strict=True):
            shadows.entries.clear()
            shadows.entries.update(found)
        self.iterators.entries.clear()
        self.views.entries.clear()


reference_cycles.UNFOLLOWED.update(map(id, (Entry, Shadows, Store, Tag)))
for _kind in (Shadows, Store):
    for _method in list(vars(_kind).values()):
        if isinstance(_method, FunctionType):
            hidden(_method)

begin()
