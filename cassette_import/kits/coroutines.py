"""Coroutines that stand for those of the program's functions: they have their names, and leave none behind."""

from __future__ import annotations

import inspect
from collections.abc import Coroutine
from typing import Any

from cassette_import.interpreter.when_gone import when_gone

__all__ = ["standing_for"]


def standing_for(made: Any, function: Any, call: Coroutine[Any, Any, Any] | None) -> Any:
    """Give a coroutine the names of the one for which it stands.

    Parameters
    ----------
    made:
        The coroutine that the program gets.
    function:
        The coroutine function that the program has called.
    call:
        The coroutine of this function, which `made` awaits. If `made` is gone before it began, it is closed, so that
        Python does not warn of a second coroutine that was never awaited.

    Returns
    -------
    `made`.
    """
    made.__name__, made.__qualname__ = function.__name__, function.__qualname__
    if call is not None:
        when_gone(made, _close_unless_begun, call)
    return made


def _close_unless_begun(call: Coroutine[Any, Any, Any]) -> None:
    if inspect.iscoroutine(call) and inspect.getcoroutinestate(call) == inspect.CORO_CREATED:
        call.close()
