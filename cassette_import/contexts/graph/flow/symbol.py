"""A number or array of a recorded run: its value, and the node that computes it.

Its operators record operations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from cassette_import.contexts.graph.kinds import NUMBERS
from cassette_import.contexts.graph.nodes import Node

__all__ = ["Records", "Symbol", "value_of"]


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
