"""Driven generators, coroutines and iterators: they run in an activation of their own whenever they are advanced.

The code that advances them does not run in it.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE, Activation

SUSPENDABLE: Final = {GeneratorType: "gi_frame", CoroutineType: "cr_frame", AsyncGeneratorType: "ag_frame"}
"""The types of objects that can be advanced, and the attribute that holds their frame until they have ended."""


LAZY_ITERATORS: Final = frozenset(
    {
        *(map, filter, zip, enumerate, reversed, type(iter(int, 1)), type(iter(type("", (), {"__getitem__": None})()))),
        *(kind for kind in vars(itertools).values() if isinstance(kind, type) and hasattr(kind, "__next__")),
    }
)
"""The types of iterators in C whose steps call functions of the program, or advance other iterators."""


class DrivenBody:
    """The body of one generator or coroutine, and what is active while it runs, in any thread or task.

    `here` is what was active when its body was suspended last: it may have entered further contexts.
    """

    __slots__ = ("activation", "frame_attribute", "here", "inner")

    def __init__(self, inner: Any, activation: Activation) -> None:
        self.inner = inner
        self.frame_attribute = SUSPENDABLE.get(type(inner), "__class__")
        self.activation = activation
        self.here = activation

    @hidden
    def run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Run a step of the body in its activation."""
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
            if raised and getattr(self.inner, self.frame_attribute) is None:
                self.activation.end()

    @hidden
    def close(self) -> None:
        """Close it."""
        self.run(self.inner.close)
        self.activation.end()


class _Driven:
    """What the proxies of generators, coroutines and asynchronous generators share.

    A proxy passes for what it stands for: `isinstance(proxy, types.GeneratorType)` is true.
    """

    def __init__(self, inner: Any, body: DrivenBody) -> None:
        self._inner = inner
        self._body = body

    __class__: Any = property(lambda self: type(self._inner))  # what `isinstance` tests

    def __repr__(self) -> str:
        return repr(self._inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class DrivenGenerator(_Driven, Generator[Any, Any, Any]):
    """A generator that is advanced in an activation of its own. Awaiting a driven coroutine returns one too."""

    @hidden
    def __next__(self) -> Any:
        return self._body.run(self._inner.send, None)

    @hidden
    def send(self, value: Any) -> Any:
        return self._body.run(self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        return self._body.run(self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        self._body.close()


class DrivenGeneratorBasedCoroutine(DrivenGenerator):
    """A generator of a function under `types.coroutine`, which may be awaited: `asyncio.sleep(0)` awaits one."""

    def __await__(self) -> Generator[Any, Any, Any]:
        return self


class DrivenCoroutine(_Driven, Coroutine[Any, Any, Any]):
    """A coroutine that is advanced in an activation of its own.

    It shares no function with `DrivenGenerator`, although `send`, `throw` and `close` read the same: tagging finds its
    rules by the identity of a function, and the rules for `DrivenGenerator.send` and `throw` must not apply here.
    """

    @hidden
    def send(self, value: Any) -> Any:
        return self._body.run(self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        return self._body.run(self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        self._body.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self._inner, self._body)


class DrivenAsyncGenerator(_Driven, AsyncGenerator[Any, Any]):
    """An asynchronous generator that is advanced in an activation of its own."""

    def __anext__(self) -> Any:
        return DrivenAwaitable(self._inner.__anext__(), self._body)

    def asend(self, value: Any) -> Any:
        return DrivenAwaitable(self._inner.asend(value), self._body)

    def athrow(self, *exception: Any) -> Any:
        return DrivenAwaitable(self._inner.athrow(*exception), self._body)

    def aclose(self) -> Any:
        return DrivenAwaitable(self._inner.aclose(), self._body)


class DrivenAwaitable:
    """The awaitable that a step of an asynchronous generator returns."""

    def __init__(self, inner: Any, body: DrivenBody) -> None:
        self._inner = inner
        self._body = body

    def __await__(self) -> Generator[Any, Any, Any]:
        return DrivenGenerator(self._inner, self._body)

    __iter__ = __await__

    @hidden
    def __next__(self) -> Any:
        return self._body.run(self._inner.__next__)

    @hidden
    def send(self, value: Any) -> Any:
        """Resume the step."""
        return self._body.run(self._inner.send, value)

    @hidden
    def throw(self, *exception: Any) -> Any:
        """Raise an exception where the step is suspended."""
        return self._body.run(self._inner.throw, *exception)

    @hidden
    def close(self) -> None:
        """Close the step; the generator goes on."""
        self._body.run(self._inner.close)


class DrivenIterator(_Driven, Iterator[Any]):
    """An iterator in C that is advanced in an activation of its own."""

    @hidden
    def __next__(self) -> Any:
        item = self._body.run(self._inner.__next__)
        if type(self._inner) is itertools.groupby:
            key, group = item
            return key, DrivenIterator(group, DrivenBody(group, self._body.activation))
        return item

    def __copy__(self) -> DrivenIterator:
        inner = copy.copy(self._inner)
        return DrivenIterator(inner, DrivenBody(inner, self._body.activation))

    def __reduce__(self) -> Any:
        return self._inner.__reduce__()

    def __length_hint__(self) -> Any:
        return getattr(self._inner, "__length_hint__", lambda: NotImplemented)()


_PROXIES: Final[dict[type, Callable[[Any, DrivenBody], Any]]] = {
    GeneratorType: DrivenGenerator,
    CoroutineType: DrivenCoroutine,
    AsyncGeneratorType: DrivenAsyncGenerator,
}


_ITERABLE_COROUTINE: Final = 0x100
"""The flag `CO_ITERABLE_COROUTINE` of code."""


def drive(suspendable: Any, activation: Activation) -> Any:
    """Wrap a generator, coroutine, asynchronous generator or lazy iterator so that it runs in an activation."""
    body = DrivenBody(suspendable, activation)
    if type(suspendable) is GeneratorType and suspendable.gi_code.co_flags & _ITERABLE_COROUTINE:
        return DrivenGeneratorBasedCoroutine(suspendable, body)
    return _PROXIES.get(type(suspendable), DrivenIterator)(suspendable, body)
