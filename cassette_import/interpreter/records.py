"""Records: named tuples whose classes are made quickly.

`typing.NamedTuple` compiles each annotation and generates a function: a third of a millisecond for each class, at each
start. The classes of modules that most starts import are records.

Knows tuples; must not know what they hold.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # the descriptor of named tuples
from typing import Any, ClassVar, TypeVar, dataclass_transform

__all__ = ["Record"]

_Self = TypeVar("_Self", bound="Record")


@dataclass_transform(frozen_default=True)
class Record(tuple[Any, ...]):
    """The base of classes of immutable values, which are written and used like subclasses of `NamedTuple`.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(3)
    Point(x=3, y=0)
    >>> Point(3)._replace(y=4).y
    4
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._field_defaults = {name: vars(cls)[name] for name in cls._fields if name in vars(cls)}
        for number, name in enumerate(cls._fields):
            setattr(cls, name, _tuplegetter(number, ""))

    def __new__(cls: type[_Self], *values: Any, **named: Any) -> _Self:
        """Make a record of values by position and by name."""
        if named or len(values) != len(cls._fields):
            values = cls._completed(values, named)
        return tuple.__new__(cls, values)

    @classmethod
    def _completed(cls, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all fields; raises a TypeError if there are too many or too few."""
        given = {**cls._field_defaults, **dict(zip(cls._fields, values, strict=False)), **named}
        twice = named.keys() & set(cls._fields[: len(values)])
        if twice or len(values) > len(cls._fields) or given.keys() != set(cls._fields):
            raise TypeError(f"{cls.__name__} takes the values {', '.join(cls._fields)}; got {values!r} and {named!r}")
        return tuple([given[name] for name in cls._fields])

    def _replace(self: _Self, **changes: Any) -> _Self:
        """The record with other values of some fields."""
        return type(self)(**{**self._asdict(), **changes})

    def _asdict(self) -> dict[str, Any]:
        """The values by the names of their fields."""
        return dict(zip(self._fields, self, strict=True))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"
