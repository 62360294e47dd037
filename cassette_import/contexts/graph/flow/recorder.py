"""The record of one run: where it is, which operations it has carried out, and how ways are joined.

Values that differ between the ways to a place are replaced there by new symbols: variables, and the parts of objects
that some way has changed.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any, Final

from cassette_import.contexts.graph.errors import NotRepresentable, refusal
from cassette_import.contexts.graph.flow.blocks import Assign, Block, Check, Jump
from cassette_import.contexts.graph.flow.shared import Again, Shared, Slot, Stale
from cassette_import.contexts.graph.flow.symbol import (
    NOT_OF_ARRAYS,
    ArrayChanges,
    Symbol,
    applied,
    attribute,
    axis_length,
    is_array_symbol,
    rows,
    value_of,
)
from cassette_import.contexts.graph.kinds import NUMBERS, is_value, kind_of, numpy_number, shape_of
from cassette_import.contexts.graph.nodes import Built, Constant, Node, Template, same
from cassette_import.contexts.graph.outside import Outside
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.passes.if_conversion.converted_code import UNBOUND
from cassette_import.runtime.dispatch.call_sites import nearest_site

__all__ = ["Recorder", "RunObjects", "is_table"]

# ---- the objects of a recorded run: their names, and which of their parts are replaced where ways are joined
#
# An object that a run has made has the name of its place, so that each run finds it again. Which parts of objects some
# way to a join has changed is known after the first run on each way; a run that finds a new one is begun again.

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


# ---- the record of one run: where it is, which operations it has carried out, and how ways are joined

_MOST: Final = 50_000
_LONGEST_TABLE: Final = 10_000
_RAISING: Final = frozenset({operator.truediv, operator.floordiv, operator.mod, operator.pow, pow})


class Recorder(RunObjects):
    """One run.

    Attributes
    ----------
    block:
        Where items are recorded.
    active:
        Whether the run goes on here; it does not between a jump and the place to which it leads.
    """

    def __init__(self, shared: Shared, outside: Outside) -> None:
        super().__init__(shared, outside)
        self.root = self.block = Block(())
        self.active = True
        self.loops: list[Any] = []
        """The loops that the run is in."""
        self.failure: NotRepresentable | None = None
        self.fixed: dict[Hashable, Any] = {}
        self.count = 0
        self.array_changes = ArrayChanges(self)

    def refuse(self, what: str) -> BaseException:
        """The error for what cannot be recorded; it is noted, in case the program catches it.

        Loops that need not be code are unrolled first: the innermost one around, else all.
        """
        staying = self.shared.staying
        if staying:
            self.shared.unroll(next(([one.site] for one in reversed(self.loops) if one.site in staying), staying))
            return Again()
        if self.failure is None:
            advice = 'Use backend="python"' if self.arrays else "Each path is compiled by itself then"
            self.failure = refusal(what, advice)
        return self.failure

    # ---- operations

    def place(self) -> tuple[Hashable, ...]:
        """The place of the next item."""
        key: Any = self.block.key
        return (key, len(self.block.items))

    @property
    def arrays(self) -> bool:
        """Whether arrays may be unknown."""
        return self.shared.arrays

    def takes(self, value: Any) -> bool:
        """Whether operators of symbols take a value."""
        return type(value) in NUMBERS or (self.arrays and (is_value(value) or type(value) is complex))

    def operation(self, f: Any, *operands: Any, **keywords: Any) -> Any:
        """The result of a function of numbers or arrays, as a symbol."""
        if self.shared.promoted and f in _RAISING and _are_numbers_of_numpy(operands):
            return self._number_of_numpy(f, operands)
        templates = tuple(map(self.template, operands))
        named = {name: self.template(one) for name, one in keywords.items()}
        value = f(*map(value_of, operands), **{name: value_of(one) for name, one in keywords.items()})
        has_parts = self.arrays and (type(value) is list or isinstance(value, tuple)) and all(map(is_value, value))
        if not (has_parts or (self.takes(value) and is_value(value))):
            raise self.refuse(f"{getattr(f, '__name__', f)} gives a {type(value).__name__}")
        if type(value) is int and abs(value) >= 2**62 and self.shared.staying:
            raise self.refuse("an integer does not fit into 64 bits")
        node = Node(self.shared.number(self.place()), f, templates, named, value, nearest_site())
        node.fixed = True
        self.add(node)
        found = Symbol(self, node)
        if self.arrays:
            self.array_changes.notes(found, f, operands, keywords)
        if has_parts:
            parts = [self.operation(operator.getitem, found, place) for place in range(len(value))]
            return self.made(parts) if type(value) is list else tuple.__new__(type(value), parts)
        return found

    def _number_of_numpy(self, f: Any, operands: tuple[Any, ...]) -> Any:
        """The result of an operation that raises an exception for numbers of Python, which the operands may be."""
        to_python = {numpy_number(float): float, numpy_number(int): int, numpy_number(bool): bool}
        numbers = [
            self.applied_to(to_python[kind], one) if (kind := _type_of(one)) in to_python else one for one in operands
        ]
        found = self.operation(f, *numbers)
        return self.operation(numpy_number(type(value_of(found))), found)

    def applied_to(self, make: Any, value: Any) -> Any:
        """A number of another type."""
        return self.operation(make, value) if type(value) is Symbol else make(value)

    def applies(self, f: Any, operands: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a function of NumPy, which other code than the program's calls."""
        found = applied(self, f, operands, keywords) if self.arrays else NOT_OF_ARRAYS
        if found is NOT_OF_ARRAYS:
            raise self.refuse(f"{getattr(f, '__qualname__', f)} gets an unknown number or array")
        return found

    def reads_again(self, symbol: Symbol) -> None:
        """Read a view of an array that was changed."""
        self.array_changes.reads_again(symbol)

    def attribute(self, symbol: Symbol, name: str) -> Any:
        """An attribute of a symbol."""
        return attribute(self, symbol, name)

    def length(self, symbol: Symbol) -> int:
        """The length of an array."""
        return axis_length(self, symbol)

    def rows(self, symbol: Symbol) -> Iterator[Any]:
        """The items of an array."""
        return rows(self, symbol)

    def item(self, table: Any, index: Any) -> Any:
        """The item of a known table with an index that is a symbol; or of an array."""
        if is_array_symbol(table) or is_array(table):
            return self.operation(operator.getitem, table, index)
        if type(table) is Symbol:
            raise self.refuse("an unknown number is taken for a container")
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
        if type(value) is slice:
            return Built(slice, tuple(map(self.template, (value.start, value.stop, value.step))))
        return Constant(value.copy() if is_array(value) else value)

    # ---- joins

    def arrive(self, key: Hashable, values: tuple[Any, ...], names: tuple[str, ...] = ()) -> tuple[Any, ...]:
        """Come to a join with the values of variables, which may have names; returns the values after it.

        All values are read before the first is assigned, and the parts of objects are replaced in the objects.
        """
        slots = list(self.shared.slots.get(key, ()))
        for slot in slots:
            if slot[0] not in self._objects:
                self._find(slot)
        given = [*values, *map(self._part, slots)]
        named = [*names[: len(values)], *[""] * (len(values) - len(names)), *map(_name_of, slots)]
        made = [self._joined((key, place), value, named[place]) for place, value in enumerate(given)]
        for slot, value in zip(slots, made[len(values) :], strict=True):
            if value is not UNBOUND:
                self._put(slot, value)
        return tuple(made[: len(values)])

    def _part(self, slot: Slot) -> Any:
        owner = self._objects[slot[0]]
        if slot[1] == "array":
            return Symbol(self, owner.node)
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
        if slot[1] == "array":
            owner.moves(value.node, None)
            return
        self.outside.forbids(owner)
        if slot[1] == "attribute":
            object.__setattr__(owner, slot[2], value)
        elif slot[1] == "item":
            owner[slot[2]] = value

    def _joined(self, key: Hashable, value: Any, name: str = "") -> Any:
        kind = type(value)
        if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            self._fix(key, ("tuple", kind.__qualname__, len(value)))
            parts = [self._joined((key, place), part) for place, part in enumerate(value)]
            return tuple.__new__(kind, parts)
        if kind is Symbol or self.takes(value):
            if self.arrays and self._stays_array(key, value):
                return value
            self._fix(key, "a number")
            value = self._promoted(key, value) if self.arrays else value
            source = self.template(value)
            node = Node(self.shared.number(("join", key)), None, (), {}, value_of(value), None, name)
            self.add(Assign(node, source))
            return Symbol(self, node)
        if value is UNBOUND or kind is Stale:
            node = Node(self.shared.number(("join", key)), None, (), {}, None, None, name)
            self.add(Assign(node, None))
            return value
        known = self._names.get(id(value))
        self._fix(key, value if known is None else known[1])
        return value

    def _stays_array(self, key: Hashable, value: Any) -> bool:
        """Whether a value is an array that the program changes, and the same one on all ways to a join.

        Where it is another one on another way, it must not be changed afterwards.
        """
        known = self._names.get(id(value))
        name = "a number" if known is None else known[1]
        if key not in self.shared.parting:
            if any(key in table and not same(table[key], name) for table in (self.fixed, self.shared.fixed)):
                self.shared.parting.add(key)
                self.shared.fixed.pop(key, None)
                raise Again
            if known is not None:
                self._fix(key, name)
                return True
        if type(value) is Symbol:
            self.array_changes.loses(value)
        return False

    def _promoted(self, key: Hashable, value: Any) -> Any:
        """The number of a join: one of NumPy if some way to it has one of NumPy."""
        shared = self.shared
        kind = kind_of(value_of(value))
        known = shared.kinds.setdefault(key, kind)
        if known is not kind and key not in shared.promoted and numpy_number(known) is numpy_number(kind):
            shared.promoted.add(key)
            raise Again
        if key not in shared.promoted or kind not in NUMBERS:
            return value
        return self.applied_to(numpy_number(kind), value)

    def _fix(self, key: Hashable, value: Any) -> None:
        """Note what has to be the same on all ways to a join."""
        for table in (self.fixed, self.shared.fixed):
            if key in table and not same(table[key], value):
                raise self.refuse(f"a variable is {_shown(table[key])} on one way and {_shown(value)} on another")
        self.fixed[key] = value

    def jumps(self, target: Hashable, again: bool = False) -> None:
        """Leave for a join that is further out."""
        self.add(Jump(target, again))
        self.active = False


def _name_of(slot: Slot) -> str:
    """The name of the variable for a part of an object."""
    return slot[2] if slot[1] == "attribute" else ""


def _shown(value: Any) -> str:
    """What a variable is at a join, in a message."""
    if isinstance(value, tuple) and value and value[0] in ("made", "own"):
        return "one object"
    return repr(value) if type(value) in (str, *NUMBERS, type(None)) else f"a {type(value).__name__}"


def _are_numbers_of_numpy(operands: tuple[Any, ...]) -> bool:
    """Whether all are numbers, and one is a float of NumPy."""
    kinds = [kind_of(value_of(one)) for one in operands]
    return not any(map(shape_of, kinds)) and numpy_number(float) in map(_type_of, operands)


def _type_of(value: Any) -> type:
    return type(value_of(value))


def is_table(value: Any) -> bool:
    """Whether it is a container of known numbers of one type, which may be read at an unknown index."""
    return (
        type(value) in (list, tuple)
        and 0 < len(value) <= _LONGEST_TABLE
        and type(value[0]) in NUMBERS
        and {*map(type, value)} == {type(value[0])}
    )
