"""Which exceptions show that a pattern is lost: other code was given a number that is no float, and has raised.

A program may catch such an exception, and go on with a value that depends on nothing.
"""

from __future__ import annotations

import dis
import re
from types import TracebackType
from typing import Final

from cassette_import.contexts.sparsity.arrays import Array
from cassette_import.contexts.sparsity.errors import SparsityError
from cassette_import.contexts.sparsity.number import Number
from cassette_import.contexts.sparsity.run import Run
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.events import OVERDUBBED

__all__ = ["is_of_program", "loss_in", "names_number"]

_NAMES: Final = Number.__name__, Array.__name__
_OF_ALL_NUMBERS: Final = re.compile(
    r"unsupported operand|bad operand|not supported between|not subscriptable|not callable|not iterable|non-iterable"
    r"|not a container|not an iterator|has no len|multiply sequence|does not support|concatenate"
)
"""What Python says of operations that no float has: the program itself raises the exception."""

_INTEGERS: Final = "__index__", "__int__"
"""The methods by which code in C asks for an integer, where it does not find a float."""


def names_number(error: BaseException) -> bool:
    """Whether an exception says that a number with a pattern has the wrong type."""
    text = str(error) if isinstance(error, (TypeError, ValueError)) else ""
    return any(name in text for name in _NAMES) and not _OF_ALL_NUMBERS.search(text)


def loss_in(run: Run, error: BaseException | None) -> SparsityError | None:
    """The error for a pattern that is lost; also if an exception that the program catches shows it."""
    while run.failure is None and error is not None:
        if names_number(error):
            run.refuse(f"Python or code without a rule raised {type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return run.failure


def is_of_program(error: BaseException, roots: frozenset[str]) -> bool:
    """Whether a converted function has raised an exception by a statement, or the arithmetic of numbers has."""
    trace = first = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace is first:
        return False
    code = trace.tb_frame.f_code
    filename = code.co_filename
    if filename.startswith(PACKAGE_FOLDER):
        return code.co_name not in _INTEGERS
    file = OVERDUBBED.files.get(filename)
    return (filename in roots or (file is not None and file.installed)) and _is_at_raise(trace)


def _is_at_raise(trace: TracebackType) -> bool:
    """Whether the frame of a traceback is at a statement `raise` or `assert`."""
    names = {one.offset: one.opname for one in dis.get_instructions(trace.tb_frame.f_code)}
    return names.get(trace.tb_lasti) in ("RAISE_VARARGS", "RERAISE")
