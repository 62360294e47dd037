"""A fresh stack for work that recurses: a program that is itself deep in recursion must not notice it."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import TypeVar

from cassette_import.interpreter.own_work import OWN_WORK

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
