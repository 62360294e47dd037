"""The shadow store: holds the metadata of values while they are parts of objects.

An entry belongs to one object and holds, for each part that has metadata, the plain value and its metadata. It is
valid only as long as the part *is* that value: a change by a leaf is found by identity, and by the number of parts.
"""

from __future__ import annotations

import atexit
import gc
import operator
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import AsyncGeneratorType, CoroutineType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.clock import monotonic
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, is_a, module_namespace
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.held_metadata import (
    CONTAINERS,
    SEQUENCES,
    attributes_of,
    has,
    items_in,
    namespace_in_use,
    size_of,
)
from cassette_import.runtime.tagging.live_metadata import note_metadata, token_of_module
from cassette_import.runtime.tagging.recognised_values import MOST_PARTS, RecognisedValues, may_be_shared
from cassette_import.runtime.tagging.tags import Metas, Tag
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

# ---- entries of the shadow store, and how long they live
#
# An object that can be referred to weakly takes its entry with it. Lists, dicts and tuples cannot, so an entry holds
# them, and is dropped once nothing else refers to the object. Such entries are looked for at three times: among the
# entries made last at each call of a leaf, among those that a function made when it returns, and among all entries from
# time to time and at a full garbage collection.

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


# ---- reference cycles that only the shadow store keeps alive
#
# The store refers to values and to their metadata. Where these lead back to the object whose parts they are, Python's
# garbage collector takes the object for one that is in use: Python has no reference that counts only while another
# object lives (an ephemeron). So before a full collection this module does what the collector does, with all objects
# that the entries lead to. It counts their references and subtracts those that come from among them. An object with a
# reference left is in use, and so is all that it leads to; but an entry leads to its values only if its object is in
# use.
#
# Some objects are not followed: modules that can be imported, their classes, and frames. What they refer to counts as
# in use, so no entry is dropped by mistake.

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


# ---- the shadow store: holds the metadata of values while they are parts of objects

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
        for entry in unreachable(entries):
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


UNFOLLOWED.update(map(id, (Entry, ShadowTable, Store, Tag)))
for _method in list(vars(Store).values()):
    if isinstance(_method, FunctionType):
        hidden(_method)
