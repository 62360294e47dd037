"""The calls by which a program writes a report: `print`, files, writers of `csv`, and what writes to these.

Each overload makes the call, and records what was written with its cells. The program's own `__str__` runs once, where
it runs without the context.
"""

from __future__ import annotations

import csv
import io
import json
import pathlib
import pprint
from collections.abc import Iterator
from typing import Any, Final

from cassette_import.activation.tagging import allmetadata, tag
from cassette_import.activation.verbs import fallback, recurse
from cassette_import.contexts.provenance.context import Origin, Piece, Provenance, Shown, runs_no_code, shown
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.tagging import iterate_outside, plain

__all__ = ["register"]

_WRITER: Final = type(csv.writer(io.StringIO()))


class _Part:
    """A value that is written: what is passed on in its place, and its text with its pieces once that was written."""

    __slots__ = ("_context", "_value", "passed")

    def __init__(self, context: Any, value: Any, is_text: bool) -> None:
        self._context = context
        self._value = value
        self.passed = value
        if is_text or runs_no_code(plain(value)):
            return
        self.passed = shown(value, context)
        parents = tuple(allmetadata(context, value))
        if parents:
            self.passed = tag(self.passed, context, Origin(parents))

    def written(self) -> tuple[str, tuple[Piece, ...]]:
        passed = plain(self.passed)
        if isinstance(passed, Shown):
            text: str = plain(passed.text)
            pieces = self._context.pieces_of(self._value, text)
            return text, pieces or self._context.pieces_of(passed.text, text)
        text = str.__str__(passed) if isinstance(passed, str) else str(passed)
        return text, self._context.pieces_of(self._value, text)


# ---- texts


@hidden
def _print(ctx: Any, f: Any, *values: Any, **keywords: Any) -> Any:
    parts = [_Part(ctx, value, is_text=False) for value in values]
    result = fallback(ctx, f, *[part.passed for part in parts], **keywords)
    between, end = (_Part(ctx, keywords.get(name), is_text=True) for name in ("sep", "end"))
    separator = (" ", ()) if plain(between.passed) is None else between.written()
    texts = [text for part in parts for text in (separator, part.written())][1:]
    if plain(end.passed) is not None and end.written()[1]:
        texts.append(end.written())
    ctx.record(texts)
    return result


@hidden
def _write(ctx: Any, f: Any, file: Any, text: Any, *more: Any, **keywords: Any) -> Any:
    result = fallback(ctx, f, file, text, *more, **keywords)
    ctx.record([_Part(ctx, text, is_text=True).written()])
    return result


@hidden
def _writelines(ctx: Any, f: Any, file: Any, lines: Any, *more: Any, **keywords: Any) -> Any:
    if isinstance(plain(file), io.TextIOWrapper):
        lines = _RecordedLines(ctx, iterate_outside(lines))
    return fallback(ctx, f, file, lines, *more, **keywords)


class _Collecting:
    """The file of a call that writes a text in many pieces: it collects them."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.written: list[str] = []

    @hidden
    def write(self, text: str) -> Any:
        written = self._file.write(text)
        self.written.append(text)
        return written


@hidden
def _dump(ctx: Any, f: Any, obj: Any, fp: Any, *more: Any, **keywords: Any) -> Any:
    if not isinstance(plain(fp), io.TextIOWrapper):
        return fallback(ctx, f, obj, fp, *more, **keywords)
    file = _Collecting(plain(fp))
    result = fallback(ctx, f, obj, file, *more, **keywords)
    text = "".join(file.written)
    parents = tuple(allmetadata(ctx, obj))
    ctx.record([(text, ((0, len(text), Origin(parents)),) if parents else ())])
    return result


class _RecordedLines:
    """The lines that a program writes: each is recorded when it is passed on."""

    def __init__(self, context: Any, lines: Iterator[Any]) -> None:
        self._context = context
        self._lines = lines

    def __iter__(self) -> Iterator[Any]:
        return self

    @hidden
    def __next__(self) -> Any:
        line = next(self._lines)
        if isinstance(plain(line), str):
            self._context.record([_Part(self._context, line, is_text=True).written()])
        return plain(line)


# ---- tables


@hidden
def _writerow(ctx: Any, f: Any, writer: Any, row: Any, *more: Any, **keywords: Any) -> Any:
    if not _is_iterable(row):
        return fallback(ctx, f, writer, row, *more, **keywords)
    passed = _PassedRow(ctx, row)
    result = fallback(ctx, f, writer, passed, *more, **keywords)
    passed.record()
    return result


@hidden
def _writerows(ctx: Any, f: Any, writer: Any, rows: Any, *more: Any, **keywords: Any) -> Any:
    if not _is_iterable(rows):
        return fallback(ctx, f, writer, rows, *more, **keywords)
    return fallback(ctx, f, writer, _PassedRows(ctx, rows), *more, **keywords)


class _PassedRow:
    """The items of a row, as they are passed on to a writer."""

    @hidden
    def __init__(self, context: Any, row: Any) -> None:
        self._context = context
        self._items = iterate_outside(row)
        self._parts: list[_Part] = []

    def __iter__(self) -> Iterator[Any]:
        return self

    @hidden
    def __next__(self) -> Any:
        item = next(self._items)
        self._parts.append(_Part(self._context, item, is_text=isinstance(plain(item), str)))
        return plain(self._parts[-1].passed)

    def record(self) -> None:
        """Record the row, which was written."""
        written = [("", ()) if plain(part.passed) is None else part.written() for part in self._parts]
        self._context.record([text for one in written for text in ((",", ()), one)][1:])


class _PassedRows:
    """The rows of a table, as they are passed on to a writer. Each is recorded when the next one is asked for."""

    @hidden
    def __init__(self, context: Any, rows: Any) -> None:
        self._context = context
        self._rows = iterate_outside(rows)
        self._last: _PassedRow | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    @hidden
    def __next__(self) -> Any:
        if self._last is not None:
            self._last.record()
            self._last = None
        row = next(self._rows)
        if not _is_iterable(row):
            return plain(row)
        self._last = _PassedRow(self._context, row)
        return self._last


def _is_iterable(value: Any) -> bool:
    kind = type(plain(value))
    return getattr(kind, "__iter__", None) is not None or hasattr(kind, "__getitem__")


# ---- functions of the standard library that write by one of these calls


@hidden
def _within(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    return recurse(ctx, f, *arguments, **keywords)


_WRITING: Final = {
    _print: (print,),
    _write: (io.TextIOWrapper.write,),
    _writelines: (io.TextIOWrapper.writelines,),
    _writerow: (_WRITER.writerow,),
    _writerows: (_WRITER.writerows,),
    _dump: (json.dump,),
    _within: (
        csv.DictWriter.writerow,
        csv.DictWriter.writerows,
        csv.DictWriter.writeheader,
        *(vars(kind)["write_text"] for kind in pathlib.Path.__mro__ if "write_text" in vars(kind)),  # 3.13: two classes
        pprint.pprint,
        pprint.pp,
    ),
}
"""The overloads, with the functions for which each is registered."""


def register(context_type: type[Provenance]) -> None:
    """Register the overloads."""
    for overload, functions in _WRITING.items():
        # The last one twice: `register` would take a single Python function for the overload itself.
        context_type.overdub.register(*functions, functions[-1])(overload)
