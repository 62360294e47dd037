"""The context `Provenance`: finds the cells of the input from which each number of a report was computed.

Cells are tagged where `csv` reads them. The metadata of a computed value refers to that of its operands.
"""

from __future__ import annotations

import csv
import itertools
import json
import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from threading import Lock
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.activation.context import Context
from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata, tag
from cassette_import.activation.verbs import fallback, recurse
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagging import Tagged, own_store, plain, tag_of
from cassette_import.rewriting import primitives

__all__ = ["Cell", "Line", "Origin", "Piece", "Provenance", "Shown", "runs_no_code", "shown"]

# ---- values of which code in C makes the text: the text is made once, by the program's own `__str__`, and kept

_ATOMS: Final = frozenset({int, float, complex, str, bytes, bool, type(None)})
_DEEPEST: Final = 50


def runs_no_code(value: Any, depth: int = 0) -> bool:
    """Whether the text of a value is made without code of the program: it consists of built-in values alone.

    >>> runs_no_code([1, {"a": 2.5}]), runs_no_code([object()])
    (True, False)
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if depth > _DEEPEST or kind not in (list, tuple, dict):
        return False
    parts: Iterable[Any] = (*value, *value.values()) if kind is dict else value
    return all(runs_no_code(part, depth + 1) for part in parts)


class Shown:
    """Stands for a value where code in C asks for its text."""

    __slots__ = ("_context", "_value", "text")

    def __init__(self, value: Any, context: Context) -> None:
        self._value = value
        self._context = context
        self.text: Any = ""
        """The text, which may be wrapped; empty until it is made."""

    @hidden
    def __str__(self) -> str:
        """Make the text, as `str` makes it of the value."""
        self.text = recurse(self._context, str, self._value)
        made: str = plain(self.text)
        return made


class _ShownNumber(Shown):
    """Stands for a number: writers of `csv` may quote other values only."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(plain(self._value))


def shown(value: Any, context: Context) -> Shown:
    """Stand for a value, which may be wrapped, until its text is made in the context."""
    kind = type(plain(value))
    is_number = any(hasattr(kind, name) for name in ("__index__", "__int__", "__float__"))
    return (_ShownNumber if is_number else Shown)(value, context)


# ---- cells of tables, and the origins of values that were computed from them


class Cell(NamedTuple):
    """A cell of an input: its file, its line and column, both counted from 1, and the name of the column if known.

    >>> str(Cell("sales.csv", 3, 28, "price"))
    'sales.csv:AB3'
    """

    file: str
    line: int
    column: int
    name: str | None = None

    @property
    def place(self) -> str:
        """The column and line, in the notation of spreadsheets."""
        return f"{_letters(self.column)}{self.line}"

    def __str__(self) -> str:
        return f"{self.file}:{self.place}"


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


Piece = tuple[int, int, "Origin"]
"""A part of a text: its start, its end and its origin."""


class Origin:
    """The origin of a value: a cell, or the origins of the values from which it was computed.

    The sum of many cells refers to the origins of its operands, not to all cells; `cells` collects them when needed.
    """

    __slots__ = ("cell", "parents", "pieces")

    def __init__(
        self, parents: tuple[Origin, ...] = (), cell: Any = None, pieces: tuple[Piece, ...] | None = None
    ) -> None:
        self.parents = parents
        self.cell = cell
        self.pieces = pieces

    @property
    def cells(self) -> list[Any]:
        """The cells, sorted."""
        found, seen, work = set(), set(), [self]
        while work:
            origin = work.pop()
            if id(origin) in seen:
                continue
            seen.add(id(origin))
            if origin.cell is not None:
                found.add(origin.cell)
            work += origin.parents
        return sorted(found, key=lambda cell: (isinstance(cell, str), cell))

    def pieces_of(self, text: str) -> tuple[Piece, ...]:
        """The parts of a text with this origin."""
        return self.pieces if self.pieces is not None else ((0, len(text), self),)

    def __repr__(self) -> str:
        return f"<Origin {', '.join(_ranges(self.cells))}>"


def _ranges(cells: Iterable[Any]) -> Iterator[str]:
    """Cells as text, with consecutive cells of a column as a range.

    >>> list(_ranges([Cell("a.csv", 2, 2), Cell("a.csv", 3, 2), Cell("a.csv", 4, 2), Cell("a.csv", 4, 3)]))
    ['a.csv:B2-B4', 'a.csv:C4']
    """
    runs: list[list[Cell]] = []
    others = []
    for cell in cells:
        if not isinstance(cell, Cell):
            others.append(str(cell))
    for cell in sorted((cell for cell in cells if isinstance(cell, Cell)), key=lambda one: (one[0], one[2], one[1])):
        last = runs[-1][-1] if runs else None
        if last is not None and (last.file, last.column, last.line + 1) == (cell.file, cell.column, cell.line):
            runs[-1].append(cell)
        else:
            runs.append([cell])
    for run in runs:
        yield str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1].place}"
    yield from others


# ---- the context `Provenance`: finds the cells of the input from which each number of a report was computed

_LIMIT: Final = 50


class Line(NamedTuple):
    """A line of the output, or a row of a written table: its text, and its parts with the cells of each."""

    text: str
    parts: tuple[tuple[str, list[Any]], ...]

    def __str__(self) -> str:
        width = max((len(text) for text, _ in self.parts), default=0)
        found = [f"  {text:{width}}  {', '.join(_ranges(cells))}" for text, cells in self.parts]
        return "\n".join([self.text, *found])


class Provenance(Context, tagging=True):
    """Finds, for each number and each text of a report, the cells of the input from which it was computed.

    Parameters
    ----------
    limit:
        The number of lines that the summary contains. Files contain all lines.

    Cells are the values that `csv.reader` and `csv.DictReader` read. A report is the text that the program prints,
    writes to a text file, or passes to a writer of `csv`. For other readers, register an overload that tags their
    results with `mark`.

    Example
    -------
    >>> import csv
    >>> from cassette_import import overdub
    >>> def report(lines):
    ...     rows = list(csv.DictReader(lines))
    ...     print("total", sum(float(row["price"]) for row in rows))
    >>> provenance = Provenance()
    >>> overdub(provenance, report, ["item,price", "tea,2.5", "cake,4"])
    total 6.5
    >>> print(provenance.lines[0])
    total 6.5
      6.5  list:B2-B3
    """

    inherit: ClassVar[bool] = True
    recognised_types: ClassVar[tuple[type, ...]] = (float, complex, Fraction, Decimal)

    def __init__(self, *, limit: int = _LIMIT) -> None:
        super().__init__()
        check_number("limit", limit, "lines")
        self._limit = limit
        self._written: list[tuple[str, tuple[Piece, ...]]] = []
        self._lock = Lock()

    def forked(self) -> None:
        """Start with an empty report in a forked process."""
        self._lock = Lock()  # a thread of the other process may hold the other one
        self._written.clear()

    def mark(self, value: Any, cell: Any) -> Any:
        """The value, tagged with a cell: a `Cell`, or text such as ``"sheet!B2"``."""
        return tag(value, self, Origin(cell=cell))

    def cells(self, value: Any) -> list[Any]:
        """The cells from which a value was computed, sorted; for a container, the cells of its parts."""
        return Origin(tuple(allmetadata(self, value))).cells

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """The metadata of a computed value: the origins of its operands."""
        if value is None:
            return NO_METADATA
        parents = tuple(dict.fromkeys(allmetadata(self, *arguments, *keywords.values())))
        if type(value) is str:
            return Origin(parents, pieces=self._pieces(value, f, arguments))
        return parents[0] if len(parents) == 1 and parents[0].pieces is None else Origin(parents)

    def joined(self, one: Origin, other: Origin) -> Origin:
        """The metadata of an object that came by different ways to different places."""
        return one if one is other else Origin((one, other))

    # ---- texts

    def _pieces(self, text: str, f: Any, arguments: tuple[Any, ...]) -> tuple[Piece, ...] | None:
        """The parts of a text that was composed from others; None for any other text."""
        if f in _CONCATENATED:
            return self._concatenated_pieces(arguments)
        if f is str.join and len(arguments) == 2:
            items = own_store(self).wrapped_items(plain(arguments[1]))
            between = itertools.chain.from_iterable((arguments[0], item) for item in items)
            return self._concatenated_pieces(tuple(between)[1:])
        if f in _PADDED and type(plain(arguments[0])) is str:
            inner = plain(arguments[0])
            shift = text.find(inner) if len(inner) <= len(text) else -inner.find(text)
            return tuple(
                (max(0, start + shift), min(len(text), end + shift), origin)
                for start, end, origin in self.pieces_of(arguments[0])
                if end + shift > 0 and start + shift < len(text)
            )
        return None

    def _concatenated_pieces(self, parts: tuple[Any, ...]) -> tuple[Piece, ...]:
        found, offset = [], 0
        for part in parts:
            found += [(start + offset, end + offset, origin) for start, end, origin in self.pieces_of(part)]
            offset += len(plain(part))
        return tuple(found)

    def pieces_of(self, value: Any, text: str | None = None) -> tuple[Piece, ...]:
        """The parts of a value's text; of text itself, it is the value."""
        origin, bare = metadata(value, self), plain(value)
        if isinstance(origin, Origin):
            return origin.pieces_of(str(bare) if text is None else text)
        if isinstance(bare, _CONTAINERS) and allmetadata(self, bare):
            return self._pieces_of_container(bare, str(bare) if text is None else text)
        return ()

    def _pieces_of_container(self, container: Any, text: str) -> tuple[Piece, ...]:
        """The parts of the text of a container: those of its items, if they are in it one after the other."""
        whole = ((0, len(text), Origin(tuple(allmetadata(self, container)))),)
        found: list[Piece] = []
        offset = 1
        for item in self._values_in(container):
            bare = plain(item)
            if not runs_no_code(bare):  # no code of the program runs once more
                return whole
            shown = repr(bare)
            offset = text.find(shown, offset)
            if offset < 0:
                return whole
            origin = metadata(item, self)
            if isinstance(origin, Origin):
                found.append((offset, offset + len(shown), origin))
            elif isinstance(bare, _CONTAINERS) and allmetadata(self, bare):
                pieces = self._pieces_of_container(bare, shown)
                found += [(start + offset, end + offset, origin) for start, end, origin in pieces]
            offset += len(shown)
        return tuple(found) or whole

    def _values_in(self, container: Any) -> Iterator[Any]:
        """The items of a list or tuple, or the keys and values of a dict, wrapped; none of a set."""
        store: Any = own_store(self)
        if isinstance(container, (list, tuple)):
            yield from store.wrapped_items(container)
        elif isinstance(container, dict):
            slots = store.slots_by_key(container)
            for key, value in container.items():
                yield key
                yield Tagged(*slots[key]) if key in slots else value

    # ---- the report

    def record(self, parts: Iterable[tuple[str, tuple[Piece, ...]]]) -> None:
        """Record a text that the program has written: its parts one after the other, each with its pieces."""
        texts: list[str] = []
        found: list[Piece] = []
        offset = 0
        for text, pieces in parts:
            texts.append(text)
            found += [(start + offset, end + offset, origin) for start, end, origin in pieces]
            offset += len(text)
        with self._lock:
            self._written.append(("".join(texts), tuple(found)))

    @property
    def lines(self) -> list[Line]:
        """The lines written so far that have parts with known cells."""
        found = []
        for text, pieces in self._written:
            offset = 0
            for line in text.splitlines(keepends=True):
                inside = [
                    (max(start - offset, 0), min(end - offset, len(line)), origin)
                    for start, end, origin in pieces
                    if start < offset + len(line) and end > offset
                ]
                parts = [(line[start:end].strip(), origin.cells) for start, end, origin in inside]
                parts = [(part, cells) for part, cells in parts if part and cells]
                if parts:
                    found.append(Line(line.rstrip("\r\n"), tuple(parts)))
                offset += len(line)
        return found

    def summary(self) -> str:
        """The lines of the report, each followed by its parts and their cells."""
        lines = self.lines
        if not lines:
            return "provenance: no output was computed from a cell"
        count = f"{len(lines)} line{'s' if len(lines) > 1 else ''}"
        more = [f"… {len(lines) - self._limit} further lines"] if len(lines) > self._limit else []
        return "\n".join([f"provenance: {count}", *map(str, lines[: self._limit]), *more])

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for all lines with their parts, `.json` for the same as data."""
        return {".txt": self._writer(self._text), ".json": self._writer(self._json)}

    def _text(self) -> str:
        return "\n".join(map(str, self.lines))

    def _json(self) -> str:
        lines = [
            {"text": line.text, "parts": [{"text": text, "cells": _data(cells)} for text, cells in line.parts]}
            for line in self.lines
        ]
        return json.dumps({"lines": lines}, indent=2)

    def _writer(self, make: Callable[[], str]) -> Writer:
        def write(path: str) -> None:
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(make() + "\n")

        return write


def _data(cells: list[Any]) -> list[Any]:
    return [cell._asdict() if isinstance(cell, Cell) else cell for cell in cells]


_CONTAINERS: Final = (list, tuple, dict, set, frozenset, deque)
_CONCATENATED: Final = (primitives.build_string, operator.add, operator.iadd, operator.concat)
_PADDED: Final = (str.ljust, str.rjust, str.center, str.zfill, str.strip, str.lstrip, str.rstrip)


# ---- reading cells


def _file_name(source: Any) -> str:
    name = getattr(source, "name", None)
    return os.path.basename(name) if isinstance(name, str) else type(source).__name__


@hidden
def _reader(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    made = fallback(ctx, f, *arguments, **keywords)
    own_tag, file = tag_of(ctx), _file_name(plain(arguments[0] if arguments else keywords.get("f")))
    store = own_tag.store  # type: ignore[union-attr]

    def mark_list(row: Any) -> None:
        line = made.line_num
        store.set_item_metas(
            row, [{own_tag: Origin(cell=Cell(file, line, number))} for number in range(1, len(row) + 1)]
        )

    def mark_dict(row: Any) -> None:
        line, names = made.line_num, made.fieldnames or ()
        cells = {name: Cell(file, line, number, name) for number, name in enumerate(names, 1)}
        slots = {
            name: (row[name], {own_tag: Origin(cell=cell)}) for name, cell in cells.items() if row.get(name) is not None
        }
        store.set_slots(row, slots)

    store.iterators.make(made).extra = mark_dict if f is csv.DictReader else mark_list
    return made


Provenance.overdub.register(csv.reader, csv.DictReader)(_reader)
