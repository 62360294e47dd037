"""Operations of arrays as expressions of NumPy, which JAX evaluates with `jax.numpy` in the place of `numpy`.

An expression has a test that is true where NumPy would raise an exception, or JAX give something else.
"""

from __future__ import annotations

import functools
import operator
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from cassette_import.contexts.common.numeric_values import is_array
from cassette_import.contexts.graph.array_functions import OPERATORS, Attribute, Method, functions, makers
from cassette_import.contexts.graph.changes import Change
from cassette_import.contexts.graph.kinds import NUMBERS, ArrayKind, Kind, kind_of, shape_of
from cassette_import.contexts.graph.nodes import Built, Constant, Node, Template

__all__ = ["array_constants", "array_name", "array_operation", "is_array_operation"]

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


def is_array_operation(node: Node) -> bool:
    """Whether an operation is one of NumPy: its result is no number of Python, or its function is NumPy's."""
    return node.type not in NUMBERS or node.function in functions() or isinstance(node.function, Attribute)


def array_operation(node: Node, known: dict[int, Any], refused: _Refused) -> tuple[str, str | None]:
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
    form = OPERATORS.get(node.function)
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
