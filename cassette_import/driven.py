"""Generators and coroutines whose bodies run in an activation whenever they are advanced, and nobody else's code
does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.active import ACTIVE, Activation, leave, use
from cassette_import.frames import hidden

SUSPENDABLE: Final = frozenset({GeneratorType, CoroutineType, AsyncGeneratorType})


@hidden
def _within(activation: Activation, step: Callable[..., Any], *arguments: Any) -> Any:
    token = ACTIVE.set(activation)
    key = object()
    use(key, activation)
    try:
        return step(*arguments)
    finally:
        leave(key)
        ACTIVE.reset(token)


class DrivenGenerator(Generator[Any, Any, Any]):
    """A generator that is advanced in `activation`."""

    def __init__(self, inner: Any, activation: Activation) -> None:
        self._inner = inner
        self._activation = activation

    @hidden
    def __next__(self) -> Any:
        return _within(self._activation, self._inner.send, None)

    @hidden
    def send(self, value: Any) -> Any:
        return _within(self._activation, self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        return _within(self._activation, self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        _within(self._activation, self._inner.close)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine that is advanced in `activation`."""

    def __init__(self, inner: Any, activation: Activation) -> None:
        self._inner = inner
        self._activation = activation

    @hidden
    def send(self, value: Any) -> Any:
        return _within(self._activation, self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        return _within(self._activation, self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        _within(self._activation, self._inner.close)

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self, self._activation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenAsyncGenerator(AsyncGenerator[Any, Any]):
    """An asynchronous generator that is advanced in `activation`."""

    def __init__(self, inner: Any, activation: Activation) -> None:
        self._inner = inner
        self._activation = activation

    def __anext__(self) -> Any:
        return DrivenAwaitable(self._inner.__anext__(), self._activation)

    def asend(self, value: Any) -> Any:
        return DrivenAwaitable(self._inner.asend(value), self._activation)

    def athrow(self, *exception: Any) -> Any:
        return DrivenAwaitable(self._inner.athrow(*exception), self._activation)

    def aclose(self) -> Any:
        return DrivenAwaitable(self._inner.aclose(), self._activation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenAwaitable:
    """What advancing an asynchronous generator gives."""

    def __init__(self, inner: Any, activation: Activation) -> None:
        self._inner = inner
        self._activation = activation

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self._inner, self._activation)


def drive(suspendable: Any, activation: Activation) -> Any:
    """Wrap a generator, coroutine or asynchronous generator."""
    if type(suspendable) is GeneratorType:
        return DrivenGenerator(suspendable, activation)
    if type(suspendable) is CoroutineType:
        return DrivenCoroutine(suspendable, activation)
    return DrivenAsyncGenerator(suspendable, activation)
