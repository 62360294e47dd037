"""Values that are recognised by identity: their metadata is found wherever the program reads them.

A value may be stored by one route and read by another one: `f.__defaults__`, `cell.cell_contents`, an object of a
package that is not installed. A context type lists in `recognised_types` the types whose objects are never shared,
such as `float`: each result of a computation is an object of its own. So an object of such a type that was stored with
metadata has this metadata when it is read. Of all other contexts, numbers and texts are *watched*: where one is read
that has lost its metadata on the way, this is a loss.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from types import BuiltinMethodType, FunctionType, MethodWrapperType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging import live_metadata
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.tags import RECEIVER, Metas
from cassette_import.runtime.tagging.wrappers import Tagged

_FIRST_SWEEP: Final = 512
MOST_PARTS: Final = 1_000
"""The size of containers whose parts are recognised."""

_BOUND_METHODS: Final = frozenset(map(id, (BuiltinMethodType, MethodWrapperType)))

_Slot = tuple[Any, Metas, Any, Any]


def _references(slots: dict[int, _Slot]) -> int:
    return next(sys.getrefcount(slot[0]) for slot in slots.values())


def _is_text_of_names(value: Any) -> bool:
    """Whether the interpreter may share the object with a constant of a program."""
    return len(value) < 2 or value.isalnum()


_IMMORTAL: Final = 1 << 31


def _is_interned_in_3_12(value: str) -> bool:
    return sys.getrefcount(value) >= _IMMORTAL


def _is_interned_in_3_11(value: str) -> bool:
    return sys.intern(value[:1] + value[1:]) is value  # otherwise the copy is interned, as long as it lives


_is_interned: Final[Callable[[str], bool]] = (
    sys._is_interned  # type: ignore[attr-defined]  # from 3.13 on
    if sys.version_info >= (3, 13)
    else _is_interned_in_3_12
    if sys.version_info >= (3, 12)
    else _is_interned_in_3_11
)


def _is_shared_text(value: str) -> bool:
    """Whether a text is an object of the interpreter's own: it interns constants that look like names."""
    return len(value) < 2 or _is_interned(value)


_SHARED_INTEGERS: Final = range(-5, 257)
"""The integers that are the same objects everywhere."""

_SHARED: Final[dict[int, Callable[[Any], bool]]] = {
    id(str): _is_shared_text,
    id(bytes): _is_text_of_names,
    id(int): _SHARED_INTEGERS.__contains__,
}
"""For types whose objects are shared in some cases, by the identity of the type: whether an object may be."""

WATCHED_TYPES: Final = (float, complex, int, str, bytes, Fraction, Decimal)
"""The types of values whose loss is noticed by identity, in contexts that do not recognise them."""


def may_be_shared(value: Any) -> bool:
    """Whether another value of the program may be the same object by chance."""
    kind = type(value)
    if kind in (bool, type(None)):
        return True
    if kind is int:
        return value in _SHARED_INTEGERS
    return bool(id(kind) in _SHARED and len(value) < 2)


class RecognisedValues:
    """The stored values with metadata whose types are listed, by identity."""

    __slots__ = ("_sweep_at", "slots", "types")

    def __init__(self) -> None:
        self.types: frozenset[int] = frozenset()
        """The types, by identity, as a metaclass of the program may have no hash."""
        self.slots: dict[int, _Slot] = {}
        """For each value: the value itself, its metadata, what makes it unrecognisable, the token of live metadata."""
        self._sweep_at = _FIRST_SWEEP

    def add_types(self, types: Iterable[type]) -> None:
        """Recognise values of further types."""
        self.types |= frozenset(map(id, types))

    def note(self, value: Any, metas: Metas) -> None:
        """A value with metadata is stored somewhere, or given to a leaf; or a bound method with such a receiver."""
        if RECEIVER in metas:
            value, metas = value.__self__, metas[RECEIVER]
        slot = self.slots.get(id(value))
        if slot is not None and slot[2] is not _WATCHED:
            if slot[1] is not metas and slot[2] is None and not _are_same(slot[1], metas):
                joined = _joined(slot[1], metas)
                self.slots[id(value)] = (
                    (value, metas, _AMBIGUOUS, live_metadata.METADATA)
                    if joined is None
                    else (value, joined, None, live_metadata.METADATA)
                )
            return
        kind = id(type(value))
        if kind in self.types and not (kind in _SHARED and _SHARED[kind](value)):
            if len(self.slots) >= self._sweep_at:
                self.drop_unused()
            state = None if all(kind in tag.recognised for tag in metas) else _WATCHED
            self.slots[id(value)] = value, metas, state, live_metadata.METADATA

    def detach(self, value: Any) -> None:
        """The program has removed the metadata of a value: it is not to be recognised."""
        if id(type(value)) in self.types:
            self.slots[id(value)] = value, {}, _DETACHED, live_metadata.METADATA

    def wrapped(self, value: Any) -> Any:
        """A value that was read, wrapped if it is recognised.

        One that was stored with different metadata loses it, unless its contexts have joined the metadata: that is an
        error in contexts for which a loss is one.
        """
        slot = self.slots.get(id(value))
        if slot is None:
            return self._with_receiver(value) if id(type(value)) in _BOUND_METHODS else value
        if slot[2] is _DETACHED:
            return value
        if slot[2] is _AMBIGUOUS:
            lose_number(slot[1], "an object that has different metadata in different places", is_reported=True)
            return value
        if slot[2] is _WATCHED:
            attached = {tag: found for tag, found in slot[1].items() if id(type(value)) in tag.recognised}
            return Tagged(value, attached) if attached else value
        return Tagged(value, slot[1])

    def read(self, value: Any, place: Any) -> Any:
        """The same for a value that is read where no leaf is called: `place` is what has lost its metadata."""
        found = self.wrapped(value)
        if id(value) in self.slots:
            self.lose_watched(value, place)
        return found

    def lose_watched(self, value: Any, place: Any) -> None:
        """A value came from a place, a leaf for example, that has lost the metadata of contexts which watch it."""
        slot = self.slots[id(value)]
        if slot[2] is _WATCHED:
            kind = id(type(value))
            lose_number([tag for tag in slot[1] if kind not in tag.recognised], place, is_reported=True)

    def _with_receiver(self, method: Any) -> Any:
        """A bound method of C code, wrapped if its receiver is recognised."""
        receiver = self.read(method.__self__, method) if id(type(method.__self__)) in self.types else None
        return Tagged(method, {RECEIVER: receiver._tagged_metas}) if type(receiver) is Tagged else method

    def wrapped_parts(self, parts: Any) -> list[Any] | None:
        """The parts of a container, wrapped where they are recognised; None if none is."""
        if self.slots.keys().isdisjoint(map(id, parts)):
            return None
        return [self.wrapped(part) for part in parts]

    def has_part(self, parts: Any) -> bool:
        """Whether a part of a container is recognised."""
        return bool(self.slots) and len(parts) <= MOST_PARTS and not self.slots.keys().isdisjoint(map(id, parts))

    def drop_unused(self) -> None:
        """Drop the values to which nothing else refers."""
        # A copy is made in one step; `list(….items())` makes tuples, and the collector may let other threads run.
        for key in [key for key, slot in self.slots.copy().items() if sys.getrefcount(slot[0]) <= _ALONE]:
            self.slots.pop(key, None)  # another thread may do the same
        self._sweep_at = max(_FIRST_SWEEP, 2 * len(self.slots))


_AMBIGUOUS: Final = "ambiguous"
_DETACHED: Final = "detached"
_WATCHED: Final = "watched"


def _are_same(one: Metas, other: Metas) -> bool:
    """Whether metadata is the same: numbers are compared, other objects have to be identical."""
    return one.keys() == other.keys() and all(
        found is other[tag] or (type(found) is float and type(other[tag]) is float and found == other[tag])
        for tag, found in one.items()
    )


def _joined(one: Metas, other: Metas) -> Metas | None:
    """The metadata of an object that has different metadata in different places; None if a context cannot join its own.

    It may be either of them: `f"{text}"` is the object `text`.
    """
    found = {**one, **other}
    for tag in found:
        if tag.joined is None or tag.context is None:
            return None
        if tag in one and tag in other:
            found[tag] = tag.joined(tag.context, one[tag], other[tag])
    return found


_ALONE: Final = _references({0: (object(), {}, None, None)})
"""The reference count of a value that only its slot refers to."""

for _method in list(vars(RecognisedValues).values()):
    if isinstance(_method, FunctionType):
        hidden(_method)
