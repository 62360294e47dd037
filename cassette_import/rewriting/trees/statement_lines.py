"""The lines of the outermost statement around a function, found in the text of a module without parsing all of it.

A statement of a module begins in the first column. Few other lines do: comments, closing brackets, and quoted text that
is not indented. A region that ends within quotes or brackets does not parse; the caller then parses the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_DEFINITION: Final = re.compile(r"(?:async[ \t]+def|def|class)\b")
_INSIDE: Final = re.compile(r"\s|\Z|#|[)\]}]")
"""What lines within a statement of a module begin with."""


def lines_around(lines: Sequence[str], number: int) -> tuple[int, int] | None:
    """The first and the last line of the definition of a module that a line is in.

    Parameters
    ----------
    lines:
        The lines of the module.
    number:
        The number of the line, from 1 on: that of a function, or of its first decorator.

    Returns
    -------
    The numbers of the first line, decorators included, and of the last; None if the line is not in a definition.
    """
    header = number
    while 0 < header <= len(lines) and _INSIDE.match(lines[header - 1]):
        header -= 1
    if not 0 < header <= len(lines):
        return None
    first = header
    while header <= len(lines) and lines[header - 1][:1] == "@":
        header = _next_outer_line(lines, header)
    if header > len(lines) or not _DEFINITION.match(lines[header - 1]):
        return None
    first = _first_decorator(lines, first)
    return first, _next_outer_line(lines, header) - 1


def _next_outer_line(lines: Sequence[str], number: int) -> int:
    """The number of the next line that is not within the statement of a line."""
    number += 1
    while number <= len(lines) and _INSIDE.match(lines[number - 1]):
        number += 1
    return number


def _first_decorator(lines: Sequence[str], first: int) -> int:
    """The line of the first decorator of a definition that begins in a line, or that line."""
    above = first - 1
    while above > 0:
        if lines[above - 1][:1] == "@":
            first = above
        elif not _INSIDE.match(lines[above - 1]):
            break
        above -= 1
    return first
