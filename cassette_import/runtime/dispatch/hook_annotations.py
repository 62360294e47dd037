"""Annotations of hooks: which values a parameter admits, and which parameters share a type variable."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Union

from cassette_import.interpreter.records import Record

Types = tuple[type, ...] | None
"""What an annotation admits: instances of one of these types, or anything."""


def admits(admitted: Types, value: Any) -> bool:
    """Whether an annotation admits a value."""
    return admitted is None or isinstance(value, admitted)


def at_least(left: Types, right: Types) -> bool:
    """Whether `left` admits nothing that `right` does not."""
    if right is None:
        return True
    return left is not None and all(issubclass(item, right) for item in left)


def admitted_by(annotation: Any) -> Types:
    """The types that an annotation admits; None for all.

    Raises
    ------
    TypeError
        If it is no class, union, `type[…]`, type variable or `Any`.
    """
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    if annotation is None:
        return (type(None),)
    if type(annotation).__name__ == "TypeAliasType":  # `type X = int | str`
        return admitted_by(annotation.__value__)
    origin = typing.get_origin(annotation)
    if origin is type:
        return _admitted_by_type(*typing.get_args(annotation))
    types_of = _TYPES_OF.get(id(type(annotation) if origin is None else origin))
    if types_of is not None:
        return types_of(annotation)
    if origin is not None and isinstance(origin, type):
        if not all(map(_means_anything, typing.get_args(annotation))):
            raise TypeError(
                f"an annotation of a hook must not be a parametrised generic: of {annotation!r}, a value shows only "
                f"whether it is a {origin.__qualname__}"
            )
        return (origin,)
    if isinstance(annotation, type):
        isinstance(None, annotation)  # a protocol may refuse, with a TypeError
        return (annotation,)
    raise TypeError(f"an annotation of a hook must be a class, a union, a type variable or Any, not {annotation!r}")


def _means_anything(argument: Any) -> bool:
    """Whether an argument of a generic class says nothing about its instances."""
    if isinstance(argument, typing.TypeVar):
        return not argument.__constraints__ and argument.__bound__ is None
    return argument is Any or argument is ...


def _admitted_by_annotated(annotation: Any) -> Types:
    return admitted_by(annotation.__origin__)


def _admitted_by_union(annotation: Any) -> Types:
    members = []
    for argument in typing.get_args(annotation):
        if _variable_in(argument) is not None:
            raise TypeError(f"an annotation of a hook must not have a type variable in a union: {annotation!r}")
        members.append(admitted_by(argument))
    if any(member is None for member in members):
        return None
    return tuple(item for member in members for item in member or ())


def _admitted_by_variable(annotation: typing.TypeVar) -> Types:
    if annotation.__constraints__:
        return _admitted_by_union(Union[annotation.__constraints__])  # noqa: UP007
    return admitted_by(annotation.__bound__) if annotation.__bound__ is not None else None


def _admitted_by_type(annotation: Any = Any) -> Types:
    bases = admitted_by(annotation)
    return (type,) if bases is None else (class_of(bases),)


_TYPES_OF: Final[dict[int, Callable[[Any], Types]]] = {
    id(typing.Annotated): _admitted_by_annotated,
    id(Union): _admitted_by_union,
    id(types.UnionType): _admitted_by_union,
    id(typing.TypeVar): _admitted_by_variable,
}
"""What reads an annotation, by the identity of its origin, or of its type if it has no origin: classes of the program
may have no hash."""


# ---- type[X]


class _ClassesOf(type):
    """The metaclass of `type[X]`: its instances are `X` and the subclasses of `X`."""

    bases: tuple[type, ...]

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type) and issubclass(value, cls.bases)

    def __subclasscheck__(cls, other: type) -> bool:
        return isinstance(other, _ClassesOf) and all(issubclass(base, cls.bases) for base in other.bases)


_classes: Final[dict[tuple[int, ...], _ClassesOf]] = {}
"""By the identities of the types: the same annotation is the same type, and types of the program may have no hash."""


def class_of(bases: tuple[type, ...]) -> type:
    """A type whose instances are the subclasses of some types. It is a subclass of `type`."""
    key = tuple(map(id, bases))
    found = _classes.get(key)
    if found is None:
        found = _classes[key] = _ClassesOf("type[…]", (type,), {"bases": bases})
    return found


# ---- type variables


class Place(Record):
    """Where a type variable is: at which parameter, and whether its value is the type itself, as in `type[T]`."""

    parameter: int | str
    """The position of an argument; else `rest`, `function` or `middle`."""
    is_type: bool


class Variables:
    """The type variables that several parameters of a hook share: their arguments must have the same type."""

    def __init__(self, annotations: dict[int | str, Any]) -> None:
        places: dict[int, list[Place]] = {}
        constraints: dict[int, tuple[Types, ...]] = {}
        for parameter, annotation in annotations.items():
            found = _variable_in(annotation)
            if found is not None:
                variable, is_type = found
                places.setdefault(id(variable), []).append(Place(parameter, is_type))
                constraints[id(variable)] = tuple(admitted_by(one) for one in variable.__constraints__)
        self._shared = [
            (tuple(there), constraints[key])
            for key, there in places.items()
            if len(there) > 1 or there[0].parameter == "rest"
        ]
        self.signature = tuple(there for there, _ in self._shared)
        """Which parameters share variables. Handlers that differ in it do not replace each other."""

    @classmethod
    def of(cls, annotations: dict[int | str, Any]) -> Variables | None:
        """The variables in annotations by parameter; None if no parameters share one."""
        made = cls(annotations)
        return made if made._shared else None

    def admit(self, function: Any, middle: Any, arguments: Sequence[Any], count: int) -> bool:
        """Whether all arguments for one variable have the same type; `count` parameters come before the rest."""
        for places, constraints in self._shared:
            kinds = [
                value if place.is_type else value.__class__  # a wrapper has the class of its value
                for place in places
                for value in _values_at(place.parameter, function, middle, arguments, count)
            ]
            if constraints:
                if not any(all(issubclass(kind, one or object) for kind in kinds) for one in constraints):
                    return False
            elif any(kind is not kinds[0] for kind in kinds):
                return False
        return True

    def positions(self, arguments: int, count: int) -> list[list[int]]:
        """The positions of arguments that share a variable, in a call with so many arguments."""
        groups = []
        for places, _ in self._shared:
            group: list[int] = []
            for place in places:
                if place.parameter == "rest":
                    group += range(count, arguments)
                elif isinstance(place.parameter, int) and not place.is_type:
                    group.append(place.parameter)
            groups.append(group)
        return groups


def _values_at(parameter: int | str, function: Any, middle: Any, arguments: Sequence[Any], count: int) -> Iterator[Any]:
    """The arguments of a call for one parameter."""
    if parameter == "function":
        yield function
    elif parameter == "middle":
        yield middle
    elif parameter == "rest":
        yield from arguments[count:]
    elif isinstance(parameter, int) and parameter < len(arguments):
        yield arguments[parameter]


def _variable_in(annotation: Any) -> tuple[typing.TypeVar, bool] | None:
    """The type variable that an annotation is, and whether it is in `type[…]`; None for other annotations."""
    if isinstance(annotation, typing.TypeVar):
        return annotation, False
    if typing.get_origin(annotation) is type and isinstance(typing.get_args(annotation)[0], typing.TypeVar):
        return typing.get_args(annotation)[0], True
    return None
