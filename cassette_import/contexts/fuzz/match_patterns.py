"""The patterns of `match` statements as comparisons: what each part of the subject is compared with.

The interpreter compares without an event. So a pass hands the subject to the active context first, with what the
patterns want of its parts.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from cassette_import.rewriting.forms.captures import Way
from cassette_import.specialization.passes import contextslot, nooverdub
from cassette_import.specialization.passes.reflection import Reflection

__all__ = ["TYPES_BY_NAME", "Wanted", "may_match", "with_subjects_shown"]

_MATCH: Final = re.compile(r"^[ \t]*match\b(?![ \t]*[=.,)\]])", re.MULTILINE)

_UNKNOWN: Final = object()

TYPES_BY_NAME: Final[dict[str, type]] = {one.__name__: one for one in (str, bytes, int, float, bool, list, dict)}
"""The types that an input and its parts may have, by their names."""


class Wanted(NamedTuple):
    """What a pattern wants of a part of the subject.

    Attributes
    ----------
    way:
        How the subject leads to the part.
    how:
        `"equal"` to the value, have it as a `"key"`, be of the `"type"` with that name, have so many items (`"size"`),
        or so many and perhaps more (`"least size"`).
    value:
        The value.
    """

    way: Way
    how: str
    value: Any


def may_match(source: str) -> bool:
    """Whether a source text probably has a `match` statement.

    >>> may_match("match command:"), may_match("found = re.match(text)")
    (True, False)
    """
    return _MATCH.search(source) is not None


def with_subjects_shown(context_type: type, reflection: Reflection) -> Any:
    """A pass: the context's method `show_subject` gets the subject of each `match` statement before the patterns do."""
    for node in ast.walk(reflection.tree):
        if isinstance(node, ast.Match):
            resolve = _resolver(reflection.function)
            wanted = tuple(one for case in node.cases for one in _wanted(case.pattern, (), resolve))
            if wanted:
                method = ast.Attribute(contextslot(), "show_subject", ast.Load())
                constant: Any = tuple(map(tuple, wanted))
                shown = ast.Call(method, [node.subject, nooverdub(ast.Constant(constant))], [])
                node.subject = ast.copy_location(shown, node.subject)
    return reflection.tree


Resolve = Callable[[ast.expr], Any]


def _resolver(function: Any) -> Resolve:
    """What an expression of names stands for outside of the function; `_UNKNOWN` if that is not known."""
    try:
        known = inspect.getclosurevars(function)
        names = {**vars(builtins), **function.__globals__, **known.nonlocals}
    except (TypeError, ValueError, AttributeError):
        names = vars(builtins)

    def resolve(expression: ast.expr) -> Any:
        if isinstance(expression, ast.Constant):
            return expression.value
        if isinstance(expression, ast.Name):
            return names.get(expression.id, _UNKNOWN)
        if isinstance(expression, ast.Attribute):
            owner = resolve(expression.value)
            return _UNKNOWN if owner is _UNKNOWN else inspect.getattr_static(owner, expression.attr, _UNKNOWN)
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
            number = resolve(expression.operand)
            return -number if type(number) in (int, float) else _UNKNOWN
        return _UNKNOWN

    return resolve


def _wanted(pattern: ast.pattern | None, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    find = _WANTED_BY_PATTERN.get(type(pattern))  # type: ignore[arg-type]  # other kinds have None
    if find is not None:
        yield from find(pattern, way, resolve)


def _value(pattern: ast.MatchValue, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    value = resolve(pattern.value)
    if type(value) in (str, bytes, int, float):
        yield Wanted(way, "equal", value)


def _singleton(pattern: ast.MatchSingleton, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    yield Wanted(way, "equal", pattern.value)


def _as(pattern: ast.MatchAs, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    return _wanted(pattern.pattern, way, resolve)


def _or(pattern: ast.MatchOr, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    for part in pattern.patterns:
        yield from _wanted(part, way, resolve)


def _sequence(pattern: ast.MatchSequence, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    size = len(pattern.patterns)
    star = next((number for number, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)), size)
    yield Wanted(way, "type", "list")
    yield Wanted(way, "size", size) if star == size else Wanted(way, "least size", size - 1)
    for number, part in enumerate(pattern.patterns):
        yield from _wanted(part, (*way, ("index", number if number < star else number - size)), resolve)


def _mapping(pattern: ast.MatchMapping, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    yield Wanted(way, "type", "dict")
    for key, part in zip(map(resolve, pattern.keys), pattern.patterns, strict=True):
        if type(key) is str:
            yield Wanted(way, "key", key)
            yield from _wanted(part, (*way, ("key", key)), resolve)


def _class(pattern: ast.MatchClass, way: Way, resolve: Resolve) -> Iterator[Wanted]:
    cls = resolve(pattern.cls)
    if cls in TYPES_BY_NAME.values():
        yield Wanted(way, "type", cls.__name__)
    for number, part in enumerate(pattern.patterns):
        yield from _wanted(part, (*way, ("positional", number)), resolve)
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        yield from _wanted(part, (*way, ("name", name)), resolve)


_WANTED_BY_PATTERN: Final[dict[type[ast.pattern], Callable[[Any, Way, Resolve], Iterator[Wanted]]]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchAs: _as,
    ast.MatchOr: _or,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}
