"""What the patterns of a `match` statement capture and test, and the ways from the subject to it.

A way is a tuple of steps: `("index", 0)` is the first item, `("rest", 1, 2)` the items but for one at the start and
two at the end, `("key", "a")` the value of a key, `("others", "a")` the values of all other keys, `("name", "x")` an
attribute, `("positional", 0)` the attribute that `__match_args__` names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

Way = tuple[tuple[Any, ...], ...]
Captures = dict[str, list[Way]]


def captures_of(pattern: ast.pattern) -> Captures:
    """The names that a pattern binds, each with the ways to its value: the alternatives of `|` have one each."""
    found: Captures = {}
    _add(pattern, (), found)
    found.pop(_TESTED, None)
    return found


_TESTED: Final = "a test"
"""In place of a name, for the parts that are tested."""

Test = tuple[Way, str, Any]
"""The way to a part, and how it is tested: whether it is `"equal"` to a constant, or to a `"value"` that has a name; by
its `"identity"` with a constant; by its `"type"`; by items of a mapping whose `"keys"` have names."""


def tests_in(pattern: ast.pattern) -> list[Test]:
    """All that a pattern tests. Python ends with the first test that fails."""
    found: Captures = {}
    _add(pattern, (), found)
    tests: list[Any] = found.get(_TESTED, [])
    return tests


def _add(pattern: ast.pattern | None, way: Way, found: Captures) -> None:
    add = _KINDS.get(type(pattern))  # type: ignore[arg-type]  # other kinds have None
    if add is not None:
        add(pattern, way, found)


def _test(way: Way, found: Captures, kind: str, constant: Any = None) -> None:
    tests: list[Any] = found.setdefault(_TESTED, [])
    tests.append((way, kind, constant))


def _bind(name: str | None, way: Way, found: Captures) -> None:
    if name is not None:
        found.setdefault(name, []).append(way)


def _value(pattern: ast.MatchValue, way: Way, found: Captures) -> None:
    if isinstance(pattern.value, ast.Attribute):
        _test(way, found, "value")
    else:
        _test(way, found, "equal", ast.literal_eval(pattern.value))


def _singleton(pattern: ast.MatchSingleton, way: Way, found: Captures) -> None:
    _test(way, found, "identity", pattern.value)


def _as(pattern: ast.MatchAs, way: Way, found: Captures) -> None:
    _bind(pattern.name, way, found)
    _add(pattern.pattern, way, found)


def _or(pattern: ast.MatchOr, way: Way, found: Captures) -> None:
    for part in pattern.patterns:
        _add(part, way, found)


def _sequence(pattern: ast.MatchSequence, way: Way, found: Captures) -> None:
    _test(way, found, "type")
    parts, size = pattern.patterns, len(pattern.patterns)
    star = next((number for number, part in enumerate(parts) if isinstance(part, ast.MatchStar)), size)
    for number, part in enumerate(parts):
        if isinstance(part, ast.MatchStar):
            _bind(part.name, (*way, ("rest", number, size - number - 1)), found)
        else:
            _add(part, (*way, ("index", number if number < star else number - size)), found)


def _mapping(pattern: ast.MatchMapping, way: Way, found: Captures) -> None:
    _test(way, found, "type")
    keys = [key.value if isinstance(key, ast.Constant) else None for key in pattern.keys]
    if None in keys:
        _test(way, found, "keys")
    for key, part in zip(keys, pattern.patterns, strict=True):
        if key is not None:
            _add(part, (*way, ("key", key)), found)
    _bind(pattern.rest, (*way, ("others",)), found)


def _class(pattern: ast.MatchClass, way: Way, found: Captures) -> None:
    _test(way, found, "type")
    for number, part in enumerate(pattern.patterns):
        _add(part, (*way, ("positional", number)), found)
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        _add(part, (*way, ("name", name)), found)


_KINDS: Final[dict[type[ast.pattern], Callable[[Any, Way, Captures], None]]] = {
    ast.MatchAs: _as,
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchOr: _or,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}


def is_irrefutable(case: ast.match_case) -> bool:
    """Whether a case matches every subject: Python allows it as the last one only."""
    pattern: ast.pattern = case.pattern
    while isinstance(pattern, ast.MatchOr):
        pattern = pattern.patterns[-1]
    while isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        pattern = pattern.pattern
    return case.guard is None and isinstance(pattern, ast.MatchAs)
