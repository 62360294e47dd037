"""Functions that a context decorates: each call is run in the context, from its first step to its last.

What a generator or a coroutine does follows the call that makes it, so the context of the call ends when it ends.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import overdub

__all__ = ["decorated_function"]


_Begin: TypeAlias = Callable[..., tuple[Context, Any]]
"""Makes the context of a call, and the generator or coroutine that runs in it."""


def decorated_function(decorator: Context, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that the decorator returns. It is of the same kind, since test runners ask for the kind.

    Raises
    ------
    TypeError
        If this is a class or an object that cannot be called.
    """
    if isinstance(function, type) or not callable(function):
        name = type(decorator).__name__
        raise TypeError(f"a {name} decorates functions, and not {function!r}: decorate the functions inside it")

    def begin(*arguments: Any, **keywords: Any) -> tuple[Context, Any]:
        context = decorator._of_one_call()
        return context, overdub(context, function, *arguments, **keywords)

    for is_kind, _, of_kind in _KINDS:
        if is_kind(function):
            return functools.wraps(function)(of_kind(begin))

    @functools.wraps(function)
    def decorated(*arguments: Any, **keywords: Any) -> Any:
        context = decorator._of_one_call()
        try:
            result = overdub(context, function, *arguments, **keywords)
        except BaseException:
            context._call_ended(failed=True)
            raise
        for _, is_kind, of_kind in _KINDS:
            if is_kind(result):
                return of_kind(lambda: (context, result))()
        context._call_ended(failed=False)
        return result

    return decorated


@contextmanager
def _until_the_end(context: Context) -> Iterator[None]:
    """End the call with the block. A generator that is closed early has not failed."""
    try:
        yield
    except GeneratorExit:
        context._call_ended(failed=False)
        raise
    except BaseException:
        context._call_ended(failed=True)
        raise
    context._call_ended(failed=False)


def _generator_function(begin: _Begin) -> Callable[..., Any]:
    def decorated(*arguments: Any, **keywords: Any) -> Generator[Any, Any, Any]:
        context, generator = begin(*arguments, **keywords)
        with _until_the_end(context):
            return (yield from generator)

    return decorated


def _coroutine_function(begin: _Begin) -> Callable[..., Any]:
    async def decorated(*arguments: Any, **keywords: Any) -> Any:
        context, coroutine = begin(*arguments, **keywords)
        with _until_the_end(context):
            return await coroutine

    return decorated


def _asynchronous_generator_function(begin: _Begin) -> Callable[..., Any]:
    async def decorated(*arguments: Any, **keywords: Any) -> AsyncGenerator[Any, Any]:
        context, generator = begin(*arguments, **keywords)
        with _until_the_end(context):
            step = generator.asend(None)
            while True:
                try:
                    value = await step
                except StopAsyncIteration:
                    return
                try:
                    sent = yield value
                except GeneratorExit:
                    await generator.aclose()
                    raise
                except BaseException as error:
                    step = generator.athrow(error)
                else:
                    step = generator.asend(sent)

    return decorated


_KINDS: Final = (
    (inspect.isgeneratorfunction, inspect.isgenerator, _generator_function),
    (inspect.iscoroutinefunction, inspect.iscoroutine, _coroutine_function),
    (inspect.isasyncgenfunction, inspect.isasyncgen, _asynchronous_generator_function),
)
"""For each kind: what recognises the function, what recognises the result of its call, and what makes the decorated
function."""
