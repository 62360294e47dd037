"""Followed bodies: a context learns when the body of a function begins, is suspended, is resumed and ends.

A call event of a generator function or coroutine function is the call that creates the generator. Its body runs
elsewhere: in `next`, in a loop, in C code, in an event loop. Where a context of the variant follows bodies, rewritten
code reports the steps of each body that can be suspended to a `FollowedBody`, which is in a variable of the body
itself. Some ways of suspension have no place for a call, such as a step of `yield from` or `await`. There a proxy
reports, which stands between the body and the iterator that it waits for. The frames of proxies are hidden.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.callables import lookup, special
from cassette_import.interpreter.hidden_frames import hidden

CLOSING_RESUMES: Final = sys.version_info[:2] != (3, 13)
"""Whether the interpreter resumes a body that is closed although nothing in it can catch an exception. From 3.14 on, it
does so while a profiler observes it."""


class FollowedBody:
    """One run of a body, and the base of what contexts make for it.

    A run is made when the body begins. Subclasses receive its steps by `resumed`, `suspended` and `ended`. They
    have an attribute `_first`: what the first loop of a generator expression takes items from.
    """

    __slots__ = ()
    _first: Any
    is_running = False
    """Whether the body runs now, as far as it was reported."""

    def resumed(self, value: Any = None) -> Any:
        """Note that the body goes on; return the value that was sent to it."""
        return value

    def suspended(self, value: Any = None) -> Any:
        """Note that the body is suspended; return the value that it yields."""
        return value

    def ended(self) -> None:
        """Note that the body has returned or raised. If it was suspended, it has been closed."""
        if CLOSING_RESUMES:
            self.caught()
        self.suspended()

    @hidden
    def resuming(self) -> Iterator[FollowedBody]:
        """An iterator each step of which notes that the body goes on, if it was suspended, and returns it."""
        return iter(self.going_on, None)

    @hidden
    def caught(self) -> None:
        """Note that the body goes on, if it was suspended: it has caught an exception that was thrown into it."""
        if not self.is_running:
            self.resumed()

    @hidden
    def going_on(self) -> FollowedBody:
        """Note that the body goes on, if it was suspended; return it."""
        if not self.is_running:
            self.resumed()
        return self

    @hidden
    def begin_with(self, items: Any) -> None:
        """Note what the first loop of a generator expression takes items from."""
        self._first = items

    @hidden
    def first_items(self) -> Any:
        """Return what the first loop of a generator expression takes items from, and keep it alive no longer."""
        items = self._first
        del self._first
        return items

    # ---- what rewritten code puts in place of the operands of suspending syntax

    @hidden
    def delegated(self, iterable: Any) -> Any:
        """What `yield from` iterates over."""
        kind = type(iterable)
        if kind is GeneratorType:
            is_coroutine = iterable.gi_code.co_flags & code_objects.ITERABLE_COROUTINE
            return iterable if is_coroutine else _delegate_of_body(self, iterable, iterable)
        if kind is CoroutineType or lookup(kind, "__iter__") is None:
            return iterable  # the interpreter decides whether it is an error, and raises it
        iterator = special(iterable, "__iter__")()
        if type(iterator) is GeneratorType:
            return _delegate_of_body(self, iterator, iterator)
        return _Delegate(self, iterator) if lookup(type(iterator), "__next__") is not None else iterator

    @hidden
    def awaited(self, awaitable: Any, delegate: type[_Delegate] | None = None) -> Any:
        """What `await` waits for."""
        kind = type(awaitable)
        if kind is CoroutineType:
            is_wrong = awaitable.cr_await is not None
            if not is_wrong and delegate is None:
                return _delegate_of_body(self, awaitable, awaitable.__await__())
        elif kind is _STEP_OF_ASYNC_GENERATOR:
            return _delegate_of_body(self, awaitable, awaitable) if delegate is None else delegate(self, awaitable)
        elif kind is GeneratorType:
            is_wrong = not awaitable.gi_code.co_flags & code_objects.ITERABLE_COROUTINE
        else:
            is_wrong = lookup(kind, "__await__") is None
        # If it cannot be awaited, or not twice, the interpreter raises the error.
        return awaitable if is_wrong else _Awaitable(self, awaitable, delegate)

    @hidden
    def items(self, iterable: Any) -> Any:
        """What a further loop of a generator expression iterates over: the body is resumed within this loop."""
        return Items(self, iter(iterable), is_first=False)

    @hidden
    def async_items(self, iterable: Any) -> Any:
        """What `async for` iterates over."""
        if type(iterable) is AsyncGeneratorType:
            return AsyncItems(self, iterable)
        if lookup(type(iterable), "__aiter__") is None:
            return iterable
        return AsyncItems(self, special(iterable, "__aiter__")())

    @hidden
    def async_manager(self, manager: Any) -> Any:
        """What `async with` enters and leaves."""
        kind = type(manager)
        if lookup(kind, "__aenter__") is None or lookup(kind, "__aexit__") is None:
            return manager
        return _AsyncManager(self, manager)


class NotFollowed(FollowedBody):
    """A body that no context follows: all its steps stay as they are."""

    __slots__ = ("_first",)

    @hidden
    def resumed(self, value: Any = None) -> Any:
        return value

    @hidden
    def suspended(self, value: Any = None) -> Any:
        return value

    @hidden
    def ended(self) -> None:
        pass

    @hidden
    def caught(self) -> None:
        pass

    @hidden
    def delegated(self, iterable: Any) -> Any:
        return iterable

    @hidden
    def awaited(self, awaitable: Any, delegate: type[_Delegate] | None = None) -> Any:
        return awaitable

    @hidden
    def items(self, iterable: Any) -> Any:
        return iterable

    @hidden
    def async_items(self, iterable: Any) -> Any:
        return iterable

    @hidden
    def async_manager(self, manager: Any) -> Any:
        return manager


class FollowedByAll(FollowedBody):
    """A body that several contexts follow."""

    __slots__ = ("_bodies", "_first", "is_running")

    def __init__(self, bodies: list[FollowedBody]) -> None:
        self._bodies = bodies
        self.is_running = True

    @hidden
    def resumed(self, value: Any = None) -> Any:
        self.is_running = True
        for body in self._bodies:
            body.resumed()
        return value

    @hidden
    def suspended(self, value: Any = None) -> Any:
        self.is_running = False
        for body in reversed(self._bodies):
            body.suspended()
        return value


class _Delegate:
    """The iterator that a body waits for in `yield from` or `await`. Its steps resume and suspend the body."""

    __slots__ = ("_advance", "_body", "_inner")

    @hidden
    def __init__(self, body: FollowedBody, inner: Any) -> None:
        self._body = body
        self._inner = inner
        self._advance: Callable[[], Any]
        self._advance = partial(inner.send, None) if type(inner) in _WITH_SEND else partial(next, inner)

    @hidden
    def __iter__(self) -> Any:
        return self

    __await__ = __iter__

    @hidden
    def __next__(self) -> Any:
        body = self._body
        if not body.is_running:
            body.resumed()
        return body.suspended(self._advance())

    @hidden
    def send(self, value: Any) -> Any:
        body = self._body
        if not body.is_running:
            body.resumed()
        return body.suspended(self._inner.send(value))

    def __getattr__(self, name: str) -> Any:
        # `throw` and `close`: the interpreter looks them up, and does without them where the iterator has none.
        found = getattr(self._inner, name)
        if name == "throw":
            return partial(self._thrown, found)
        return found

    @hidden
    def _thrown(self, throw: Callable[..., Any], *exception: Any) -> Any:
        body = self._body
        if not body.is_running:
            body.resumed()
        return body.suspended(throw(*exception))


hidden(_Delegate.__getattr__)
_WITH_SEND: Final = (CoroutineType, GeneratorType)


class _DelegateOfBody(map):  # type: ignore[type-arg]  # `map` takes no arguments of types when it runs
    """The same for a generator or coroutine. Its steps take no frame, so that deep recursion stays possible.

    It is a `map` of two iterators: each step of the first one resumes the body and returns it, each step of the second
    one is a step of the generator, and the function suspends the body.
    """

    __slots__ = ("_body", "_inner")
    _body: FollowedBody
    _inner: Any
    __await__: Any = map.__iter__  # it returns the iterator itself, without a frame

    send: Any = _Delegate.send
    _thrown: Any = _Delegate._thrown

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._thrown, found) if name == "throw" else found


hidden(_DelegateOfBody.__getattr__)
_new_map: Final = map.__new__


@hidden
def _delegate_of_body(body: FollowedBody, inner: Any, steps: Any) -> _DelegateOfBody:
    """The delegate of a body for a generator or coroutine, whose `steps` are the iterator."""
    made = _new_map(_DelegateOfBody, type(body).suspended, body.resuming(), steps)
    made._body = body
    made._inner = inner
    return made


async def _no_items() -> Any:
    yield


_STEP: Final = _no_items().__anext__()
_STEP.close()  # else the interpreter warns that nothing has awaited it
_STEP_OF_ASYNC_GENERATOR: Final = type(_STEP)


class LastDelegate(_Delegate):
    """The same in the first loop of a generator expression, which has no place to report that an exception ends it."""

    __slots__ = ()

    @hidden
    def __next__(self) -> Any:
        try:
            return _Delegate.__next__(self)
        except StopIteration:
            raise
        except BaseException:
            self._body.ended()
            raise

    @hidden
    def send(self, value: Any) -> Any:
        try:
            return _Delegate.send(self, value)
        except StopIteration:
            raise
        except BaseException:
            self._body.ended()
            raise


class _Awaitable:
    """What a body awaits."""

    __slots__ = ("_body", "_delegate", "_inner")

    @hidden
    def __init__(self, body: FollowedBody, inner: Any, delegate: type[_Delegate] | None = None) -> None:
        self._body = body
        self._inner = inner
        self._delegate = delegate

    @hidden
    def __await__(self) -> Any:
        inner = self._inner
        if type(inner) in _WITH_SEND:
            steps = inner.__await__() if type(inner) is CoroutineType else inner
            return self._delegate(self._body, inner) if self._delegate else _delegate_of_body(self._body, inner, steps)
        iterator = special(inner, "__await__")()
        if type(iterator) is CoroutineType or lookup(type(iterator), "__next__") is None:
            return iterator  # the interpreter raises the error
        return (self._delegate or _Delegate)(self._body, iterator)


class Items:
    """What a loop of a generator expression takes items from. Its first loop ends with the body."""

    __slots__ = ("_body", "_is_first", "_iterator")

    @hidden
    def __init__(self, body: FollowedBody, iterator: Iterator[Any], *, is_first: bool) -> None:
        self._body = body
        self._iterator = iterator
        self._is_first = is_first

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        body = self._body
        if not body.is_running:
            body.resumed()
        try:
            return next(self._iterator)
        except StopIteration:
            if self._is_first:
                body.ended()
            raise
        except BaseException:
            body.ended()
            raise


class AsyncItems:
    """What `async for` takes items from."""

    __slots__ = ("_body", "_delegate", "_iterator")

    @hidden
    def __init__(self, body: FollowedBody, iterator: Any, delegate: type[_Delegate] | None = None) -> None:
        self._body = body
        self._iterator = iterator
        self._delegate = delegate

    @hidden
    def __aiter__(self) -> Any:
        iterator = self._iterator  # if it is a wrong one, the interpreter raises the error
        return iterator if lookup(type(iterator), "__anext__") is None else self

    @hidden
    def __anext__(self) -> Any:
        body = self._body
        if not body.is_running:
            body.resumed()
        iterator = self._iterator
        step = iterator.__anext__() if type(iterator) is AsyncGeneratorType else _called(iterator, "__anext__")
        return body.awaited(step, self._delegate)


class _AsyncManager:
    """What `async with` enters and leaves."""

    __slots__ = ("_body", "_manager")

    @hidden
    def __init__(self, body: FollowedBody, manager: Any) -> None:
        self._body = body
        self._manager = manager

    @hidden
    def __aenter__(self) -> Any:
        return self._body.awaited(_called(self._manager, "__aenter__"))

    @hidden
    def __aexit__(self, *exception: Any) -> Any:
        self._body.caught()
        return self._body.awaited(_called(self._manager, "__aexit__", *exception))


@hidden
def _called(receiver: Any, name: str, *arguments: Any) -> Any:
    """The result of a special method, as the interpreter calls it."""
    found = lookup(type(receiver), name)
    return found(receiver, *arguments) if type(found) is FunctionType else special(receiver, name)(*arguments)


NOT_FOLLOWED: Final = NotFollowed()
