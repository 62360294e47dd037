"""The table syntax ↔ function, as data: which function an event of a piece of syntax shows as `f`.

Must not know how an event is reached.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cassette_import.events import Events


@dataclass(frozen=True)
class Primitive:
    """One row of the table: `syntax` is an event of kind `event` and shows `function`, which does the same."""

    event: Events
    syntax: str
    function: Callable[..., Any] | None
    name: str


BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
INPLACE: Final[dict[type[ast.operator], str]] = {kind: "i" + name.rstrip("_") for kind, name in BINARY.items()}
UNARY: Final[dict[type[ast.unaryop], str]] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not_",
}
COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is_",
    ast.IsNot: "is_not",
    ast.In: "contains",
    ast.NotIn: "contains",
}
_SYMBOLS: Final[dict[str, str]] = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "is_": "is", "is_not": "is not",
    "neg": "-", "pos": "+", "invert": "~", "not_": "not ",
}  # fmt: skip


def _operator_rows() -> list[tuple[str, str]]:
    rows = [(f"a {_SYMBOLS[name]} b", name) for name in BINARY.values()]
    rows += [
        (f"a {_SYMBOLS[name]}= b", inplace) for name, inplace in zip(BINARY.values(), INPLACE.values(), strict=True)
    ]
    rows += [(f"a {_SYMBOLS[name]} b", name) for kind, name in COMPARE.items() if name != "contains"]
    rows += [("b in a", "contains"), ("b not in a", "contains")]
    rows += [(f"{_SYMBOLS[name]}a", name) for name in UNARY.values()]
    return [*rows, ("a[b]", "getitem"), ("a[b] = c", "setitem"), ("del a[b]", "delitem")]


TABLE: Final[tuple[Primitive, ...]] = (
    Primitive(Events.CALLS, "f(...)", None, "the callee"),
    Primitive(Events.CALLS, "@decorator", None, "the decorator"),
    *(
        Primitive(Events.OPERATORS, syntax, getattr(operator, name), f"operator.{name}")
        for syntax, name in _operator_rows()
    ),
)
"""Every row, in the order in which `python -m cassette_import primitives` prints them."""

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {row.name: row.function for row in TABLE if row.function is not None}
"""The functions of the table by name, `operator.add` and the like."""

EVENT_OF: Final[dict[Callable[..., Any], Events]] = {
    row.function: row.event for row in TABLE if row.function is not None
}
