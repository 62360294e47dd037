"""What rewritten code calls when the body of a function begins, in contexts that follow bodies.

Each function returns the run of the body, a `FollowedBody`, to which the code then reports its steps.
"""

from __future__ import annotations

import sys
from threading import get_ident
from types import CodeType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup, special
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.runtime.followed_bodies import (
    NOT_FOLLOWED,
    AsyncItems,
    FollowedBody,
    FollowedByAll,
    Items,
    LastDelegate,
    NotFollowed,
)
from cassette_import.runtime.state import ACTIVE

_frame: Final = sys._getframe


@hidden
def followed_body() -> FollowedBody:
    """The run of the body that begins here, for the contexts that are active and follow bodies."""
    contexts = ACTIVE.get().contexts
    if len(contexts) == 1 and contexts[0].follows_bodies:
        body: FollowedBody = contexts[0].follow_body(_frame(1).f_code)
        return body
    followers = [context for context in contexts if context.follows_bodies]
    return _followed(followers, _frame(1).f_code) if followers else NOT_FOLLOWED


@hidden
def _followed(followers: list[Any], code: Any) -> FollowedBody:
    bodies: list[FollowedBody] = [context.follow_body(code) for context in followers]
    return bodies[0] if len(bodies) == 1 else FollowedByAll(bodies)


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
    if len(followers) == 1 and (begins := followers[0].follow_expression) is not None:
        return begins(code, first, is_async)
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
            body.begin_with(AsyncItems(body, first, LastDelegate))
        else:
            body.begin_with(Items(body, first, is_first=True))
        return body


class _Unfollowed(NotFollowed):
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
    return bodies[0] if len(bodies) == 1 else FollowedByAll(bodies)


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
