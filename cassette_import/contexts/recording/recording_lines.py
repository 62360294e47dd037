"""The format of the lines of a recording, so that a damaged or wrongly edited line is found when it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["check"]

_Check: TypeAlias = Callable[[Any], bool]


def check(line: Mapping[str, Any]) -> None:
    """Raise a ValueError that names a key whose value is not of the right kind.

    >>> check({"call": 1, "lane": 0, "what": ["call", "time.time"], "arguments": [[], []], "site": ["x.py", 1, "f"]})
    >>> check({"lane": 1, "kind": "thread", "origin": "main"})
    Traceback (most recent call last):
        ...
    ValueError: origin cannot be 'main'
    """
    for key, is_valid in _CHECKS.items():
        if key in line and not is_valid(line[key]):
            raise ValueError(f"{key} cannot be {str(line[key])[:60]!r}")
    if "environment" in line and not _is_variable(line["value"]):
        raise ValueError(f"a variable cannot be {str(line['value'])[:60]!r}")


def _is_number(value: Any) -> bool:
    return type(value) is int


def _is_text(value: Any) -> bool:
    return type(value) is str


def _all(is_valid: _Check) -> _Check:
    return lambda value: type(value) is list and all(map(is_valid, value))


def _each(*checks: _Check) -> _Check:
    return lambda value: (
        type(value) is list and len(value) == len(checks) and all(map(lambda one, item: one(item), checks, value))
    )


def _is_what(value: Any) -> bool:
    return _each(_is_text, _is_text)(value) or _each(_is_text, _is_text, _is_number)(value)


def _is_anything(value: Any) -> bool:
    return True


def _is_variable(value: Any) -> bool:
    return value is None or _is_text(value) or _texts(value)


def _is_request(value: Any) -> bool:
    return type(value) is dict and _is_text(value.get("method")) and _is_text(value.get("uri"))


def _is_error(value: Any) -> bool:
    return type(value) is dict and _is_text(value.get("class"))


def _is_filter(value: Any) -> bool:
    return _is_text(value) or _each(_is_text, lambda replacement: replacement is None or _is_text(replacement))(value)


_texts: Final = _all(_is_text)

_CHECKS: Final[dict[str, _Check]] = {
    "call": _is_number,
    "end": _is_number,
    "lane": _is_number,
    "what": _is_what,
    "arguments": _each(_all(_is_anything), _all(_each(_is_text, _is_anything))),
    "site": _each(_is_text, _is_number, _is_text),
    "changed": _all(lambda value: type(value) is list and len(value) in (2, 3)),
    "error": _is_error,
    "kind": _is_text,
    "origin": _all(_is_number),
    "event loop": _is_number,
    "arrival": lambda value: type(value) is list and len(value) > 0 and _is_text(value[0]),
    "step": _each(_is_number, _is_number),
    "class": _is_number,
    "name": lambda value: _is_text(value) and ":" in value,
    "methods": _texts,
    "special": _texts,
    "environment": _is_text,
    "finished": _is_number,
    "running": _all(_all(_is_number)),
    "request": _is_request,
    "filtered": lambda value: type(value) is bool,
    "no coroutine": lambda value: type(value) is bool,
    "extended": _is_number,
    "match_on": _texts,
    "filter_headers": _all(_is_filter),
    "filter_query_parameters": _all(_is_filter),
    "filter_post_data_parameters": _all(_is_filter),
    "ignore_hosts": _texts,
    "ignore_localhost": lambda value: type(value) is bool,
    "boundary": _texts,
    "mask": _texts,
    "without": _texts,
    "argv": lambda value: _texts(value) and len(value) > 0 and not any("\0" in text for text in value),
    "folder": _is_text,
    "packages": _texts,
    "exclude": _texts,
    "program": _is_text,
    "test": _is_text,
    "python": _is_text,
    "hash seed": lambda value: value is None or _is_text(value),
}
