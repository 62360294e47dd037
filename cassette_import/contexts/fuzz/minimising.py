"""Smaller inputs that still show a finding: parts are left out, then what is left is made plain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cassette_import.contexts.fuzz.inputs import Edit, applied, leaves

__all__ = ["minimised"]


def minimised(value: Any, shown: Callable[[Any], Any], most: int) -> Any:
    """A smaller input with the same finding.

    Parameters
    ----------
    value:
        The input.
    shown:
        Returns the input, or one much like it, if that shows the finding; otherwise None.
    most:
        How often `shown` may be called.

    Returns
    -------
    The smallest input that was found; the input itself if there is none.

    >>> minimised("some 42 text", lambda text: text if "4" in text else None, 100)
    '4'
    """
    left, step, improved = most, 0, False
    while left > 0:
        for number, candidate in enumerate(_candidates(value)):
            if number < step:
                continue
            if left <= 0:
                return value
            left -= 1
            found = shown(candidate)
            if found is not None:
                value, step, improved = found, number, True
                break
        else:
            if not improved:
                return value
            step, improved = 0, False
    return value


def _candidates(value: Any) -> Iterator[Any]:
    """Inputs that are smaller or plainer, the smallest ones first."""
    for path, part in leaves(value):
        for new in _smaller(part):
            yield new if not path else applied(value, Edit(path, None, None, new))


def _smaller(part: Any) -> Iterator[Any]:
    if type(part) in (str, bytes):
        yield from _shorter(part)
        yield from _plainer(part)
    elif type(part) is list:
        yield from _shorter(part)
    elif type(part) is dict:
        for key in part:
            yield {other: item for other, item in part.items() if other != key}
    elif type(part) in (int, float):
        yield from (new for new in (type(part)(0), type(part)(1), _half(part)) if abs(new) < abs(part))


def _half(number: Any) -> Any:
    try:
        return (
            type(number)(int(number / 2))
            if type(number) is float
            else int(abs(number) // 2) * (1 if number > 0 else -1)
        )
    except (OverflowError, ValueError):
        return type(number)(1)


def _shorter(part: Any) -> Iterator[Any]:
    size = len(part)
    while size:
        for start in range(0, len(part), size):
            yield part[:start] + part[start + size :]
        size //= 2


def _plainer(text: Any) -> Iterator[Any]:
    """The text with one character made plain, each in its turn."""
    plain = ("0", "a") if type(text) is str else (b"0", b"a")
    for place in range(min(len(text), 100)):
        for one in plain:
            if text[place : place + 1] not in plain[: plain.index(one) + 1]:
                yield text[:place] + one + text[place + 1 :]
