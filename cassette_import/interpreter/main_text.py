"""The text of the main program where it is in no file: what the interpreter got by `-c`, or reads from
standard input.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from typing import Final

__all__ = ["main_text"]


def main_text(filename: str) -> bytes | None:
    """The text of the main program whose code has such a file name; None if it is not known."""
    find = _TEXTS.get(filename)
    return None if find is None else find()


def _text_of_command() -> bytes | None:
    """The argument of `-c`."""
    arguments = iter(sys.orig_argv[1:])
    for argument in arguments:
        if argument[:1] != "-" or argument == "-":
            return None
        if argument == "--check-hash-based-pycs":
            next(arguments, None)
        for place, letter in enumerate(argument[1:], 2):
            rest = argument[place:]
            if letter == "c":
                return (rest or next(arguments, "")).encode()
            if letter == "-" or letter == "m":
                break
            if letter in "WX":
                if not rest:
                    next(arguments, None)
                break
    return None


def _text_of_standard_input() -> bytes | None:
    """What standard input has, if that is a file: of a pipe, nothing is left."""
    try:
        status = os.fstat(0)
        return os.pread(0, status.st_size, 0) if stat.S_ISREG(status.st_mode) else None
    except (AttributeError, OSError):  # not all systems have `os.pread`
        return None


_TEXTS: Final[dict[str, Callable[[], bytes | None]]] = {
    "<string>": _text_of_command,
    "<stdin>": _text_of_standard_input,
}
