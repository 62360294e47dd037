"""The shadow store: where metadata lies while its value is part of an object.

An entry belongs to one object and holds, for each part that has metadata, the plain value and its metadata. It counts
only as long as the part *is* that value: a change that nobody saw is found by identity, and by the number of parts.
Objects that can be referred to weakly take their entries with them. Lists, dicts and tuples cannot, so the store
holds them, and looks from time to time for those that nobody else holds any more. Knows objects and wrappers; must not
know events.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from cassette_import.tagging.presence import METADATA, begin, noted
from cassette_import.tagging.tags import Metas, Tagged, metas_of, plain

SEQUENCES: Final = (list, tuple, deque)
_FIRST_LOOK: Final = 512


def is_a(value: Any, kinds: Any) -> bool:
    """`isinstance`, without asking the program's object for its `__class__`."""
    return issubclass(type(value), kinds)


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
        if len(entries) >= self._look_at:
            self.sweep()
        entries[key] = entry
        return entry

    def drop(self, item: Any) -> None:
        """Forget an object."""
        self.entries.pop(id(item), None)

    def sweep(self) -> None:
        """Let go of objects that nobody else holds."""
        for key, entry in list(self.entries.items()):
            if (entry.pinned and _references(entry) <= _ALONE) or (not entry.pinned and entry.anchor() is None):
                self.entries.pop(key, None)
        self._look_at = max(_FIRST_LOOK, 2 * len(self.entries))


class Store:
    """All that is known of objects under one outermost activation."""

    def __init__(self) -> None:
        self.items = Shadows()
        self.attributes = Shadows()
        self.iterators = Shadows()
        self.views = Shadows()

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
        if slot[0] is not value or (is_a(owner, SEQUENCES) and len(owner) != entry.size):
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
            entry.size = len(owner)

    # ---- all parts of a container

    def parts(self, owner: Any) -> list[Metas | None] | None:
        """The metadata of each item of a sequence; None if there is none at all."""
        entry = self.items.of(owner)
        if entry is None:
            return None
        found: list[Metas | None] = [None] * len(owner)
        if len(owner) == entry.size:
            values = list(list.__iter__(owner) if is_a(owner, list) else owner)
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
        values = list(owner)
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
            return list(owner)
        return [Tagged(value, metas) if metas else value for value, metas in zip(owner, parts, strict=True)]

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
            stale = [key for key in entry.slots if key not in owner]
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
            if is_a(item, (list, tuple, set, frozenset, deque)):
                work += item
            elif is_a(item, dict):
                work += item.values()
            else:
                work += getattr(item, "__dict__", {}).values() if not is_a(item, type) else ()
        for shadows, found in zip((self.items, self.attributes), kept, strict=True):
            shadows.entries.clear()
            shadows.entries.update(found)
        self.iterators.entries.clear()
        self.views.entries.clear()


begin()
