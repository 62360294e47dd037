"""Entries of the shadow store, and how long they live.

An object that can be referred to weakly takes its entry with it. Lists, dicts and tuples cannot, so an entry holds
them, and is dropped once nothing else refers to the object. Such entries are looked for at three times: among the
entries made last at each call of a leaf, among those that a function made when it returns, and among all entries from
time to time and at a full garbage collection.
"""

from __future__ import annotations

import sys
import weakref
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.live_metadata import note_metadata, token_of_module
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LOCAL

_TOKEN: Final = token_of_module()

_FIRST_SWEEP: Final = 512
_MOST_HELD: Final = 2048


class Entry:
    """The metadata of one object's parts: by attribute name, index, key or element.

    `slots` holds, for each part with metadata, the plain value and its metadata; `size` is the number of parts of a
    sequence. `anchor` is the object itself if the entry is `pinned`, else a weak reference to it. `extra` is the cursor
    of an iterator, the dict of a view and the kind of view, or the `__dict__` of an object that the program has got.
    An entry counts as metadata unless it has nothing but such a `__dict__`.
    """

    __slots__ = ("_token", "anchor", "extra", "pinned", "size", "slots")

    def __init__(self, anchor: Any, pinned: bool) -> None:
        self._token: Any = None
        self.anchor = anchor
        self.pinned = pinned
        self.slots: dict[Any, tuple[Any, Metas]] = {}
        self.size = 0
        self.extra: Any = None

    def count(self) -> None:
        """Let the entry count as metadata."""
        self._token = _TOKEN
        if not FLAGS[METADATA_EXISTS]:
            note_metadata()


def _references(entry: Entry) -> int:
    return sys.getrefcount(entry.anchor)


_ALONE: Final = _references(Entry([], True))
"""The reference count of an object that only its entry holds."""


_PINNED: Final = frozenset(map(id, (list, tuple, dict)))
"""Types whose objects cannot be referred to weakly; for others this is tried."""


class ShadowTable:
    """Entries by the identity of their objects."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self._sweep_at = _FIRST_SWEEP

    def of(self, item: Any) -> Entry | None:
        """The entry of an object, if it has one."""
        entry = self.entries.get(id(item))
        if entry is None:
            return None
        if entry.pinned or entry.anchor() is item:
            return entry
        self.entries.pop(id(item), None)  # another thread may do the same
        return None

    def make(self, item: Any) -> Entry:
        """The entry of an object, which is to get metadata; a new one if it has none."""
        entry = self.join(item)
        if entry._token is None:
            entry.count()
        return entry

    def join(self, item: Any) -> Entry:
        """The same for an entry that gets no metadata yet, and does not count as such."""
        key, entries = id(item), self.entries
        if key in entries and (entry := self.of(item)) is not None:
            return entry
        try:
            reference = None if id(type(item)) in _PINNED else weakref.ref(item, lambda _: entries.pop(key, None))
        except TypeError:
            reference = None
        if reference is None:
            entry = Entry(item, pinned=True)
            _hold(self, key)
        else:
            entry = Entry(reference, pinned=False)
        if len(entries) >= self._sweep_at:
            self.drop_unused()
        entries[key] = entry
        return entry

    def drop(self, item: Any) -> None:
        """Drop the entry of an object, if it has one."""
        self.entries.pop(id(item), None)

    def drop_entry(self, entry: Entry) -> None:
        """Drop an entry."""
        owner = entry.anchor if entry.pinned else entry.anchor()
        if self.entries.get(id(owner)) is entry:
            self.entries.pop(id(owner), None)

    def drop_if_unused(self, key: int) -> bool:
        """Drop an entry if nothing but the entry refers to its object; return whether it is gone."""
        entry = self.entries.get(key)
        if entry is not None and entry.pinned:
            if _references(entry) > _ALONE:
                return False
            self.entries.pop(key, None)
        return True

    def drop_unused(self) -> None:
        """Drop all entries to whose objects nothing else refers."""
        for key in list(self.entries):
            entry = self.entries.get(key)
            if entry is not None and not entry.pinned and entry.anchor() is None:
                self.entries.pop(key, None)
            del entry
            self.drop_if_unused(key)
        self._sweep_at = max(_FIRST_SWEEP, 2 * len(self.entries))


@hidden
def drop_latest_unused() -> None:
    """Drop the entries made last whose objects are unused, up to the first object that is in use."""
    held = LOCAL.held
    while held:
        place = held.pop()  # taken out first, since a finalizer of the program may run events, which do the same
        if not place[0].drop_if_unused(place[1]):
            held.append(place)
            return


@hidden
def drop_unused_since(number: int) -> None:
    """Drop the entries of unused objects among those that are held since there were `number` of them."""
    held = LOCAL.held
    newer = held[number:]
    del held[number:]
    held += [(table, key) for table, key in newer if not table.drop_if_unused(key)]


def _hold(table: ShadowTable, key: int) -> None:
    held = LOCAL.held
    if len(held) >= _MOST_HELD:
        drop_unused_since(0)
        del held[: -_MOST_HELD // 2]  # `drop_unused` finds these later
    held.append((table, key))


for _method in list(vars(ShadowTable).values()):
    if isinstance(_method, FunctionType):
        hidden(_method)
