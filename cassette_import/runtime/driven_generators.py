"""Generators and coroutines whose bodies run in an activation whenever they are advanced, and nobody else's code
does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.activation.entering import end, lasting
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE, Activation

SUSPENDABLE: Final = {GeneratorType: "gi_frame", CoroutineType: "cr_frame", AsyncGeneratorType: "ag_frame"}
"""The types of what can be advanced, and where they keep their frame: until they have ended."""


class Course:
    """What is active in one generator or coroutine while it is advanced, by whatever thread or task.

    `here` is where its body stood when it was suspended last: it may have entered further contexts.
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
                end(self.activation)

    @hidden
    def close(self) -> None:
        """Close it."""
        self.run(self.inner.close)
        end(self.activation)


class DrivenGenerator(Generator[Any, Any, Any]):
    """A generator that is advanced on a course of its own; also what awaiting a driven coroutine gives."""

    def __init__(self, inner: Any, course: Course) -> None:
        self._inner = inner
        self._course = course

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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine that is advanced on a course of its own."""

    def __init__(self, inner: Any, course: Course) -> None:
        self._inner = inner
        self._course = course

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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenAsyncGenerator(AsyncGenerator[Any, Any]):
    """An asynchronous generator that is advanced on a course of its own."""

    def __init__(self, inner: Any, course: Course) -> None:
        self._inner = inner
        self._course = course

    def __anext__(self) -> Any:
        return DrivenAwaitable(self._inner.__anext__(), self._course)

    def asend(self, value: Any) -> Any:
        return DrivenAwaitable(self._inner.asend(value), self._course)

    def athrow(self, *exception: Any) -> Any:
        return DrivenAwaitable(self._inner.athrow(*exception), self._course)

    def aclose(self) -> Any:
        return DrivenAwaitable(self._inner.aclose(), self._course)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenAwaitable:
    """What advancing an asynchronous generator gives."""

    def __init__(self, inner: Any, course: Course) -> None:
        self._inner = inner
        self._course = course

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self._inner, self._course)


def drive(suspendable: Any, contexts: tuple[Any, ...], roots: frozenset[str], tags: tuple[Any, ...] = ()) -> Any:
    """Wrap a generator, coroutine or asynchronous generator."""
    course = Course(suspendable, lasting(contexts, roots, tags))
    if type(suspendable) is GeneratorType:
        return DrivenGenerator(suspendable, course)
    if type(suspendable) is CoroutineType:
        return DrivenCoroutine(suspendable, course)
    return DrivenAsyncGenerator(suspendable, course)
