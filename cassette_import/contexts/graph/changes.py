"""Changes of an array as functions: a copy of the array is changed, and returned."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.graph.array_functions import Attribute

__all__ = ["IN_PLACE_SIGNS", "Change", "change", "view_as_text", "view_name"]

IN_PLACE_SIGNS: Final = {
    operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.imatmul: "@=", operator.itruediv: "/=",
    operator.ifloordiv: "//=", operator.imod: "%=", operator.ipow: "**=", operator.ilshift: "<<=",
    operator.irshift: ">>=", operator.iand: "&=", operator.ior: "|=", operator.ixor: "^=",
}  # fmt: skip
"""The statements that change an array by an operator."""


class Change:
    """A function of an array and operands: a copy of the array in which a part of it is changed.

    Parameters
    ----------
    path:
        How one comes from the array to the view that is changed: the expressions of views, with `{}` for each operand.
    sign:
        The sign of the statement: ``"="`` for an item, whose key is the operand before the last; ``"+="`` and the like.

    Attributes
    ----------
    source:
        The function as text, with `NAME` for its name.

    >>> made = change((), "=")
    >>> print(made.source)
    def NAME(array, key, value):
        array = array.copy("K")
        array[key] = value
        return array
    """

    def __init__(self, path: tuple[str, ...], sign: str) -> None:
        self.path = path
        self.sign = sign
        self.__name__ = self.__qualname__ = "with_item" if sign == "=" else "changed"
        self.__module__ = "operator"  # in labels
        self.keys = sum(step.count("{}") for step in path) + (sign == "=")
        self.source = self._text()
        names: dict[str, Any] = {}
        exec(self.source, names)
        self._run: Callable[..., Any] = names["NAME"]

    def __call__(self, array: Any, *operands: Any) -> Any:
        """The changed copy."""
        return self._run(array, *operands)

    def _text(self) -> str:
        keys = ["key", *(f"key_{number}" for number in range(2, self.keys + 1))][: self.keys]
        left = list(keys)
        place = "array"
        for step in self.path:
            place += step.format(*(left.pop(0) for _ in range(step.count("{}"))))
        lines = [f"def NAME({', '.join(['array', *keys, 'value'])}):", '    array = array.copy("K")']
        if self.sign == "=":
            lines.append(f"    {place}[{left[0]}] = value")
        elif self.path:
            lines += [f"    part = {place}", f"    part {self.sign} value"]
        else:
            lines.append(f"    array {self.sign} value")
        return "\n".join([*lines, "    return array"])

    def __repr__(self) -> str:
        return f"<Change array{''.join(self.path)} {self.sign}>"


@functools.cache
def change(path: tuple[str, ...], sign: str) -> Change:
    """The function for a path and a sign; there is one of each."""
    return Change(path, sign)


def view_name(function: Any, first: Any = None) -> str | None:
    """The name of the operation by which a function makes a view of an array; None if it need not make one.

    Parameters
    ----------
    function:
        The function.
    first:
        Its first operand, the array not counted.

    Returns
    -------
    ``"item"``, ``"T"``, ``"transpose"``, ``"swapaxes"`` or ``"reshape"``. Whether an item is a view depends on the key,
    and whether the result of `reshape` is one on the order of the array in memory.

    >>> view_name(operator.getitem), view_name(getattr, "T"), view_name(getattr, "flat"), view_name(Attribute("T"))
    ('item', 'T', None, 'T')
    """
    if function is operator.getitem:
        return "item"
    if function is getattr:
        return "T" if first == "T" else None
    is_of_array = issubclass(type(function), Attribute) or _owner_module(function) == "numpy"
    return function.__name__ if is_of_array and function.__name__ in _VIEWS else None


def _owner_module(method: Any) -> Any:
    return getattr(getattr(method, "__objclass__", None), "__module__", None)


_VIEWS: Final = frozenset({"T", "transpose", "swapaxes", "reshape"})


def view_as_text(function: Any, count: int, first: Any) -> str | None:
    """The expression of a view, with `{}` for each operand; None if a function need not make one.

    Parameters
    ----------
    function:
        The function.
    count:
        The number of its operands, the array not counted.
    first:
        The first of them.

    >>> view_as_text(operator.getitem, 1, 0), view_as_text(getattr, 1, "T"), view_as_text(getattr, 1, "flat")
    ('[{}]', '.T', None)
    """
    name = view_name(function, first)
    if name is None:
        return None
    return {"item": "[{}]", "T": ".T"}.get(name) or f".{name}({', '.join(['{}'] * count)})"
