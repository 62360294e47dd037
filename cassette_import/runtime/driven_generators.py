"""Driven generators and coroutines: their bodies run in an activation of their own whenever they are advanced.

The code that advances them does not run in it. Knows activations; must not know contexts, or how an activation is made.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE, Activation

SUSPENDABLE: Final = {GeneratorType: "gi_frame", CoroutineType: "cr_frame", AsyncGeneratorType: "ag_frame"}
"""The types of objects that can be advanced, and the attribute that holds their frame until they have ended."""


class Course:
    """What is active in one generator or coroutine while it is advanced, by whatever thread or task.

    `here` is what was active when its body was suspended last: it may have entered further contexts.
    """

    __slots__ = ("activation", "frame", "here", "inner")

    def __init__(self, inner: Any, activation: Activation) -> None:
        self.inner = inner
        self.frame = SUSPENDABLE[type(inner)]
        self.activation = activation
        self.here = activation

    @hidden
    def run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Advance it."""
        raised = True
        token = ACTIVE.set(self.here)
        try:
            result = step(*arguments)
            raised = False
            return result
        finally:
            self.here = ACTIVE.get()
            ACTIVE.reset(token)
            # An asynchronous generator raises also when it yields, and any when it is advanced by two threads at once.
            if raised and getattr(self.inner, self.frame) is None:
                self.activation.end()

    @hidden
    def close(self) -> None:
        """Close it."""
        self.run(self.inner.close)
        self.activation.end()


class _Driven:
    """What the proxies of generators, coroutines and asynchronous generators share."""

    def __init__(self, inner: Any, course: Course) -> None:
        self._inner = inner
        self._course = course

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenGenerator(_Driven, Generator[Any, Any, Any]):
    """A generator that is advanced on a course of its own; also what awaiting a driven coroutine gives."""

    @hidden
    def __next__(self) -> Any:
        return self._course.run(self._inner.send, None)

    @hidden
    def send(self, value: Any) -> Any:
        return self._course.run(self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        return self._course.run(self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        self._course.close()


class DrivenCoroutine(_Driven, Coroutine[Any, Any, Any]):
    """A coroutine that is advanced on a course of its own.

    Its methods are not those of `DrivenGenerator`, for which tagging has rules.
    """

    @hidden
    def send(self, value: Any) -> Any:
        return self._course.run(self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        return self._course.run(self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        self._course.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self._inner, self._course)


class DrivenAsyncGenerator(_Driven, AsyncGenerator[Any, Any]):
    """An asynchronous generator that is advanced on a course of its own."""

    def __anext__(self) -> Any:
        return DrivenAwaitable(self._inner.__anext__(), self._course)

    def asend(self, value: Any) -> Any:
        return DrivenAwaitable(self._inner.asend(value), self._course)

    def athrow(self, *exception: Any) -> Any:
        return DrivenAwaitable(self._inner.athrow(*exception), self._course)

    def aclose(self) -> Any:
        return DrivenAwaitable(self._inner.aclose(), self._course)


class DrivenAwaitable:
    """What advancing an asynchronous generator gives."""

    def __init__(self, inner: Any, course: Course) -> None:
        self._inner = inner
        self._course = course

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self._inner, self._course)


_PROXIES: Final[dict[type, Callable[[Any, Course], Any]]] = {
    GeneratorType: DrivenGenerator,
    CoroutineType: DrivenCoroutine,
    AsyncGeneratorType: DrivenAsyncGenerator,
}


def drive(suspendable: Any, activation: Activation) -> Any:
    """Wrap a generator, coroutine or asynchronous generator so that its body runs in an activation."""
    return _PROXIES[type(suspendable)](suspendable, Course(suspendable, activation))
