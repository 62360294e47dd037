"""The record of one run: where it is, which objects it has made and changed, and how ways are joined.

Values that differ between the ways to a place are replaced there by new symbols: variables, and the parts of objects
that some way has changed. Which parts these are is known after the first run on each way; a run that finds a new one
is begun again. Knows blocks and symbols; must not know branches, calls, or how code is converted.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from cassette_import.contexts.backends.flow.blocks import Assign, Block, Check, Jump
from cassette_import.contexts.backends.flow.symbol import NUMBERS, Symbol
from cassette_import.contexts.graph.errors import NotRepresentable, refusal
from cassette_import.contexts.graph.nodes import Built, Constant, Node, Template, same
from cassette_import.contexts.graph.outside import Outside
from cassette_import.passes.if_conversion.converted_code import UNBOUND
from cassette_import.runtime.dispatch.call_sites import nearest_site

__all__ = ["Again", "Recorder", "Shared", "Stale", "is_table"]

_MOST: Final = 50_000
_LONGEST_TABLE: Final = 10_000
_CONTAINERS: Final = (list, dict, set, deque, bytearray)


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


Slot = tuple[Hashable, str, Any]
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
        The loops that are one piece of code, by their place in the program, with the number of turns before them.
    staying:
        Those of them that need not be: the number of their turns is known, and large.
    unrolled:
        The loops that were code without need, and do what code cannot.
    """

    def __init__(self, inputs: int, keeps_loops: bool = True) -> None:
        self._next = inputs
        self.keeps_loops = keeps_loops
        self.staying: set[Hashable] = set()
        self.unrolled: set[Hashable] = set()
        self.numbers: dict[Hashable, int] = {}
        self.slots: dict[Hashable, dict[Slot, None]] = {}
        self.labels: set[Hashable] = set()
        self.loops: dict[Hashable, int] = {}
        self.stale: set[tuple[Hashable, int]] = set()
        """The variables that have another type in the next turn of a loop, by its place in the program and theirs."""
        self.fixed: dict[Hashable, Any] = {}
        """What is no number at a join, by its place: all ways to it have the same there."""
        self.tables: dict[str, Constant] = {}

    def copy(self) -> Shared:
        """The same, to be changed by runs that may turn out not to go with the others."""
        made = Shared(self._next, self.keeps_loops)
        made.tables = self.tables
        made.staying, made.unrolled = set(self.staying), set(self.unrolled)
        made.numbers, made.loops, made.fixed = dict(self.numbers), dict(self.loops), dict(self.fixed)
        made.slots = {key: dict(slots) for key, slots in self.slots.items()}
        made.labels, made.stale = set(self.labels), set(self.stale)
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


class Recorder:
    """One run.

    Attributes
    ----------
    block:
        Where items are recorded.
    active:
        Whether the run goes on here; it does not between a jump and the place to which it leads.
    regions:
        For each open side and loop: its place, and the parts of objects that were changed in it.
    """

    def __init__(self, shared: Shared, outside: Outside) -> None:
        self.shared = shared
        self.outside = outside
        self.root = self.block = Block(())
        self.active = True
        self.regions: list[tuple[Hashable, dict[Slot, None]]] = []
        self.loops: list[Any] = []
        """The loops that the run is in."""
        self.failure: NotRepresentable | None = None
        self.fixed: dict[Hashable, Any] = {}
        self._names: dict[int, tuple[Any, Hashable, int]] = {}
        self._objects: dict[Hashable, Any] = {}
        self._made: dict[Hashable, int] = {}
        self.count = 0

    def refuse(self, what: str) -> BaseException:
        """The error for what cannot be recorded; it is noted, in case the program catches it.

        Loops that need not be code are unrolled first: the innermost one around, else all.
        """
        staying = self.shared.staying
        if staying:
            self.shared.unroll(next(([one.site] for one in reversed(self.loops) if one.site in staying), staying))
            return Again()
        if self.failure is None:
            self.failure = refusal(what, "Each path is compiled by itself then")
        return self.failure

    # ---- operations

    def place(self) -> tuple[Hashable, ...]:
        """The place of the next item."""
        key: Any = self.block.key
        return (key, len(self.block.items))

    def operation(self, f: Any, *operands: Any) -> Any:
        """The result of a function of numbers, as a symbol."""
        templates = tuple(map(self.template, operands))
        value = f(*map(value_of, operands))
        if type(value) not in NUMBERS:
            raise self.refuse(f"{getattr(f, '__name__', f)} gives a {type(value).__name__}")
        if type(value) is int and abs(value) >= 2**62 and self.shared.staying:
            raise self.refuse("an integer does not fit into 64 bits")
        node = Node(self.shared.number(self.place()), f, templates, {}, value, nearest_site())
        self.add(node)
        return Symbol(self, node)

    def item(self, table: Any, index: Any) -> Any:
        """The item of a known table with an index that is a symbol."""
        values = tuple(table)
        template = self.shared.tables.setdefault(repr(values), Constant(values))
        value = values[index.node.value]
        node = Node(
            self.shared.number(self.place()), operator.getitem, (template, index.node), {}, value, nearest_site()
        )
        self.add(node)
        return Symbol(self, node)

    def add(self, item: Any) -> None:
        """Record an item."""
        self.block.items.append(item)
        self.count += 1
        if self.count > _MOST:
            raise self.refuse(f"a run has more than {_MOST} operations")

    def decides(self, node: Node) -> bool:
        """The truth of a number, which code that is not converted asks for: other numbers have another program."""
        self.add(Check(node, bool(node.value)))
        return bool(node.value)

    def template(self, value: Any) -> Template:
        """A value as an operand."""
        if type(value) is Symbol:
            return value.node
        if type(value) is Stale:
            raise value.error()
        if isinstance(value, (list, tuple)):
            return Built(type(value), tuple(map(self.template, value)))
        return Constant(value)

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
        self.outside.forbids(owner)  # its content is noted, and restored after the run
        if not self.regions:
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

    def _part(self, slot: Slot) -> Any:
        owner = self._objects[slot[0]]
        if slot[1] == "length":
            return len(owner)
        if slot[1] == "attribute":
            return vars(owner).get(slot[2], UNBOUND) if hasattr(owner, "__dict__") else getattr(owner, slot[2], UNBOUND)
        try:
            return owner[slot[2]]
        except (LookupError, TypeError):
            return UNBOUND

    def _put(self, slot: Slot, value: Any) -> None:
        owner = self._objects[slot[0]]
        self.outside.forbids(owner)
        if slot[1] == "attribute":
            object.__setattr__(owner, slot[2], value)
        elif slot[1] == "item":
            owner[slot[2]] = value

    # ---- joins

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

    def arrive(self, key: Hashable, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Come to a join with the values of variables; returns the values after it.

        All values are read before the first is assigned, and the parts of objects are replaced in the objects.
        """
        slots = list(self.shared.slots.get(key, ()))
        for slot in slots:
            if slot[0] not in self._objects:
                self._find(slot)
        given = [*values, *map(self._part, slots)]
        made = [self._joined((key, place), value) for place, value in enumerate(given)]
        for slot, value in zip(slots, made[len(values) :], strict=True):
            if value is not UNBOUND:
                self._put(slot, value)
        return tuple(made[: len(values)])

    def _find(self, slot: Slot) -> None:
        name: Any = slot[0]
        owner = self.outside.own_object(name[1]) if name[0] == "own" else None
        if owner is None:
            raise self.refuse("an object is changed that another run has not made")
        self._name(owner, name, 0)

    def _joined(self, key: Hashable, value: Any) -> Any:
        kind = type(value)
        if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            self._fix(key, ("tuple", kind.__qualname__, len(value)))
            parts = [self._joined((key, place), part) for place, part in enumerate(value)]
            return tuple.__new__(kind, parts)
        if kind is Symbol or kind in NUMBERS:
            self._fix(key, "a number")
            source = self.template(value)
            node = Node(self.shared.number(("join", key)), None, (), {}, value_of(value), None)
            self.add(Assign(node, source))
            return Symbol(self, node)
        if value is UNBOUND or kind is Stale:
            node = Node(self.shared.number(("join", key)), None, (), {}, None, None)
            self.add(Assign(node, None))
            return value
        known = self._names.get(id(value))
        self._fix(key, value if known is None else known[1])
        return value

    def _fix(self, key: Hashable, value: Any) -> None:
        """Note what has to be the same on all ways to a join."""
        for table in (self.fixed, self.shared.fixed):
            if key in table and not same(table[key], value):
                raise self.refuse(f"a variable is {table[key]!r} on one way and {value!r} on another")
        self.fixed[key] = value

    def jumps(self, target: Hashable, again: bool = False) -> None:
        """Leave for a join that is further out."""
        self.add(Jump(target, again))
        self.active = False


def is_table(value: Any) -> bool:
    """Whether it is a container of known numbers of one type, which may be read at an unknown index."""
    return (
        type(value) in (list, tuple)
        and 0 < len(value) <= _LONGEST_TABLE
        and type(value[0]) in NUMBERS
        and {*map(type, value)} == {type(value[0])}
    )


def value_of(value: Any) -> Any:
    """A value without symbols."""
    if type(value) is Symbol:
        return value.node.value
    if type(value) in (list, tuple):
        return type(value)(map(value_of, value))
    return value
