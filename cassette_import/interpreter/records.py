"""Records, and `Protocol` and `cast`: what `typing` has, made quickly.

`typing.NamedTuple` compiles each annotation and generates a function: a third of a millisecond for each class, at each
start. The classes of modules that most starts import are records.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # the descriptor of named tuples
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

__all__ = ["Protocol", "Record", "cast"]

# ---- `Protocol` and `cast`
#
# A class of `typing.Protocol` takes ten times as long to make, and what it adds is for `isinstance`, which is never
# used with protocols here. `typing.cast` may be overdubbed, and hooks call `cast`.

if TYPE_CHECKING:
    from typing import Protocol, cast
else:

    class Protocol:
        """The base of protocols, without behaviour."""

    def cast(kind, value):
        """The value."""
        return value


# ---- records: named tuples whose classes are made quickly


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
    _last_values: ClassVar[tuple[Any, ...]] = ()
    """The default values of the last fields."""

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._last_values = tuple([vars(cls)[name] for name in cls._fields if name in vars(cls)])
        for number, name in enumerate(cls._fields):
            setattr(cls, name, _tuplegetter(number, ""))

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Make a record of values by position and by name."""
        missing = len(cls._fields) - len(values)
        if named:
            values = cls._completed(values, named)
        elif missing:
            if not 0 < missing <= len(cls._last_values):
                raise cls._wrong(values, named)
            values += cls._last_values[-missing:]
        return tuple.__new__(cls, values)

    @classmethod
    def _completed(cls, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all fields."""
        by_default = cls._fields[len(cls._fields) - len(cls._last_values) :]
        given = {**dict(zip(by_default, cls._last_values, strict=True)), **named}
        twice = not named.keys().isdisjoint(cls._fields[: len(values)])
        rest = cls._fields[len(values) :]
        if twice or len(values) > len(cls._fields) or not given.keys() >= set(rest) or named.keys() - set(rest):
            raise cls._wrong(values, named)
        return (*values, *(given[name] for name in rest))

    @classmethod
    def _wrong(cls, values: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
        return TypeError(f"{cls.__name__} takes the values {', '.join(cls._fields)}; got {values!r} and {named!r}")

    def _replace(self, **changes: Any) -> Self:
        """The record with other values of some fields."""
        values = [changes.pop(name, value) for name, value in zip(self._fields, self, strict=True)]
        if changes:
            raise ValueError(f"{type(self).__name__} has no fields {', '.join(changes)}")
        return tuple.__new__(type(self), values)

    def _asdict(self) -> dict[str, Any]:
        """The values by the names of their fields."""
        return dict(zip(self._fields, self, strict=True))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"
