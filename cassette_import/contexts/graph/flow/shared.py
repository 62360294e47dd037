"""What the runs of one function know of one another: which loops are code, and what is joined where."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias

from cassette_import.contexts.graph.kinds import Kind
from cassette_import.contexts.graph.nodes import Constant

__all__ = ["Again", "Shared", "Slot", "Stale"]


class Stale:
    """A variable that must not be read any more: doing so is an error, which its function makes."""

    __slots__ = ("error",)

    def __init__(self, error: Callable[[], BaseException]) -> None:
        self.error = error

    def _read(self, *arguments: Any) -> Any:
        raise self.error()

    __bool__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _read
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __neg__ = __abs__ = __getattr__ = _read
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = _read
    __or__ = __ror__ = __xor__ = __rxor__ = __float__ = __int__ = __index__ = __iter__ = __len__ = _read
    __str__ = __repr__ = __getitem__ = __invert__ = __pos__ = __call__ = _read


Slot: TypeAlias = tuple[Hashable, str, Any]
"""A part of an object: the object's name, the kind of part, and its key."""


class Again(BaseException):
    """The run has to begin again: it has learnt something about a place that it has passed."""


class Shared:
    """What all runs of a function know.

    Attributes
    ----------
    numbers:
        The numbers of operations and joins, by place.
    slots:
        The parts of objects that some way to a join changes, by the join's place.
    labels:
        The places of joins that some jump leads to.
    loops:
        The loops that are one piece of code, by their place in the program, with the number of iterations before them.
    staying:
        Those of them that need not be: the number of their iterations is known, and large.
    unrolled:
        The loops that were code without need, and do what code cannot.
    kinds:
        The kinds of the numbers of joins, by place.
    promoted:
        The places of joins that some ways come to with a number of Python, and others with one of NumPy.
    """

    def __init__(self, inputs: int, functions: frozenset[Any], keeps_loops: bool = True, arrays: bool = False) -> None:
        self._next = inputs
        self.functions = functions
        """The functions of numbers that may be operations."""
        self.keeps_loops = keeps_loops
        self.arrays = arrays
        """Whether arrays may be unknown."""
        self.staying: set[Hashable] = set()
        self.unrolled: set[Hashable] = set()
        self.numbers: dict[Hashable, int] = {}
        self.slots: dict[Hashable, dict[Slot, None]] = {}
        self.labels: set[Hashable] = set()
        self.loops: dict[Hashable, int] = {}
        self.stale: set[tuple[Hashable, int]] = set()
        """The variables with another type in the next iteration of a loop, by its place in the program and theirs."""
        self.fixed: dict[Hashable, Any] = {}
        """What is no number at a join, by its place: all ways to it have the same there."""
        self.tables: dict[str, Constant] = {}
        self.kinds: dict[Hashable, Kind] = {}
        self.promoted: set[Hashable] = set()
        self.array_places: set[Any] = set()
        """The calls that make arrays which get unknown numbers."""
        self.changed_arrays: set[int] = set()
        """The operations that make arrays which are changed, by number."""
        self.parting: set[Hashable] = set()
        """The places of joins to which ways come with different arrays of these."""

    def copy(self) -> Shared:
        """The same, to be changed by runs that may turn out not to go with the others."""
        made = Shared(self._next, self.functions, self.keeps_loops, self.arrays)
        made.tables = self.tables
        made.staying, made.unrolled = set(self.staying), set(self.unrolled)
        made.numbers, made.loops, made.fixed = dict(self.numbers), dict(self.loops), dict(self.fixed)
        made.slots = {key: dict(slots) for key, slots in self.slots.items()}
        made.labels, made.stale = set(self.labels), set(self.stale)
        made.kinds, made.promoted = dict(self.kinds), set(self.promoted)
        made.array_places, made.changed_arrays = set(self.array_places), set(self.changed_arrays)
        made.parting = set(self.parting)
        return made

    def unroll(self, places: Iterable[Hashable]) -> None:
        """Unroll loops that need not be code."""
        for place in list(places):
            self.staying.discard(place)
            self.unrolled.add(place)
            del self.loops[place]

    def number(self, key: Hashable) -> int:
        """The number for a place."""
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = self._next
            self._next += 1
        return found
