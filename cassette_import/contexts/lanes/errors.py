"""The errors of lanes, and the place in the program that their messages name."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

from cassette_import.errors import CassetteError
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["EffectError", "TooManyPaths", "is_compiled_by_numba", "name_of", "place", "place_of"]


_LIBRARY: Final = frozenset({"collections", "collections.abc", "queue", "colorsys"})


class EffectError(CassetteError):
    """The function does something that cannot be done for many lanes at once.

    The message names the call site, and what to do.
    """


class TooManyPaths(CassetteError):
    """The lanes take more paths through the function than `max_paths`."""


def place() -> str:
    """The line of the program that runs now, as text; not that of a module of the standard library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename.startswith(PACKAGE_FOLDER) or frame.f_globals.get("__name__") in _LIBRARY
    ):
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def place_of(error: BaseException) -> str:
    """The line of the program that has raised an exception, as text."""
    place = "an unknown place"
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE_FOLDER):
            place = f"{code.co_filename}:{traceback.tb_lineno} in {code.co_qualname}"
        traceback = traceback.tb_next
    return place


def is_compiled_by_numba(f: Any) -> bool:
    """Whether Numba has made a function: with `njit`, `jit` or `vectorize`."""
    return type(f).__module__.partition(".")[0] == "numba"


def name_of(f: Any) -> str:
    """A function's name for messages."""
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or type(f).__qualname__
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else str(name)
