"""The results of many points as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cassette_import.contexts.backends.kernel import leaves
from cassette_import.contexts.graph.nodes import (
    NUMBERS,
    Built,
    Constant,
    Kind,
    Node,
    Template,
    dtype_of,
    evaluated,
    is_value,
    kind_of,
    name_of,
    same,
)

__all__ = ["Columns", "alike", "as_columns", "filled"]

_DIFFERENT: Final = (
    "the results of two points differ in more than their numbers: {} and {}\nCall the function for each point"
)


def as_columns(columns: Sequence[Any], templates: Sequence[Template]) -> list[Any]:
    """The arguments as arrays of one length, with the types of the examples."""
    import numpy

    if len(columns) != len(templates):
        raise TypeError(f"the function has {len(templates)} unknown arguments, not {len(columns)}")
    arrays = []
    for column, template in zip(columns, templates, strict=True):
        if not isinstance(template, Node) or template.type not in NUMBERS:
            raise ValueError("map needs a function of numbers: call the function for each point")
        array = numpy.asarray(column)
        if array.dtype != dtype_of(template.type) or array.ndim > 1:
            raise TypeError(
                f"{template.name} is an array of one dimension, or a number, of the type {template.type.__name__}, "
                f"as the example; not {array.ndim} dimensions of {array.dtype}"
            )
        arrays.append(array)
    return [numpy.ascontiguousarray(array) for array in numpy.broadcast_arrays(numpy.empty(1), *arrays)[1:]]


class Columns:
    """Arrays for the numbers of a result."""

    def __init__(self, template: Template, arrays: Sequence[Any]) -> None:
        import numpy

        self.size = arrays[0].size
        self._template = template
        self._arrays = arrays
        self._columns = [numpy.empty(self.size, dtype_of(_kind(part))) for part in leaves(template)]

    def point(self, place: int) -> tuple[Any, ...]:
        """The arguments of one point."""
        return tuple(array[place].item() for array in self._arrays)

    def put_path(self, template: Template, places: Any, floats: Any, integers: Any) -> None:
        """The results of the points that took one path."""
        if not alike(self._template, template):
            raise ValueError(_DIFFERENT.format(_shown(self._template), _shown(template)))
        rows = {"f": iter(floats), "i": iter(integers), "b": None}
        rows["b"] = rows["i"]
        for column in self._columns:
            column[places] = next(rows[column.dtype.kind])[places]

    def put(self, place: int, value: Any) -> None:
        """The result of one point."""
        found: list[Any] = []
        if not _collect(self._template, value, found):
            raise ValueError(_DIFFERENT.format(_shown(self._template), repr(value)))
        for column, number in zip(self._columns, found, strict=True):
            column[place] = number

    def value(self) -> Any:
        """The result, with arrays in place of numbers."""
        return filled(self._template, iter(self._columns))


def _kind(template: Template) -> Kind:
    return kind_of(template.value)  # type: ignore[union-attr]


def alike(one: Template, other: Template) -> bool:
    """Whether two results have the same structure and types."""
    if isinstance(one, Built) or isinstance(other, Built):
        return (
            isinstance(one, Built)
            and isinstance(other, Built)
            and (one.kind, one.keys, len(one.parts)) == (other.kind, other.keys, len(other.parts))
            and all(map(alike, one.parts, other.parts))
        )
    if not is_value(one.value):
        return isinstance(one, Constant) and isinstance(other, Constant) and same(one.value, other.value)
    return _kind(one) is _kind(other)


def _collect(template: Template, value: Any, found: list[Any]) -> bool:
    """The numbers of a value with the structure of a template; False if it has another one."""
    if isinstance(template, Built):
        made: Any = value
        if type(value) is not template.kind or len(made) != len(template.parts):
            return False
        if template.kind is dict and tuple(made) != template.keys:
            return False
        parts = made.values() if template.kind is dict else made
        return all(_collect(part, one, found) for part, one in zip(template.parts, parts, strict=True))
    kind = _kind(template)
    if kind not in NUMBERS:
        return isinstance(template, Constant) and same(value, template.value)
    found.append(value)
    return type(value) is kind and not (kind is int and not -(2**63) <= value < 2**63)


def filled(template: Template, columns: Any) -> Any:
    """The result, with what an iterator gives in place of numbers."""
    if isinstance(template, Built):
        parts = tuple(Constant(filled(part, columns)) for part in template.parts)
        return evaluated(Built(template.kind, parts, template.keys), {})
    return next(columns) if is_value(template.value) else template.value


def _shown(template: Template) -> str:
    if isinstance(template, Built):
        return f"{template.kind.__name__}({', '.join(map(_shown, template.parts))})"
    return name_of(_kind(template)) if _kind(template) in NUMBERS else repr(template.value)
