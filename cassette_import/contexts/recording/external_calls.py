"""What belongs to an external call: the calls that it makes itself, and the place in the program that makes it."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from contextvars import Context as VariablesContext
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final

from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.awaitables import ObservedAwaitable, is_awaitable
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = [
    "CALLED_BACK",
    "IN_EXTERNAL_CALL",
    "call_site",
    "ignored_call",
    "is_external",
    "is_made_by_loop",
    "run_in_external_call",
]

IN_EXTERNAL_CALL: Final[ContextVar[bool]] = ContextVar("cassette_import.in_external_call", default=False)
"""True while an external call is running: the calls that it makes are part of it, and not recorded."""

CALLED_BACK: Final[ContextVar[bool]] = ContextVar("cassette_import.called_back", default=False)
"""True where the standard library calls an external function for the program that handed it over."""

_LIBRARY: Final = os.path.join(sysconfig.get_path("stdlib"), "")
_PACKAGES: Final = os.path.join(sysconfig.get_path("purelib"), "")
_LOOPS: Final = os.path.join(_LIBRARY, "asyncio", "")


def is_made_by_loop() -> bool:
    """Whether asyncio itself makes the current call, perhaps through other modules of the standard library.

    Such calls are no calls of the program, also where asyncio is overdubbed: the order of a loop is recorded instead.
    """
    if "asyncio" not in sys.modules or CALLED_BACK.get():
        return False
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename.startswith(_LOOPS):
            return True
        if not filename.startswith((_LIBRARY, PACKAGE_FOLDER)) or filename.startswith(_PACKAGES):
            return False
        frame = frame.f_back
    return False


def is_external(context: VariablesContext | None) -> bool:
    """Whether the running code, or the code that runs in a context of `contextvars`, belongs to an external call."""
    return IN_EXTERNAL_CALL.get() if context is None else context.get(IN_EXTERNAL_CALL, False)


def run_in_external_call(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function; the external calls that it makes are part of it."""
    token = IN_EXTERNAL_CALL.set(True)
    try:
        return call(*arguments, **keywords)
    finally:
        IN_EXTERNAL_CALL.reset(token)


def ignored_call(call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
    """Make an external call that is neither recorded nor replayed."""
    real = proxies.with_real_objects
    result = run_in_external_call(call, *real(arguments), **real(dict(keywords)))
    return _awaited_outside(ObservedAwaitable(result, run_in_external_call)) if is_awaitable(result) else result


async def _awaited_outside(awaitable: ObservedAwaitable) -> Any:
    return await awaitable


def call_site() -> list[Any]:
    """File, line and function of the code of the program that makes the current call."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    return [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]
