"""Desired values of the arguments of comparisons: those that would change what the function returns.

Each is for one argument.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, Final, NamedTuple

__all__ = [
    "COMPARISONS",
    "LOOK_UPS",
    "DesiredValue",
    "desired_values",
    "examples",
    "has_least_size",
    "has_size",
    "shared_start",
]

# ---- texts that a regular expression matches: a few short ones, from its parsed form
#
# A text may fail to match where the expression looks around or back, so callers try it.

_MOST_PATTERNS: Final = 8
"""How many texts there are at most for an expression and for each of its parts."""

_CLASSES: Final = {
    "CATEGORY_DIGIT": "0", "CATEGORY_NOT_DIGIT": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_WORD": "a", "CATEGORY_NOT_WORD": "-",
}  # fmt: skip
_ANYTHING: Final = "a0-\n"


def examples(pattern: re.Pattern[Any]) -> list[Any]:
    """Texts, or bytes, that a compiled expression probably matches; the shortest ones first.

    >>> examples(re.compile(r"(GET|PUT) /\\d+"))
    ['GET /0', 'PUT /0', 'GET /00', 'PUT /00']
    """
    parser: Any = re._parser  # type: ignore[attr-defined]  # private
    texts = _sequence(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    is_bytes = isinstance(pattern.pattern, bytes)
    return [text.encode("latin-1", "replace") if is_bytes else text for text in texts]


def _sequence(parts: Iterable[tuple[Any, Any]]) -> list[str]:
    found = [""]
    for operation, argument in parts:
        handler = _HANDLERS.get(str(operation), _nothing)
        options = handler(argument)
        found = [before + option for option in options for before in found][:_MOST_PATTERNS]
    return found


def _nothing(_: Any) -> list[str]:
    return [""]


def _repeated(argument: tuple[int, Any, Any]) -> list[str]:
    least, most, part = argument
    texts = _sequence(part)
    counts = dict.fromkeys(min(count, int(most)) for count in (least, least + 1))
    return [text * count for count in counts for text in (texts if count else [""])][:_MOST_PATTERNS]


def _branch(argument: tuple[Any, Sequence[Any]]) -> list[str]:
    return [text for part in argument[1] for text in _sequence(part)][:_MOST_PATTERNS]


def _one_of(items: Sequence[tuple[Any, Any]]) -> list[str]:
    found: list[str] = []
    is_negated = bool(items) and str(items[0][0]) == "NEGATE"
    for operation, argument in items:
        if str(operation) == "LITERAL":
            found.append(chr(argument))
        elif str(operation) == "RANGE":
            found += [chr(argument[0])] if not is_negated else map(chr, range(argument[0], min(argument[1], 255) + 1))
        elif str(operation) == "CATEGORY":
            found.append(_CLASSES.get(str(argument), "a"))
    if is_negated:
        return [next((one for one in _ANYTHING if one not in found), "~")]
    return found[:_MOST_PATTERNS] or [""]


_HANDLERS: Final[dict[str, Callable[[Any], list[str]]]] = {
    "LITERAL": lambda code: [chr(code)],
    "NOT_LITERAL": lambda code: ["a" if code != ord("a") else "b"],
    "ANY": lambda _: ["a"],
    "IN": _one_of,
    "BRANCH": _branch,
    "SUBPATTERN": lambda argument: _sequence(argument[-1]),
    "ATOMIC_GROUP": _sequence,
    "MAX_REPEAT": _repeated,
    "MIN_REPEAT": _repeated,
    "POSSESSIVE_REPEAT": _repeated,
}


# ---- desired values of the arguments of comparisons: those that would change what the function returns

_MOST: Final = 48
"""How many items of a large container are desired values."""


class DesiredValue(NamedTuple):
    """What an argument should be.

    Attributes
    ----------
    number:
        The number of the argument.
    how:
        `"be"` the value, `"begin"` or `"end"` with it, `"contain"` it, have it as a `"key"`, have so many items
        (`"size"`), or be `"longer"`.
    value:
        The value.
    start:
        Where a text is to begin with the value or to contain it, as the second argument of `startswith` says.
    """

    number: int
    how: str
    value: Any = None
    start: int = 0


Rule = Callable[[tuple[Any, ...]], Iterator[DesiredValue]]


def _equal(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    left, right = arguments[:2]
    yield DesiredValue(0, "be", right)
    yield DesiredValue(1, "be", left)


def _ordered(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    for index, other in ((0, arguments[1]), (1, arguments[0])):
        yield DesiredValue(index, "be", other)
        if isinstance(other, (int, float)):
            yield DesiredValue(index, "be", other + 1)
            yield DesiredValue(index, "be", other - 1)
            if isinstance(other, float):
                yield DesiredValue(index, "be", math.nextafter(other, math.inf))
                yield DesiredValue(index, "be", math.nextafter(other, -math.inf))
        elif isinstance(other, str) and len(other) == 1:
            yield DesiredValue(index, "be", chr(min(ord(other) + 1, 0x10FFFF)))
            yield DesiredValue(index, "be", chr(max(ord(other) - 1, 0)))


def _contains(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    container, item = arguments[:2]
    if isinstance(container, (str, bytes)):
        yield DesiredValue(0, "contain", item)
        for character in container[:_MOST] if isinstance(container, str) else ():
            yield DesiredValue(1, "be", character)
        yield DesiredValue(1, "be", container)
        return
    yield DesiredValue(0, "key", item)
    for one in _items(container):
        yield DesiredValue(1, "be", one)


def _looked_up(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    container, key = arguments[:2]
    if isinstance(container, (str, bytes, list, tuple)):
        if isinstance(key, int):
            yield DesiredValue(0, "longer")
        return
    yield DesiredValue(0, "key", key)
    for one in _items(container):
        yield DesiredValue(1, "be", one)


def _items(container: Any) -> list[Any]:
    """The items of a container, or its keys, in an order that is the same in each process."""
    if not isinstance(container, (list, tuple, set, frozenset, dict)):
        return []
    found = list(container) if isinstance(container, (set, frozenset)) else list(container)[: 10 * _MOST]
    plain = [one for one in found if isinstance(one, (str, bytes, int, float))]
    return (sorted(plain, key=repr) if isinstance(container, (set, frozenset)) else plain)[:_MOST]


_EXAMPLE_OF_TYPE: Final[dict[type, Any]] = {str: "a", bytes: b"a", int: 1, float: 0.5, list: [], dict: {}, bool: True}
"""A value of each type that a leaf of an input may have."""


def _instance(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    value, types = arguments[:2]
    for one in types if isinstance(types, tuple) else (types,):
        if isinstance(one, type) and not isinstance(value, one):
            yield from (DesiredValue(0, "be", made) for made in _EXAMPLE_OF_TYPE.values() if isinstance(made, one))


def shared_start(one: Any, other: Any) -> int:
    """How many characters or bytes two texts have in common at their beginning.

    >>> shared_start("visit_Name", "visit_Num")
    7
    """
    size = min(len(one), len(other))
    return next((place for place in range(size) if one[place] != other[place]), size)


def _attribute(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    """`getattr(self, "visit_" + name)`: the other names that begin like this one."""
    owner, name = arguments[:2]
    if isinstance(name, str):
        names = sorted(dir(owner if isinstance(owner, (type, ModuleType)) else type(owner)))
        shared = max((shared_start(name, one) for one in names if one != name), default=0)
        found = [one for one in names if one != name and shared_start(name, one) >= max(1, shared - 1)]
        yield from (DesiredValue(1, "be", one) for one in found[:_MOST])


def has_size(items: Any, size: int) -> bool:
    """Whether a list has so many items: what a sequence pattern of `match` compares.

    >>> has_size([1, 2], 2)
    True
    """
    return len(items) == size


def has_least_size(items: Any, size: int) -> bool:
    """Whether a list has so many items or more: what a sequence pattern with a star compares.

    >>> has_least_size([1, 2], 1)
    True
    """
    return len(items) >= size


def _size(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    yield DesiredValue(0, "size", arguments[1])


def _least_size(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    """The least number of items, and one more: the name behind the star has an item then."""
    items, size = arguments[:2]
    if len(items) < size:
        yield DesiredValue(0, "size", size)
    yield DesiredValue(0, "size", max(len(items), size) + 1)


def _start(arguments: tuple[Any, ...]) -> int:
    """The third argument of `str.startswith`, `str.find`, `re.Pattern.match` and others: where they look."""
    return arguments[2] if len(arguments) > 2 and type(arguments[2]) is int and arguments[2] > 0 else 0


def _text(how: str, has_start: bool) -> Rule:
    """Methods of texts whose argument is a text, or several ones in a tuple."""

    def rule(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
        if len(arguments) > 1:
            start = _start(arguments) if has_start else 0
            for one in arguments[1] if isinstance(arguments[1], tuple) else (arguments[1],):
                yield DesiredValue(0, how, one, start)
            if not isinstance(arguments[1], tuple):
                yield DesiredValue(1, "be", arguments[0])

    return rule


def _like(*texts: str) -> Rule:
    """Functions of one text that is of some kind."""

    def rule(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
        for text in texts:
            yield DesiredValue(0, "be", text)

    return rule


def _matched(how: str, has_start: bool) -> Rule:
    def rule(arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
        pattern = arguments[0]
        try:
            for text in examples(pattern if isinstance(pattern, re.Pattern) else re.compile(pattern)):
                yield DesiredValue(1, how, text, _start(arguments) if has_start else 0)
        except (re.error, TypeError, RecursionError, OverflowError):
            return

    return rule


def _table() -> dict[Any, Rule]:
    found: dict[Any, Rule] = {operator.eq: _equal, operator.ne: _equal, operator.is_: _equal}
    found |= {getattr(operator, name): _ordered for name in ("lt", "le", "gt", "ge")}
    found |= {operator.contains: _contains, operator.getitem: _looked_up, isinstance: _instance, has_size: _size}
    found[has_least_size] = _least_size
    found |= {getattr: _attribute, hasattr: _attribute}
    found |= {int: _like("0", "-1", "99999999999"), float: _like("0", "1.5", "-1e9", "nan", "inf")}
    hows = {"startswith": "begin", "removeprefix": "begin", "endswith": "end", "removesuffix": "end"}
    inside = ("find", "rfind", "index", "rindex", "count", "split", "rsplit", "partition", "rpartition", "replace")
    hows |= dict.fromkeys((*inside, "strip", "lstrip", "rstrip"), "contain")
    with_start = ("startswith", "find", "rfind", "index", "rindex", "count")
    kinds = {
        "isdigit": ("0",), "isdecimal": ("0",), "isnumeric": ("0",), "isalpha": ("a",), "isalnum": ("a", "0"),
        "isspace": (" ", "\n"), "isupper": ("A",), "islower": ("a",), "isidentifier": ("a", "_"), "istitle": ("A",),
        "isascii": ("a", "é"), "isprintable": ("a", "\0"),
    }  # fmt: skip
    for owner in (str, bytes):
        found |= {getattr(owner, name): _text(how, name in with_start) for name, how in hows.items()}
        found |= {getattr(owner, name): _like(*texts) for name, texts in kinds.items() if hasattr(owner, name)}
    return found


COMPARISONS: Final = _table()
"""The functions whose calls are noted when they have returned or raised, each with its rule."""

_PATTERNS: Final[dict[Any, Rule]] = {
    **dict.fromkeys((re.match, re.fullmatch), _matched("begin", False)),
    **dict.fromkeys((re.Pattern.match, re.Pattern.fullmatch), _matched("begin", True)),
    **dict.fromkeys((re.search, re.findall, re.finditer, re.split, re.sub), _matched("contain", False)),
    **dict.fromkeys((re.Pattern.search, re.Pattern.findall, re.Pattern.finditer), _matched("contain", True)),
    **dict.fromkeys((re.Pattern.split, re.Pattern.sub), _matched("contain", False)),
}
_RULES_OF_LOOK_UPS: Final[dict[Any, Rule]] = {
    **dict.fromkeys((dict.get, dict.pop, dict.setdefault), _looked_up),
    **{f: rule for f, rule in _PATTERNS.items() if f not in (re.sub, re.Pattern.sub)},
}

LOOK_UPS: Final = tuple(_RULES_OF_LOOK_UPS)
"""The functions whose calls are noted before they run: they may return None, which tells nothing."""


def desired_values(function: Any, arguments: tuple[Any, ...]) -> Iterator[DesiredValue]:
    """The desired values of the arguments of a call. They depend on its arguments, not on what it returned."""
    rule = COMPARISONS.get(function) or _RULES_OF_LOOK_UPS.get(function)
    if rule is not None and arguments:
        yield from rule(arguments)
