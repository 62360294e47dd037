"""Operations of Python's numbers as expressions for machine numbers, with the tests that tell where these differ.

Python's integers have no limit, and its functions raise exceptions; 64 bits and machine code do neither. So an
operation is an expression, and a test that is true where Python would give something else.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.arrays import EXPRESSIONS, Attribute, Change, Method, functions, makers
from cassette_import.contexts.graph.nodes import (
    NUMBERS,
    ArrayKind,
    Built,
    Constant,
    Kind,
    Node,
    Template,
    kind_of,
    name_of,
    shape_of,
)
from cassette_import.kits.numbers.elementary import ELEMENTARY
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.kits.numbers.table import functions_of

__all__ = [
    "FUNCTIONS",
    "Operand",
    "array_constants",
    "array_name",
    "as_float",
    "as_integer",
    "as_truth",
    "constant",
    "operand",
    "operation",
    "refused",
    "table_of",
]

# ---- operations of arrays as expressions of NumPy, which JAX evaluates with `jax.numpy` in the place of `numpy`
#
# An expression has a test that is true where NumPy would raise an exception, or JAX give something else.

_NOT_TAKEN: Final = frozenset({"out", "where", "casting", "subok", "like", "signature", "kind", "device"})
"""Keywords that functions of JAX do not have, or that mean something else there."""
_JOINING: Final = frozenset(
    f"numpy.{name}"
    for name in (
        *("array", "asarray", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "select", "einsum"),
        *("split", "array_split", "hsplit", "vsplit"),
    )
)
"""Functions that take lists of arrays. Those of JAX take lists for arrays nowhere else."""
_Refused = Callable[[Node, str], BaseException]
_INTEGERS: Final = ("int", "uint", "bool")


def array_constants(node: Node) -> Iterator[Any]:
    """The known arrays among the operands of an operation."""
    work: list[Template] = [*node.operands, *node.keywords.values()]
    while work:
        part = work.pop()
        if isinstance(part, Built):
            work += part.parts
        elif isinstance(part, Constant) and is_array(part.value):
            yield part.value


def array_name(array: Any) -> str:
    """The name of a known array in programs."""
    return f"array{zlib.crc32(repr((type(array), array.dtype, array.shape)).encode() + array.tobytes()):x}"


def _is_array_operation(node: Node) -> bool:
    """Whether an operation is one of NumPy: its result is no number of Python, or its function is NumPy's."""
    return node.type not in NUMBERS or node.function in functions() or isinstance(node.function, Attribute)


def _array_operation(node: Node, known: dict[int, Any], refused: _Refused) -> tuple[str, str | None]:
    """The expression and the test of an operation.

    Parameters
    ----------
    node:
        The operation.
    known:
        The texts of the results of other operations, as operands.
    refused:
        What makes the error for an operation without an expression.
    """
    write = _Writer(node, known, refused)
    operands = [write.text(part) for part in node.operands]
    if functions().get(node.function) not in _JOINING:
        pairs = zip(operands, node.operands, strict=True)
        operands = [f"numpy.array({text})" if _is_list_of_numbers(part) else text for text, part in pairs]
    order = node.keywords.get("order", Constant(None))
    unknown = sorted(_NOT_TAKEN & node.keywords.keys())
    if not (isinstance(order, Constant) and order.value in (None, "C", "c", "K", "A")):
        unknown.append("order")
    if unknown:
        raise refused(node, f"the keyword {', '.join(unknown)} of {node.label}")
    if node.function is operator.getitem:
        return f"{operands[0]}[{operands[1]}]", _outside(node, write, refused)
    if isinstance(node.function, Change):
        return _with_item(node, operands, write, refused)
    form = EXPRESSIONS.get(node.function)
    if form is not None and not node.keywords:
        return form.format(*operands), _test(form.partition("(")[0] or form, node, operands)
    if node.function in (min, max) and {*map(_kind, node.operands)} == {kind_of(node.value)} and not node.shape:
        helper = "_least" if node.function is min else "_greatest"
        return functools.reduce(lambda one, other: f"{helper}({one}, {other})", operands), None
    keywords = [f"{name}={write.text(part)}" for name, part in node.keywords.items() if name != "order"]
    if isinstance(node.function, Method):
        method = node.function.__name__
        return f"{operands[0]}.{method}({', '.join([*operands[1:], *keywords])})", _test(method, node, operands)
    if isinstance(node.function, Attribute):
        return f"{operands[0]}.{node.function.__name__}", None
    name = functions().get(node.function) or makers().get(node.function, "")
    if not name:
        raise refused(node, f"the call of {node.label}")
    return f"{name}({', '.join([*operands, *keywords])})", _test(name, node, operands)


def _with_item(node: Node, operands: list[str], write: _Writer, refused: _Refused) -> tuple[str, str | None]:
    """A copy of an array with other items. Items that a mask or a list chooses get one number."""
    key, value = node.operands[1:]
    is_number = not isinstance(value, Built) and not shape_of(kind_of(value.value))
    parts = key.parts if isinstance(key, Built) and key.kind is tuple else (key,)
    if any(map(_is_list, parts)) and not is_number:
        raise refused(node, "several numbers are assigned to items that a list or an array chooses")
    mask = kind_of(getattr(key, "value", None))
    if isinstance(mask, ArrayKind) and mask.dtype == "bool":
        if mask.shape != node.shape:
            raise refused(node, "the items that are chosen depend on the arguments")
        return f"_where_item({', '.join(operands)})", None
    return f"_with_item({', '.join(operands)})", _outside(node, write, refused)


def _is_list(part: Template) -> bool:
    """Whether a key chooses several items, and is no slice."""
    if isinstance(part, Built):
        return part.kind is not slice
    return isinstance(part.value, list) or bool(shape_of(kind_of(part.value)))


class _Writer:
    """Writes operands."""

    def __init__(self, node: Node, known: dict[int, Any], refused: _Refused) -> None:
        self._node = node
        self._known = known
        self._refused = refused

    def text(self, part: Template) -> str:
        """An operand."""
        if isinstance(part, Node):
            return str(self._known[part.number].text)
        if isinstance(part, Built):
            return self._built(part)
        return self._constant(part.value)

    def _built(self, part: Built) -> str:
        items = "".join(f"{self.text(one)}, " for one in part.parts)
        if part.kind is slice:
            return f"slice({items})"
        if part.kind in (list, tuple):
            return f"[{items}]" if part.kind is list else f"({items})"
        raise self._refused(self._node, f"an operand of {self._node.label} is of the type {part.kind.__qualname__}")

    def _constant(self, value: Any) -> str:
        if is_array(value):
            return array_name(value)
        if value in (float, int, bool, complex) or getattr(value, "__module__", "") == "numpy" or _is_dtype(value):
            return self._dtype(value)
        if type(value) in (list, tuple):
            return self._built(Built(type(value), tuple(map(Constant, value))))
        if type(value) in (str, type(None), bool, int, float, complex, slice, type(...)):
            return {"inf": "numpy.inf", "-inf": "-numpy.inf", "nan": "numpy.nan"}.get(repr(value), f"({value!r})")
        raise self._refused(self._node, f"an operand of {self._node.label} is of the type {type(value).__qualname__}")

    def _dtype(self, value: Any) -> str:
        import numpy

        try:
            return repr(str(numpy.dtype(value)))
        except TypeError:
            raise self._refused(self._node, f"an operand of {self._node.label} is {value!r}") from None


def _is_list_of_numbers(part: Template) -> bool:
    """Whether it is a list in the place of an array; lists of integers are shapes and axes as well."""
    parts = part.parts if isinstance(part, Built) and part.kind is list else ()
    return any(isinstance(one, Node) or type(getattr(one, "value", None)) is float for one in parts)


def _is_dtype(value: Any) -> bool:
    return type(value).__module__.startswith("numpy.dtype")


def _kind(part: Template) -> Kind:
    return part.kind if isinstance(part, Built) else kind_of(part.value)


# ---- where NumPy raises an exception, or gives another number


def _outside(node: Node, write: _Writer, refused: _Refused) -> str | None:
    """Whether an unknown index has no item."""
    holder: Any = node.operands[0]
    shape = getattr(holder.value, "shape", None)
    if shape is None:
        return None  # a part of a result
    key = node.operands[1]
    parts = key.parts if isinstance(key, Built) and key.kind is tuple else (key,)
    axis, tests = 0, []
    for place, part in enumerate(parts):
        value: Any = getattr(part, "value", None)
        if value is None and isinstance(part, Constant):
            continue  # a new axis
        if value is ...:
            axis = len(shape) - sum(not (isinstance(one, Constant) and one.value is None) for one in parts[place + 1 :])
            continue
        if isinstance(part, Node):
            kind = kind_of(value)
            if (kind.dtype if isinstance(kind, ArrayKind) else kind.__name__) == "bool":
                raise refused(node, "the items that are chosen, and their number, depend on the arguments")
            tests.append(f"_any_outside({write.text(part)}, {shape[axis]})")
        elif isinstance(part, Built) and any(isinstance(one, Node) for one in part.parts):
            if part.kind is slice:
                raise refused(node, "the number of items that a slice chooses depends on the arguments")
            tests.append(f"_any_outside(numpy.array({write.text(part)}), {shape[axis]})")
        axis += value.ndim if is_array(value) and value.dtype == bool else 1
    return " | ".join(tests) or None


def _dtype_of_result(node: Node) -> str:
    value = node.value[0] if type(node.value) is tuple else node.value
    return str(getattr(kind_of(value), "dtype", ""))


def _without_integer(node: Node, operands: list[str]) -> str | None:
    """Whether a float that becomes an integer has none."""
    first = node.operands[0]
    before = kind_of(first.value) if isinstance(first, Node) else None
    is_float = before is float or str(getattr(before, "dtype", "")).startswith("float")
    is_whole = _dtype_of_result(node).startswith(("int", "uint"))
    return f"_any_without_integer({operands[0]})" if is_float and is_whole else None


def _zero_divisor(node: Node, operands: list[str]) -> str | None:
    return f"_any_zero({operands[1]})" if _dtype_of_result(node).startswith(_INTEGERS) else None


def _negative_exponent(node: Node, operands: list[str]) -> str | None:
    return f"_any_below_zero({operands[1]})" if _dtype_of_result(node).startswith(_INTEGERS) else None


def _not_finite(node: Node, operands: list[str]) -> str:
    return "_any_not_finite(RESULT)"


_TESTS: Final[dict[str, Callable[[Node, list[str]], str | None]]] = {
    **dict.fromkeys(("numpy.floor_divide", "numpy.remainder", "numpy.mod", "numpy.fmod"), _zero_divisor),
    **dict.fromkeys(("numpy.divmod",), _zero_divisor),
    **dict.fromkeys(("({} ** {})", "numpy.power", "numpy.pow"), _negative_exponent),
    **dict.fromkeys(("numpy.linalg.inv", "numpy.linalg.solve", "numpy.linalg.cholesky", "numpy.average"), _not_finite),
    **dict.fromkeys(("numpy.array", "numpy.asarray", "numpy.int64", "numpy.int32", "astype"), _without_integer),
}


def _test(name: str, node: Node, operands: list[str]) -> str | None:
    make = _TESTS.get(name)
    return None if make is None else make(node, operands)


# ---- operations of Python's numbers as expressions for machine numbers, with the tests that tell where these differ

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
    if _has_arrays(node) and _is_array_operation(node):
        return _array_operation(node, known, refused)
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
