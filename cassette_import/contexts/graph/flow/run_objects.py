"""The objects of a recorded run: their names, and which of their parts are replaced where ways are joined.

An object that a run has made has the name of its place, so that each run finds it again. Which parts of objects some
way to a join has changed is known after the first run on each way; a run that finds a new one is begun again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any, Final

from cassette_import.contexts.graph.flow.shared import Again, Shared, Slot, Stale
from cassette_import.contexts.graph.flow.symbol import Symbol
from cassette_import.contexts.graph.outside import Outside

__all__ = ["RunObjects"]

_CONTAINERS: Final = (list, dict, set, deque, bytearray)


class RunObjects:
    """The part of a run that knows which objects it has made and changed.

    Attributes
    ----------
    active:
        Whether the run goes on here; it does not between a jump and the place to which it leads.
    regions:
        For each open side and loop: its place, and the parts of objects that were changed in it.
    """

    active: bool

    def __init__(self, shared: Shared, outside: Outside) -> None:
        self.shared = shared
        self.outside = outside
        self.regions: list[tuple[Hashable, dict[Slot, None]]] = []
        self._names: dict[int, tuple[Any, Hashable, int]] = {}
        self._objects: dict[Hashable, Any] = {}
        self._made: dict[Hashable, int] = {}

    def refuse(self, what: str) -> BaseException:
        """The error for what cannot be recorded."""
        raise NotImplementedError

    def place(self) -> tuple[Hashable, ...]:
        """The place of the next item."""
        raise NotImplementedError

    # ---- objects

    def made(self, value: Any) -> Any:
        """Note an object that the run has just made."""
        if type(value) is Stale:
            raise value.error()
        can_change = isinstance(value, _CONTAINERS) or (type(type(value)) is type and hasattr(value, "__dict__"))
        is_new = id(value) not in self._names and self.outside.own_object(id(value)) is None
        if can_change and is_new and not isinstance(value, type):
            self._name(value, self._new_name(), len(self.regions))
        return value

    def sees(self, value: Any) -> None:
        """Note an object that the run uses. Where the arguments decide, it is not known when it was made."""
        if type(value) is Stale:
            raise value.error()
        if not self.regions:
            self.made(value)

    def is_named(self, value: Any) -> bool:
        """Whether the run knows which object it is."""
        return id(value) in self._names

    def names_array(self, symbol: Symbol, number: int) -> None:
        """Note an array that the program changes, which the run has just made."""
        self._name(symbol, ("array", number), len(self.regions))

    def _new_name(self) -> Hashable:
        """A name that depends on the place alone."""
        place = self.place()
        count = self._made[place] = self._made.get(place, 0) + 1
        return "made", place, count

    def _name(self, owner: Any, name: Hashable, depth: int) -> None:
        self._names[id(owner)] = owner, name, depth
        self._objects[name] = owner

    def changes(self, owner: Any, kind: str, key: Any) -> None:
        """Note that a part of an object is about to change."""
        if type(owner) is not Symbol:
            self.outside.forbids(owner)  # its content is noted, and restored after the run
        if not self.regions:
            if type(owner) is not Symbol:
                self.made(owner)
            return
        known = self._names.get(id(owner))
        if known is None:
            if self.outside.own_object(id(owner)) is None:
                raise self.refuse(f"a {type(owner).__name__} is changed that was made in an unknown place")
            self._name(owner, ("own", id(owner)), 0)
            known = self._names[id(owner)]
        for depth, (_, changed) in enumerate(self.regions):
            if known[2] <= depth:
                changed[known[1], kind, key] = None

    # ---- regions

    def opens(self, key: Hashable) -> None:
        """Begin a side or a loop."""
        self.regions.append((key, {}))

    def closes(self, key: Hashable) -> None:
        """End what was begun, at the place of its join."""
        if self.active:
            self.notes(key, key)
        while self.regions and self.regions.pop()[0] != key:
            pass

    def notes(self, region: Hashable, *joins: Hashable) -> None:
        """The parts that were changed in a region are replaced at its joins."""
        for key, changed in self.regions:
            if key == region:
                for join in joins:
                    self.needs(join, changed)

    def needs(self, key: Hashable, changed: dict[Slot, None]) -> None:
        """Note which parts a join has; a run that has passed another join without them begins again."""
        known = self.shared.slots.setdefault(key, {})
        if not changed.keys() <= known.keys():
            known.update(changed)
            raise Again

    def _find(self, slot: Slot) -> None:
        name: Any = slot[0]
        owner = self.outside.own_object(name[1]) if name[0] == "own" else None
        if owner is None:
            raise self.refuse("an object is changed that another run has not made")
        self._name(owner, name, 0)
