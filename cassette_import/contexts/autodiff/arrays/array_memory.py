"""Arrays that are changed in place: the metadata of their memory, which several views may share.

After a change through a known function, the metadata of the memory counts, not that of an array made before. A view
has the metadata of its part of the memory. A change through any other code is found by comparison with a copy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy
from numpy.lib.stride_tricks import as_strided

from cassette_import.contexts.autodiff.arrays.linear_maps import (
    CONSTANT,
    LinearMap,
    element_sources,
    gathering,
    numbered_arrays,
)
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.tagging import CONTENTS

DummyArray: Any = type(as_strided(numpy.zeros(1)).base)
"""The type of the base of arrays that `as_strided` makes; its base is the array."""

Join = Callable[[list[tuple[LinearMap, Any]]], Any]


def owner_of(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(array.base, (numpy.ndarray, DummyArray)):
        array = array.base
    return array


def owns_memory(owner: Any) -> bool:
    """Whether no object but arrays uses the memory of an array."""
    return owner.base is None or type(owner.base) is bytes


class Window(NamedTuple):
    """The part of the owner's memory that an array covers, in elements."""

    start: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]

    @classmethod
    def of(cls, array: Any, owner: Any) -> Window:
        """The window of a view on its owner's memory."""
        size = owner.itemsize
        start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        if array.dtype != owner.dtype or any(number % size for number in (start, *array.strides)):
            raise NotOverdubbable(
                f"an array that has a derivative is viewed as {array.dtype} in memory of {owner.dtype}: "
                "make a copy of it first"
            )
        return cls(start // size, array.shape, tuple(step // size for step in array.strides))

    def on(self, memory: Any) -> Any:
        """The same part of a flat array."""
        steps = tuple(step * memory.itemsize for step in self.steps)
        return as_strided(memory[self.start :], self.shape, steps)


class OwnerMemory:
    """The metadata of one owner's memory: of all its elements, in their order there; None if they have none.

    Until the first change, `recorded` holds the metadata of one view instead.
    """

    def __init__(self, owner: Any, forget: Callable[[Any], Any]) -> None:
        self.owner = weakref.ref(owner, forget)
        self.metadata: Any = None
        self.recorded: tuple[Window, Any] | None = None
        self.seen: Any = None
        self.changed = False

    @property
    def values(self) -> Any:
        """The elements in their order in memory."""
        owner: Any = self.owner()
        return as_strided(owner, (owner.size,), (owner.itemsize,))

    def check(self) -> None:
        """Raise an error if code without a rule has changed the memory."""
        if not numpy.array_equal(self.seen, self.values, equal_nan=self.seen.dtype.kind in "fc"):
            raise NotOverdubbable(
                "an array that has derivatives was changed by a function without a rule, so the derivatives are "
                "lost: assign to the array in Python, or install the package that changes it"
            )


class ArrayMemory:
    """The metadata that a context has for arrays that are changed in place."""

    def __init__(self, join: Join) -> None:
        self._join = join
        self.known: dict[int, OwnerMemory] = {}

    def _memory(self, owner: Any, make: bool = False) -> OwnerMemory | None:
        key = id(owner)
        found = self.known.get(key)
        if found is None and make:
            known = self.known
            found = known[key] = OwnerMemory(owner, lambda _: known.pop(key, None))
        return found

    def knows(self, array: Any) -> bool:
        """Whether the memory of an array has an entry."""
        return bool(self.known) and id(owner_of(array)) in self.known

    def mark(self, store: Any, array: Any, tag: Any) -> None:
        """Mark an array, so that passing it to a function without a rule is reported as a loss."""
        owner = owner_of(array)
        store.attributes.make(owner).slots[CONTENTS] = owner, {tag: True}

    def record(self, array: Any, metadata: Any) -> None:
        """Record the metadata of an array, of whose memory a view was made."""
        owner = owner_of(array)
        if id(owner) not in self.known:
            window = Window.of(array, owner)
            memory = self._memory(owner, make=True)
            memory.recorded = window, metadata  # type: ignore[union-attr]

    def add(self, array: Any, metadata: Any) -> None:
        """Add the metadata of an array that is a view; several arrays may be views of the same memory."""
        owner = owner_of(array)
        if array is not owner:
            memory: Any = self._memory(owner, make=True)
            self._put(memory, Window.of(array, owner), lambda view, given: numpy.copyto(view, given[0]), [
                (array.shape, metadata)
            ])  # fmt: skip

    def current(self, array: Any) -> tuple[bool, Any]:
        """Whether the memory of an array was changed, and if so, the metadata of the array, or None."""
        owner = owner_of(array)
        memory = self.known.get(id(owner))
        if memory is None or not memory.changed:
            return False, None
        memory.check()
        if memory.metadata is None:
            return True, None
        positions = Window.of(array, owner).on(numpy.arange(owner.size))
        return True, self._join([(gathering(positions, (owner.size,)), memory.metadata)])

    def change(
        self,
        array: Any,
        before: Any,
        native: Callable[[], Any],
        build: Callable[[Any, list[Any]], Any],
        sources: Sequence[tuple[tuple[int, ...], Any]],
    ) -> Any:
        """Change an array, and the metadata of its memory.

        Parameters
        ----------
        array, before:
            The array and its metadata before the change.
        native:
            Makes the change.
        build:
            Makes the same change to an array of numbered elements, from arrays like the sources.
        sources:
            The shapes and metadata of the arrays from which elements are copied.
        """
        owner = owner_of(array)
        window = Window.of(array, owner)
        memory: Any = self._memory(owner, make=True)
        if memory.changed:
            memory.check()
        elif memory.recorded is not None:
            recorded, memory.recorded = memory.recorded, None
            self._put(memory, recorded[0], _copied, [(recorded[0].shape, recorded[1])])
        elif before is not None and memory.metadata is None:
            self._put(memory, window, _copied, [(array.shape, before)])
        result = native()
        self._put(memory, window, build, sources)
        memory.changed = True
        memory.seen = memory.values.copy()
        return result

    def _put(
        self, memory: OwnerMemory, window: Window, build: Callable[[Any, list[Any]], Any], sources: Sequence[Any]
    ) -> None:
        size = memory.owner().size  # type: ignore[union-attr]
        arrays, starts = numbered_arrays([(size,), *(shape for shape, _ in sources)])
        build(window.on(arrays[0]), [
            given if metadata is not None else numpy.full(given.shape, CONSTANT)
            for given, (_, metadata) in zip(arrays[1:], sources, strict=True)
        ])  # fmt: skip
        moved = element_sources(arrays[0], starts, [(size,), *(shape for shape, _ in sources)])
        known = [memory.metadata, *(metadata for _, metadata in sources)]
        terms = [
            (gathering(*moved.source(number)), metadata)
            for number, metadata in enumerate(known)
            if metadata is not None
        ]
        memory.metadata = self._join(terms) if terms else None


def _copied(view: Any, given: list[Any]) -> None:
    numpy.copyto(view, given[0])
