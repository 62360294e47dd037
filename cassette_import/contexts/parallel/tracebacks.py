"""Tracebacks as data: what a worker describes, the process of the program shows with the same files, lines and
columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, TypeAlias

__all__ = ["Entry", "described", "rebuilt"]

Position: TypeAlias = tuple[int | None, int | None, int | None, int | None]
Entry: TypeAlias = tuple[str, str, str, str, Position]
"""The file, name and qualified name of a function, the name of its module, and line, last line, column, last column."""

_LONG_FORM: Final = 14
_NO_COLUMNS: Final = 13
_UNITS: Final = 8
"""So many code units an entry of a line table describes."""


def described(traceback: TracebackType | None) -> list[Entry]:
    """The entries of a traceback, the outermost first."""
    found: list[Entry] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        position = next(itertools.islice(code.co_positions(), traceback.tb_lasti // 2, None))
        if position[0] != traceback.tb_lineno:
            position = (traceback.tb_lineno, None, None, None)
        module = str(traceback.tb_frame.f_globals.get("__name__"))
        found.append((code.co_filename, code.co_name, code.co_qualname, module, position))
        traceback = traceback.tb_next
    return found


def rebuilt(entries: Sequence[Entry]) -> TracebackType | None:
    """A traceback with these entries. Its frames have no variables."""
    made: TracebackType | None = None
    for entry in reversed(entries):
        here = _raised_at(*entry)
        made = TracebackType(made, here.tb_frame, here.tb_lasti, here.tb_lineno)
    return made


def _raised_at(filename: str, name: str, qualified: str, module: str, position: Position) -> TracebackType:
    code: Any = compile("raise error", filename, "exec")
    units = len(code.co_code) // 2
    code = code.replace(
        co_name=name,
        co_qualname=qualified,
        co_firstlineno=position[0] or 1,
        co_linetable=b"".join(_line_entry(min(_UNITS, units - at), position) for at in range(0, units, _UNITS)),
    )
    error = Exception()
    try:
        exec(code, {"__name__": module, "__file__": filename, "error": error})
    except Exception:
        pass
    traceback = error.__traceback__
    assert traceback is not None
    assert traceback.tb_next is not None
    return traceback.tb_next


def _line_entry(units: int, position: Position) -> bytes:
    """An entry of a line table that stays on the first line of the code."""
    line, last, column, last_column = position
    if line is None or last is None or column is None or last_column is None or last < line:
        return bytes((0x80 | _NO_COLUMNS << 3 | units - 1, 0))
    numbers = b"".join(map(_variable_length, (last - line, column + 1, last_column + 1)))
    return bytes((0x80 | _LONG_FORM << 3 | units - 1, 0)) + numbers


def _variable_length(number: int) -> bytes:
    made = bytearray()
    while number > 63:
        made.append(64 | number & 63)
        number >>= 6
    made.append(number)
    return bytes(made)
