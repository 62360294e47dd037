"""A fresh stack for work that recurses: a program that is itself deep in recursion must not notice it."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from cassette_import.interpreter.own_work import OWN_WORK

# ---- room on the stack of frames: a program starts with a large piece of it
#
# CPython keeps the frames of Python functions in pieces of 16 KiB, 70 to 100 frames each. It asks the operating system
# for a new piece when a call needs one, and gives the piece back when that call returns. A loop that happens to run at
# the end of a piece does both for each call in it: some 4 µs, and no piece is kept for the next call. The frames of
# cassette_import below the program move the program's loops to such places. sympy's import gave back 11,700 pieces, and
# four without cassette_import.
#
# CPython doubles the size of a new piece until the frame fits, and the frames of later calls take the rest. So the
# frame of one function that declares a large stack, and never uses it, makes room for a thousand frames. Untouched
# pages of memory are not taken.

_Function = TypeVar("_Function")

_WORD = 8
_PIECE = 16 * 1024
_ROOM = 16 * _PIECE
"""The room in bytes: a power of two of pieces, so that a slightly larger frame takes a piece of twice this size."""


def with_stack_room(function: _Function) -> _Function:
    """Have the calls of a Python function begin a piece of the stack that has room for a thousand frames."""
    changed: Any = function
    if isinstance(function, FunctionType):
        changed.__code__ = function.__code__.replace(co_stacksize=function.__code__.co_stacksize + _ROOM // _WORD)
    return function


# ---- a fresh stack for work that recurses: a program that is itself deep in recursion must not notice it

_Result = TypeVar("_Result")


def on_a_fresh_stack(work: Callable[[], _Result]) -> _Result:
    """Call `work`; after a `RecursionError`, call it once more in a thread of its own."""
    try:
        return work()
    except RecursionError:
        results: list[_Result] = []
        failures: list[BaseException] = []
        done = _thread.allocate_lock()

        def run() -> None:
            OWN_WORK.now = True
            try:
                results.append(work())
            except BaseException as error:
                failures.append(error)
            finally:
                done.release()

        # Without `threading`, which may be overdubbed, and would wait for the lock that the caller holds.
        done.acquire()
        _thread.start_new_thread(run, ())
        done.acquire()
        if failures:
            raise failures[0] from None
        return results[0]
