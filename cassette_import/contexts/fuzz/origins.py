"""Which part of an input a value was computed from: the metadata of the tagged run.

An origin is a tuple of spans. A span is a part of one leaf; where the program cuts a text, its span is cut too.
"""

from __future__ import annotations

import io
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from cassette_import.contexts.fuzz.inputs import Path

__all__ = ["Origin", "PartsOfResult", "Span", "merged", "origin_of_result"]

_MOST: Final = 4
"""An origin has at most so many spans; of more, those of one leaf become one."""

_TEXTS: Final = (str, bytes)
_FILES: Final = (io.BytesIO, io.StringIO)


class Span(NamedTuple):
    """A part of a leaf; of a number, the whole leaf."""

    path: Path
    start: int
    end: int


Origin = tuple[Span, ...]


def merged(spans: Iterable[Span]) -> Origin:
    """An origin with spans that touch made one."""
    found: list[Span] = []
    for span in sorted(set(spans), key=_order):
        last = found[-1] if found else None
        touches = last is not None and last.path == span.path and span.start <= last.end
        if touches and span.start < span.end:  # an empty one is a place where something is to be inserted
            found[-1] = found[-1]._replace(end=max(found[-1].end, span.end))
        else:
            found.append(span)
    if len(found) <= _MOST:
        return tuple(found)
    hulls: dict[Path, Span] = {}
    for span in found:
        known = hulls.setdefault(span.path, span)
        hulls[span.path] = known._replace(end=max(known.end, span.end))
    return tuple(hulls.values())[:_MOST]


def _order(span: Span) -> tuple[Any, ...]:
    return tuple(map(str, span.path)), span.start, span.end


def origin_of_result(f: Any, value: Any, arguments: Sequence[Any], origins: Sequence[Origin]) -> Origin:
    """The origin of what a function returned.

    Parameters
    ----------
    f, value:
        The function and its result.
    arguments, origins:
        The arguments, and the origin of each one; () if it has none.
    """
    first = arguments[0] if arguments else None
    if origins and len(origins[0]) == 1:
        cut = _cut(f, first, arguments[1] if len(arguments) > 1 else 0, origins[0][0])
        if cut is not None:
            return cut
    whole = merged(span for origin in origins for span in origin)
    if type(first) in _FILES and type(value) in _TEXTS and len(origins[0]) == 1:
        return _read(first, value, origins)
    if type(value) in _TEXTS and value and len(whole) == 1:
        return _narrowed(
            value, whole[0], [argument for argument, origin in zip(arguments, origins, strict=True) if origin]
        )
    return whole


def _read(file: Any, value: Any, origins: Sequence[Origin]) -> Origin:
    """The origin of what was read of a file in memory: the part before its position, and what its size came from."""
    try:
        size = file.getbuffer().nbytes if type(file) is io.BytesIO else len(file.getvalue())
        end = file.tell()
    except ValueError:  # it was closed
        return origins[0]
    span = origins[0][0]
    if size != span.end - span.start or not len(value) <= end <= size:
        return origins[0]
    part = Span(span.path, span.start + end - len(value), span.start + end)
    return merged([part, *(one for origin in origins[1:] for one in origin)])


def _cut(f: Any, source: Any, key: Any, span: Span) -> Origin | None:
    """The origin of a part that is chosen by an index, a slice or the number of a group; None if it is not known."""
    start: int
    end: int
    if type(source) is re.Match and type(key) is int and f in (re.Match.group, re.Match.__getitem__, operator.getitem):
        start, end = source.span(key)
        return _part(source.string, span, start, end) if start >= 0 else None
    if type(source) not in _TEXTS or f is not operator.getitem:
        return None
    if type(key) is int:
        place = key + len(source) if key < 0 else key
        return _part(source, span, place, place + 1) if 0 <= place < len(source) else None
    if type(key) is slice and key.step in (None, 1):
        start, end, _ = key.indices(len(source))
        return _part(source, span, start, max(start, end))
    return None


def _part(source: Any, span: Span, start: int, end: int) -> Origin | None:
    """A part of a span, if the text has one character for each of the span's."""
    if len(source) != span.end - span.start:
        return None
    return (Span(span.path, span.start + start, span.start + end),)


def _narrowed(value: Any, span: Span, sources: Sequence[Any]) -> Origin:
    """The span of a text within the only text that it was made of, if it occurs there once."""
    for source in sources:
        if type(source) is type(value) and len(source) == span.end - span.start:
            place = source.find(value)
            if place >= 0 and source.find(value, place + 1) < 0:
                return (Span(span.path, span.start + place, span.start + place + len(value)),)
    return (span,)


class PartsOfResult:
    """The origins of the parts of a list, tuple or dict that a function returned, each found behind the one before.

    Parameters
    ----------
    arguments, origins:
        The arguments of the function, and the origin of each one.
    """

    def __init__(self, arguments: Sequence[Any], origins: Sequence[Origin]) -> None:
        self._whole = merged(span for origin in origins for span in origin)
        self._source: Any = None
        self._place = 0
        for argument, origin in zip(arguments, origins, strict=True):
            if origin:
                text = argument.string if type(argument) is re.Match else argument
                fits = len(origin) == 1 and type(text) in _TEXTS and len(text) == origin[0].end - origin[0].start
                self._source = text if fits and self._source is None and len(self._whole) == 1 else None

    def origin(self, part: Any) -> Origin:
        """The origin of the next part."""
        text = part if type(part) in _TEXTS else repr(part)
        if self._source is None or type(text) is not type(self._source) or not text:
            return self._whole
        place = self._source.find(text, self._place)
        if place < 0:
            return self._whole
        self._place = place + len(text)
        span = self._whole[0]
        return (Span(span.path, span.start + place, span.start + self._place),)
