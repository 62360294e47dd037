"""Texts that a regular expression matches: a few short ones, from its parsed form.

A text may fail to match where the expression looks around or back, so callers try it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

__all__ = ["examples"]

_MOST: Final = 8
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
        found = [before + option for option in options for before in found][:_MOST]
    return found


def _nothing(_: Any) -> list[str]:
    return [""]


def _repeated(argument: tuple[int, Any, Any]) -> list[str]:
    least, most, part = argument
    texts = _sequence(part)
    counts = dict.fromkeys(min(count, int(most)) for count in (least, least + 1))
    return [text * count for count in counts for text in (texts if count else [""])][:_MOST]


def _branch(argument: tuple[Any, Sequence[Any]]) -> list[str]:
    return [text for part in argument[1] for text in _sequence(part)][:_MOST]


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
    return found[:_MOST] or [""]


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
