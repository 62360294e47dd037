"""The shadow store: holds the metadata of values while they are parts of objects.

An entry belongs to one object and holds, for each part that has metadata, the plain value and its metadata. It is
valid only as long as the part *is* that value: a change by a leaf is found by identity, and by the number of parts.
"""

from __future__ import annotations

import atexit
import gc
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import reference_cycles
from cassette_import.runtime.tagging.container_contents import (
    CONTAINERS,
    SEQUENCES,
    attributes_of,
    has,
    items_in,
    namespace_in_use,
    size_of,
)
from cassette_import.runtime.tagging.recognised_values import MOST_PARTS, RecognisedValues, may_be_shared
from cassette_import.runtime.tagging.shadow_entries import Entry, ShadowTable
from cassette_import.runtime.tagging.tags import Metas, Tag
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

_OLDEST_GENERATION: Final = 2

_stores: Final[weakref.WeakSet[Store]] = weakref.WeakSet()


@hidden
def _before_collection(phase: str, information: dict[str, int]) -> None:
    """A full garbage collection begins: drop the entries that alone keep their objects alive."""
    if phase == "start" and information["generation"] == _OLDEST_GENERATION:
        tables = [table for store in list(_stores) for table in store.tables()]
        for table in tables:
            table.drop_unused()
        for store in list(_stores):
            store.recognised.drop_unused()
        entries = (entry for table in tables for entry in list(table.entries.values()))
        for entry in reference_cycles.unreachable(entries):
            for table in tables:
                table.drop_entry(entry)


@atexit.register
def _remove_callback() -> None:
    if _before_collection in gc.callbacks:
        gc.callbacks.remove(_before_collection)


class Store:
    """The metadata of the parts of objects under one outermost activation.

    `items` has the items of sequences, the values of dicts and the elements of sets; `attributes` the attributes of
    objects; `iterators` the cursors of iterators; `views` the dicts of their `values()` and `items()`. `recognised` has
    the values whose metadata is found by their identity; `parcels` those that code is moving which is not overdubbed.
    """

    def __init__(self) -> None:
        self.items = ShadowTable()
        self.attributes = ShadowTable()
        self.iterators = ShadowTable()
        self.views = ShadowTable()
        self.recognised = RecognisedValues()
        self.parcels: dict[int, tuple[Any, Metas]] = {}
        _stores.add(self)
        if _before_collection not in gc.callbacks:
            gc.callbacks.append(_before_collection)

    def tables(self) -> tuple[ShadowTable, ...]:
        """The tables of all kinds of parts."""
        return self.items, self.attributes, self.iterators, self.views

    def __bool__(self) -> bool:
        return bool(
            self.items.entries
            or self.attributes.entries
            or self.iterators.entries
            or self.views.entries
            or self.recognised.slots
            or self.parcels
        )

    # ---- one part

    def load_part(self, table: ShadowTable, owner: Any, key: Any, value: Any) -> Any:
        """Wrap a part that was read from an object, if it has metadata."""
        entry = table.of(owner)
        if entry is None:
            return value
        try:
            slot = entry.slots.get(key)
        except TypeError:
            return value
        if entry.extra is not None and table is self.attributes:
            slot = self.slots_by_key(entry.extra).get(key, slot)
        if slot is None:
            return value
        if slot[0] is not value or (is_a(owner, SEQUENCES) and size_of(owner) != entry.size):
            table.drop(owner)  # a leaf changed it
            if table is self.items and is_a(owner, SEQUENCES):
                self._moved_metas(owner, items_in(owner), entry)
            return value
        return Tagged(value, slot[1])

    def store_part(self, table: ShadowTable, owner: Any, key: Any, value: Any) -> None:
        """Keep the metadata of a part that was stored in an object; `value` may be wrapped."""
        metas = metas_of(value)
        if table is self.attributes and (entry := table.of(owner)) is not None and entry.extra is not None:
            self.store_part(self.items, entry.extra, key, value)
        if metas is None:
            entry = table.of(owner)
            if entry is not None:
                entry.slots.pop(key, None)
        else:
            is_new = table.of(owner) is None
            entry = table.make(owner)
            if is_new and table is self.attributes and (namespace := namespace_in_use(owner)) is not None:
                self.join_namespace(owner, namespace)
                self.items.make(namespace).slots[key] = plain(value), metas
            entry.slots[key] = plain(value), metas
        if entry is not None and is_a(owner, SEQUENCES):
            entry.size = size_of(owner)

    def join_namespace(self, owner: Any, namespace: dict[str, Any]) -> None:
        """Let an object and its `__dict__` have the same metadata: the program has got the `__dict__`."""
        entry = self.attributes.join(owner)
        if entry.extra is namespace:
            return
        entry.extra = namespace
        found = {name: slot for name, slot in entry.slots.copy().items() if namespace.get(name) is slot[0]}
        if found:
            self.items.make(namespace).slots.update(found)

    # ---- all parts of a container

    def item_metas(self, owner: Any) -> list[Metas | None] | None:
        """The metadata of each item of a sequence; None if there is none at all."""
        entry = self.items.of(owner)
        if entry is None:
            return None
        values = items_in(owner)
        found: list[Metas | None] = [None] * len(values)
        if len(values) == entry.size:
            for index, (value, metas) in list(entry.slots.items()):  # another thread may change it
                if index >= len(values) or values[index] is not value:
                    break
                found[index] = metas
            else:
                return found
        self.items.drop(owner)  # a leaf changed it
        return self._moved_metas(owner, values, entry)

    def set_item_metas(self, owner: Any, metas: Iterable[Metas | None]) -> None:
        """Set the metadata of each item of a sequence."""
        values = items_in(owner)
        slots = {index: (values[index], found) for index, found in enumerate(metas) if found}
        if slots:
            entry = self.items.make(owner)
            entry.slots, entry.size = slots, len(values)
        else:
            self.items.drop(owner)

    def wrapped_items(self, owner: Any) -> list[Any]:
        """The items of a sequence, wrapped where they have metadata."""
        metas = self.item_metas(owner)
        if metas is None:
            return items_in(owner)
        return [Tagged(value, found) if found else value for value, found in zip(items_in(owner), metas, strict=True)]

    def changeable_metas(self, owner: Any) -> Any:
        """The metadata of each item as a list, or as a deque if the owner is one, to be changed as the owner is."""
        found: list[Metas | None] = self.item_metas(owner) or [None] * size_of(owner)
        return deque(found, owner.maxlen) if is_a(owner, deque) else found

    def bind_items(self, owner: Any, items: Iterable[Any]) -> Any:
        """Keep the metadata of the items of a new sequence; the items may be wrapped. Returns the sequence."""
        if self.recognised.types:
            self.note(items)
        self.set_item_metas(owner, map(metas_of, items))
        return owner

    def slots_by_key(self, owner: Any) -> dict[Any, tuple[Any, Metas]]:
        """The values of a dict, or the elements of a set, that have metadata, by key: each with its metadata."""
        entry = self.items.of(owner)
        if entry is None:
            return {}
        if is_a(owner, dict):
            stale = [key for key, (value, _) in entry.slots.copy().items() if dict.get(owner, key, entry) is not value]
        else:
            stale = [key for key in list(entry.slots) if not has(owner, key)]
        for key in stale:
            entry.slots.pop(key, None)
        return entry.slots

    def set_slots(self, owner: Any, slots: dict[Any, tuple[Any, Metas]]) -> None:
        """Set the metadata of a dict's values or a set's elements."""
        if slots:
            self.items.make(owner).slots = slots
        else:
            self.items.drop(owner)

    def drop_stale(self, owner: Any) -> None:
        """Drop the metadata of parts that a leaf has replaced."""
        if is_a(owner, SEQUENCES):
            self.item_metas(owner)
        elif is_a(owner, (dict, set, frozenset)):
            self.slots_by_key(owner)

    def bind_elements(self, made: Any, items: Any) -> Any:
        """Keep the metadata of the elements of a new set: of equal ones, that of the first. Returns the set."""
        slots: dict[Any, Any] = {}
        if self.recognised.types:
            self.note(items)
        for item in items:
            if type(item) is Tagged and has(made, plain(item)):
                slots.setdefault(plain(item), (plain(item), item._tagged_metas))
        self.set_slots(made, slots)
        return made

    def bind_pairs(self, made: Any, pairs: Any) -> Any:
        """Keep the metadata of the values that went into a dict, as pairs with their keys. Returns the dict."""
        slots = dict(self.slots_by_key(made))
        for key, value in pairs:
            slots.pop(plain(key), None)
            if type(value) is Tagged:
                self.recognised.note(value._tagged_value, value._tagged_metas)
                slots[plain(key)] = plain(value), value._tagged_metas
        self.set_slots(made, slots)
        return made

    # ---- values that are recognised by identity

    def note(self, values: Iterable[Any]) -> None:
        """Values, which may be wrapped, are about to be stored or given to a leaf."""
        for value in values:
            if type(value) is Tagged:
                self.recognised.note(value._tagged_value, value._tagged_metas)

    def _moved_metas(self, owner: Any, values: list[Any], entry: Entry) -> list[Metas | None] | None:
        """The metadata of the items of a sequence that a leaf has changed: those that were moved still have theirs."""
        known = {id(value): metas for value, metas in list(entry.slots.values()) if not may_be_shared(value)}
        parts = self.recognised.wrapped_parts(values) or values
        metas = [metas_of(part) or known.get(id(plain(part))) for part in parts]
        if not any(metas):
            return None
        self.set_item_metas(owner, metas)
        return metas

    def recognise_parts(self, container: Any) -> None:
        """Keep the metadata of those parts of a container that are recognised, unless it has an entry."""
        if self.items.of(container) is not None or not self.recognised.slots or size_of(container) > MOST_PARTS:
            return
        if type(container) is dict:
            parts = self.recognised.wrapped_parts(container.values())
            if parts is not None:
                self.bind_pairs(container, zip(list(container), parts, strict=True))
        elif is_a(container, (list, tuple)):
            parts = self.recognised.wrapped_parts(items_in(container))
            if parts is not None:
                self.bind_items(container, parts)

    # ---- the beginning and the end

    def has_metadata_in(self, values: Iterable[Any], parts: Callable[[Any], Iterable[Any]]) -> bool:
        """Whether parts of some values have metadata, or of what these consist of; `parts` gives that of one value."""
        work, seen = list(values), set[int]()
        while work:
            one = work.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if self.items.of(one) is not None or self.attributes.of(one) is not None:
                return True
            work += parts(one)
        return False

    def merge(self, other: Store) -> None:
        """Take over the entries of another store: that of an inner activation, from before it was entered."""
        if other is not self:
            self.items.entries.update(other.items.entries)
            self.attributes.entries.update(other.attributes.entries)
            self.recognised.types |= other.recognised.types
            self.recognised.slots.update(other.recognised.slots)

    def keep_parts_of(self, result: Any) -> None:
        """Drop all entries but those of objects that the result of the ended activation leads to."""
        kept: tuple[dict[int, Entry], dict[int, Entry]] = ({}, {})
        work = [plain(result)]
        seen: set[int] = set()
        while work:
            item = work.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            for table, found in zip((self.items, self.attributes), kept, strict=True):
                entry = table.of(item)
                if entry is not None:
                    found[id(item)] = entry
            work += items_in(item) if is_a(item, CONTAINERS) else attributes_of(item).values()
        for table, found in zip((self.items, self.attributes), kept, strict=True):
            table.entries.clear()
            table.entries.update(found)
        self.iterators.entries.clear()
        self.views.entries.clear()
        self.recognised.slots.clear()
        self.parcels.clear()


reference_cycles.UNFOLLOWED.update(map(id, (Entry, ShadowTable, Store, Tag)))
for _method in list(vars(Store).values()):
    if isinstance(_method, FunctionType):
        hidden(_method)
