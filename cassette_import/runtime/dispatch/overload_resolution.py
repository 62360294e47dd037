"""Overload resolution: which calls a handler matches, and which of several matching handlers is the most specific."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from cassette_import.errors import AmbiguousOverload
from cassette_import.runtime.dispatch.hook_annotations import Types, Variables, admits, admitted_by, at_least
from cassette_import.runtime.dispatch.hook_functions import LEADING, positional_only


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


def _compareadmitted_by(left: Handler, right: Handler, count: int) -> int:
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
        return _compareadmitted_by(left, right, count) or _compare_contexts(left, right)

    best = [one for one in handlers if all(one is other or beats(one, other) > 0 for other in handlers)]
    if best:
        return best[0]
    top = [one for one in handlers if not any(beats(other, one) > 0 for other in handlers)] or handlers
    raise AmbiguousOverload(
        f"both {top[0]!r} and {top[1]!r} match, and neither is more specific: register one for their common types"
    )
