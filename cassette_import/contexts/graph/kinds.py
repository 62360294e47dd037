"""What is the same for a value in every run: the type of a number; the type, elements and shape of an array
of NumPy.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.contexts.graph.nodes import Constant, Node
from cassette_import.kits.numbers.numeric_values import is_array

__all__ = [
    "NUMBERS",
    "ArrayKind",
    "Kind",
    "dtype_of",
    "is_value",
    "kind_of",
    "kind_of_part",
    "name_of",
    "numpy_number",
    "shape_of",
]

NUMBERS: Final = (bool, int, float)
_DTYPES: Final = {float: "float64", int: "int64", bool: "bool"}
_ELEMENTS: Final = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    }
)


class ArrayKind(NamedTuple):
    """The kind of an array, or of a number of NumPy's own types. There is one object for each kind."""

    owner: type
    dtype: str
    shape: tuple[int, ...]

    @property
    def is_number(self) -> bool:
        """Whether it has one element, and no axis."""
        return not self.shape

    @property
    def number(self) -> type:
        """The type in Python of what has no axis: `bool`, `int` or `float`."""
        return {"b": bool, "i": int, "u": int}.get(self.dtype[0], float)


Kind: TypeAlias = type | ArrayKind


@cache
def _array_kind(kind: Any, dtype: str, shape: tuple[int, ...]) -> ArrayKind:
    return ArrayKind(kind, dtype, shape)


def kind_of(value: Any) -> Kind:
    """The kind of a value; kinds that are equal are identical.

    >>> kind_of(1.5), kind_of("text")
    (<class 'float'>, <class 'str'>)
    """
    if not is_array(value):
        return type(value)
    kind: Any = type(value)
    return _array_kind(kind, str(value.dtype), value.shape)


def name_of(kind: Kind) -> str:
    """A kind as text."""
    if isinstance(kind, ArrayKind):
        return f"{kind.dtype}{list(kind.shape)}" if kind.shape else f"numpy.{kind.dtype}"
    return kind.__qualname__


def numpy_number(kind: Kind) -> Any:
    """The type in NumPy of a number of Python; of an array without an axis its own type, of others the kind."""
    import numpy

    if isinstance(kind, ArrayKind):
        return kind.owner if kind.is_number else kind
    return {float: numpy.float64, int: numpy.int64, bool: numpy.bool_}.get(kind, kind)


def kind_of_part(part: Node | Constant) -> Kind:
    """The kind of a number or array in a template."""
    return kind_of(part.value)


def is_value(value: Any) -> bool:
    """Whether it is a number, or an array that compiled code can have."""
    if type(value) in NUMBERS:
        return True
    return is_array(value) and type(value).__module__ == "numpy" and str(value.dtype) in _ELEMENTS


def dtype_of(kind: Kind) -> str:
    """The type of the elements."""
    return kind.dtype if isinstance(kind, ArrayKind) else _DTYPES[kind]


def shape_of(kind: Kind) -> tuple[int, ...]:
    """The shape; empty for a number."""
    return kind.shape if isinstance(kind, ArrayKind) else ()
