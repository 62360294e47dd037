"""The record of one run, and its symbols, arrays and objects: operations carried out, and how ways are joined.

Values that differ between the ways to a place are replaced there by new symbols: variables, and the parts of objects
that some way has changed.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import copy
from typing import Any, Final, TypeAlias

from cassette_import.contexts.graph.arrays import (
    ATTRIBUTES,
    KNOWN_ATTRIBUTES,
    METHODS,
    Change,
    asks_for_shapes,
    change,
    is_array_function,
    is_in_order,
    makes_new,
    owner_of,
    view_name,
)
from cassette_import.contexts.graph.flow.blocks import Assign, Block, Check, Jump
from cassette_import.contexts.graph.known_functions import IN_PLACE
from cassette_import.contexts.graph.nodes import (
    NUMBERS,
    ArrayKind,
    Built,
    Constant,
    Kind,
    Node,
    NotRepresentable,
    Template,
    is_value,
    kind_of,
    numpy_number,
    refusal,
    same,
    shape_of,
)
from cassette_import.contexts.graph.outside import Outside
from cassette_import.kits.events import nearest_site
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.passes.if_conversion.converted_code import UNBOUND

__all__ = [
    "NOT_OF_ARRAYS",
    "Again",
    "Recorder",
    "Shared",
    "Stale",
    "Symbol",
    "changes_an_array",
    "contains_symbol",
    "is_array_symbol",
    "is_table",
    "value_of",
]

# ---- what the runs of one function know of one another: which loops are code, and what is joined where


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
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (set, dict)) and name != "tables":
                setattr(other, name, copy(value))
        other.slots = {key: dict(slots) for key, slots in self.slots.items()}
        return other

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


# ---- a number or array of a recorded run: its value, and the node that computes it
#
# Its operators record operations.


def _binary(f: Callable[[Any, Any], Any]) -> Any:
    def method(self: Symbol, other: Any) -> Any:
        if type(other) is not Symbol and type(other) not in NUMBERS and not self.run.takes(other):
            return NotImplemented
        return self.run.operation(f, self, other)

    return method


def _reflected(f: Callable[[Any, Any], Any]) -> Any:
    def method(self: Symbol, other: Any) -> Any:
        is_taken = type(other) in NUMBERS or self.run.takes(other)
        return self.run.operation(f, other, self) if is_taken else NotImplemented

    return method


def _unary(f: Callable[[Any], Any]) -> Any:
    return lambda self: self.run.operation(f, self)


def _refused(what: str) -> Any:
    def method(self: Symbol, *arguments: Any) -> Any:
        raise self.run.refuse(what)

    return method


class Symbol:
    """A number or array that depends on the arguments.

    Attributes
    ----------
    source, key, version:
        Of a view of an array that the program changes: the array, what makes the view, and the node that was read.
    shared:
        What else may refer to the memory of an array that the program changes.
    """

    __slots__ = ("_block", "_node", "key", "run", "shared", "source", "version")

    def __init__(self, run: Recorder, node: Node) -> None:
        self.run = run
        self._node = node
        self.source: Symbol | None = None
        self.shared: str | None = None

    @property
    def node(self) -> Node:
        """The node that computes the value."""
        source = self.source
        if source is not None and (source.node is not self.version or self._block not in (None, self.run.block)):
            self._reads_again()
        return self._node

    def moves(self, node: Node, block: Any) -> None:
        """Give an array another node; that of a view holds for as long as its array does not change, in a block."""
        self._node = node
        if self.source is not None:
            self.version, self._block = self.source.node, block

    def views(self, source: Symbol, key: Any) -> None:
        """Note that it is a view."""
        self.source, self.key = source, key
        self.version, self._block = source.node, None

    def _reads_again(self) -> None:
        """Read a view of an array that was changed."""
        function, operands = self.key
        self.moves(self.run.operation(function, self.source, *operands).node, self.run.block)

    def __bool__(self) -> bool:
        return self.run.decides(self.node)

    __add__, __radd__ = _binary(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _binary(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow), _reflected(operator.pow)
    __and__, __rand__ = _binary(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _binary(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor), _reflected(operator.xor)
    __lshift__, __rlshift__ = _binary(operator.lshift), _reflected(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift), _reflected(operator.rshift)
    __lt__, __le__ = _binary(operator.lt), _binary(operator.le)
    __gt__, __ge__ = _binary(operator.gt), _binary(operator.ge)
    __eq__, __ne__ = _binary(operator.eq), _binary(operator.ne)
    __neg__, __pos__, __abs__ = _unary(operator.neg), _unary(operator.pos), _unary(abs)
    __invert__ = _unary(operator.invert)
    __matmul__, __rmatmul__ = _binary(operator.matmul), _reflected(operator.matmul)
    __hash__ = _refused("an unknown number is hashed")
    __float__ = __int__ = __index__ = __complex__ = _refused("a function in C asks for the value of an unknown number")
    __str__ = __repr__ = __format__ = _refused("the text of an unknown number is made")
    __round__ = __trunc__ = __floor__ = __ceil__ = _refused("an unknown number is rounded by a function in C")

    def __getattr__(self, name: str) -> Any:
        run, value = self.run, self.node.value
        if not is_array_symbol(self):
            raise run.refuse(f"the attribute {name} of an unknown number is read")
        if name in KNOWN_ATTRIBUTES:
            return getattr(value, name)
        if name in ATTRIBUTES:
            return run.operation(ATTRIBUTES[name], self)
        if name == "item" and not value.shape:
            return functools.partial(kind_of(value).number, self)  # type: ignore[union-attr]  # of an array
        if name not in METHODS:
            raise run.refuse(f"the attribute {name} of an unknown array is read")
        return functools.partial(METHODS[name], self)

    def __len__(self) -> int:
        if not is_array_symbol(self):
            raise self.run.refuse("an unknown number is taken for a container")
        return len(self.node.value)

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self)):
            yield self.run.operation(operator.getitem, self, place)

    def __getitem__(self, key: Any) -> Any:
        return self.run.item(self, key)

    def __array_ufunc__(self, function: Any, method: str, *operands: Any, **keywords: Any) -> Any:
        return self.run.applies(function if method == "__call__" else getattr(function, method), operands, keywords)

    def __array_function__(self, function: Any, types: Any, operands: Any, keywords: Any) -> Any:
        return self.run.applies(function, operands, keywords)


def value_of(value: Any) -> Any:
    """A value without symbols."""
    if type(value) is Symbol:
        return value.node.value
    if type(value) in (list, tuple):
        return type(value)(map(value_of, value))
    if type(value) is slice:
        return slice(*map(value_of, (value.start, value.stop, value.step)))
    return value


# ---- arrays in a recorded run

_DEEP: Final = 4
NOT_OF_ARRAYS: Final = object()
"""What `Recorder.applied` returns for a function that it does not know."""


def contains_symbol(value: Any, depth: int = _DEEP) -> bool:
    """Whether a value is a symbol, or a container has one."""
    if type(value) is Symbol:
        return True
    if type(value) is slice:
        return any(type(one) is Symbol for one in (value.start, value.stop, value.step))
    if not depth or not isinstance(value, (list, tuple, dict)):
        return False
    return any(contains_symbol(one, depth - 1) for one in (value.values() if isinstance(value, dict) else value))


def is_array_symbol(value: Any) -> bool:
    """Whether it is a symbol for an array or a number of NumPy."""
    return type(value) is Symbol and isinstance(kind_of(value.node.value), ArrayKind)


# ---- arrays of a recorded run that the program changes: the symbol of an array is the array, and gets another node
#
# Names, containers and objects hold the symbol itself, and a view knows the symbol that it is a view of. Where ways are
# joined, the content of a changed array is a part of it, as an item is of a list.

_REFUSED: Final = "an array is changed in place"
_ITEM: Final = change((), "=")


def changes_an_array(value: Any) -> bool:
    """Whether a value is an array, known or not, so that a statement that changes it changes an array."""
    return can_change(value_of(value)) if type(value) is Symbol else can_change(value)


class ArrayChanges:
    """What one run does with arrays that it changes."""

    def __init__(self, run: Recorder) -> None:
        self._run = run
        self._known: dict[int, tuple[Any, Any]] = {}

    # ---- what is made

    def made(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], is_unset: bool) -> Any:
        """A known array; it is a symbol if some run assigns unknown numbers to it."""
        site = nearest_site()
        if is_unset or site in self._run.shared.array_places:
            return self._run.operation(f, *arguments, **keywords)
        value = f(*arguments, **keywords)
        self._known[id(value)] = value, site
        return value

    def notes(self, found: Symbol, f: Any, operands: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Note what an operation does with the memory of its operands."""
        value, is_new = found.node.value, isinstance(f, Change) or makes_new(found.node)
        if can_change(value) and is_new and found.node.number in self._run.shared.changed_arrays:
            self._run.names_array(found, found.node.number)
        if is_new or (is_array(value) and not can_change(value)) or type(value) in (int, float, bool):
            return
        for one in _symbols((*operands, *keywords.values())):
            base = _base_of(one)
            if not self._run.is_named(base):
                continue
            if _is_view(found.node) and one is operands[0] and (f is not operator.getitem or _is_basic(operands[1])):
                found.views(one, (f, operands[1:]))
            elif f is not operator.getitem:
                base.shared = getattr(f, "__name__", "a function")

    def loses(self, symbol: Symbol) -> None:
        """An array gets another symbol at a join: it must not change any more."""
        base = _base_of(symbol)
        if self._run.is_named(base):
            base.shared = "a variable"

    # ---- what is changed

    def stores(self, array: Any, key: Any, value: Any) -> None:
        """`array[key] = value`."""
        symbol = self._changeable(array)
        if not _fits(symbol.node.value, value):
            raise self._run.refuse(f"{_REFUSED}, and gets numbers of another type")
        self._replace(symbol, self._run.operation(_ITEM, symbol, key, value))

    def augments(self, name: str, array: Any, value: Any) -> Any:
        """`array += value` and the like."""
        symbol = self._changeable(array)
        found = self._run.operation(IN_PLACE[getattr(operator, name)], symbol, value)
        if kind_of(value_of(found)) is not kind_of(symbol.node.value):
            raise self._run.refuse(f"{_REFUSED}, and gets numbers of another type")
        self._replace(symbol, found)
        return symbol

    def _changeable(self, array: Any) -> Symbol:
        """The symbol of an array that may be changed."""
        if type(array) is not Symbol:
            made, site = self._known.get(id(owner_of(array)), (None, None))
            if made is None or site in self._run.shared.array_places or owner_of(array) is not made:
                raise self._run.refuse(_REFUSED)
            self._run.shared.array_places.add(site)
            raise Again
        base = _base_of(array)
        if not self._run.is_named(base):
            self._learns(base.node)
        if base.shared is not None:
            raise self._run.refuse(f"{_REFUSED}, and {base.shared} may refer to it")
        return array

    def _learns(self, node: Node) -> None:
        """Note that an array is changed, and begin again; refuse to change an array that the call has not made."""
        while _is_view(node):
            node = node.operands[0]  # type: ignore[assignment]  # the array of a view is a node
        if not makes_new(node) or not can_change(node.value) or node.number in self._run.shared.changed_arrays:
            raise self._run.refuse(_REFUSED)
        self._run.shared.changed_arrays.add(node.number)
        raise Again

    def _replace(self, symbol: Symbol, found: Symbol) -> None:
        """Give an array another content, and the array that it is a view of."""
        if symbol.source is None:
            self._run.changes(symbol, "array", None)
            symbol.moves(found.node, None)
            return
        source, (function, operands) = symbol.source, symbol.key
        name = view_name(function)
        if name == "item":
            whole = self._run.operation(_ITEM, source, operands[0], found)
        elif name == "T":
            whole = self._run.operation(function, found)
        else:
            whole = self._run.operation(function, found, source.node.value.shape)
        self._replace(source, whole)
        symbol.moves(found.node, self._run.block)


def _base_of(symbol: Symbol) -> Symbol:
    while symbol.source is not None:
        symbol = symbol.source
    return symbol


def _is_view(node: Node) -> bool:
    """Whether the result of an operation may be a view of its first operand that can be followed."""
    first = node.operands[0] if node.operands else None
    if not isinstance(first, Node) or node.keywords or not can_change(first.value):
        return False
    name = view_name(node.function)
    return name in ("item", "T") or (name == "reshape" and is_in_order(first))


def _symbols(values: Any) -> Iterator[Symbol]:
    """The symbols among values, and in lists of them."""
    for one in values:
        if type(one) is Symbol:
            yield one
        elif isinstance(one, (list, tuple)):
            yield from _symbols(one)


def _is_basic(key: Any) -> bool:
    """Whether the items of a key are a view."""
    if isinstance(key, tuple):
        return all(map(_is_basic, key))
    value = value_of(key)
    if type(value) in (int, slice, type(None), type(...)):
        return True
    return is_array(value) and not shape_of(kind_of(value)) and value.dtype.kind in "iu"


def _fits(array: Any, value: Any) -> bool:
    """Whether an array takes numbers as they are, or as numbers that have more values."""
    import numpy

    given = value_of(value)
    if type(given) in (bool, int, float):
        return array.dtype.kind in {bool: "biuf", int: "iuf", float: "f"}[type(given)]
    try:
        return numpy.can_cast(numpy.asarray(given).dtype, array.dtype, "safe")
    except ValueError:
        return False


# ---- the record of one run: where it is, which operations it has carried out, its objects, and how ways are joined

_CONTAINERS: Final = (list, dict, set, deque, bytearray)
_MOST: Final = 50_000
_LONGEST_TABLE: Final = 10_000
_RAISING: Final = frozenset({operator.truediv, operator.floordiv, operator.mod, operator.pow, pow})


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
        self.regions: list[tuple[Hashable, dict[Slot, None]]] = []
        self._names: dict[int, tuple[Any, Hashable, int]] = {}
        self._objects: dict[Hashable, Any] = {}
        self._made: dict[Hashable, int] = {}
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

    def applied(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a function of NumPy that gets symbols; `NOT_OF_ARRAYS` for other functions."""
        if asks_for_shapes(f):
            return f(*map(value_of, arguments), **{name: value_of(one) for name, one in keywords.items()})
        return self.operation(f, *arguments, **keywords) if is_array_function(f) else NOT_OF_ARRAYS

    def applies(self, f: Any, operands: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a function of NumPy, which other code than the program's calls."""
        result = self.applied(f, operands, keywords) if self.arrays else NOT_OF_ARRAYS
        if result is NOT_OF_ARRAYS:
            raise self.refuse(f"{getattr(f, '__qualname__', f)} gets an unknown number or array")
        return result

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

    # ---- objects
    #
    # An object that a run has made has the name of its place, so that each run finds it again. Which parts of objects
    # some way to a join has changed is known after the first run on each way; a run that finds a new one begins again.

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
