"""Cells of tables, and the origins of values that were computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["Cell", "Origin", "Piece", "ranges"]


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
        return f"<Origin {', '.join(ranges(self.cells))}>"


def ranges(cells: Iterable[Any]) -> Iterator[str]:
    """Cells as text, with consecutive cells of a column as a range.

    >>> list(ranges([Cell("a.csv", 2, 2), Cell("a.csv", 3, 2), Cell("a.csv", 4, 2), Cell("a.csv", 4, 3)]))
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
