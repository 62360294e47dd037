"""Overload resolution: which calls a handler matches, and which of several matching handlers is the most specific."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Union

from cassette_import.errors import AmbiguousOverload
from cassette_import.interpreter.records import Record
from cassette_import.runtime.dispatch.hook_functions import LEADING, positional_only

# ---- annotations of hooks: which values a parameter admits, and which parameters share a type variable

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


# ---- overload resolution: which calls a handler matches, and which of several matching handlers is the most specific


class Handler:
    """A registered function, and the calls that it matches."""

    def __init__(
        self,
        kind: str,
        owner: type,
        function: Callable[..., Any],
        targets: tuple[Any, ...],
        names: dict[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self.is_applied = False
        """Whether it has matched a call."""
        self.is_reached = False
        """Whether no handler has matched some call of its targets."""
        self.function = function
        self.call = positional_only(function, LEADING[kind])
        self.owner = owner
        self.targets = targets
        parameters = list(inspect.signature(function, locals=names, eval_str=True).parameters.values())
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        rest = next((p for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        leading = LEADING[kind]
        if len(positional) < leading and rest is None:
            middle = {"posthook": "result, ", "errorhook": "exception, "}.get(kind, "")
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name} cannot be a {kind}: it must take (ctx, {middle}f, ...)")
        self.context_types, self.metadata_types = _context_annotation(positional[0] if positional else rest)
        has_middle = leading == 3 and len(positional) > 1
        self.middle_types = admitted_by(positional[1].annotation) if has_middle else None
        self.function_types = admitted_by(positional[leading - 1].annotation) if len(positional) >= leading else None
        self._read_own_parameters(positional[leading:], parameters)
        self.rest_types: Types = admitted_by(rest.annotation) if rest is not None else None
        self.has_rest = rest is not None
        annotations: dict[int | str, Any] = {
            "middle": positional[1].annotation if has_middle else None,
            "function": positional[leading - 1].annotation if len(positional) >= leading else None,
            **{number: parameter.annotation for number, parameter in enumerate(positional[leading:])},
            "rest": rest.annotation if rest is not None else None,
        }
        self.variables = Variables.of(annotations)
        of_arguments = (*self.types, self.rest_types, self.function_types, self.metadata_types, self.middle_types)
        self.is_typed = self.variables is not None or any(admitted is not None for admitted in of_arguments)

    def _read_own_parameters(self, own: list[inspect.Parameter], parameters: list[inspect.Parameter]) -> None:
        """Take over the parameters for the arguments of a call: the positional ones are `own`."""
        keyword_only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self.types: tuple[Types, ...] = tuple(admitted_by(p.annotation) for p in own)
        self.required = sum(p.default is p.empty for p in own)
        self.own_names = tuple(p.name for p in own)
        self._by_position = tuple(p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in own)
        by_keyword = [p for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.names = frozenset(p.name for p in (*by_keyword, *keyword_only))
        self.needed_names = frozenset(p.name for p in keyword_only if p.default is p.empty)
        self.has_keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)

    @property
    def signature(self) -> tuple[Any, ...]:
        """Handlers with equal signatures replace each other."""
        targets = frozenset(map(id, self.targets))
        return (
            targets,
            self.function_types,
            self.types,
            self.rest_types if self.has_rest else False,
            self.context_types,
            self.metadata_types,
            self.middle_types,
            self.names - set(self._by_position),
            self.needed_names,
            self.variables.signature if self.variables is not None else (),
        )

    def admits(self, context: Any, function: Any, middle: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether the annotations of a handler that is typed admit this call."""
        return (
            admits(self.function_types, function)
            and admits(self.middle_types, middle)
            and (self.metadata_types is None or admits(self.metadata_types, getattr(context, "metadata", None)))
            and all(admits(self.type_at(index), argument) for index, argument in enumerate(arguments))
            and (self.variables is None or self.variables.admit(function, middle, arguments, len(self.types)))
        )

    def fits(self, count: int, keywords: Any) -> bool:
        """Whether the handler takes so many positional arguments and these keyword arguments."""
        if count > len(self.types) and not self.has_rest:
            return False
        if count < self.required and not keywords.keys() >= set(self.own_names[count : self.required]):
            return False
        if keywords and not self.has_keywords and not self.names.issuperset(keywords):
            return False
        if self.needed_names and not self.needed_names.issubset(keywords):
            return False
        return not keywords or keywords.keys().isdisjoint(self._by_position[:count])  # no parameter gets two

    def type_at(self, index: int) -> Types:
        return self.types[index] if index < len(self.types) else self.rest_types

    def __repr__(self) -> str:
        code = getattr(self.function, "__code__", None)
        place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        return f"{self.owner.__qualname__}: {getattr(self.function, '__qualname__', self.function)}{place}"


def _context_annotation(parameter: inspect.Parameter | None) -> tuple[Types, Types]:
    if parameter is None or parameter.annotation is parameter.empty:
        return None, None
    annotation = parameter.annotation
    if typing.get_origin(annotation) is not None and not isinstance(annotation, types.UnionType):
        arguments = typing.get_args(annotation)
        return admitted_by(typing.get_origin(annotation)), admitted_by(arguments[0]) if arguments else None
    return admitted_by(annotation), None


def _compare_admitted(left: Handler, right: Handler, count: int) -> int:
    """1 if the argument types of `left` are more specific, -1 if those of `right` are, 0 if undecided."""
    pairs = [(left.type_at(index), right.type_at(index)) for index in range(count)]
    pairs += [(left.function_types, right.function_types), (left.middle_types, right.middle_types)]
    left_fits = all(at_least(mine, other) for mine, other in pairs) and _shares_types(left, right, count)
    right_fits = all(at_least(other, mine) for mine, other in pairs) and _shares_types(right, left, count)
    if left_fits and right_fits:
        # A named parameter is more specific than `*args`.
        return (left.has_rest < right.has_rest) - (left.has_rest > right.has_rest)
    return left_fits - right_fits


def _shares_types(handler: Handler, other: Handler, count: int) -> bool:
    """Whether a handler's arguments have the same type wherever type variables of the other one require it."""
    if other.variables is None:
        return True
    own = handler.variables.positions(count, len(handler.types)) if handler.variables is not None else []
    for group in other.variables.positions(count, len(other.types)):
        if any(set(group) <= set(one) for one in own):
            continue
        admitted = [handler.type_at(index) for index in group]
        if any(one is None or one != admitted[0] for one in admitted):
            return False
    return True


def _compare_contexts(left: Handler, right: Handler) -> int:
    mine = left.context_types or (left.owner,)
    other = right.context_types or (right.owner,)
    left_fits, right_fits = at_least(mine, other), at_least(other, mine)
    if left_fits != right_fits:
        return left_fits - right_fits
    left_fits = at_least(left.metadata_types, right.metadata_types)
    right_fits = at_least(right.metadata_types, left.metadata_types)
    if left_fits != right_fits:
        return left_fits - right_fits
    if left.owner is not right.owner:
        return issubclass(left.owner, right.owner) - issubclass(right.owner, left.owner)
    return 0


def choose(handlers: list[Handler], count: int) -> Handler:
    """The most specific of several handlers that all match a call with `count` positional arguments.

    Order: named targets before none; more specific argument types; the more derived context type.
    """

    def beats(left: Handler, right: Handler) -> int:
        if bool(left.targets) != bool(right.targets):
            return 1 if left.targets else -1
        return _compare_admitted(left, right, count) or _compare_contexts(left, right)

    best = [one for one in handlers if all(one is other or beats(one, other) > 0 for other in handlers)]
    if best:
        return best[0]
    top = [one for one in handlers if not any(beats(other, one) > 0 for other in handlers)] or handlers
    raise AmbiguousOverload(
        f"both {top[0]!r} and {top[1]!r} match, and neither is more specific: register one for their common types"
    )
