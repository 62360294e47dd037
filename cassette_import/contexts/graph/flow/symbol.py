"""A number or array of a recorded run: its value, and the node that computes it.

Its operators record operations.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from cassette_import.contexts.graph.array_changes import Change, change, is_in_order, makes_new, owner_of, view_name
from cassette_import.contexts.graph.array_functions import (
    ATTRIBUTES,
    KNOWN_ATTRIBUTES,
    METHODS,
    asks_for_shapes,
    is_array_function,
)
from cassette_import.contexts.graph.flow.shared import Again, Shared
from cassette_import.contexts.graph.kinds import NUMBERS, ArrayKind, kind_of, shape_of
from cassette_import.contexts.graph.known_functions import IN_PLACE
from cassette_import.contexts.graph.nodes import Node
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.runtime.dispatch.call_sites import nearest_site

__all__ = [
    "NOT_OF_ARRAYS",
    "ArrayChanges",
    "Records",
    "Symbol",
    "applied",
    "attribute",
    "axis_length",
    "changes_an_array",
    "contains_symbol",
    "is_array_symbol",
    "rows",
    "value_of",
]


# ---- a number or array of a recorded run: its value, and the node that computes it


class Records(Protocol):
    """What a symbol asks of a recorder."""

    def operation(self, f: Any, *operands: Any, **keywords: Any) -> Any: ...

    def takes(self, value: Any) -> bool: ...

    def applies(self, f: Any, operands: tuple[Any, ...], keywords: dict[str, Any]) -> Any: ...

    def attribute(self, symbol: Symbol, name: str) -> Any: ...

    def length(self, symbol: Symbol) -> int: ...

    def rows(self, symbol: Symbol) -> Iterator[Any]: ...

    def item(self, holder: Any, key: Any) -> Any: ...

    @property
    def block(self) -> Any: ...

    def reads_again(self, symbol: Symbol) -> None: ...

    def decides(self, node: Node) -> bool: ...

    def refuse(self, what: str) -> BaseException: ...


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

    def __init__(self, run: Records, node: Node) -> None:
        self.run = run
        self._node = node
        self.source: Symbol | None = None
        self.shared: str | None = None

    @property
    def node(self) -> Node:
        """The node that computes the value."""
        source = self.source
        if source is not None and (source.node is not self.version or self._block not in (None, self.run.block)):
            self.run.reads_again(self)
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
        return self.run.attribute(self, name)

    def __len__(self) -> int:
        return self.run.length(self)

    def __iter__(self) -> Iterator[Any]:
        return self.run.rows(self)

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
"""What `applied` returns for a function that it does not know."""


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


class _Calls(Protocol):
    """The recorder, as far as functions of arrays need it."""

    @property
    def arrays(self) -> bool: ...

    def operation(self, f: Any, *operands: Any, **keywords: Any) -> Any: ...

    def refuse(self, what: str) -> BaseException: ...


def applied(run: _Calls, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The result of a function of NumPy that gets symbols; `NOT_OF_ARRAYS` for other functions."""
    if asks_for_shapes(f):
        return f(*map(value_of, arguments), **{name: value_of(one) for name, one in keywords.items()})
    return run.operation(f, *arguments, **keywords) if is_array_function(f) else NOT_OF_ARRAYS


def attribute(run: Records, symbol: Symbol, name: str) -> Any:
    """An attribute of an unknown array, or a method of it."""
    value = symbol.node.value
    if not is_array_symbol(symbol):
        raise run.refuse(f"the attribute {name} of an unknown number is read")
    if name in KNOWN_ATTRIBUTES:
        return getattr(value, name)
    if name in ATTRIBUTES:
        return run.operation(ATTRIBUTES[name], symbol)
    if name == "item" and not value.shape:
        return functools.partial(kind_of(value).number, symbol)  # type: ignore[union-attr]  # of an array
    if name not in METHODS:
        raise run.refuse(f"the attribute {name} of an unknown array is read")
    return functools.partial(METHODS[name], symbol)


def axis_length(run: Records, symbol: Symbol) -> int:
    """The length of an unknown array."""
    if not is_array_symbol(symbol):
        raise run.refuse("an unknown number is taken for a container")
    return len(symbol.node.value)


def rows(run: Records, symbol: Symbol) -> Iterator[Any]:
    """The items of an unknown array."""
    for place in range(axis_length(run, symbol)):
        yield run.operation(operator.getitem, symbol, place)


# ---- arrays of a recorded run that the program changes: the symbol of an array is the array, and gets another node
#
# Names, containers and objects hold the symbol itself, and a view knows the symbol that it is a view of. Where ways are
# joined, the content of a changed array is a part of it, as an item is of a list.

_REFUSED: Final = "an array is changed in place"
_ITEM: Final = change((), "=")


class _Run(Protocol):
    """The recorder, as far as it is asked."""

    shared: Shared
    block: Any

    def operation(self, f: Any, *operands: Any, **keywords: Any) -> Any: ...

    def refuse(self, what: str) -> BaseException: ...

    def changes(self, owner: Any, kind: str, key: Any) -> None: ...

    def is_named(self, value: Any) -> bool: ...

    def names_array(self, symbol: Symbol, number: int) -> None: ...


def changes_an_array(value: Any) -> bool:
    """Whether a value is an array, known or not, so that a statement that changes it changes an array."""
    return can_change(value_of(value)) if type(value) is Symbol else can_change(value)


class ArrayChanges:
    """What one run does with arrays that it changes."""

    def __init__(self, run: _Run) -> None:
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
        value, is_new = found.node.value, isinstance(f, Change) or makes_new(f, len(operands), keywords)
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

    def reads_again(self, symbol: Symbol) -> None:
        """Read a view of an array that was changed."""
        source: Any = symbol.source
        function, operands = symbol.key
        found = self._run.operation(function, source, *operands)
        symbol.moves(found.node, self._run.block)

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
        is_new = node.function is not None and makes_new(node.function, len(node.operands), node.keywords)
        if not is_new or not can_change(node.value) or node.number in self._run.shared.changed_arrays:
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
    return name in ("item", "T") or (
        name == "reshape" and is_in_order(first.function, len(first.operands), first.keywords)
    )


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
