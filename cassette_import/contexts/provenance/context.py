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
from cassette_import.activation.verbs import fallback
from cassette_import.contexts.provenance.cells import Cell, Origin, Piece, ranges
from cassette_import.contexts.provenance.shown_values import runs_no_code
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.rewriting import primitives
from cassette_import.runtime.tagging.tag_scopes import own_store, tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, plain

__all__ = ["Cell", "Line", "Provenance"]

_LIMIT: Final = 50


class Line(NamedTuple):
    """A line of the output, or a row of a written table: its text, and its parts with the cells of each."""

    text: str
    parts: tuple[tuple[str, list[Any]], ...]

    def __str__(self) -> str:
        width = max((len(text) for text, _ in self.parts), default=0)
        found = [f"  {text:{width}}  {', '.join(ranges(cells))}" for text, cells in self.parts]
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
