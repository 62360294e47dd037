"""Operations of Python's numbers as expressions for machine numbers, with the tests that tell where these differ.

Python's integers have no limit, and its functions raise exceptions; 64 bits and machine code do neither. So an
operation is an expression, and a test that is true where Python would give something else.
"""

from __future__ import annotations

import math
import operator
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.backends.array_operations import array_operation, is_array_operation
from cassette_import.contexts.common.number_functions.elementary import ELEMENTARY
from cassette_import.contexts.common.number_functions.table import functions_of
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.kinds import NUMBERS, ArrayKind, Kind, kind_of, name_of
from cassette_import.contexts.graph.nodes import Built, Constant, Node, Template

__all__ = [
    "FUNCTIONS",
    "Operand",
    "as_float",
    "as_integer",
    "as_truth",
    "constant",
    "operand",
    "operation",
    "refused",
    "table_of",
]

_EXACT: Final = 2**53


class Operand:
    """An operand as text, with its kind. `value` is that of a constant."""

    __slots__ = ("kind", "text", "value")

    def __init__(self, text: str, kind: Kind, value: Any = None) -> None:
        self.text = text
        self.kind = kind
        self.value = value


_Made = tuple[str, str | None]
"""The expression of an operation, and the test that is true where Python's result is another one."""


def refused(node: Node, what: str) -> NotRepresentable:
    """The error for an operation that has no machine code here."""
    where = "" if node.site is None else f", at {node.site}: {node.site.source}"
    return NotRepresentable(
        f"machine code cannot represent this exactly: {what}{where}\n"
        'Use backend="python", which represents all that a residual program can'
    )


def operand(template: Template, known: dict[int, Operand], node: Node) -> Operand:
    """An operand of an operation.

    Raises
    ------
    NotRepresentable
        If it is no number.
    """
    if isinstance(template, Node):
        return _as_number(known[template.number])
    if isinstance(template, Constant):
        known_kind = kind_of(template.value)
        if known_kind in NUMBERS:
            return _constant(template.value, node)
        if isinstance(known_kind, ArrayKind) and known_kind.is_number:
            return _constant(template.value.item(), node)
    kind = template.kind if isinstance(template, Built) else kind_of(template.value)
    raise refused(node, f"an operand of {node.label} is of the type {name_of(kind)}")


def _as_number(one: Operand) -> Operand:
    """The operand of a function of numbers, which takes those of NumPy too."""
    kind = one.kind
    if not (isinstance(kind, ArrayKind) and kind.is_number):
        return one
    is_wide = kind.dtype in ("float64", "int64", "bool")
    return Operand(one.text if is_wide else f"numpy.{kind.number.__name__}64({one.text})", kind.number)


def _constant(value: Any, node: Node) -> Operand:
    is_large = type(value) is int and not -(2**62) < value < 2**62
    if is_large and not (
        node.type is float and any(one.type is float for one in node.sources) and abs(value) < 2**1000
    ):
        raise refused(node, f"the integer {value} does not fit into 64 bits")
    return Operand(constant(value), type(value), value)


def constant(value: Any) -> str:
    """A number as an expression."""
    if type(value) is float and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else f"({'-' if value < 0 else ''}math.inf)"
    return f"({value!r})"


def as_float(one: Operand) -> str:
    """The operand as Python converts it to float."""
    if one.kind is float:
        return one.text
    if one.value is not None:
        return f"({float(one.value)!r})"
    return f"{'_float' if one.kind is bool else 'float'}({one.text})"


def as_integer(one: Operand) -> str:
    """The integer of an int or bool."""
    if one.kind is int:
        return one.text
    return f"_integer({one.text})"


def as_truth(one: Operand) -> str:
    """The truth of a number."""
    one = _as_number(one)
    return one.text if one.kind is bool else f"({one.text} != {'0.0' if one.kind is float else '0'})"


def operation(node: Node, known: dict[int, Operand]) -> _Made:
    """The expression and the test of an operation.

    Raises
    ------
    NotRepresentable
        If machine code would not give Python's result.
    """
    if _has_arrays(node) and is_array_operation(node):
        return array_operation(node, known, refused)
    if node.type not in NUMBERS:
        raise refused(node, f"the result of {node.label} is of the type {node.type.__qualname__}")
    if node.function is operator.getitem:
        return _item(node, known)
    make = _OPERATIONS.get(node.function)
    parts: Sequence[Template] = node.operands
    if len(parts) == 1 and isinstance(parts[0], Built) and node.function in (min, max, sum):
        parts = parts[0].parts
    if make is None or node.keywords:
        raise refused(node, f"the call of {node.label}")
    made = make(node, [operand(part, known, node) for part in parts])
    if made is None:
        kinds = ", ".join(
            name_of(known[part.number].kind) if isinstance(part, Node) else "a constant" for part in parts
        )
        raise refused(node, f"{node.label} of {kinds}")
    return made


def _has_arrays(node: Node) -> bool:
    return any(isinstance(kind_of(one.value), ArrayKind) for one in (node, *node.sources))


# ---- tables


def table_of(node: Node) -> tuple[str, tuple[Any, ...]] | None:
    """The name and the numbers of the known table that an operation reads; None if it reads none."""
    if node.function is not operator.getitem or len(node.operands) != 2:
        return None
    holder = node.operands[0]
    values: Any = holder.value if isinstance(holder, Constant) else None
    if isinstance(holder, Built) and holder.kind in (list, tuple):
        values = tuple(part.value if isinstance(part, Constant) else None for part in holder.parts)
    if type(values) is not tuple or {*map(type, values)} not in ({float}, {int}, {bool}):
        return None
    if type(values[0]) is int and not all(-(2**62) < one < 2**62 for one in values):
        return None
    return f"table{zlib.crc32(repr(values).encode()):x}", values


def _item(node: Node, known: dict[int, Operand]) -> _Made:
    table = table_of(node)
    index = operand(node.operands[1], known, node) if len(node.operands) == 2 else None
    if table is None or index is None or index.kind is float:
        raise refused(node, f"the call of {node.label}")
    text, length = as_integer(index), len(table[1])
    return f"{table[0]}[_within({text}, {length})]", f"_outside({text}, {length})"


# ---- the operations; None is what has no exact expression


def _arithmetic(sign: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        one, other = operands
        if node.type is float:
            return f"({as_float(one)} {sign} {as_float(other)})", None
        left, right = as_integer(one), as_integer(other)
        test = f"_product_huge({left}, {right})" if sign == "*" else f"(_huge({left}) | _huge({right}))"
        return f"({left} {sign} {right})", test

    return make


def _division(form: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        one, other = operands
        left, right = as_float(one), as_float(other)
        zero = None if other.value else f"({right} == 0.0)"
        if float in (one.kind, other.kind):
            return form.format(left, right), zero
        limits = f"(_inexact({as_integer(one)}) | _inexact({as_integer(other)}) | ({as_integer(other)} == 0))"
        if node.type is float:
            return form.format(left, right), limits
        return form.format(as_integer(one), as_integer(other)), limits

    return make


def _power(node: Node, operands: list[Operand]) -> _Made | None:
    if node.type is not float or len(operands) != 2 or all(one.kind is not float for one in operands):
        return None
    text = f"({as_float(operands[0])} ** {as_float(operands[1])})"
    return text, "_not_finite(RESULT)"


def _comparison(sign: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        one, other = operands
        if float not in (one.kind, other.kind):
            return f"({as_integer(one)} {sign} {as_integer(other)})", None
        whole = [each for each in operands if each.kind is int]
        if any(each.value is not None and abs(each.value) > _EXACT for each in whole):
            return None
        tests = [f"_inexact({each.text})" for each in whole if each.value is None]
        return f"({as_float(one)} {sign} {as_float(other)})", tests[0] if tests else None

    return make


def _bits(sign: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        if any(one.kind is float for one in operands):
            return None
        texts = [one.text if node.type is bool else as_integer(one) for one in operands]
        return f"({texts[0]} {sign} {texts[1]})", None

    return make


def _total(node: Node, operands: list[Operand]) -> _Made | None:
    """`sum` of a list of floats; up to Python 3.11, it adds them one after the other."""
    if {one.kind for one in operands} != {float}:
        return None
    if sys.version_info >= (3, 12):
        return f"_sum(({''.join(f'{one.text}, ' for one in operands)}))", None
    return f"({' + '.join(['0.0', *(one.text for one in operands)])})", None


def _sign(sign: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        one = operands[0]
        if one.kind is float:
            return f"{sign}({one.text})" if sign == "abs" else f"({sign}{one.text})", None
        return f"{sign}({as_integer(one)})" if sign == "abs" else f"({sign}{as_integer(one)})", (
            f"_huge({as_integer(one)})"
        )

    return make


def _not(node: Node, operands: list[Operand]) -> _Made | None:
    return f"_not({as_truth(operands[0])})", None


def _truth(node: Node, operands: list[Operand]) -> _Made | None:
    return as_truth(operands[0]), None


def _to_float(node: Node, operands: list[Operand]) -> _Made | None:
    return (as_float(operands[0]), None) if len(operands) == 1 else None


def _rounded(name: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        if len(operands) != 1:
            return None
        one = operands[0]
        if one.kind is not float:
            return as_integer(one), None
        fitting = f"_fitting({one.text})"
        return f"int({f'{name}({fitting})' if name else fitting})", f"_no_integer({one.text})"

    return make


def _extreme(helper: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        if {one.kind for one in operands} not in ({float}, {int}):
            return None
        text = operands[0].text
        for one in operands[1:]:
            text = f"{helper}({text}, {one.text})"
        return text, None

    return make


def _float_function(name: str, count: int) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        if len(operands) != count:
            return None
        return f"{name}({', '.join(map(as_float, operands))})", "_not_finite(RESULT)"

    return make


def _asked(name: str) -> Callable[[Node, list[Operand]], _Made | None]:
    def make(node: Node, operands: list[Operand]) -> _Made | None:
        return f"math.{name}({as_float(operands[0])})", None

    return make


_OPERATIONS: Final[dict[Any, Callable[[Node, list[Operand]], _Made | None]]] = {
    operator.add: _arithmetic("+"), operator.sub: _arithmetic("-"), operator.mul: _arithmetic("*"),
    operator.truediv: _division("({} / {})"), operator.floordiv: _division("_floor_division({}, {})"),
    operator.mod: _division("_modulo({}, {})"),
    operator.pow: _power, pow: _power, math.pow: _float_function("math.pow", 2),
    operator.lt: _comparison("<"), operator.le: _comparison("<="), operator.gt: _comparison(">"),
    operator.ge: _comparison(">="), operator.eq: _comparison("=="), operator.ne: _comparison("!="),
    operator.and_: _bits("&"), operator.or_: _bits("|"), operator.xor: _bits("^"),
    operator.neg: _sign("-"), operator.pos: _sign("+"), abs: _sign("abs"), operator.abs: _sign("abs"),
    operator.not_: _not, operator.truth: _truth, bool: _truth, float: _to_float,
    int: _rounded(""), math.trunc: _rounded(""), round: _rounded("_nearest"),
    math.floor: _rounded("math.floor"), math.ceil: _rounded("math.ceil"),
    sum: _total, min: _extreme("_least"), max: _extreme("_greatest"),
    math.remainder: _float_function("_remainder", 2), math.fmod: _float_function("_fmod", 2),
    math.isnan: _asked("isnan"), math.isinf: _asked("isinf"), math.isfinite: _asked("isfinite"),
}  # fmt: skip
NOT_COMPILED: Final = {
    math.cbrt: "Numba has no cube root",
    math.exp2: "the results of JAX differ in several units in the last place",
    math.gamma: "compiled results differ in several units in the last place",
    math.lgamma: "compiled results differ in several units in the last place",
    math.ldexp: "its second operand may be an integer of any size",
    math.nextafter: "XLA takes numbers below the normal ones for zero",
    **({math.fma: "it is rounded twice in compiled code"} if hasattr(math, "fma") else {}),
}
"""Functions of the table that kernels leave to Python, and why."""

_COUNTS: Final = {math.atan2: 2, math.hypot: 2, math.copysign: 2}
for _function in functions_of(ELEMENTARY):
    if _function not in _OPERATIONS and _function not in NOT_COMPILED:
        _OPERATIONS[_function] = _float_function(f"math.{_function.__name__}", _COUNTS.get(_function, 1))
_OPERATIONS[math.fabs] = _float_function("math.fabs", 1)
FUNCTIONS: Final = frozenset(_OPERATIONS)
"""The functions that have expressions."""
