"""Functions under `@Replay(...)`: each call has a replay of its own, from its first step to its last.

What a generator or a coroutine does follows the call that makes it, so its replay ends when it ends.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cassette_import.activation.verbs import overdub

if TYPE_CHECKING:
    from cassette_import.contexts.recording.replayed_calls import ReplayedCalls

__all__ = ["replayed_function"]

_Begin: TypeAlias = "Callable[..., tuple[ReplayedCalls, Any]]"
"""Makes a replay, and the generator or coroutine that runs in it."""


def replayed_function(new_replay: Callable[[], ReplayedCalls], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that the decorator returns. It is of the same kind, since test runners ask for the kind.

    Raises
    ------
    TypeError
        If this is a class or an object that cannot be called.
    """
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"a Replay decorates functions, and not {function!r}: decorate the functions inside it")

    def begin(*given: Any, **named: Any) -> tuple[ReplayedCalls, Any]:
        replay = new_replay()
        return replay, overdub(replay, function, *given, **named)

    for is_kind, _, of_kind in _KINDS:
        if is_kind(function):
            return functools.wraps(function)(of_kind(begin))

    @functools.wraps(function)
    def replayed(*given: Any, **named: Any) -> Any:
        replay = new_replay()
        try:
            result = overdub(replay, function, *given, **named)
        except BaseException:
            replay.ended(failed=True)
            raise
        for _, is_kind, of_kind in _KINDS:
            if is_kind(result):
                return of_kind(lambda: (replay, result))()
        replay.ended()
        return result

    return replayed


@contextmanager
def _until_the_end(replay: ReplayedCalls) -> Iterator[None]:
    """End the replay with the block. A generator that is closed early has not failed."""
    try:
        yield
    except GeneratorExit:
        replay.ended()
        raise
    except BaseException:
        replay.ended(failed=True)
        raise
    replay.ended()


def _generator_function(begin: _Begin) -> Callable[..., Any]:
    def replayed(*given: Any, **named: Any) -> Generator[Any, Any, Any]:
        replay, generator = begin(*given, **named)
        with _until_the_end(replay):
            return (yield from generator)

    return replayed


def _coroutine_function(begin: _Begin) -> Callable[..., Any]:
    async def replayed(*given: Any, **named: Any) -> Any:
        replay, coroutine = begin(*given, **named)
        with _until_the_end(replay):
            return await coroutine

    return replayed


def _asynchronous_generator_function(begin: _Begin) -> Callable[..., Any]:
    async def replayed(*given: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        replay, generator = begin(*given, **named)
        with _until_the_end(replay):
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

    return replayed


_KINDS: Final = (
    (inspect.isgeneratorfunction, inspect.isgenerator, _generator_function),
    (inspect.iscoroutinefunction, inspect.iscoroutine, _coroutine_function),
    (inspect.isasyncgenfunction, inspect.isasyncgen, _asynchronous_generator_function),
)
"""Functions, their results, and how they are replayed."""
