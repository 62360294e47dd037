"""A number of a recorded run: its value, and the node that computes it.

Its operators record operations. Knows nodes and what a recorder does; must not know how code is converted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

from cassette_import.contexts.graph.nodes import Node

__all__ = ["NUMBERS", "Records", "Symbol"]

NUMBERS = (int, float, bool)


class Records(Protocol):
    """What a symbol asks of a recorder."""

    def operation(self, f: Any, *operands: Any) -> Any: ...

    def decides(self, node: Node) -> bool: ...

    def refuse(self, what: str) -> BaseException: ...


def _binary(f: Callable[[Any, Any], Any]) -> Any:
    def method(self: Symbol, other: Any) -> Any:
        if type(other) is not Symbol and type(other) not in NUMBERS:
            return NotImplemented
        return self.run.operation(f, self, other)

    return method


def _reflected(f: Callable[[Any, Any], Any]) -> Any:
    def method(self: Symbol, other: Any) -> Any:
        return self.run.operation(f, other, self) if type(other) in NUMBERS else NotImplemented

    return method


def _unary(f: Callable[[Any], Any]) -> Any:
    return lambda self: self.run.operation(f, self)


def _refused(what: str) -> Any:
    def method(self: Symbol, *arguments: Any) -> Any:
        raise self.run.refuse(what)

    return method


class Symbol:
    """A number that depends on the arguments."""

    __slots__ = ("node", "run")

    def __init__(self, run: Records, node: Node) -> None:
        self.run = run
        self.node = node

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
    __lt__, __le__ = _binary(operator.lt), _binary(operator.le)
    __gt__, __ge__ = _binary(operator.gt), _binary(operator.ge)
    __eq__, __ne__ = _binary(operator.eq), _binary(operator.ne)
    __neg__, __pos__, __abs__ = _unary(operator.neg), _unary(operator.pos), _unary(abs)
    __hash__ = _refused("an unknown number is hashed")
    __float__ = __int__ = __index__ = __complex__ = _refused("a function in C asks for the value of an unknown number")
    __str__ = __repr__ = __format__ = _refused("the text of an unknown number is made")
    __iter__ = __len__ = __getitem__ = _refused("an unknown number is taken for a container")
    __round__ = __trunc__ = __floor__ = __ceil__ = _refused("an unknown number is rounded by a function in C")

    def __getattr__(self, name: str) -> Any:
        raise self.run.refuse(f"the attribute {name} of an unknown number is read")
