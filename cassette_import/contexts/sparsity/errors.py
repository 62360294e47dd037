"""The error of `sparsity`, and the place in the program that its messages name."""

from __future__ import annotations

import dis
import functools
import linecache
import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, Final

from cassette_import.errors import CassetteError
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["SparsityError", "is_guarded", "name_of", "place"]


class SparsityError(CassetteError):
    """The dependences of a value cannot be followed.

    The message names the call site, and what to do.
    """


def place() -> str:
    """The line of the program that runs now, with its source: outside of the standard library, if there is one."""
    inner: FrameType | None = sys._getframe(1)
    while inner is not None and inner.f_code.co_filename.startswith(PACKAGE_FOLDER):
        inner = inner.f_back
    frame = inner
    while frame is not None and _is_of_library(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename == _OUTERMOST:  # the library is the program
        frame = inner
    if frame is None:
        return "an unknown place"
    source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: {source}"


@functools.lru_cache(1000)
def _is_of_library(filename: str) -> bool:
    """Whether a file is one of this package, but for the outermost one, or of the standard library."""
    if filename.startswith(PACKAGE_FOLDER):
        return filename != _OUTERMOST
    return filename.startswith((_LIBRARY, "<frozen ")) and "site-packages" not in filename


_LIBRARY: Final = os.path.join(sysconfig.get_path("stdlib"), "")


def name_of(f: Any) -> str:
    """A function's name for messages."""
    module = getattr(f, "__module__", None)
    if module is None and type(f).__name__ == "ufunc":
        module = "numpy"
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or type(f).__qualname__
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else str(name)


def is_guarded() -> bool:
    """Whether the program would catch an exception that is raised now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        own = frame.f_code.co_filename.startswith(PACKAGE_FOLDER)
        if own and frame.f_code.co_qualname == _OUTERMOST:
            break
        if not own and any(start <= frame.f_lasti < end for start, end in _handled(frame.f_code)):
            return True
        frame = frame.f_back
    return False


_OUTERMOST: Final = "_dependences"
"""The function that calls the program."""


@functools.lru_cache(1000)
def _handled(code: CodeType) -> list[tuple[int, int]]:
    """The parts of some code whose exceptions an `except` clause may catch."""
    instructions = {one.offset: one for one in dis.get_instructions(code)}
    found = []
    for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]  # not in the stubs
        names = [instructions[at].opname for at in (entry.target, entry.target + 2) if at in instructions]
        if names[:1] == ["PUSH_EXC_INFO"] and names[1:] != ["WITH_EXCEPT_START"]:
            found.append((entry.start, entry.end))
    return found
