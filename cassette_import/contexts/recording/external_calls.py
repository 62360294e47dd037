"""What belongs to an external call: the calls that it makes itself, and the place in the program that makes it."""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Mapping
from contextvars import Context as VariablesContext
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final

from cassette_import.contexts.recording import proxies
from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = [
    "CALLED_BACK",
    "IN_EXTERNAL_CALL",
    "LazyAwaitable",
    "ObservedAwaitable",
    "awaited",
    "call_site",
    "ignored_call",
    "is_awaitable",
    "is_external",
    "is_made_by_loop",
    "named_like",
    "run_in_external_call",
]

# ---- awaitables of external calls: how they are recognised, and run step by step while `Record` watches


def is_awaitable(value: Any) -> bool:
    """Whether the only use of an object is to be awaited once: a coroutine, or a step of an asynchronous generator."""
    kind = type(value)
    if kind is types.CoroutineType:
        return True
    futures: Any = sys.modules.get("asyncio.futures")
    if lookup(kind, "__await__") is None or (futures is not None and futures.isfuture(value)):
        return kind is types.GeneratorType and bool(value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE)
    return not {"__aenter__", "__aiter__"}.intersection(dir(kind))


class ObservedAwaitable:
    """An awaitable that notes whether it suspended the task, and has each of its steps run by `run`.

    `on_wait` is called each time before it suspends the task.
    """

    __slots__ = ("_has_begun", "_inner", "_run", "on_wait", "waited")

    def __init__(self, inner: Any, run: Callable[..., Any]) -> None:
        self._inner = inner
        self._run = run
        self._has_begun = False
        self.waited = False
        self.on_wait: Callable[[], object] = _do_nothing

    def __del__(self) -> None:
        if not self._has_begun and type(self._inner) is types.CoroutineType:
            # The program did not await the coroutine that wraps this one, and Python warns of that one. Closing this
            # one prevents a second warning.
            self._inner.close()

    def __await__(self) -> Any:
        self._has_begun = True
        inner = self._inner
        run = self._run
        if not hasattr(inner, "send"):
            inner = run(inner.__await__)
        send = inner.send if hasattr(inner, "send") else lambda value: next(inner)
        step, argument = send, None
        while True:
            try:
                yielded = run(step, argument)
            except StopIteration as stop:
                return stop.value
            self.waited = True
            self.on_wait()
            try:
                argument = yield yielded
                step = send
            except GeneratorExit:
                if hasattr(inner, "close"):
                    run(inner.close)
                raise
            except BaseException as error:
                if not hasattr(inner, "throw"):
                    raise
                step, argument = inner.throw, error


class LazyAwaitable:
    """What the program gets in place of an awaitable that is no coroutine: Python does not warn if nobody awaits it."""

    __slots__ = ("_coroutine", "_has_begun")

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine
        self._has_begun = False

    def __await__(self) -> Any:
        self._has_begun = True
        return self._coroutine.__await__()

    def __del__(self) -> None:
        if not self._has_begun:
            self._coroutine.close()


def _do_nothing() -> None:
    pass


async def awaited(awaitable: Any) -> Any:
    """Await an awaitable in a coroutine."""
    return await awaitable


def named_like(coroutine: Any, original: Any) -> Any:
    """The coroutine with the name of another awaitable, which Python shows in warnings."""
    for name in ("__name__", "__qualname__"):
        found = getattr(original, name, None)
        if isinstance(found, str):
            setattr(coroutine, name, found)
    return coroutine


# ---- what belongs to an external call: the calls that it makes itself, and the place in the program that makes it

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
