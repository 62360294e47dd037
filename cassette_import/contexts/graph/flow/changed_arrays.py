"""Arrays of a recorded run that the program changes: the symbol of an array is the array, and gets another node.

Names, containers and objects hold the symbol itself, and a view knows the symbol that it is a view of. Where ways are
joined, the content of a changed array is a part of it, as an item is of a list.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Final, Protocol

from cassette_import.contexts.common.numeric_values import can_change, is_array
from cassette_import.contexts.graph.array_changes import is_in_order, makes_new, owner_of
from cassette_import.contexts.graph.changes import Change, change, view_name
from cassette_import.contexts.graph.flow.shared import Again, Shared
from cassette_import.contexts.graph.flow.symbol import Symbol, value_of
from cassette_import.contexts.graph.kinds import kind_of, shape_of
from cassette_import.contexts.graph.known_functions import IN_PLACE
from cassette_import.contexts.graph.nodes import Node
from cassette_import.runtime.dispatch.call_sites import nearest_site

__all__ = ["ArrayChanges", "changes_an_array"]

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
