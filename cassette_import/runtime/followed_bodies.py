"""Followed bodies: a context learns when the body of a function begins, is suspended, is resumed and ends.

A call event of a generator function or coroutine function is the call that creates the generator. Its body runs
elsewhere: in `next`, in a loop, in C code, in an event loop. Where a context of the variant follows bodies, rewritten
code reports the steps of each body that can be suspended to a `FollowedBody`, which is in a variable of the body
itself. Some ways of suspension have no place for a call, such as a step of `yield from` or `await`. There a proxy
reports, which stands between the body and the iterator that it waits for. The frames of proxies are hidden.

Knows activations and the interpreter's protocols; must not know what contexts do with the steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from threading import get_ident
from types import CodeType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter import code_flags
from cassette_import.interpreter.callables import lookup, special
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.runtime.state import ACTIVE

_frame: Final = sys._getframe
_CLOSING_RESUMES: Final = sys.version_info < (3, 13)
"""Whether the interpreter resumes a body that is closed although nothing in it can catch an exception."""


class FollowedBody:
    """One run of a body, and the base of what contexts make for it.

    A run is made when the body begins. Subclasses are told about its steps by `resumed`, `suspended` and `ended`.
    """

    __slots__ = ("_first",)
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
        if _CLOSING_RESUMES:
            self.caught()
        self.suspended()

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
            is_coroutine = iterable.gi_code.co_flags & code_flags.ITERABLE_COROUTINE
            return iterable if is_coroutine else _DelegateOfBody(self, iterable)
        if kind is CoroutineType or lookup(kind, "__iter__") is None:
            return iterable  # the interpreter decides whether it is an error, and raises it
        iterator = special(iterable, "__iter__")()
        return _Delegate(self, iterator) if lookup(type(iterator), "__next__") is not None else iterator

    @hidden
    def awaited(self, awaitable: Any, delegate: type[_Delegate] | None = None) -> Any:
        """What `await` waits for."""
        kind = type(awaitable)
        if kind is CoroutineType:
            is_wrong = awaitable.cr_await is not None
        elif kind is GeneratorType:
            is_wrong = not awaitable.gi_code.co_flags & code_flags.ITERABLE_COROUTINE
        else:
            is_wrong = lookup(kind, "__await__") is None
        # If it cannot be awaited, or not twice, the interpreter raises the error.
        return awaitable if is_wrong else _Awaitable(self, awaitable, delegate)

    @hidden
    def items(self, iterable: Any) -> Any:
        """What a further loop of a generator expression iterates over: the body is resumed within this loop."""
        return _Items(self, iter(iterable), is_first=False)

    @hidden
    def async_items(self, iterable: Any) -> Any:
        """What `async for` iterates over."""
        if lookup(type(iterable), "__aiter__") is None:
            return iterable
        iterator = special(iterable, "__aiter__")()
        return iterator if lookup(type(iterator), "__anext__") is None else _AsyncItems(self, iterator)

    @hidden
    def async_manager(self, manager: Any) -> Any:
        """What `async with` enters and leaves."""
        kind = type(manager)
        if lookup(kind, "__aenter__") is None or lookup(kind, "__aexit__") is None:
            return manager
        return _AsyncManager(self, manager)


class _NotFollowed(FollowedBody):
    """A body that no context follows: all its steps stay as they are."""

    __slots__ = ()

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


class _FollowedByAll(FollowedBody):
    """A body that several contexts follow."""

    __slots__ = ("_bodies", "is_running")

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


class _DelegateOfBody(map):  # type: ignore[type-arg]
    """The same for a generator or coroutine. Its steps take no frame, so that deep recursion stays possible.

    It is a `map` of two iterators: each step of the first one resumes the body and returns it, each step of the second
    one is a step of the generator, and the function suspends the body.
    """

    __slots__ = ("_body", "_inner")
    _body: FollowedBody
    _inner: Any

    @hidden
    def __new__(cls, body: FollowedBody, inner: Any) -> _DelegateOfBody:
        steps = inner.__await__() if type(inner) is CoroutineType else inner
        made = map.__new__(cls, type(body).suspended, iter(body.going_on, None), steps)
        made._body = body
        made._inner = inner
        return made

    send: Any = _Delegate.send
    _thrown: Any = _Delegate._thrown

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._thrown, found) if name == "throw" else found


hidden(_DelegateOfBody.__getattr__)


class _LastDelegate(_Delegate):
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
            return (self._delegate or _DelegateOfBody)(self._body, inner)
        iterator = special(inner, "__await__")()
        if type(iterator) is CoroutineType or lookup(type(iterator), "__next__") is None:
            return iterator  # the interpreter raises the error
        return (self._delegate or _Delegate)(self._body, iterator)


class _Items:
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


class _AsyncItems:
    """What `async for` takes items from."""

    __slots__ = ("_body", "_delegate", "_iterator")

    @hidden
    def __init__(self, body: FollowedBody, iterator: Any, delegate: type[_Delegate] = _Delegate) -> None:
        self._body = body
        self._iterator = iterator
        self._delegate = delegate

    @hidden
    def __aiter__(self) -> Any:
        return self

    @hidden
    def __anext__(self) -> Any:
        body = self._body
        if not body.is_running:
            body.resumed()
        return body.awaited(special(self._iterator, "__anext__")(), self._delegate)


class _AsyncManager:
    """What `async with` enters and leaves."""

    __slots__ = ("_body", "_manager")

    @hidden
    def __init__(self, body: FollowedBody, manager: Any) -> None:
        self._body = body
        self._manager = manager

    @hidden
    def __aenter__(self) -> Any:
        return self._body.awaited(special(self._manager, "__aenter__")())

    @hidden
    def __aexit__(self, *exception: Any) -> Any:
        self._body.caught()
        return self._body.awaited(special(self._manager, "__aexit__")(*exception))


NOT_FOLLOWED: Final = _NotFollowed()


@hidden
def followed_body() -> FollowedBody:
    """The run of the body that begins here, for the contexts that are active and follow bodies."""
    followers = [context for context in ACTIVE.get().contexts if context.follows_bodies]
    return _followed(followers, _frame(1).f_code) if followers else NOT_FOLLOWED


@hidden
def _followed(followers: list[Any], code: Any) -> FollowedBody:
    bodies: list[FollowedBody] = [context.follow_body(code) for context in followers]
    return bodies[0] if len(bodies) == 1 else _FollowedByAll(bodies)


class _Expressions:
    """Code objects that stand for generator expressions, whose own code cannot be reached before it runs."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], CodeType] = {}

    def code_at(self, filename: str, line: int) -> CodeType:
        """The code that stands for the generator expressions that begin in a line."""
        found = self._known.get((filename, line))
        if found is None:
            made = _SOME_CODE.replace(co_filename=filename, co_firstlineno=line, co_name="<genexpr>")
            found = self._known.setdefault((filename, line), made)
        return found


_SOME_CODE: Final = (lambda: None).__code__
_EXPRESSIONS: Final = _Expressions()


@hidden
def followed_expression(iterable: Any, line: int, is_async: bool) -> Any:
    """What the added outermost loop of a generator expression runs over: its body, once.

    `iterable` is the iterable of its first loop, which the interpreter evaluates before the body begins.
    """
    if is_async:
        first: Any = special(iterable, "__aiter__")() if lookup(type(iterable), "__aiter__") is not None else iterable
    else:
        first = iter(iterable)
    followers = [context for context in ACTIVE.get().contexts if context.follows_bodies]
    code = _EXPRESSIONS.code_at(_frame(1).f_code.co_filename, line)
    return _Once(followers, code, first, is_async)


class _Once:
    """The iterator of the added outermost loop: the body begins with its first step."""

    __slots__ = ("_code", "_first", "_followers", "_is_async")

    @hidden
    def __init__(self, followers: list[Any], code: CodeType, first: Any, is_async: bool) -> None:
        self._followers = followers
        self._code = code
        self._first = first
        self._is_async = is_async

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        first = self._first
        if first is None:
            raise StopIteration
        self._first = None
        body = _followed(self._followers, self._code) if self._followers else _Unfollowed()
        if not self._followers:
            body.begin_with(first)
        elif self._is_async:
            has_items = lookup(type(first), "__anext__") is not None
            body.begin_with(_AsyncItems(body, first, _LastDelegate) if has_items else first)
        else:
            body.begin_with(_Items(body, first, is_first=True))
        return body


class _Unfollowed(_NotFollowed):
    """The body of a generator expression that no context follows; it has first items of its own."""

    __slots__ = ()


@hidden
def followed_call() -> FollowedBody:
    """The run of a function that begins here, for the contexts that follow bodies and have no call event of it."""
    contexts = ACTIVE.get().contexts
    bodies = []
    code = _frame(1).f_code
    for context in contexts:
        if context.follows_bodies:
            body = context.follow_call(code)
            if body is not None:
                bodies.append(body)
    if not bodies:
        return NOT_FOLLOWED
    return bodies[0] if len(bodies) == 1 else _FollowedByAll(bodies)


@hidden
def followed_module() -> None:
    """Note that a module level begins. It ends with the call or import in which it began."""
    followed_body_of(_frame(1).f_code)


@hidden
def followed_body_of(code: CodeType) -> FollowedBody:
    """The run of some code that begins here, for the contexts that are active and follow bodies."""
    followers = [context for context in ACTIVE.get().contexts if context.follows_bodies]
    return _followed(followers, code) if followers else NOT_FOLLOWED


class _Imports:
    """The manager of a `with` block around an import of a module level."""

    __slots__ = ("_body",)

    @hidden
    def __enter__(self) -> None:
        self._body = followed_body_of(_IMPORTS)

    @hidden
    def __exit__(self, *exception: object) -> None:
        self._body.ended()


_IMPORTS: Final = _SOME_CODE.replace(co_filename="~", co_firstlineno=0, co_name="<imports>")
"""The code that stands for the imports of a module level."""


BINDINGS: Final[dict[str, Any]] = {
    symbols.FOLLOWED_BODY: followed_body,
    symbols.FOLLOWED_EXPRESSION: followed_expression,
    symbols.FOLLOWED_CALL: followed_call,
    symbols.FOLLOWED_MODULE: followed_module,
    symbols.THREAD: get_ident,
    symbols.FOLLOWED_IMPORTS: _Imports,
}
"""The values of the symbols of this module, see `runtime.bindings`."""
