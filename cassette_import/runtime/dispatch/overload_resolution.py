"""Overload resolution: which calls a handler matches, and which of several matching handlers is the most specific.

Knows functions, types and signatures; must not know how handlers are registered, or how an event is run.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Final, Union

from cassette_import.errors import AmbiguousOverload
from cassette_import.runtime.dispatch.hook_functions import LEADING, positional_only

Types = tuple[type, ...] | None
"""What an annotation admits: one of these types, or anything."""


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
        self.middle_types = _types(positional[1].annotation) if has_middle else None
        self.function_types = _types(positional[leading - 1].annotation) if len(positional) >= leading else None
        self._read_own_parameters(positional[leading:], parameters)
        self.rest_types: Types = _types(rest.annotation) if rest is not None else None
        self.has_rest = rest is not None
        of_arguments = (*self.types, self.rest_types, self.function_types, self.metadata_types, self.middle_types)
        self.is_typed = any(admitted is not None for admitted in of_arguments)

    def _read_own_parameters(self, own: list[inspect.Parameter], parameters: list[inspect.Parameter]) -> None:
        """Take over the parameters for the arguments of a call: the positional ones are `own`."""
        keyword_only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self.types: tuple[Types, ...] = tuple(_types(p.annotation) for p in own)
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
        )

    def matches(self, context: Any, function: Any, middle: Any, arguments: tuple[Any, ...], keywords: Any) -> bool:
        """Whether the handler matches this call."""
        count = len(arguments)
        if count > len(self.types) and not self.has_rest:
            return False
        if count < self.required and not keywords.keys() >= set(self.own_names[count : self.required]):
            return False
        if keywords and not self.has_keywords and not self.names.issuperset(keywords):
            return False
        if self.needed_names and not self.needed_names.issubset(keywords):
            return False
        if keywords and not keywords.keys().isdisjoint(self._by_position[:count]):
            return False  # two arguments for the same parameter
        if not self.is_typed:
            return True
        return (
            _is(function, self.function_types)
            and _is(middle, self.middle_types)
            and (self.metadata_types is None or _is(getattr(context, "metadata", None), self.metadata_types))
            and all(_is(argument, self.type_at(index)) for index, argument in enumerate(arguments))
        )

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
        return _types(typing.get_origin(annotation)), _types(arguments[0]) if arguments else None
    return _types(annotation), None


def _types(annotation: Any) -> Types:
    """The types that an annotation admits; None for all."""
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    if annotation is None:
        return (type(None),)
    if type(annotation).__name__ == "TypeAliasType":  # `type X = int | str`
        return _types(annotation.__value__)
    origin = typing.get_origin(annotation)
    types_of = _TYPES_OF.get(id(type(annotation) if origin is None else origin))
    if types_of is not None:
        return types_of(annotation)
    if origin is not None and isinstance(origin, type):
        return (origin,)
    if isinstance(annotation, type):
        isinstance(None, annotation)  # a protocol may refuse, with a TypeError
        return (annotation,)
    raise TypeError(f"an annotation of a hook must be a class, a union or Any, not {annotation!r}")


def _types_of_annotated(annotation: Any) -> Types:
    return _types(annotation.__origin__)


def _types_of_union(annotation: Any) -> Types:
    members = [_types(argument) for argument in typing.get_args(annotation)]
    if any(member is None for member in members):
        return None
    return tuple(item for member in members for item in member or ())


def _types_of_variable(annotation: typing.TypeVar) -> Types:
    return _types(annotation.__bound__) if annotation.__bound__ is not None else None


_TYPES_OF: Final[dict[int, Callable[[Any], Types]]] = {
    id(typing.Annotated): _types_of_annotated,
    id(Union): _types_of_union,
    id(types.UnionType): _types_of_union,
    id(typing.TypeVar): _types_of_variable,
}
"""What reads an annotation, by the identity of its origin, or of its type if it has no origin: classes of the program
may have no hash."""


def _is(value: Any, admitted: Types) -> bool:
    return admitted is None or isinstance(value, admitted)


def _at_least(left: Types, right: Types) -> bool:
    """Whether `left` admits nothing that `right` does not."""
    if right is None:
        return True
    return left is not None and all(issubclass(item, right) for item in left)


def _compare_types(left: Handler, right: Handler, count: int) -> int:
    """1 if the argument types of `left` are more specific, -1 if those of `right` are, 0 if undecided."""
    pairs = [(left.type_at(index), right.type_at(index)) for index in range(count)]
    pairs += [(left.function_types, right.function_types), (left.middle_types, right.middle_types)]
    left_fits = all(_at_least(mine, other) for mine, other in pairs)
    right_fits = all(_at_least(other, mine) for mine, other in pairs)
    if left_fits and right_fits:
        # A named parameter is more specific than `*args`.
        return (left.has_rest < right.has_rest) - (left.has_rest > right.has_rest)
    return left_fits - right_fits


def _compare_contexts(left: Handler, right: Handler) -> int:
    mine = left.context_types or (left.owner,)
    other = right.context_types or (right.owner,)
    left_fits, right_fits = _at_least(mine, other), _at_least(other, mine)
    if left_fits != right_fits:
        return left_fits - right_fits
    left_fits = _at_least(left.metadata_types, right.metadata_types)
    right_fits = _at_least(right.metadata_types, left.metadata_types)
    if left_fits != right_fits:
        return left_fits - right_fits
    if left.owner is not right.owner:
        return issubclass(left.owner, right.owner) - issubclass(right.owner, left.owner)
    return 0


def choose(handlers: list[Handler], count: int) -> Handler | None:
    """The most specific of handlers that all match a call with `count` positional arguments.

    Order: named targets before none; more specific argument types; the more derived context type.
    """
    if len(handlers) < 2:
        return handlers[0] if handlers else None

    def beats(left: Handler, right: Handler) -> int:
        if bool(left.targets) != bool(right.targets):
            return 1 if left.targets else -1
        return _compare_types(left, right, count) or _compare_contexts(left, right)

    best = [one for one in handlers if all(one is other or beats(one, other) > 0 for other in handlers)]
    if best:
        return best[0]
    top = [one for one in handlers if not any(beats(other, one) > 0 for other in handlers)] or handlers
    raise AmbiguousOverload(
        f"both {top[0]!r} and {top[1]!r} match, and neither is more specific: register one for their common types"
    )
