"""The code of live functions and of hooks, replaced so that the interpreter goes on specialising calls of them.

From CPython 3.13 on, a function whose `__code__` was assigned has no version any more, and one that `FunctionType` made
has none: the call sites that call it stay unspecialised, which costs a sixth of a call. The accelerator gives it that
of its code. Without the accelerator, the interpreter does what it does.
"""

from __future__ import annotations

from types import CodeType, FunctionType

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH


@hidden
def set_code(function: FunctionType, code: CodeType) -> None:
    """Assign the code of a function.

    One that has no version, for example since the program assigned its defaults, stays without.
    """
    if DISPATCH.set_code is not None:
        DISPATCH.set_code(function, code)
    else:
        function.__code__ = code


def specialised_calls(function: FunctionType) -> FunctionType:
    """Return a function that was made of its code just now, whose calls are specialised from now on."""
    return function if DISPATCH.specialised_calls is None else DISPATCH.specialised_calls(function)
