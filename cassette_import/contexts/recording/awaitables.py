"""Awaitables of external calls: how they are recognised, and run step by step while `Record` watches."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from cassette_import.interpreter.callables import lookup

__all__ = ["LazyAwaitable", "ObservedAwaitable", "awaited", "is_awaitable", "named_like"]


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
